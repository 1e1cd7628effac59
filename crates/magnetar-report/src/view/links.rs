//! From a state to what is shown of it.

use magnetar_posterior::Snapshot;
use magnetar_scene::{Pose, Scene};
use magnetar_signal::Arrivals;

use super::app::{App, Measurement};
use super::picture::{PicturedLink, picture};
use super::protocol::{LinkState, RowRequest};
use super::result::{ArrivalState, LinkResult};
use crate::corpus::{row_observation, row_scene};
use crate::coverage::{CoverageLink, CoverageMap};
use crate::error::ReportError;
use crate::link_scorer::{LinkScorer, ObservedLink};
use crate::palette::Theme;
use crate::signal_charts::titled_channel_chart;
use crate::simulator::{SimulatedLink, Simulator};
use crate::ticks::number;

/// Cells of a coverage map along x and y.
const COVERAGE_CELLS: [usize; 2] = [100, 100];

impl App {
    /// What is shown first.
    pub(super) fn first(&self) -> Result<(LinkState, LinkResult), ReportError> {
        match &self.rows {
            Some(rows) => self.row(&rows.first()?),
            None => Ok((self.start.clone(), self.link(&self.start)?)),
        }
    }

    /// A scene to begin anew with.
    pub(super) fn scene_start(&self, name: &str) -> Result<(LinkState, LinkResult), ReportError> {
        let base = self.base(name)?;
        let state = if base.name == self.start.scene {
            self.start.clone()
        } else {
            let (tx, rx) = default_poses(base);
            let propagation = self.start.propagation()?;
            let scorer = self.start.scorer.clone();
            LinkState { scorer, ..LinkState::new(base, &tx, &rx)?.with_propagation(propagation) }
        };
        let result = self.link(&state)?;
        Ok((state, result))
    }

    /// The scene that a state began with.
    pub(super) fn base(&self, name: &str) -> Result<&Scene, ReportError> {
        // Every row of a dataset is a scene of its own, with the same rest.
        let found = self.scenes.iter().find(|scene| self.rows.is_some() || scene.name == name);
        found.ok_or_else(|| unknown("scene", name, self.scenes.iter().map(|scene| scene.name.as_str())))
    }

    fn scorer(&self, name: &str) -> Result<&LinkScorer, ReportError> {
        let found = self.scorers.iter().find(|scorer| scorer.name() == name);
        found.ok_or_else(|| unknown("scorer", name, self.scorers.iter().map(LinkScorer::name)))
    }

    /// A simulated link, or a measurement beside the prediction of one.
    pub(super) fn link(&self, state: &LinkState) -> Result<LinkResult, ReportError> {
        let (scene, tx, rx) = state.scene(self.base(&state.scene)?)?;
        let (receivers, scorer, propagation) = (state.receivers()?, self.scorer(&state.scorer)?, state.propagation()?);
        let settings = self.simulators.settings();
        let (link, views) = self.simulators.with(propagation, |simulator| {
            let offset = state.tx_power_offset_db;
            let link = simulator.run(&scene, &tx, &rx, offset, state.receiver_seed(state.shown))?;
            let fused = state.posterior && state.fused && receivers.len() > 1;
            let views = if fused { snapshots(simulator, state, (&scene, &tx), &receivers)? } else { Vec::new() };
            Ok((link, views))
        })?;
        if let Some(measurement) = &self.measurement {
            return self.compared(measurement, &link, (&scene, &tx, &rx), state);
        }
        let pictured = PicturedLink {
            observed: ObservedLink {
                number: None,
                scene: &scene,
                tx: &tx,
                rx: &rx,
                found: &link.arrivals,
                observation: Some(&link.observation),
            },
            paths: &link.paths,
            timing_offset_s: link.rf_chain.timing_offset_s,
            receivers: &receivers,
            measured: false,
        };
        let mut result = picture(&pictured, state, settings, scorer, &views)?;
        if link.arrivals.is_empty() {
            result.components.no_arrivals = no_arrival(&link, settings.radio.detection_threshold_db());
        }
        result.caption = format!(
            "Simulated: {} ({}) at {} GHz, {} antennas, seed {}.",
            paths_in_words(link.paths.len()),
            propagation.describe(),
            settings.radio.band().carrier_hz / 1e9,
            settings.radio.tx_pattern().info().name,
            state.seed
        );
        Ok(result)
    }

    /// The measurement beside what is predicted of a TX.
    fn compared(
        &self,
        measurement: &Measurement,
        link: &SimulatedLink,
        (scene, tx, rx): (&Scene, &Pose, &Pose),
        state: &LinkState,
    ) -> Result<LinkResult, ReportError> {
        let settings = self.simulators.settings();
        // The receiver's clock is unknown: the strongest path is put where the strongest arrival is.
        let strongest = link.paths.iter().max_by(|a, b| a.raw_snr_db.total_cmp(&b.raw_snr_db));
        let aligned = measurement.found.first().zip(strongest).map(|(found, path)| found.delay_s - path.path.delay());
        let pictured = PicturedLink {
            observed: ObservedLink {
                number: None,
                scene,
                tx,
                rx,
                found: &measurement.found,
                observation: Some(&measurement.observation),
            },
            paths: &link.paths,
            timing_offset_s: aligned.unwrap_or(0.0),
            receivers: std::slice::from_ref(rx),
            measured: true,
        };
        let mut result = picture(&pictured, state, settings, self.scorer(&state.scorer)?, &[])?;
        result.components.no_arrivals =
            "Nothing in the measurement rises above its noise; is --noise-variance right?".into();
        let band = settings.radio.band();
        let predicted = titled_channel_chart(&link.observation, band, "Predicted channel", Theme::Page);
        result.charts.channel_svg = result.charts.channel_svg.map(|measured| measured + &predicted);
        let delays = [1.0 / band.bandwidth_hz, 1.0 / band.spacing_hz()];
        let offset_s = link.rf_chain.timing_offset_s;
        result.components.predicted =
            link.arrivals.iter().map(|found| ArrivalState::new(found, offset_s, delays, &link.paths)).collect();
        result.caption = format!(
            "Measured: {}. The TX shown is where you put it: its {} and its channel are predicted, delays set so that \
             the strongest path meets the strongest arrival.",
            measurement.name,
            paths_in_words(link.paths.len())
        );
        Ok(result)
    }

