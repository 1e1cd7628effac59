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
    /// Reflected field over what the three above give: 1 but where a calibration found another effective level.
    pub reflection_gain: f64,
}

impl Slab {
    /// A slab that reflects as its material does.
    #[must_use]
    pub const fn new(eps_r: f64, sigma: f64, thickness: f64) -> Self {
        Self { eps_r, sigma, thickness, reflection_gain: 1.0 }
    }

    /// The same slab whose reflections are stronger by so many decibels.
    #[must_use]
    pub fn reflecting_more_by(self, level_db: f64) -> Self {
        if level_db == 0.0 {
            return self;
        }
        Self { reflection_gain: self.reflection_gain * libm::exp10(level_db / 20.0), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_add_up_in_decibels() {
        let slab = Slab::new(5.0, 0.1, 0.1);
        assert_eq!(slab.reflecting_more_by(0.0), slab);
        let there_and_back = slab.reflecting_more_by(6.0).reflecting_more_by(-6.0);
        assert!((there_and_back.reflection_gain - 1.0).abs() < 1e-14);
        assert!((slab.reflecting_more_by(20.0).reflection_gain - 10.0).abs() < 1e-12);
    }
}
