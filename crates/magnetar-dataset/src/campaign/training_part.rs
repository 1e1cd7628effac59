//! The part of a campaign that is set apart to learn from.

use std::collections::BTreeMap;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use serde::Deserialize;

use super::Recording;
use super::opened::Opened;
use crate::recipe::is_split_name;

/// Rows without a board that are set apart to learn from: those of whole sites, so that what is learned from and what is scored
/// have no place of the RX in common, but for rows with a board.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingPart {
    /// The split they become.
    #[serde(default = "train_split")]
    pub split: String,
    /// At most so many.
    pub rows: u64,
    /// Seed of the order in which sites are taken.
    #[serde(default)]
    pub seed: u64,
}

fn train_split() -> String {
    "train".into()
}

/// Where a set of views was taken: protocol and number of the site, or the RX's place in millimetres where it has no number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Site {
    Number(Option<String>, u32),
    Place(i64, i64),
}

impl TrainingPart {
    pub(super) fn check(&self, recordings: &[Recording]) -> Result<(), String> {
        if !is_split_name(&self.split) {
            return Err(format!("training.split = {:?}; expected a name of letters, digits, - and _", self.split));
        }
        if recordings.iter().any(|recording| recording.split == self.split) {
            return Err(format!("training.split = {:?} is that of a recording; give it another name", self.split));
        }
        if self.rows == 0 {
            return Err("training.rows = 0; expected at least one, or no [training]".into());
        }
        if recordings.iter().any(|recording| recording.views != recordings[0].views) {
            return Err("[training] needs recordings that agree in views".into());
        }
        Ok(())
    }

    /// Gives rows their split: sites in an order drawn with the seed, each as long as it fits.
    pub(super) fn set_apart<'a>(&'a self, recordings: &mut [Opened<'a>]) -> Result<(), String> {
        let mut sites: BTreeMap<Site, Vec<(usize, usize)>> = BTreeMap::new();
        for (n, opened) in recordings.iter().enumerate() {
            for (set, rows) in opened.rows.chunks(opened.recording.views as usize).enumerate() {
                let row = &rows[0];
                if row.placement.as_deref().is_none_or(|placement| placement == "none") {
                    let millimetres = |metres: f64| (metres * 1e3).round() as i64;
                    let place = Site::Place(millimetres(row.x), millimetres(row.y));
                    let site = row.site.map_or(place, |number| Site::Number(row.protocol.clone(), number));
                    sites.entry(site).or_default().push((n, set));
                }
            }
        }
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let mut order: Vec<(u64, Vec<(usize, usize)>)> = sites.into_values().map(|sets| (rng.random(), sets)).collect();
        order.sort();
        let mut left = self.rows;
        for (_, sets) in order {
            let rows: u64 = sets.iter().map(|(n, _)| u64::from(recordings[*n].recording.views)).sum();
            if rows > left {
                continue;
            }
            left -= rows;
            for (n, set) in sets {
                let views = recordings[n].recording.views as usize;
                recordings[n].splits[set * views..(set + 1) * views].fill(&self.split);
            }
        }
        if left == self.rows {
            return Err(format!(
                "[training] rows = {}: no site has that few rows without a board; give more, or name a split per recording",
                self.rows
            ));
        }
        Ok(())
    }
}
