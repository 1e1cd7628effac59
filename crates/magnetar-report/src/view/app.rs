//! What is viewed, and the page that shows it.

use magnetar_scene::{AntennaPattern, Pose, Scene};
use magnetar_signal::{Arrival, Observation};
use serde_json::{Value, json};

use super::command::Spoken;
use super::page::{Mode, page};
use super::protocol::{LinkState, MAX_RECEIVERS};
use super::result::LinkResult;
use super::rows::Rows;
use super::simulators::Simulators;
use crate::colormap::viridis;
use crate::corpus::row_scene;
use crate::error::ReportError;
use crate::link_scorer::LinkScorer;
use crate::simulator::Simulator;

/// What is viewed, and what computes it.
pub struct App {
    title: String,
    /// The scenes that can be shown, the one to begin with first; of a dataset, that of its first row alone.
    pub(super) scenes: Vec<Scene>,
    pub(super) start: LinkState,
    pub(super) simulators: Simulators,
    /// The scorers that can be chosen, the one to begin with first.
    pub(super) scorers: Vec<LinkScorer>,
    pub(super) rows: Option<Rows>,
    pub(super) measurement: Option<Measurement>,
    pub(super) spoken: Spoken,
    nonce: String,
}

/// A measured snapshot to be looked at.
pub struct Measurement {
    /// What it is called, such as its file.
    pub name: String,
    /// The observation, calibrated and scaled to unit noise.
    pub observation: Observation,
    /// Its arrivals, strongest first.
    pub found: Vec<Arrival>,
}

impl App {
    /// A scene with a link to begin with; the shipped scenes can be chosen, too.
    ///
    /// # Errors
    /// If the scene cannot be shown.
    pub fn scene(
        scene: Scene,
        tx: &Pose,
        rx: &Pose,
        simulator: Simulator,
        scorer: LinkScorer,
    ) -> Result<Self, ReportError> {
        let title = scene.name.clone();
        let shipped = Scene::shipped_names().filter(|name| *name != title).map(Scene::load);
        let others = shipped.collect::<Result<Vec<_>, _>>()?;
        let start = LinkState::new(&scene, tx, rx)?;
        let mut app = Self::new(&title, scene, start, simulator, scorer);
        app.scenes.extend(others);
        Ok(app)
    }

    fn new(title: &str, scene: Scene, start: LinkState, simulator: Simulator, scorer: LinkScorer) -> Self {
        let mut start = start.with_propagation(simulator.settings().propagation);
        scorer.name().clone_into(&mut start.scorer);
        Self {
            title: title.to_owned(),
            spoken: Spoken::of_scene(title),
            scenes: vec![scene],
            start,
            simulators: Simulators::new(simulator),
            scorers: vec![scorer],
            rows: None,
            measurement: None,
            nonce: nonce(),
        }
    }

    /// Another scorer that can be chosen; one whose name is taken is left out.
    #[must_use]
    pub fn with_scorer(mut self, scorer: LinkScorer) -> Self {
        if self.scorers.iter().all(|known| known.name() != scorer.name()) {
            self.scorers.push(scorer);
        }
        self
    }

    /// How the command line names what is shown.
    #[must_use]
    pub fn spoken(mut self, spoken: Spoken) -> Self {
        self.spoken = spoken;
        self
    }

    /// Shows a measurement by the receiver instead of simulated ones; the TX is where a prediction is looked at.
    #[must_use]
    pub fn measured(mut self, measurement: Measurement) -> Self {
        self.measurement = Some(measurement);
        self.scenes.truncate(1);
        self
    }

    /// A dataset, from its first row on.
    ///
    /// # Errors
    /// If it has no row, or the first one cannot be read.
    pub fn rows(title: &str, rows: Rows, simulator: Simulator, scorer: LinkScorer) -> Result<Self, ReportError> {
        let record = rows.read(&rows.first()?)?;
        let scene = row_scene(&record, rows.dataset().recipe())?;
        let reported = record.reported();
        let mut start = LinkState::new(&scene, &reported.hold(&record.tx), &reported.rx)?;
        start.tx_power_offset_db = record.tx_power_offset_db;
        Ok(Self { rows: Some(rows), ..Self::new(title, scene, start, simulator, scorer) })
    }

