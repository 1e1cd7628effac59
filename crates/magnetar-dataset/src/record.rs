//! One row, typed: everything drawn, everything true, everything estimated.

use std::borrow::Cow;
use std::sync::Arc;

use magnetar_scene::{BoxShape, Face, Pose, Room};
use magnetar_signal::{Arrivals, RfChainDraw};
use magnetar_trace::{Interaction, Interactions, LeftOut, PathKind, Surface};
use num_complex::Complex32;

use crate::layout::SetLayout;
use crate::replay::Replayed;
use crate::reported::Reported;
use crate::wave::{DeviceDirection, ReceivedWave};

/// Materials of a sample's surfaces, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Materials {
    /// The four walls; four names, -x/+x/-y/+y, where a scene's walls differ.
    pub wall: Arc<str>,
    /// The ceiling.
    pub ceiling: Arc<str>,
    /// The floor.
    pub floor: Arc<str>,
    /// The board; `None` without one.
    pub board: Option<Arc<str>>,
}

/// One true path, with the antennas applied.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordPath {
    /// The first surface met, none for the direct path; a scene's boxes come first, then the board.
    pub surface: Option<Surface>,
    /// What it meets from TX to RX, global frame; `None` where the dataset does not say (schema 1.0).
    pub interactions: Option<Interactions>,
    /// How it is received.
    pub wave: ReceivedWave,
    /// Direction of departure at the TX.
    pub aod: DeviceDirection,
}

impl RecordPath {
    /// How it travels.
    #[must_use]
    pub fn kind(&self) -> PathKind {
        match (self.surface, self.interactions.map_or(0, |list| list.transmissions())) {
            (None, _) => PathKind::Los,
            (Some(_), 0) => PathKind::Specular,
            (Some(_), _) => PathKind::Transmitted,
        }
    }

    /// Names the faces of a box (by its number) as if it were turned by half a turn.
    pub(crate) fn turn_box(&mut self, number: u32) {
        let turned = |surface: Surface| match surface {
            Surface::Box { index, face } if index == number && face.axis() < 2 => {
                let face = [Face::XMax, Face::XMin, Face::YMax, Face::YMin][face as usize];
                Surface::Box { index, face }
            }
            other => other,
        };
        self.surface = self.surface.map(turned);
        if let Some(list) = &self.interactions {
            let list: Vec<_> = list.iter().map(|met| Interaction { surface: turned(met.surface), ..*met }).collect();
            self.interactions = Interactions::new(&list);
        }
    }
}

/// What a row owes to its outing and to what no model has.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OutingRow {
    /// Number of the outing within its split: its rows share one state of the receiver.
    pub outing: u64,
    /// Level offset of the outing beyond the TX-power offset, dB.
    pub level_offset_db: f64,
    /// Arrivals that no traced path explains.
    pub unmodelled: Vec<ReceivedWave>,
}

/// One row of a dataset.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Row number within the split.
    pub index: u64,
    /// Number of the set: rows of a set share TX pose and layout.
    pub set: u64,
    /// Number of the view within its set.
    pub view: u32,
    /// The room and what stands in it.
    pub layout: SetLayout,
    /// Materials by name.
    pub materials: Materials,
    /// TX pose, global frame.
    pub tx: Pose,
    /// RX pose, global frame.
    pub rx: Pose,
    /// TX-power offset, dB.
    pub tx_power_offset_db: f64,
    /// RF-chain perturbation.
    pub rf_chain: RfChainDraw,
    /// Whether the direct path is free.
    pub los: bool,
    /// The true paths: the direct path first, then by delay.
    pub paths: Vec<RecordPath>,
    /// Paths that were found and left out, where waves go through boxes.
    pub left_out: Option<LeftOut>,
    /// The estimated arrivals, K at most, strongest first.
    pub arrivals: Arrivals,
    /// What was commanded, if the row replays a measurement campaign.
    pub replayed: Option<Replayed>,
    /// What the receiver believes about layout and pose; `None` where that is the truth. See [`Record::reported`].
    pub believed: Option<Reported>,
    /// What the row owes to its outing; `None` where the recipe has no model error.
    pub outing: Option<OutingRow>,
    /// The observation as `[bins][2]`, channel last, if it was stored and asked for.
    pub csi: Option<Vec<Complex32>>,
}

