//! A surface's electrical description at one frequency.

/// A homogeneous slab at one frequency: what the tracer needs to know of a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slab {
    /// Real relative permittivity.
    pub eps_r: f64,
    /// Conductivity, S/m.
    pub sigma: f64,
    /// Thickness, metres.
    pub thickness: f64,
}
