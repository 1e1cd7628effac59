//! A checked export: every value finite, in range and ready to be traced.

use std::collections::HashSet;
use std::f64::consts::{PI, TAU};

use magnetar_scene::{BoxShape, Face, Room, SPEED_OF_LIGHT, Slab, wrap};
use nalgebra::{Point3, Vector3};
use num_complex::Complex64;

use super::error::{Problem, excerpt};
use super::schema::{RawCase, RawExport, RawKind, RawMaterial, RawMaterials, RawPath};
use crate::{Interaction, Interactions, Surface};

/// Lengths beyond this are a mistake, and would cost the tracer its precision. Metres.
const LONGEST_M: f64 = 1e6;
/// float32 rounds pi up, and some tools wrap azimuths to [0, 2 pi).
const ANGLE_SLACK: f64 = 1e-6;

/// A direction as Sionna RT gives it, global frame, radians.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Direction {
    /// Zenith angle, 0 is up.
    pub theta: f64,
    /// Azimuth, counter-clockwise from +x.
    pub phi: f64,
}

impl Direction {
    /// The unit vector.
    #[must_use]
    pub fn unit(&self) -> Vector3<f64> {
        let (sin_theta, cos_theta) = self.theta.sin_cos();
        let (sin_phi, cos_phi) = self.phi.sin_cos();
        Vector3::new(sin_theta * cos_phi, sin_theta * sin_phi, cos_theta)
    }
}

/// A path as the export gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReferencePath {
    /// What it meets, from TX to RX; box numbers as in [`Case::boxes`].
    pub interactions: Interactions,
    /// Propagation delay, seconds.
    pub delay: f64,
    /// Passband coefficient between vertically polarised isotropic antennas.
    pub coefficient: Complex64,
    /// Direction leaving the TX.
    pub departure: Direction,
    /// Direction from the RX back towards the last vertex (or the TX).
    pub arrival: Direction,
}

/// One link in one room, with the paths found there.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Its name in the export.
    pub id: String,
    /// The room.
    pub room: Room,
    /// The room's surfaces, in the order of [`Face::ALL`].
    pub surfaces: [Slab; 6],
    /// The boxes in it; the board, if there is one, comes first.
    pub boxes: Vec<(BoxShape, Slab)>,
    /// Whether the first box is the board.
    pub has_board: bool,
    /// TX position, metres.
    pub tx: Point3<f64>,
    /// RX position, metres.
    pub rx: Point3<f64>,
    /// The reference paths.
    pub paths: Vec<ReferencePath>,
}

/// The cases of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Export {
    /// Carrier frequency of all cases, Hz.
    pub frequency_hz: f64,
    /// The cases; never empty, their ids all different.
    pub cases: Vec<Case>,
    /// What was odd but harmless.
    pub warnings: Vec<String>,
}

impl Case {
    /// The name of a path in this export: `LOS`, or the surfaces it meets joined by a space.
    #[must_use]
    pub fn path_name(&self, interactions: &Interactions) -> String {
        match interactions.is_empty() {
            true => "LOS".to_owned(),
            false => interactions.surfaces().map(|surface| self.label(surface)).collect::<Vec<_>>().join(" "),
        }
    }

    /// The name of a surface in this export: `board:-y` for the board, otherwise as [`Surface`] displays it, with the
    /// boxes numbered as in the export's `boxes`.
    fn label(&self, surface: Surface) -> String {
        match surface {
            Surface::Box { index: 0, face } if self.has_board => format!("board:{face}"),
            Surface::Box { index, face } => format!("box{}:{face}", index - u32::from(self.has_board)),
            other => other.to_string(),
        }
    }

