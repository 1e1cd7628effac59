//! Paths with their coefficients: a world, the materials behind its surfaces, and the carrier.

use std::f64::consts::PI;

use magnetar_scene::{BoxShape, Face, Room, SPEED_OF_LIGHT, Slab};
use nalgebra::Point3;
use num_complex::Complex64;

use crate::{Device, LeftOut, Path, PathGeometry, SlabResponse, Surface, TraceError, TraceOptions, World};

/// A room with boxes, made ready for tracing at one frequency.
///
/// Read-only while tracing: threads share one tracer.
#[derive(Debug, Clone)]
pub struct Tracer {
    world: World,
    options: TraceOptions,
    wavelength: f64,
    surfaces: [SlabResponse; 6],
    /// The first surface of the room that has the same slab, of each.
    pub(crate) same_slab: [usize; 6],
    box_slabs: Vec<SlabResponse>,
}

impl Tracer {
    /// Makes a world ready: the room, its six surfaces in the order of `Face::ALL`, its boxes, the carrier in Hz.
    ///
    /// Boxes may touch or overlap one another and the walls.
    ///
    /// # Errors
    /// If a number is not finite, a size or thickness not positive, a conductivity negative.
    pub fn new(
        room: Room,
        surfaces: &[Slab; 6],
        boxes: &[(BoxShape, Slab)],
        frequency_hz: f64,
    ) -> Result<Self, TraceError> {
        let mut tracer = Self {
            world: World::new(room, []),
            options: TraceOptions::default(),
            wavelength: 0.0,
            surfaces: surfaces.map(|slab| SlabResponse::new(&slab, frequency_hz)),
            same_slab: [0; 6],
            box_slabs: Vec::new(),
        };
        tracer.rebuild(room, surfaces, boxes, frequency_hz)?;
        Ok(tracer)
    }

    /// The same world with other paths looked for.
    ///
    /// # Errors
    /// If the order is above [`crate::MAX_ORDER`].
    pub fn with_options(mut self, options: TraceOptions) -> Result<Self, TraceError> {
        options.check()?;
        self.options = options;
        Ok(self)
    }

    /// Takes over another world, keeping the memory of this one. After an error the tracer holds the old world.
    ///
    /// # Errors
    /// As for [`Tracer::new`].
    pub fn rebuild(
        &mut self,
        room: Room,
        surfaces: &[Slab; 6],
        boxes: &[(BoxShape, Slab)],
        frequency_hz: f64,
    ) -> Result<(), TraceError> {
        check(surfaces, boxes, frequency_hz)?;
        self.world.rebuild(room, boxes.iter().map(|(shape, _)| *shape));
        self.wavelength = SPEED_OF_LIGHT / frequency_hz;
        self.surfaces = surfaces.map(|slab| SlabResponse::new(&slab, frequency_hz));
        let first = |face| self.surfaces.iter().position(|slab| *slab == self.surfaces[face]).unwrap_or(face);
        self.same_slab = std::array::from_fn(first);
        self.box_slabs.clear();
        self.box_slabs.extend(boxes.iter().map(|(_, slab)| SlabResponse::new(slab, frequency_hz)));
        Ok(())
    }

    /// Which paths are looked for.
    #[must_use]
    pub fn options(&self) -> &TraceOptions {
        &self.options
    }

    /// The geometry: the room and the boxes.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Wavelength of the carrier, metres.
    #[must_use]
    pub fn wavelength(&self) -> f64 {
        self.wavelength
    }

    /// The slab behind a surface; `None` for a box that is not in this world.
    #[must_use]
    pub fn slab(&self, surface: Surface) -> Option<&SlabResponse> {
        match surface {
            Surface::Room(face) => Some(&self.surfaces[face as usize]),
            Surface::Box { index, .. } => self.box_slabs.get(index as usize),
        }
    }

    /// All paths, the direct one first, then by delay.
    ///
    /// # Errors
    /// If TX or RX is outside the room or inside a box, or both are at one point.
    pub fn trace(&self, tx: &Point3<f64>, rx: &Point3<f64>) -> Result<Vec<Path>, TraceError> {
        let mut paths = Vec::with_capacity(16);
        self.trace_into(tx, rx, &mut paths)?;
        paths.sort_by(|a, b| a.geometry.listing_order(&b.geometry));
        Ok(paths)
    }

