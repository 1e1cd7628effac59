//! The posterior of a link that is being looked at.

use std::sync::{Arc, Mutex, PoisonError};

use magnetar_posterior::{Layout, RowNumber, ScoreRow, Scorer, Support, SupportSize, Twin, Volume};
use magnetar_scene::{Pose, ResolvedScene, Scene, Slab};
use magnetar_signal::{Arrival, Arrivals, Observation};
use magnetar_study::{SceneDevices, ScorerSettings, scene_twin};

use crate::error::ReportError;
use crate::simulator::LinkSettings;

/// A TX on the wall or on the RX is left out of the candidates; these only keep the model's numbers sound, metres.
const MARGIN_M: f64 = 0.02;

/// Scores links: with one scorer for all of them, or with twins that know each scene's materials.
pub struct LinkScorer(Kind);

enum Kind {
    Fixed(Arc<dyn Scorer>),
    Scene(Box<SceneTwins>),
}

/// Twins of scenes.
struct SceneTwins {
    settings: ScorerSettings,
    /// The twin of the last scene's materials.
    last: Mutex<Option<(Key, Twin)>>,
}

/// What the tables depend on.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    surfaces: [Slab; 6],
    box_slabs: Vec<Slab>,
    tx_height_m: f64,
}

/// A link to be scored.
pub(crate) struct LinkToScore<'a> {
    /// The row it is, if it is one as stored.
    pub number: Option<RowNumber<'a>>,
    /// The world; of a scene's twin, materials included.
    pub scene: &'a Scene,
    /// Height of the TX, metres in the global frame.
    pub tx_height_m: f64,
    /// The RX.
    pub rx: &'a Pose,
    /// The arrivals, strongest first.
    pub found: &'a [Arrival],
    /// The observation, if there is one.
    pub observation: Option<&'a Observation>,
}

/// A link's posterior.
pub(crate) struct LinkPosterior {
    /// The candidates.
    pub support: Support,
    /// Their masses.
    pub volume: Volume,
    /// What scored it, and what it was given.
    pub caption: String,
}

impl LinkScorer {
    /// One scorer for all links, such as that of a dataset's recipe.
    #[must_use]
    pub fn fixed(scorer: Arc<dyn Scorer>) -> Self {
        Self(Kind::Fixed(scorer))
    }

    /// For scenes: twins that know the materials.
    #[must_use]
    pub fn scene_twin(settings: ScorerSettings) -> Self {
        Self(Kind::Scene(Box::new(SceneTwins { settings, last: Mutex::new(None) })))
    }

    /// The posterior over TX poses at the link's TX height.
    ///
    /// # Errors
    /// If the scene makes no sense, no candidate is left, or the scorer has nothing for this link.
    pub(crate) fn score(&self, link: &LinkToScore<'_>, settings: &LinkSettings) -> Result<LinkPosterior, ReportError> {
        let scorer = match &self.0 {
            Kind::Fixed(scorer) => Arc::clone(scorer),
            Kind::Scene(twins) => {
                let world = link.scene.resolve(&settings.materials, settings.radio.band().carrier_hz)?;
                Arc::new(twins.twin(&world, link.tx_height_m, settings)?)
            }
        };
        let boxes = link.scene.boxes.iter().map(|b| b.shape).collect();
        let layout = Layout { room: link.scene.room, boxes };
        let support = Support::centred(&link.scene.room, SupportSize::EVALUATION)?;
        let keep = settings.radio.config().sre.keep;
        let arrivals = Arrivals { keep, found: link.found.iter().take(keep).copied().collect() };
        let row = ScoreRow {
            number: link.number,
            layout: &layout,
            rx: link.rx,
            arrivals: &arrivals,
            observation: link.observation,
            support: &support,
        };
        let caption = format!("{} posterior; {}", scorer.name(), scorer.knowledge());
        let volume = scorer.score(&[row])?.pop().ok_or(magnetar_posterior::PosteriorError::NoMass)?;
        Ok(LinkPosterior { support, volume, caption })
    }
}

impl SceneTwins {
    /// The twin of a scene; the tables of the last one are kept.
    fn twin(&self, world: &ResolvedScene, tx_height_m: f64, settings: &LinkSettings) -> Result<Twin, ReportError> {
        let box_slabs = world.boxes.iter().map(|(_, slab)| *slab).collect();
        let key = Key { surfaces: world.surfaces, box_slabs, tx_height_m };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, twin)) = last.as_ref().filter(|(known, _)| *known == key) {
            return Ok(twin.clone());
        }
        let radio = &settings.radio;
        let devices = SceneDevices { radio, tx_height_m, wall_margin_m: MARGIN_M, separation_min_m: MARGIN_M };
        let twin = scene_twin(world, &devices, &self.settings)?;
        *last = Some((key, twin.clone()));
        Ok(twin)
    }
}
