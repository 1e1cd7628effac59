//! What kernels performed and touched, as the counting build of the stand-in tallies it.

/// Floating-point operations of one precision, as a kernel's source has them. Signs, absolute values, comparisons, minima,
/// rounding and conversions are not counted, nor integer arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Operations {
    /// Sums and differences.
    pub adds: u64,
    /// Products.
    pub multiplies: u64,
    /// Fused multiply-adds.
    pub fused: u64,
    /// Divisions.
    pub divisions: u64,
    /// Divisions of a literal one.
    pub reciprocals: u64,
    /// Divisions to within two units in the last place (`__fdividef`).
    pub fast_divisions: u64,
    /// Square roots.
    pub roots: u64,
    /// Reciprocal square roots.
    pub reciprocal_roots: u64,
    /// Lengths of two legs (`hypot`).
    pub hypotenuses: u64,
    /// Exponentials.
    pub exponentials: u64,
    /// Powers of two.
    pub binary_exponentials: u64,
    /// Cosines of radians.
    pub cosines: u64,
    /// Cosines of half turns (`cospif`).
    pub half_turn_cosines: u64,
    /// Sine and cosine of half turns together (`sincospif`).
    pub half_turn_phasors: u64,
}

impl Operations {
    /// Additions and multiplications that one of each f32 operation stands for, in the order of the fields: what the
    /// usual path of its code for sm_80 holds (NVRTC 12.0.76, ptxas 12.9.86, the kernels' options), a fused operation as
    /// two and a use of the special-function unit as one. Zero: no kernel has it.
    pub const F32_COSTS: [u64; 14] = [1, 1, 2, 11, 6, 2, 7, 1, 0, 11, 1, 21, 20, 27];
    /// The same in f64.
    pub const F64_COSTS: [u64; 14] = [1, 1, 2, 18, 11, 0, 14, 0, 18, 0, 0, 0, 0, 0];

    /// Every field, in order.
    #[must_use]
    pub fn each(&self) -> [u64; 14] {
        [
            self.adds,
            self.multiplies,
            self.fused,
            self.divisions,
            self.reciprocals,
            self.fast_divisions,
            self.roots,
            self.reciprocal_roots,
            self.hypotenuses,
            self.exponentials,
            self.binary_exponentials,
            self.cosines,
            self.half_turn_cosines,
            self.half_turn_phasors,
        ]
    }

    /// Their sum at such costs.
    #[must_use]
    pub fn flops(&self, costs: &[u64; 14]) -> u64 {
        self.each().iter().zip(costs).map(|(count, cost)| count * cost).sum()
    }
}

/// What one kernel did in all its launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct KernelCounts {
    /// How often it was launched.
    pub launches: u64,
    /// Bytes of the allocations it was given to read, each once a launch and whole.
    pub read_bytes: u64,
    /// The same for those it may write. Memory that the host had filled and the kernel may write counts as both.
    pub written_bytes: u64,
    /// Operations in f32. Zero unless the counting build is loaded.
    pub f32: Operations,
    /// Operations in f64. Zero unless the counting build is loaded.
    pub f64: Operations,
}

impl KernelCounts {
    /// Additions and multiplications in f32.
    #[must_use]
    pub fn f32_flops(&self) -> u64 {
        self.f32.flops(&Operations::F32_COSTS)
    }

    /// Additions and multiplications in f64.
    #[must_use]
    pub fn f64_flops(&self) -> u64 {
        self.f64.flops(&Operations::F64_COSTS)
    }
}

/// Bytes over the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BusBytes {
    /// To the device.
    pub up: u64,
    /// To the host.
    pub down: u64,
}
