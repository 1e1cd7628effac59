//! Reflection from and transmission through a single homogeneous slab in vacuum (ITU-R P.2040-4, equations 37 and 43 to
//! 45).

use std::f64::consts::TAU;

use magnetar_scene::{SPEED_OF_LIGHT, Slab, VACUUM_PERMITTIVITY};
use num_complex::Complex64;

/// Beyond this one-way-and-back attenuation exponent the far side of the slab is not seen: `exp(-50)` is below the
/// rounding of a double.
pub(crate) const OPAQUE_EXPONENT: f64 = -50.0;

/// A slab made ready for one frequency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlabResponse {
    /// Complex relative permittivity, `eps_r - j sigma / (2 pi f eps_0)`.
    pub(crate) eta: Complex64,
    /// `4 pi d / lambda`, radians: the phase there and back per unit of `s`.
    pub(crate) round_trip: f64,
    /// Reflected field over what permittivity and thickness give.
    pub(crate) gain: f64,
}

/// The coefficients of both polarisations at one angle, of reflection or of transmission.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlabCoefficients {
    /// Electric field orthogonal to the plane of incidence.
    pub te: Complex64,
    /// Electric field in the plane of incidence.
    pub tm: Complex64,
}

impl SlabResponse {
    /// A slab at a frequency in Hz.
    #[must_use]
    pub fn new(slab: &Slab, frequency_hz: f64) -> Self {
        Self {
            eta: Complex64::new(slab.eps_r, -slab.sigma / (TAU * frequency_hz * VACUUM_PERMITTIVITY)),
            round_trip: 2.0 * TAU * slab.thickness * frequency_hz / SPEED_OF_LIGHT,
            gain: slab.reflection_gain,
        }
    }

    /// Reflection coefficients at the cosine of the angle of incidence to the normal, in (0, 1].
    #[must_use]
    pub fn reflection(&self, cos_incidence: f64) -> SlabCoefficients {
        let (s, SlabCoefficients { te, tm }) = self.half_space(cos_incidence);
        let exponent = self.round_trip * s.im;
        if exponent < OPAQUE_EXPONENT {
            return SlabCoefficients { te, tm }.scaled(self.gain);
        }
        // exp(-2 j q) with q = 2 pi d s / lambda.
        let (sin, cos) = libm::sincos(self.round_trip * s.re);
        with_echo(SlabCoefficients { te, tm }, libm::exp(exponent) * Complex64::new(cos, -sin)).scaled(self.gain)
    }

    /// The same as [`Self::reflection`] to rounding, with one division for each polarisation: `r = n / d` put into the
    /// slab's formula gives `n d (1 - E) / (d^2 - n^2 E)`. For paths of several interactions; those of one keep their
    /// bits.
    #[must_use]
    #[inline]
    pub(crate) fn reflection_at_once(&self, cos_incidence: f64) -> SlabCoefficients {
        let c = cos_incidence;
        let s = root(Complex64::new(self.eta.re - (1.0 - c) * (1.0 + c), self.eta.im));
        let exponent = self.round_trip * s.im;
        let echo = if exponent < OPAQUE_EXPONENT {
            Complex64::ZERO
        } else {
            let (sin, cos) = libm::sincos(self.round_trip * s.re);
            libm::exp(exponent) * Complex64::new(cos, -sin)
        };
        assemble(self.eta, c, s, echo).scaled(self.gain)
    }

    /// Transmission coefficients at the cosine of the angle of incidence to the normal, in (0, 1]: of the field behind
    /// the slab against the field that would be there without it, but for the way in vacuum.
    #[must_use]
    pub fn transmission(&self, cos_incidence: f64) -> SlabCoefficients {
        let (s, SlabCoefficients { te, tm }) = self.half_space(cos_incidence);
        // exp(-j q) with q = 2 pi d s / lambda.
        let (sin, cos) = libm::sincos(self.round_trip * s.re / 2.0);
        let once = libm::exp(self.round_trip * s.im / 2.0) * Complex64::new(cos, -sin);
        let through = |r: Complex64| (1.0 - r * r) * once / (1.0 - r * r * once * once);
        SlabCoefficients { te: through(te), tm: through(tm) }
    }

