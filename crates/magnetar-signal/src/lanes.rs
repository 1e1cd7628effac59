//! Eight f32 at once, by whatever vectors the processor has: the same sums and products, so the same bits.

use wide::f32x8;

/// Numbers side by side.
pub(crate) const LANES: usize = 8;

/// Eight f32 in registers.
pub(crate) trait Lanes: Copy {
    /// One number in every lane.
    fn splat(x: f32) -> Self;
    /// From memory.
    fn load(x: &[f32; LANES]) -> Self;
    /// To memory.
    fn store(self, to: &mut [f32; LANES]);
    /// Sum.
    fn add(self, other: Self) -> Self;
    /// Difference.
    fn sub(self, other: Self) -> Self;
    /// Product.
    fn mul(self, other: Self) -> Self;
}

impl Lanes for f32x8 {
    #[inline(always)]
    fn splat(x: f32) -> Self {
        Self::splat(x)
    }
    #[inline(always)]
    fn load(x: &[f32; LANES]) -> Self {
        Self::from(*x)
    }
    #[inline(always)]
    fn store(self, to: &mut [f32; LANES]) {
        *to = self.to_array();
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self - other
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self * other
    }
}

/// One vector of AVX.
#[cfg(target_arch = "x86_64")]
pub(crate) use avx::Avx;

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "vectors that not every processor has")]
mod avx {
    use std::arch::x86_64::{
        __m256, _mm256_add_ps, _mm256_loadu_ps, _mm256_mul_ps, _mm256_set1_ps, _mm256_storeu_ps, _mm256_sub_ps,
    };

    use super::{LANES, Lanes};

    /// Eight f32 in one register. Only functions compiled for AVX2, which are only called where it was found, may make
    /// one.
    #[derive(Clone, Copy)]
    pub struct Avx(__m256);

    // SAFETY (of every block here): the type's doc; loads and stores are of arrays of the whole length.
    impl Lanes for Avx {
        #[inline(always)]
        fn splat(x: f32) -> Self {
            Self(unsafe { _mm256_set1_ps(x) })
        }
        #[inline(always)]
        fn load(x: &[f32; LANES]) -> Self {
            Self(unsafe { _mm256_loadu_ps(x.as_ptr()) })
        }
        #[inline(always)]
        fn store(self, to: &mut [f32; LANES]) {
            unsafe { _mm256_storeu_ps(to.as_mut_ptr(), self.0) }
        }
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            Self(unsafe { _mm256_add_ps(self.0, other.0) })
        }
        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            Self(unsafe { _mm256_sub_ps(self.0, other.0) })
        }
        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            Self(unsafe { _mm256_mul_ps(self.0, other.0) })
        }
    }
}
