//! The world of a campaign: what its rows have in common with simulated ones.

use std::sync::Arc;

use magnetar_scene::{BoxShape, Pose, ResolvedScene, Slab, wrap};
use magnetar_signal::LinkSimulator;

use super::Campaign;
use super::rows::CampaignRow;
use crate::error::DatasetError;
use crate::layout::{Board, SetLayout};
use crate::placement::Region;
use crate::recipe::{Mounting, Recipe};
use crate::record::{Materials, Record};
use crate::replay::{Protocol, Replayed};

/// What all rows of a campaign share.
pub(super) struct MeasuredWorld<'a> {
    campaign: &'a Campaign,
    scene: ResolvedScene,
    height_m: f64,
    materials: Materials,
    board_material: Arc<str>,
    board_slab: Slab,
    simulator: LinkSimulator,
    mounting: Mounting,
}

impl<'a> MeasuredWorld<'a> {
    pub(super) fn new(campaign: &'a Campaign, recipe: &Arc<Recipe>) -> Result<Self, DatasetError> {
        let nominal = recipe.nominal_scene()?.ok_or(DatasetError::NothingToGenerate)?;
        let library = recipe.materials()?;
        let scene = recipe.resolved_scene(&library)?.ok_or(DatasetError::NothingToGenerate)?;
        let [wall, ceiling, floor] = nominal.material_names().map(Arc::<str>::from);
        Ok(Self {
            campaign,
            height_m: nominal.scene.device_height,
            scene,
            materials: Materials { wall, ceiling, floor, board: None },
            board_material: recipe.surfaces.board_material.as_str().into(),
            board_slab: recipe.slabs()?.board()?,
            simulator: LinkSimulator::new(Arc::new(recipe.radio()?)),
            mounting: recipe.mounting,
        })
    }

    /// The record of a row, without arrivals and observation.
    pub(super) fn record(&mut self, row: &CampaignRow, index: u64, views: u32) -> Result<Record, String> {
        let placement = row.placement.as_deref().unwrap_or("none");
        let shape = self.campaign.board(placement).flatten();
        let room = self.scene.room;
        let height = |z: Option<f64>| z.unwrap_or(self.height_m);
        let rx = self.mounting.rx(&Pose::new(row.x, row.y, height(row.z), wrap(row.heading_deg.to_radians())));
        let truth = match (row.tx_x, row.tx_y, row.tx_heading_deg) {
            (Some(x), Some(y), Some(heading)) => {
                Some(self.mounting.tx(&Pose::new(x, y, height(row.tx_z), wrap(heading.to_radians()))))
            }
            _ => None,
        };
        let mut boxes = self.scene.boxes.clone();
        boxes.extend(shape.map(|shape| (shape, self.board_slab)));
        for (name, pose) in [("receiver", Some(&rx)), ("transmitter", truth.as_ref())] {
            let Some(p) = pose.map(|pose| pose.position) else { continue };
            if !room.contains(&p) || boxes.iter().any(|(shape, _)| shape.contains(&p)) {
                let bounds = room.bounds();
                return Err(format!(
                    "the {name} at ({}, {}, {}) m is outside the room or in a box; bounds are {bounds:?}",
                    p.x, p.y, p.z
                ));
            }
        }
        let centre = room.min + 0.5 * (room.max - room.min);
        let tx = truth.unwrap_or(Pose::new(centre.x, centre.y, self.height_m, 0.0));
        let los = match &truth {
            Some(tx) => {
                self.simulator.trace(room, &self.scene.surfaces, &boxes, tx, &rx).map_err(|e| e.to_string())?;
                self.simulator.paths().first().is_some_and(|path| path.geometry.is_line_of_sight())
            }
            None => false,
        };
        let protocol = row.protocol.as_deref().and_then(Protocol::from_label).unwrap_or_default();
        let command = row.heading_deg.to_radians().rem_euclid(std::f64::consts::TAU);
        let board = shape.map(|shape: BoxShape| Board {
            shape,
            region: if truth.is_some() && !los { Region::Across } else { Region::Beside },
        });
        Ok(Record {
            index,
            set: index / u64::from(views),
            view: u32::try_from(index % u64::from(views)).unwrap_or(0),
            layout: SetLayout {
                room,
                boxes: self.scene.boxes.iter().map(|(shape, _)| *shape).collect(),
                board: board.map(Board::seen_from_either_side),
            },
            materials: Materials { board: board.map(|_| Arc::clone(&self.board_material)), ..self.materials.clone() },
            tx,
            rx,
            los,
            replayed: Some(Replayed { protocol, placement: placement.into(), site: row.site.unwrap_or(0), command }),
            ..Record::blank()
        })
    }
}
