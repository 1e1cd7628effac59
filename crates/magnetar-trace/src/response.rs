//! What the surfaces that a path meets make of it.

use nalgebra::Vector3;
use num_complex::Complex64;

use crate::polarisation::Field;
use crate::{Interaction, InteractionKind, PathGeometry, SlabResponse, Surface, World};

impl World {
    /// What becomes of a unit field between vertically polarised isotropic antennas along a path of this world, spreading
    /// apart: its coefficient is this times `lambda / (4 pi length)`. `slab` gives the slab behind a surface; a path that
    /// meets one without a slab carries nothing.
    #[must_use]
    #[inline]
    pub fn response<'s>(
        &self,
        geometry: &PathGeometry,
        slab: impl Fn(Surface) -> Option<&'s SlabResponse>,
    ) -> Complex64 {
        match &geometry.interactions[..] {
            [] => Complex64::ONE,
            [Interaction { surface, kind: InteractionKind::Reflection, .. }] => {
                let (te, tm) = geometry.weights(&self.normal(*surface));
                let Some(slab) = slab(*surface) else { return Complex64::ZERO };
                let r = slab.reflection(geometry.cos_incidence);
                te * r.te + tm * r.tm
            }
            several => self.field(&geometry.departure, several, slab),
        }
    }

    /// The field is split at every interaction into the parts across and in the plane of incidence.
    fn field<'s>(
        &self,
        departure: &Vector3<f64>,
        interactions: &[Interaction],
        slab: impl Fn(Surface) -> Option<&'s SlabResponse>,
    ) -> Complex64 {
        let mut field = Field::from_vertical_antenna(departure);
        for Interaction { surface, kind, .. } in interactions {
            let normal = self.normal(*surface);
            let Some(slab) = slab(*surface) else { return Complex64::ZERO };
            let k = *field.direction();
            let across = k.dot(&normal);
            let (after, coefficients) = match kind {
                InteractionKind::Reflection => (k - normal * (2.0 * across), slab.reflection_at_once(across.abs())),
                InteractionKind::Transmission => (k, slab.transmission(across.abs())),
            };
            field = field.meet(&after, &normal, &coefficients);
        }
        field.at_vertical_antenna()
    }
}
