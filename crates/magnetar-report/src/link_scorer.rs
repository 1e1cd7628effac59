//! The posterior of a link that is being looked at.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use magnetar_dataset::Recipe;
use magnetar_posterior::{
    Knowledge, Layout, Location, ReportedErrors, RowNumber, ScoreRow, Scorer, Snapshot, Support, SupportSize, Twin,
    Volume,
};
use magnetar_scene::{Pose, ResolvedScene, Scene, Slab};
use magnetar_signal::{Arrival, Arrivals, Observation};
use magnetar_study::{SceneDevices, ScorerSettings, scene_twin};

use crate::error::ReportError;
use crate::simulator::LinkSettings;

/// Name of the twin.
pub(crate) const TWIN: &str = "twin";

/// Margins for a TX that stands closer to a wall or the RX than recipes let it: they only keep the model's numbers sound,
/// metres.
const CLOSE_M: f64 = 0.02;

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
    margins_m: [f64; 2],
}

/// A link and what its receiver found.
pub(crate) struct ObservedLink<'a> {
    /// The row it is, if it is one as stored.
    pub number: Option<RowNumber<'a>>,
    /// The world; materials count for a scene's twin.
    pub scene: &'a Scene,
    /// The TX; to a scorer, its height is known, and that candidates must include it.
    pub tx: &'a Pose,
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

/// What a scorer was given, in words, its numbers rounded for people.
#[must_use]
pub fn knowledge_in_words(scorer: &dyn Scorer) -> String {
    let round = |value: f64| {
        let digits = if value > 0.0 { 1 - value.log10().floor() as i32 } else { 0 };
        let unit = 10f64.powi(digits.clamp(0, 9));
        (value * unit).round() / unit
    };
    let known = scorer.knowledge();
    let reported = known.reported.map(|errors| ReportedErrors {
        heading_deg: round(errors.heading_deg),
        position_m: round(errors.position_m),
        map_m: round(errors.map_m),
    });
    Knowledge { reported, ..known }.to_string().replace("+-", "\u{b1}")
}

/// Margins that recipes keep a TX from walls and from the RX, or closer ones where it stands closer: `locate` has those
/// of recipe `paper`.
pub(crate) fn margins_m(scene: &Scene, tx: &Pose, receivers: &[Pose]) -> [f64; 2] {
    let [wall_margin, separation] = usual_margins_m();
    let [x0, x1, y0, y1, ..] = scene.room.bounds();
    let p = tx.position;
    let wall = (p.x - x0).min(x1 - p.x).min(p.y - y0).min(y1 - p.y);
    let apart =
        receivers.iter().map(|rx| (p.x - rx.position.x).hypot(p.y - rx.position.y)).fold(f64::INFINITY, f64::min);
    let usual = |margin: f64, distance: f64| if distance >= margin { margin } else { CLOSE_M };
    [usual(wall_margin, wall), usual(separation, apart)]
}

/// Margins of recipe `paper`: from walls, and from the RX.
pub(crate) fn usual_margins_m() -> [f64; 2] {
    static MARGINS_M: LazyLock<[f64; 2]> = LazyLock::new(|| {
        let devices = Recipe::paper().devices;
        [devices.wall_margin_m, devices.separation_min_m]
    });
    *MARGINS_M
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

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.0 {
            Kind::Fixed(scorer) => scorer.name(),
            Kind::Scene(_) => TWIN,
        }
    }

    /// The scorer of a scene, for a TX and receivers in it.
    fn scorer(
        &self,
        scene: &Scene,
        tx: &Pose,
        receivers: &[Pose],
        settings: &LinkSettings,
    ) -> Result<Arc<dyn Scorer>, ReportError> {
        Ok(match &self.0 {
            Kind::Fixed(scorer) => Arc::clone(scorer),
            Kind::Scene(twins) => {
                let world = scene.resolve(&settings.materials, settings.radio.band().carrier_hz)?;
                Arc::new(twins.twin(&world, tx.position.z, margins_m(scene, tx, receivers), settings)?)
            }
        })
    }

    /// The posterior of several snapshots of one TX, fused: one heading must explain all of them.
    ///
    /// # Errors
    /// As [`LinkScorer::score`], and if the snapshots exclude one another.
    pub(crate) fn fuse(
        &self,
        scene: &Scene,
        tx: &Pose,
        snapshots: &[Snapshot],
        settings: &LinkSettings,
    ) -> Result<LinkPosterior, ReportError> {
        let receivers: Vec<Pose> = snapshots.iter().map(|snapshot| snapshot.rx).collect();
        let scorer = self.scorer(scene, tx, &receivers, settings)?;
        let location = Location::new(&layout(scene), snapshots, &*scorer, SupportSize::EVALUATION)?;
        let agreement = location.kappa().map_or_else(String::new, |kappa| {
            format!(", one heading explains all (\u{3ba} {})", crate::ticks::number(kappa, 2))
        });
        let caption = format!(
            "{} posterior of {} views, fused late{agreement}; {}",
            scorer.name(),
            snapshots.len(),
            knowledge_in_words(&*scorer)
        );
        Ok(LinkPosterior { support: location.support, volume: location.joint, caption })
    }

    /// The posterior over TX poses at the link's TX height.
    ///
    /// # Errors
    /// If the scene makes no sense, no candidate is left, or the scorer has nothing for this link.
    pub(crate) fn score(&self, link: &ObservedLink<'_>, settings: &LinkSettings) -> Result<LinkPosterior, ReportError> {
        let scorer = self.scorer(link.scene, link.tx, &[*link.rx], settings)?;
        let layout = layout(link.scene);
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
        let caption = format!("{} posterior; {}", scorer.name(), knowledge_in_words(&*scorer));
        let volume = scorer.score(&[row])?.pop().ok_or(magnetar_posterior::PosteriorError::NoMass)?;
        Ok(LinkPosterior { support, volume, caption })
    }
}

/// What stands where.
fn layout(scene: &Scene) -> Layout {
    Layout { room: scene.room, boxes: scene.boxes.iter().map(|b| b.shape).collect() }
}

impl SceneTwins {
    /// The twin of a scene; the tables of the last one are kept.
    fn twin(
        &self,
        world: &ResolvedScene,
        tx_height_m: f64,
        margins_m: [f64; 2],
        settings: &LinkSettings,
    ) -> Result<Twin, ReportError> {
        let box_slabs = world.boxes.iter().map(|(_, slab)| *slab).collect();
        let key = Key { surfaces: world.surfaces, box_slabs, tx_height_m, margins_m };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, twin)) = last.as_ref().filter(|(known, _)| *known == key) {
            return Ok(twin.clone());
        }
        let radio = &settings.radio;
        let [wall_margin_m, separation_min_m] = margins_m;
        let devices = SceneDevices { radio, tx_height_m, wall_margin_m, separation_min_m };
        let twin = scene_twin(world, &devices, &self.settings)?;
        *last = Some((key, twin.clone()));
        Ok(twin)
    }
}