impl Record {
    /// What stands in the room as the receiver believes it: the scene's boxes, then the reported board.
    pub fn reported_standing(&self) -> impl Iterator<Item = BoxShape> + '_ {
        self.layout.boxes.iter().copied().chain(self.reported().board)
    }

    /// What the receiver believes about layout and pose: what was reported to it, or else the truth.
    #[must_use]
    pub fn reported(&self) -> Reported {
        self.believed.unwrap_or_else(|| Reported {
            room: self.layout.room,
            board: self.layout.board.map(|board| board.shape),
            rx: self.rx,
        })
    }

    /// Level of the observation against the recipe's, dB: TX-power offset and level offset of the outing.
    #[must_use]
    pub fn level_db(&self) -> f64 {
        self.tx_power_offset_db + self.outing.as_ref().map_or(0.0, |outing| outing.level_offset_db)
    }

    /// A record to be filled, column group by column group.
    pub(crate) fn blank() -> Self {
        let nowhere = Pose::new(0.0, 0.0, 0.0, 0.0);
        let unnamed = Arc::<str>::default();
        Self {
            index: 0,
            set: 0,
            view: 0,
            layout: SetLayout {
                room: Room { min: nowhere.position, max: nowhere.position },
                boxes: Vec::new(),
                board: None,
            },
            materials: Materials {
                wall: Arc::clone(&unnamed),
                ceiling: Arc::clone(&unnamed),
                floor: unnamed,
                board: None,
            },
            tx: nowhere,
            rx: nowhere,
            tx_power_offset_db: 0.0,
            rf_chain: RfChainDraw::default(),
            los: false,
            paths: Vec::new(),
            left_out: None,
            arrivals: Arrivals::default(),
            replayed: None,
            believed: None,
            outing: None,
            csi: None,
        }
    }
}

/// A surface's name in the `surface` column: `LOS`, `wall:-x`, `floor`, `ceiling`, `board:+y`, `box3:-x`. `boxes` is how
/// many the scene has; the board comes after them.
#[must_use]
pub fn surface_name(surface: Option<Surface>, boxes: usize) -> Cow<'static, str> {
    const WALLS: [&str; 6] = ["wall:-x", "wall:+x", "wall:-y", "wall:+y", "floor", "ceiling"];
    const BOARD: [&str; 6] = ["board:-x", "board:+x", "board:-y", "board:+y", "board:-z", "board:+z"];
    match surface {
        None => "LOS".into(),
        Some(Surface::Room(face)) => WALLS[face as usize].into(),
        Some(Surface::Box { index, face }) if index as usize >= boxes => BOARD[face as usize].into(),
        Some(Surface::Box { index, face }) => format!("box{index}:{face}").into(),
    }
}

/// The surface of that name (itself none for `LOS`) among so many boxes of a scene; `None` for an unknown name.
#[must_use]
pub fn surface_from_name(name: &str, boxes: usize) -> Option<Option<Surface>> {
    if let Some((index, face)) = name.strip_prefix("box").and_then(|rest| rest.split_once(':')) {
        let index: u32 = index.parse().ok().filter(|index| (*index as usize) < boxes)?;
        let face = Face::ALL.into_iter().find(|known| known.label() == face)?;
        return Some(Some(Surface::Box { index, face }));
    }
    let board = u32::try_from(boxes).ok()?;
    let boards = Face::ALL.map(|face| Some(Surface::Box { index: board, face }));
    let walls = Face::ALL.map(|face| Some(Surface::Room(face)));
    [None].into_iter().chain(walls).chain(boards).find(|surface| surface_name(*surface, boxes) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surface_names_read_back() {
        for face in Face::ALL {
            for (index, boxes) in [(0, 0), (0, 3), (2, 3), (3, 3)] {
                for surface in [None, Some(Surface::Room(face)), Some(Surface::Box { index, face })] {
                    assert_eq!(surface_from_name(&surface_name(surface, boxes), boxes), Some(surface));
                }
            }
        }
        assert_eq!(surface_name(Some(Surface::Box { index: 2, face: Face::YMax }), 2), "board:+y");
        assert_eq!(surface_name(Some(Surface::Box { index: 1, face: Face::YMax }), 2), "box1:+y");
        for unknown in ["roof", "box2:+y", "box0:up", "box:+y", "box-1:+y"] {
            assert_eq!(surface_from_name(unknown, 2), None, "{unknown}");
        }
    }
}