    pub(super) fn check(raw: RawCase) -> Result<Self, Problem> {
        let room = in_range("room", &raw.room).and_then(|()| {
            Room::from_bounds(raw.room).ok_or_else(|| {
                let expected =
                    "expected [xmin, xmax, ymin, ymax, zmin, zmax] in metres, each minimum below its maximum";
                Problem::new("room", format!("{:?} is not a room; {expected}", raw.room))
            })
        })?;
        let (surfaces, board_slab) = check_materials(raw.materials)?;
        let mut boxes = Vec::with_capacity(raw.boxes.len() + 1);
        if let Some(board) = &raw.board {
            let shape = check_shape(board.center, board.size, board.yaw_deg).map_err(|p| p.under("board"))?;
            let slab = board_slab
                .ok_or_else(|| Problem::new("materials.board", "is missing; a case with a board needs its material"))?;
            boxes.push((shape, slab));
        }
        for (i, item) in raw.boxes.iter().enumerate() {
            let outer = format!("boxes[{i}]");
            let shape = check_shape(item.center, item.size, item.yaw_deg).map_err(|p| p.under(&outer))?;
            let slab = check_slab(&item.material).map_err(|p| p.under("material").under(&outer))?;
            boxes.push((shape, slab));
        }
        let names = Names { has_board: raw.board.is_some(), boxes: raw.boxes.len() };
        let mut paths = Vec::with_capacity(raw.paths.len());
        let mut seen = HashSet::new();
        for (i, path) in raw.paths.iter().enumerate() {
            let outer = format!("paths[{i}]");
            let path = check_path(path, &names).map_err(|p| p.under(&outer))?;
            if !seen.insert(path.interactions.surfaces().next()) {
                let message = format!(
                    "{} appears twice; each object gives at most one first-order path",
                    excerpt(&raw.paths[i].object)
                );
                return Err(Problem::new(format!("{outer}.object"), message));
            }
            paths.push(path);
        }
        in_range("tx", &raw.tx)?;
        in_range("rx", &raw.rx)?;
        Ok(Self {
            id: raw.id,
            room,
            surfaces,
            boxes,
            has_board: raw.board.is_some(),
            tx: raw.tx.into(),
            rx: raw.rx.into(),
            paths,
        })
    }
}

/// Checks the values of the top level; the cases are checked one by one by the caller.
pub(super) fn check_top(raw: &RawExport) -> Result<(), Problem> {
    let frequency = raw.frequency_hz;
    if !(1e6..=1e12).contains(&frequency) {
        let message = format!("{frequency} is not a carrier frequency; expected 1e6 to 1e12 Hz");
        return Err(Problem::new("frequency_hz", message));
    }
    if let Some(wavelength) = raw.wavelength_m {
        let expected = SPEED_OF_LIGHT / frequency;
        // Sionna keeps the wavelength in float32.
        if (wavelength / expected - 1.0).abs() > 1e-6 {
            let message =
                format!("{wavelength} does not belong to frequency_hz; expected {expected} m, or leave it out");
            return Err(Problem::new("wavelength_m", message));
        }
    }
    if raw.cases.is_empty() {
        return Err(Problem::new("cases", "the list is empty; expected at least one case"));
    }
    Ok(())
}

fn in_range(key: &str, metres: &[f64]) -> Result<(), Problem> {
    match metres.iter().find(|value| !(-LONGEST_M..=LONGEST_M).contains(*value)) {
        None => Ok(()),
        Some(value) => Err(Problem::new(key, format!("{value} is out of range; expected metres within +-{LONGEST_M}"))),
    }
}

fn check_shape(center: [f64; 3], size: [f64; 3], yaw_deg: f64) -> Result<BoxShape, Problem> {
    in_range("center", &center)?;
    in_range("size", &size)?;
    if let Some(side) = size.iter().find(|side| **side <= 0.0) {
        return Err(Problem::new("size", format!("{side} is not a size; expected three lengths above 0 m")));
    }
    if yaw_deg.abs() > 3600.0 {
        return Err(Problem::new("yaw_deg", format!("{yaw_deg} is out of range; expected degrees")));
    }
    Ok(BoxShape { center: center.into(), size: size.into(), yaw: wrap(yaw_deg.to_radians()) })
}

fn check_materials(raw: RawMaterials) -> Result<([Slab; 6], Option<Slab>), Problem> {
    let slab = |key: &str, material: &RawMaterial| check_slab(material).map_err(|p| p.under(key).under("materials"));
    let wall = raw.wall.as_ref().map(|wall| slab("wall", wall)).transpose()?;
    let side = |face: Face, own: &Option<RawMaterial>| match (own, wall) {
        (Some(own), _) => slab(&format!("wall:{face}"), own),
        (None, Some(wall)) => Ok(wall),
        (None, None) => {
            Err(Problem::new("materials", format!("has neither `wall` nor `wall:{face}`; give one of them")))
        }
    };
    let surfaces = [
        side(Face::XMin, &raw.wall_x_min)?,
        side(Face::XMax, &raw.wall_x_max)?,
        side(Face::YMin, &raw.wall_y_min)?,
        side(Face::YMax, &raw.wall_y_max)?,
        slab("floor", &raw.floor)?,
        slab("ceiling", &raw.ceiling)?,
    ];
    let board = raw.board.as_ref().map(|board| slab("board", board)).transpose()?;
    Ok((surfaces, board))
}