    /// All paths into the caller's buffer, which is cleared first, in the order of [`World::visit`]; says what was left
    /// out. Allocates nothing once the buffer has grown.
    ///
    /// # Errors
    /// As for [`Tracer::trace`].
    pub fn trace_into(&self, tx: &Point3<f64>, rx: &Point3<f64>, paths: &mut Vec<Path>) -> Result<LeftOut, TraceError> {
        paths.clear();
        self.check_link(tx, rx)?;
        let left_out = self.world.visit(tx, rx, &self.options, |geometry| {
            paths.push(Path { geometry: *geometry, coefficient: Complex64::ZERO });
        });
        self.work_out(paths);
        Ok(left_out)
    }

    /// The geometry of all paths, without coefficients, in the order of [`Tracer::trace_into`].
    ///
    /// # Errors
    /// As for [`Tracer::trace`].
    pub fn geometry_into(
        &self,
        tx: &Point3<f64>,
        rx: &Point3<f64>,
        paths: &mut Vec<PathGeometry>,
    ) -> Result<LeftOut, TraceError> {
        paths.clear();
        self.check_link(tx, rx)?;
        Ok(self.world.visit(tx, rx, &self.options, |geometry| paths.push(*geometry)))
    }

    /// The coefficient of a path of this world with this world's materials.
    #[must_use]
    pub fn coefficient(&self, geometry: &PathGeometry) -> Complex64 {
        self.spread(geometry) * self.world.response(geometry, |surface| self.slab(surface))
    }

    /// What free space makes of a path: `lambda / (4 pi length)`.
    pub(crate) fn spread(&self, geometry: &PathGeometry) -> f64 {
        self.wavelength / (4.0 * PI * geometry.length)
    }

    /// Whether a device may stand here.
    ///
    /// # Errors
    /// If the point is not strictly inside the room or is inside a box.
    pub fn check_device(&self, device: Device, position: &Point3<f64>) -> Result<(), TraceError> {
        let room = self.world.room();
        if !room.contains(position) {
            return Err(TraceError::OutsideRoom { device, position: *position, bounds: room.bounds() });
        }
        match self.world.box_around(position) {
            Some(index) => Err(TraceError::InsideBox { device, position: *position, index }),
            None => Ok(()),
        }
    }

    fn check_link(&self, tx: &Point3<f64>, rx: &Point3<f64>) -> Result<(), TraceError> {
        self.check_device(Device::Tx, tx)?;
        self.check_device(Device::Rx, rx)?;
        if (rx - tx).norm() == 0.0 { Err(TraceError::SamePoint(*tx)) } else { Ok(()) }
    }
}

fn check(surfaces: &[Slab; 6], boxes: &[(BoxShape, Slab)], frequency_hz: f64) -> Result<(), TraceError> {
    if !(frequency_hz.is_finite() && frequency_hz > 0.0) {
        return Err(TraceError::Frequency(frequency_hz));
    }
    let sound = |slab: &Slab| {
        slab.eps_r.is_finite()
            && slab.sigma.is_finite()
            && slab.sigma >= 0.0
            && slab.thickness.is_finite()
            && slab.thickness > 0.0
            && slab.reflection_gain.is_finite()
            && slab.reflection_gain >= 0.0
    };
    for (face, slab) in Face::ALL.into_iter().zip(surfaces) {
        if !sound(slab) {
            return Err(TraceError::Slab { surface: Surface::Room(face).to_string(), slab: *slab });
        }
    }
    for (index, (shape, slab)) in boxes.iter().enumerate() {
        let finite = shape.center.iter().all(|c| c.is_finite()) && shape.yaw.is_finite();
        if !finite || !shape.size.iter().all(|s| s.is_finite() && *s > 0.0) {
            return Err(TraceError::Shape { index, shape: *shape });
        }
        if !sound(slab) {
            return Err(TraceError::Slab { surface: format!("box{index}"), slab: *slab });
        }
    }
    Ok(())
}