    /// The state to begin with, to be changed before anything is served.
    pub fn start_mut(&mut self) -> &mut LinkState {
        &mut self.start
    }

    /// Computes what the page begins with.
    ///
    /// # Errors
    /// If that link cannot be computed.
    pub fn check(&self) -> Result<(), ReportError> {
        self.link(&self.start).map(|_| ())
    }

    /// The page as a file that needs no server.
    ///
    /// # Errors
    /// If the link cannot be computed.
    pub fn export(&self) -> Result<String, ReportError> {
        let (state, result) = self.first()?;
        Ok(self.page(false, &state, &result))
    }

    /// The policy that keeps the page from loading or sending anything elsewhere.
    pub(super) fn policy(&self) -> String {
        format!(
            "default-src 'none'; script-src 'nonce-{}'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            self.nonce
        )
    }

    /// The page with a state: live, or as a file.
    pub(super) fn page(&self, live: bool, state: &LinkState, result: &LinkResult) -> String {
        let settings = self.simulators.settings();
        let carrier_hz = settings.radio.band().carrier_hz;
        let own = self.scenes.iter().flat_map(|scene| &scene.materials);
        // A material without values at the carrier could not be used.
        let known = own.chain(settings.materials.iter()).filter(|material| material.at(carrier_hz).is_ok());
        let mut materials: Vec<&str> = known.map(|m| m.name.as_str()).collect();
        materials.sort_unstable();
        materials.dedup();
        let shades: Vec<[u8; 3]> = (0..=64).map(|n| viridis(f64::from(n) / 64.0)).map(|c| [c.0, c.1, c.2]).collect();
        let start = json!({
            "live": live,
            "title": self.title,
            "state": state,
            "result": result,
            "materials": materials,
            "scenes": self.scenes.iter().map(|scene| &scene.name).collect::<Vec<_>>(),
            "scorers": self.scorers.iter().map(LinkScorer::name).collect::<Vec<_>>(),
            "receivers": if self.measurement.is_some() { 1 } else { MAX_RECEIVERS },
            "measured": self.measurement.is_some(),
            "shades": shades,
            "lobes": { "tx": lobe(settings.radio.tx_pattern()), "rx": lobe(&settings.radio.rx_patterns()[0]) },
            "dataset": self.rows.as_ref().map(Rows::to_json),
        });
        let mode = if live { Mode::Live(&self.nonce) } else { Mode::Export };
        page(&self.title, mode, &start)
    }
}

/// Amplitude relative to the peak on a grid, for the 3D view: rows of elevation from -90 deg, columns of azimuth from
/// -180 deg, 15 deg apart.
fn lobe(pattern: &AntennaPattern) -> Value {
    let peak = pattern.peak_gain_db();
    let rows: Vec<Vec<f64>> = (-6..=6)
        .map(|row| {
            let elevation = f64::from(15 * row).to_radians();
            let at = |column: i32| pattern.gain_db(f64::from(15 * column).to_radians(), elevation);
            (-12..=12).map(|column| (10f64.powf((at(column) - peak) / 20.0) * 1e3).round() / 1e3).collect()
        })
        .collect();
    json!({ "name": pattern.info().name, "synthetic": pattern.info().synthetic, "amplitude": rows })
}

/// A word no other page can guess: the only script that runs carries it.
fn nonce() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    (0..2)
        .map(|n| {
            // Every RandomState is seeded from the system's randomness.
            let mut hasher = RandomState::new().build_hasher();
            hasher.write_u64(n);
            format!("{:016x}", hasher.finish())
        })
        .collect()
}