    /// A row as it is stored.
    pub(super) fn row(&self, request: &RowRequest) -> Result<(LinkState, LinkResult), ReportError> {
        let rows = self.rows.as_ref().ok_or_else(|| ReportError::State("no dataset is being viewed".into()))?;
        let record = rows.read(request)?;
        let scene = row_scene(&record, rows.dataset().recipe())?;
        let reported = record.reported();
        let tx = reported.hold(&record.tx);
        let settings = self.simulators.settings();
        let mut state = LinkState::new(&scene, &tx, &reported.rx)?.with_propagation(settings.propagation);
        state.tx_power_offset_db = record.tx_power_offset_db;
        state.scorer.clone_from(&self.start.scorer);
        let paths = self.simulators.with(settings.propagation, |simulator| {
            simulator.paths(&scene, &tx, &reported.rx, record.tx_power_offset_db)
        })?;
        let observation = row_observation(&record);
        let pictured =
            PicturedLink::row(&request.split, &record, [&tx, &reported.rx], &scene, &paths, observation.as_ref());
        let mut result = picture(&pictured, &state, settings, self.scorer(&state.scorer)?, &[])?;
        result.components.no_arrivals = "The estimator found nothing above the noise in this row.".into();
        result.caption = format!(
            "Simulated: row {} of {}, {}, TX-power offset {} dB.",
            request.index,
            request.split,
            if record.los { "LOS" } else { "NLOS" },
            number(record.tx_power_offset_db, 2)
        );
        Ok((state, result))
    }

    /// What the receiver would hear all over the floor.
    pub(super) fn coverage(&self, state: &LinkState) -> Result<CoverageMap, ReportError> {
        let (scene, tx, rx) = state.scene(self.base(&state.scene)?)?;
        let link = CoverageLink {
            scene: &scene,
            tx: &tx,
            rx: &rx,
            tx_power_offset_db: state.tx_power_offset_db,
            propagation: state.propagation()?,
        };
        CoverageMap::new(&link, self.simulators.settings(), COVERAGE_CELLS)
    }
}

/// What was asked for is not here, and what is.
fn unknown<'a>(kind: &str, name: &str, known: impl Iterator<Item = &'a str>) -> ReportError {
    let (name, known): (String, Vec<&str>) = (name.chars().take(80).collect(), known.collect());
    ReportError::State(format!("there is no {kind} {name:?} here; there are {}", known.join(", ")))
}

/// What every receiver of a state finds.
fn snapshots(
    simulator: &mut Simulator,
    state: &LinkState,
    (scene, tx): (&Scene, &Pose),
    receivers: &[Pose],
) -> Result<Vec<Snapshot>, ReportError> {
    let keep = simulator.settings().radio.config().sre.keep;
    let mut all = Vec::with_capacity(receivers.len());
    for (n, rx) in receivers.iter().enumerate() {
        let link = simulator.run(scene, tx, rx, state.tx_power_offset_db, state.receiver_seed(n))?;
        let arrivals = Arrivals { keep, found: link.arrivals.into_iter().take(keep).collect() };
        all.push(Snapshot { rx: *rx, arrivals, observation: Some(link.observation) });
    }
    Ok(all)
}

/// Why nothing was found.
fn no_arrival(link: &SimulatedLink, threshold_db: f64) -> String {
    let strongest = link.paths.iter().map(|path| path.raw_snr_db).fold(f64::NEG_INFINITY, f64::max);
    if link.paths.is_empty() {
        return "No path reaches the RX: there is only noise.".into();
    }
    format!(
        "Nothing rises above the noise: the strongest path has {} dB per bin, about {} dB are needed.",
        number(strongest, 1),
        number(threshold_db, 1)
    )
}

/// "1 path", "6 paths".
pub(crate) fn paths_in_words(count: usize) -> String {
    if count == 1 { "1 path".into() } else { format!("{count} paths") }
}

/// TX towards the far end of the room, RX in the middle, facing each other, at the scene's device height.
#[must_use]
pub fn default_poses(scene: &Scene) -> (Pose, Pose) {
    let [x0, x1, y0, y1, ..] = scene.room.bounds();
    let at = |along: f64, aside: f64| (x0 + aside * (x1 - x0), y0 + along * (y1 - y0));
    let ((tx_x, tx_y), (rx_x, rx_y)) = (at(0.85, 0.75), at(0.5, 0.3));
    let heading = (rx_y - tx_y).atan2(rx_x - tx_x);
    let z = scene.device_height;
    (Pose::new(tx_x, tx_y, z, heading), Pose::new(rx_x, rx_y, z, heading + std::f64::consts::PI))
}