fn check_slab(raw: &RawMaterial) -> Result<Slab, Problem> {
    let value = |key: &str, value: f64, low: f64, high: f64, unit: &str| {
        if (low..=high).contains(&value) {
            Ok(value)
        } else {
            Err(Problem::new(key, format!("{value} is out of range; expected {low} to {high}{unit}")))
        }
    };
    Ok(Slab {
        eps_r: value("eps_r", raw.eps_r, 1.0, 1e6, "")?,
        sigma: value("sigma", raw.sigma, 0.0, 1e9, " S/m")?,
        thickness: value("thickness", raw.thickness, 1e-9, 1e3, " m")?,
    })
}

fn check_path(raw: &RawPath, names: &Names) -> Result<ReferencePath, Problem> {
    let surface = names.surface(&raw.object).map_err(|message| Problem::new("object", message))?;
    if surface.is_none() != (raw.kind == RawKind::Los) {
        let message = format!("{} does not go with this type; `LOS` goes with `LOS` alone", excerpt(&raw.object));
        return Err(Problem::new("object", message));
    }
    let interactions = match (surface, raw.vertices.as_slice()) {
        (None, []) => Interactions::NONE,
        (None, _) => return Err(Problem::new("vertices", "a LOS path has none; expected []")),
        (Some(surface), [vertex]) => {
            in_range("vertices[0]", vertex)?;
            Interactions::single(Interaction::reflection(surface, (*vertex).into()))
        }
        (Some(_), list) => {
            let message =
                format!("a first-order specular path has one vertex, not {}; export with max_depth = 1", list.len());
            return Err(Problem::new("vertices", message));
        }
    };
    if !(raw.tau > 0.0 && raw.tau * SPEED_OF_LIGHT <= 4.0 * LONGEST_M) {
        return Err(Problem::new("tau", format!("{} is not a delay; expected seconds, above 0", raw.tau)));
    }
    if let Some(part) = raw.a.iter().find(|part| !(-1e6..=1e6).contains(*part)) {
        return Err(Problem::new("a", format!("{part} is out of range; expected [re, im], linear scale")));
    }
    Ok(ReferencePath {
        interactions,
        delay: raw.tau,
        coefficient: Complex64::new(raw.a[0], raw.a[1]),
        departure: direction("theta_t", raw.theta_t, "phi_t", raw.phi_t)?,
        arrival: direction("theta_r", raw.theta_r, "phi_r", raw.phi_r)?,
    })
}

fn direction(theta_key: &str, theta: f64, phi_key: &str, phi: f64) -> Result<Direction, Problem> {
    if !(-ANGLE_SLACK..=PI + ANGLE_SLACK).contains(&theta) {
        let message = format!("{theta} is not a zenith angle; expected radians in [0, pi]");
        return Err(Problem::new(theta_key, message));
    }
    if !(-PI - ANGLE_SLACK..=TAU + ANGLE_SLACK).contains(&phi) {
        let message = format!("{phi} is not an azimuth; expected radians in [-pi, pi]");
        return Err(Problem::new(phi_key, message));
    }
    Ok(Direction { theta, phi })
}

/// The object labels a case may use.
struct Names {
    has_board: bool,
    boxes: usize,
}

impl Names {
    /// The surface of a label; none for `LOS`.
    fn surface(&self, label: &str) -> Result<Option<Surface>, String> {
        let unknown = || {
            let label = excerpt(label);
            format!(
                "unknown label `{label}`; expected LOS, wall:-x, wall:+x, wall:-y, wall:+y, floor, ceiling, board:-x ... board:+z or box0:-x ..."
            )
        };
        match label {
            "LOS" => return Ok(None),
            "floor" => return Ok(Some(Surface::Room(Face::ZMin))),
            "ceiling" => return Ok(Some(Surface::Room(Face::ZMax))),
            _ => {}
        }
        let (object, face) = label.split_once(':').ok_or_else(unknown)?;
        let face = Face::ALL.into_iter().find(|f| f.label() == face).ok_or_else(unknown)?;
        match object {
            "wall" if face.axis() < 2 => Ok(Some(Surface::Room(face))),
            "board" if self.has_board => Ok(Some(Surface::Box { index: 0, face })),
            "board" => Err("names the board, but `board` of this case is null".to_owned()),
            _ => {
                let digits = object.strip_prefix("box").ok_or_else(unknown)?;
                let index: u32 = digits.parse().map_err(|_| unknown())?;
                if index as usize >= self.boxes {
                    return Err(format!("names box {index}, but `boxes` of this case has {} items", self.boxes));
                }
                Ok(Some(Surface::Box { index: index + u32::from(self.has_board), face }))
            }
        }
    }
}