    /// The root `s` of the refracted wave and the reflection coefficients of the first face alone.
    #[inline]
    fn half_space(&self, cos_incidence: f64) -> (Complex64, SlabCoefficients) {
        let c = cos_incidence;
        let s = root(Complex64::new(self.eta.re - (1.0 - c) * (1.0 + c), self.eta.im));
        (s, first_face(self.eta, c, s))
    }
}

impl SlabCoefficients {
    /// Both times a factor.
    #[inline(always)]
    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self { te: self.te * factor, tm: self.tm * factor }
    }
}

/// The reflection coefficients of the first face alone, with the root `s` of the refracted wave.
#[inline(always)]
pub(crate) fn first_face(eta: Complex64, c: f64, s: Complex64) -> SlabCoefficients {
    SlabCoefficients { te: (c - s) / (c + s), tm: (eta * c - s) / (eta * c + s) }
}

/// The reflection coefficients of both faces: those of the first, and the echo from the far side.
#[inline(always)]
pub(crate) fn with_echo(first: SlabCoefficients, echo: Complex64) -> SlabCoefficients {
    let inner = 1.0 - echo;
    let both = |r: Complex64| r * inner / (1.0 - r * r * echo);
    SlabCoefficients { te: both(first.te), tm: both(first.tm) }
}

/// The reflection coefficients of a slab of relative permittivity `eta` at the cosine `c` of the angle of incidence, with the
/// root `s` of the refracted wave and its echo from the far side.
#[inline(always)]
pub(crate) fn assemble(eta: Complex64, c: f64, s: Complex64, echo: Complex64) -> SlabCoefficients {
    let inner = 1.0 - echo;
    let slab = |n: Complex64, d: Complex64| {
        let below = d * d - n * n * echo;
        n * d * inner * below.conj() * (1.0 / below.norm_sqr())
    };
    let refracted = eta * c;
    SlabCoefficients { te: slab(c - s, c + s), tm: slab(refracted - s, refracted + s) }
}

