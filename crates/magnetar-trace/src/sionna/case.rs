//! A checked case of an export: every value finite, in range and ready to be traced.

use std::collections::HashSet;

use magnetar_scene::{BoxShape, Face, ResolvedScene, Room, Slab, wrap};
use nalgebra::Point3;

use super::error::Problem;
use super::names::{BoxMode, ObjectNames};
use super::reference::{ReferencePath, check_path};
use super::schema::{RawCase, RawMaterial, RawMaterials, RawMode, Version};
use crate::{MAX_ORDER, TraceOptions};

/// Lengths beyond this are a mistake, and would cost the tracer its precision. Metres.
pub(super) const LONGEST_M: f64 = 1e6;

/// One link in one room, with the paths found there.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Its name in the export.
    pub id: String,
    /// The room and the boxes in it; the board, if there is one, comes first.
    pub scene: ResolvedScene,
    /// What boxes are to the waves, and how paths are named.
    pub names: ObjectNames,
    /// The most interactions of a path.
    pub max_depth: usize,
    /// TX position, metres.
    pub tx: Point3<f64>,
    /// RX position, metres.
    pub rx: Point3<f64>,
    /// The reference paths.
    pub paths: Vec<ReferencePath>,
}

impl Case {
    /// How the tracer looks for the paths of this case.
    #[must_use]
    pub fn options(&self) -> TraceOptions {
        TraceOptions { max_order: self.max_depth, transmission: self.names.mode == BoxMode::Through }
    }

    pub(super) fn check(raw: RawCase, version: Version) -> Result<Self, Problem> {
        let (mode, max_depth) = check_depth(&raw, version)?;
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
        let names = ObjectNames { mode, has_board: raw.board.is_some(), boxes: raw.boxes.len() };
        let mut paths: Vec<ReferencePath> = Vec::with_capacity(raw.paths.len());
        for (i, path) in raw.paths.iter().enumerate() {
            paths.push(check_path(path, version, &names).map_err(|p| p.under(&format!("paths[{i}]")))?);
        }
        in_range("tx", &raw.tx)?;
        in_range("rx", &raw.rx)?;
        let case = Self {
            id: raw.id,
            scene: ResolvedScene { room, surfaces, boxes },
            names,
            max_depth,
            tx: raw.tx.into(),
            rx: raw.rx.into(),
            paths,
        };
        case.check_distinct(version)?;
        Ok(case)
    }

    /// A sequence of planes has at most one path.
    fn check_distinct(&self, version: Version) -> Result<(), Problem> {
        let mut names = HashSet::new();
        let key = if version == Version::V1 { "object" } else { "interactions" };
        match self.paths.iter().position(|path| !names.insert(self.names.path(&path.interactions))) {
            None => Ok(()),
            Some(i) => {
                let name = self.names.path(&self.paths[i].interactions);
                Err(Problem::new(
                    format!("paths[{i}].{key}"),
                    format!("{name} appears twice; expected one path of each"),
                ))
            }
        }
    }
}

/// Mode and depth; schema 1 has none and means first order among opaque boxes.
fn check_depth(raw: &RawCase, version: Version) -> Result<(BoxMode, usize), Problem> {
    match (version, raw.mode, raw.max_depth) {
        (Version::V1, None, None) => Ok((BoxMode::Opaque, 1)),
        (Version::V1, _, _) => Err(Problem::new("mode", "and `max_depth` belong to sionna-box-v2; change `schema`")),
        (Version::V2, Some(mode), Some(depth)) if (1..=MAX_ORDER).contains(&depth) => {
            Ok((if mode == RawMode::Opaque { BoxMode::Opaque } else { BoxMode::Through }, depth))
        }
        (Version::V2, None, _) => Err(Problem::new("mode", "is missing; expected opaque or through")),
        (Version::V2, _, depth) => {
            let found = depth.map_or_else(|| "is missing".to_owned(), |depth| format!("{depth} is out of range"));
            Err(Problem::new("max_depth", format!("{found}; expected 1 to {MAX_ORDER}")))
        }
    }
}

pub(super) fn in_range(key: &str, metres: &[f64]) -> Result<(), Problem> {
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
    Ok(Slab::new(
        value("eps_r", raw.eps_r, 1.0, 1e6, "")?,
        value("sigma", raw.sigma, 0.0, 1e9, " S/m")?,
        value("thickness", raw.thickness, 1e-9, 1e3, " m")?,
    ))
}
