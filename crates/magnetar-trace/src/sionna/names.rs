//! How an export names objects and paths, read and written.

use magnetar_scene::Face;

use super::error::excerpt;
use crate::{Interaction, InteractionKind, Interactions, Surface};

/// What boxes are to the waves of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoxMode {
    /// Opaque boxes.
    Opaque,
    /// Sheets at the boxes' mid-planes that let waves through.
    Through,
}

/// The objects of a case, as its paths name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectNames {
    /// What boxes are to the waves.
    pub mode: BoxMode,
    /// Whether the first box is the board.
    pub has_board: bool,
    /// How many boxes there are besides it.
    pub boxes: usize,
}

impl ObjectNames {
    /// The surface of a label; none for `LOS`.
    pub(super) fn surface(&self, label: &str) -> Result<Option<Surface>, String> {
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
        let (object, face) = match (label.split_once(':'), self.mode) {
            (Some(parts), _) => parts,
            // A box that lets waves through is one sheet, which has no faces.
            (None, BoxMode::Through) => (label, Face::XMin.label()),
            (None, BoxMode::Opaque) => return Err(unknown()),
        };
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

    /// The name of a path in this export: `LOS`, or the objects it meets joined by a space.
    #[must_use]
    pub fn path(&self, interactions: &Interactions) -> String {
        if interactions.is_empty() {
            return "LOS".to_owned();
        }
        interactions.iter().map(|met| self.label(met)).collect::<Vec<_>>().join(" ")
    }

    /// The name of an object in this export: `board:-y` for the board, otherwise as [`Surface`] displays it, with the
    /// boxes numbered as in the export's `boxes`; where boxes are sheets, without a face and with what the wave does.
    fn label(&self, met: &Interaction) -> String {
        let (name, face) = match met.surface {
            Surface::Room(_) => return met.surface.to_string(),
            Surface::Box { index: 0, face } if self.has_board => ("board".to_owned(), face),
            Surface::Box { index, face } => (format!("box{}", index - u32::from(self.has_board)), face),
        };
        match (self.mode, met.kind) {
            (BoxMode::Opaque, _) => format!("{name}:{face}"),
            (BoxMode::Through, InteractionKind::Transmission) => format!("through:{name}"),
            (BoxMode::Through, InteractionKind::Reflection) => name,
        }
    }

    /// Whether two lists name the same objects in the same order.
    #[must_use]
    pub fn same_objects(&self, a: &Interactions, b: &Interactions) -> bool {
        let same = |a: &Interaction, b: &Interaction| match (a.surface, b.surface, self.mode) {
            (Surface::Box { index: a, .. }, Surface::Box { index: b, .. }, BoxMode::Through) => a == b,
            (a, b, _) => a == b,
        };
        a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.kind == b.kind && same(a, b))
    }
}