/// Principal square root of a number with a non-positive imaginary part: `Re >= 0`, `Im <= 0`.
fn root(z: Complex64) -> Complex64 {
    let modulus = (z.re * z.re + z.im * z.im).sqrt();
    // Each branch takes the sum that does not cancel.
    if z.re >= 0.0 {
        let re = ((modulus + z.re) / 2.0).sqrt();
        Complex64::new(re, if re > 0.0 { z.im / (2.0 * re) } else { 0.0 })
    } else {
        let im = -((modulus - z.re) / 2.0).sqrt();
        Complex64::new(z.im / (2.0 * im), im)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const F: f64 = 10e9;

    fn slab(eps_r: f64, sigma: f64, thickness: f64) -> SlabResponse {
        SlabResponse::new(&Slab::new(eps_r, sigma, thickness), F)
    }

    #[test]
    fn agrees_with_sionna_at_cos_0_8() {
        // sionna/rt `itu_coefficients_single_layer_slab`, d = 0.1 m, three decimals.
        let cases =
            [(7.074, 0.046_405, -0.594, -0.172), (3.91, 0.034_401, -0.549, 0.067), (1.48, 0.013_074, -0.060, -0.030)];
        for (eps_r, sigma, re, im) in cases {
            let te = slab(eps_r, sigma, 0.1).reflection(0.8).te;
            assert!((te.re - re).abs() < 6e-4 && (te.im - im).abs() < 6e-4, "{te}");
        }
    }

    #[test]
    fn a_lossy_slab_is_a_half_space() {
        let c: f64 = 0.6;
        let thick = slab(5.0, 50.0, 1.0).reflection(c);
        let eta = Complex64::new(5.0, -50.0 / (TAU * F * VACUUM_PERMITTIVITY));
        let s = (eta - (1.0 - c * c)).sqrt();
        assert!((thick.te - (c - s) / (c + s)).norm() < 1e-12);
        assert!((thick.tm - (eta * c - s) / (eta * c + s)).norm() < 1e-12);
    }

    #[test]
    fn vacuum_does_not_reflect() {
        let r = slab(1.0, 0.0, 0.1).reflection(0.3);
        assert!(r.te.norm() < 1e-12 && r.tm.norm() < 1e-12);
        // Behind it the wave has gone d cos further along the normal.
        let t = slab(1.0, 0.0, 0.1).transmission(0.3);
        let phase = Complex64::from_polar(1.0, -TAU * 0.1 * 0.3 * F / SPEED_OF_LIGHT);
        assert!((t.te - phase).norm() < 1e-12 && (t.tm - phase).norm() < 1e-12);
    }

    #[test]
    fn glass_of_33_mm_loses_about_5_db() {
        let t = slab(6.31, 0.078_651, 0.033).transmission(1.0);
        let loss_db = -20.0 * t.te.norm().log10();
        assert!((4.0..6.0).contains(&loss_db), "{loss_db}");
    }

    proptest! {
        #[test]
        fn both_forms_of_the_reflection_agree(eps in 1.0f64..30.0, log_sigma in -8.0f64..4.0, d in 1e-4f64..1.0, c in 1e-3f64..=1.0) {
            let s = slab(eps, 10f64.powf(log_sigma), d);
            let (twice, once) = (s.reflection(c), s.reflection_at_once(c));
            prop_assert!((twice.te - once.te).norm() < 1e-9 && (twice.tm - once.tm).norm() < 1e-9);
        }

        #[test]
        fn reflection_is_passive(eps in 1.0f64..30.0, log_sigma in -8.0f64..8.0, d in 1e-4f64..1.0, c in 1e-6f64..=1.0) {
            let r = slab(eps, 10f64.powf(log_sigma), d).reflection(c);
            prop_assert!(r.te.norm() <= 1.0 + 1e-9 && r.tm.norm() <= 1.0 + 1e-9, "{r:?}");
        }

        #[test]
        fn no_slab_gives_more_than_it_gets(eps in 1.0f64..30.0, log_sigma in -8.0f64..8.0, d in 1e-4f64..1.0, c in 1e-6f64..=1.0) {
            let s = slab(eps, 10f64.powf(log_sigma), d);
            let (r, t) = (s.reflection(c), s.transmission(c));
            prop_assert!(r.te.norm_sqr() + t.te.norm_sqr() <= 1.0 + 1e-9, "TE {r:?} {t:?}");
            prop_assert!(r.tm.norm_sqr() + t.tm.norm_sqr() <= 1.0 + 1e-9, "TM {r:?} {t:?}");
        }

        #[test]
        fn a_slab_without_loss_keeps_the_energy(eps in 1.0f64..30.0, d in 1e-4f64..0.3, c in 1e-3f64..=1.0) {
            let s = slab(eps, 0.0, d);
            let (r, t) = (s.reflection(c), s.transmission(c));
            prop_assert!((r.te.norm_sqr() + t.te.norm_sqr() - 1.0).abs() < 1e-9);
            prop_assert!((r.tm.norm_sqr() + t.tm.norm_sqr() - 1.0).abs() < 1e-9);
        }

        #[test]
        fn te_and_tm_are_opposite_at_normal_incidence(eps in 1.0f64..30.0, sigma in 0.0f64..10.0, d in 1e-4f64..0.3) {
            let r = slab(eps, sigma, d).reflection(1.0);
            prop_assert!((r.te + r.tm).norm() < 1e-12);
        }

        #[test]
        fn root_is_the_principal_one(re in -10.0f64..10.0, im in -10.0f64..0.0) {
            let z = Complex64::new(re, im);
            let s = root(z);
            prop_assert!((s * s - z).norm() <= 1e-14 * (1.0 + z.norm()));
            prop_assert!(s.re >= 0.0 && s.im <= 0.0);
        }
    }
}
