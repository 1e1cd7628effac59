//! The twin posterior of a link that is being looked at.

use std::sync::{Mutex, PoisonError};

use magnetar_dataset::Recipe;
use magnetar_posterior::{
    Layout, RoomSlabs, Support, SupportSize, TwinFile, TwinModel, TwinParameters, TwinScorer, Volume,
};
use magnetar_scene::{Face, Pose, ResolvedScene, Scene, Slab};
use magnetar_signal::{Arrival, Arrivals, RadioConfig};
use magnetar_study::{known_split, twin_model};

use crate::error::ReportError;
use crate::simulator::LinkSettings;

/// A TX on the wall or on the RX is left out of the candidates; these only keep the model's numbers sound, metres.
const MARGIN_M: f64 = 0.02;

/// Scores links. Of a scene, the receiver knows the materials; of a dataset, only what the recipe lets it know.
pub struct Twin {
    parameters: TwinParameters,
    /// The recipe's scorer.
    recipe: Option<TwinScorer>,
    /// What the receiver is assumed to know.
    knowledge: String,
    /// The tables of the last scene's materials.
    last: Mutex<Option<(Key, TwinScorer)>>,
}

/// What the tables depend on.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    slabs: [Slab; 4],
    tx_height_m: f64,
}

impl Twin {
    /// For scenes, with the shipped parameters.
    ///
    /// # Errors
    /// If they cannot be read, which a test excludes.
    pub fn shipped() -> Result<Self, ReportError> {
        let knowledge = "twin posterior; layout and materials known".to_owned();
        Ok(Self { parameters: TwinFile::shipped()?.parameters, recipe: None, knowledge, last: Mutex::new(None) })
    }

    /// For rows of a recipe, with the shipped parameters: the same scorer that evaluates its splits.
    ///
    /// # Errors
    /// If the recipe names a pattern or material that is not there.
    pub fn of_recipe(recipe: &Recipe) -> Result<Self, ReportError> {
        let parameters = TwinFile::shipped()?.parameters;
        let model = twin_model(recipe)?;
        let scorer = TwinScorer::new(model, parameters)?;
        let knowledge = match known_split(recipe) {
            Some("train") | None => "twin posterior; materials known only as those of the training split".to_owned(),
            Some(split) => format!("twin posterior; materials known as those of split {split}"),
        };
        Ok(Self { parameters, recipe: Some(scorer), knowledge, last: Mutex::new(None) })
    }

    /// What the receiver is assumed to know, in a few words.
    #[must_use]
    pub fn knowledge(&self) -> &str {
        &self.knowledge
    }

    /// The recipe's scorer, if there is one.
    #[must_use]
    pub fn recipe_scorer(&self) -> Option<&TwinScorer> {
        self.recipe.as_ref()
    }

    /// The posterior over TX poses at the height `tx_height_m`, given the scene and its materials.
    ///
    /// # Errors
    /// If the scene makes no sense or no candidate is left.
    pub fn score(
        &self,
        scene: &Scene,
        tx_height_m: f64,
        rx: &Pose,
        found: &[Arrival],
        settings: &LinkSettings,
    ) -> Result<(Support, Volume), ReportError> {
        let scorer = match &self.recipe {
            Some(scorer) => scorer.clone(),
            None => {
                let world = scene.resolve(&settings.materials, settings.radio.band().carrier_hz)?;
                self.scorer(&world, tx_height_m, settings)?
            }
        };
        let layout = Layout { room: scene.room, boxes: scene.boxes.iter().map(|b| b.shape).collect() };
        let support = Support::centred(&scene.room, SupportSize::EVALUATION)?;
        let keep = settings.radio.config().sre.keep;
        let arrivals = Arrivals { keep, found: found.iter().take(keep).copied().collect() };
        let volume = scorer.score(&layout, rx, &arrivals, &support)?;
        Ok((support, volume))
    }

    fn scorer(
        &self,
        world: &ResolvedScene,
        tx_height_m: f64,
        settings: &LinkSettings,
    ) -> Result<TwinScorer, ReportError> {
        let surface = |face: Face| world.surfaces[face as usize];
        let (wall, ceiling, floor) = (surface(Face::XMin), surface(Face::ZMax), surface(Face::ZMin));
        let board = world.boxes.first().map_or(wall, |(_, slab)| *slab);
        let key = Key { slabs: [wall, ceiling, floor, board], tx_height_m };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, scorer)) = last.as_ref().filter(|(known, _)| *known == key) {
            return Ok(scorer.clone());
        }
        let radio = &settings.radio;
        let RadioConfig { band, array, link, .. } = radio.config();
        let model = TwinModel {
            carrier_hz: band.carrier_hz,
            bandwidth_hz: band.bandwidth_hz,
            bins: band.bins,
            spacing_m: array.spacing_m,
            tx_pattern: radio.tx_pattern().clone(),
            rx_patterns: radio.rx_patterns().clone(),
            snr_at_one_metre_db: radio.snr_at_one_metre_db(),
            power_offset_max_db: link.tx_power_offset_max_db,
            threshold_db: radio.detection_threshold_db(),
            tx_height_m,
            wall_margin_m: MARGIN_M,
            separation_min_m: MARGIN_M,
            assignments: vec![RoomSlabs { wall, ceiling, floor }],
            box_slab: board,
        };
        let scorer = TwinScorer::new(model, self.parameters)?;
        *last = Some((key, scorer.clone()));
        Ok(scorer)
    }
}
