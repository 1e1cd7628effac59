//! What the view's server answers: the page, links, rows, exports.

use std::sync::{Mutex, MutexGuard, PoisonError};

use magnetar_scene::{AntennaPattern, Pose, Scene};
use magnetar_signal::{Arrival, Observation};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::http::{Request, Response};
use super::page::{Mode, page};
use super::picture::{PicturedLink, picture};
use super::protocol::{ArrivalState, LinkResult, LinkState, RowRequest};
use super::rows::Rows;
use crate::corpus::{row_observation, row_scene};
use crate::error::ReportError;
use crate::link_scorer::LinkScorer;
use crate::palette::Theme;
use crate::signal_charts::titled_channel_chart;
use crate::simulator::{LinkSettings, SimulatedLink, Simulator};

/// What is viewed, and what computes it.
pub struct App {
    title: String,
    base: Scene,
    start: LinkState,
    simulator: Mutex<Simulator>,
    scorer: LinkScorer,
    rows: Option<Rows>,
    measurement: Option<Measurement>,
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
    /// A scene with a link to begin with.
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
        let start = LinkState::new(&scene, tx, rx)?;
        let (title, nonce) = (scene.name.clone(), nonce());
        Ok(Self {
            title,
            base: scene,
            start,
            simulator: Mutex::new(simulator),
            scorer,
            rows: None,
            measurement: None,
            nonce,
        })
    }

    /// Shows a measurement by the receiver instead of simulated ones; the TX is where a prediction is looked at.
    #[must_use]
    pub fn measured(mut self, measurement: Measurement) -> Self {
        self.measurement = Some(measurement);
        self
    }

    /// A dataset, from its first row on.
    ///
    /// # Errors
    /// If it has no row, or the first one cannot be read.
    pub fn rows(title: &str, rows: Rows, simulator: Simulator, scorer: LinkScorer) -> Result<Self, ReportError> {
        let record = rows.read(&rows.first()?)?;
        let base = row_scene(&record, rows.dataset().recipe())?;
        let reported = record.reported();
        let mut start = LinkState::new(&base, &reported.hold(&record.tx), &reported.rx)?;
        start.tx_power_offset_db = record.tx_power_offset_db;
        let (title, nonce) = (title.to_owned(), nonce());
        Ok(Self {
            title,
            base,
            start,
            simulator: Mutex::new(simulator),
            scorer,
            rows: Some(rows),
            measurement: None,
            nonce,
        })
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
        Ok(self.page(Mode::Export, &state, &result))
    }

    /// The policy that keeps the page from loading or sending anything elsewhere.
    pub(super) fn policy(&self) -> String {
        format!(
            "default-src 'none'; script-src 'nonce-{}'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            self.nonce
        )
    }

    /// Answers one request that has passed the server's checks.
    pub(super) fn answer(&self, request: &Request) -> Response {
        let path = request.path.split('?').next().unwrap_or_default();
        let known = match path {
            "/" => "GET",
            "/api/link" | "/api/row" | "/api/export" => "POST",
            _ => return Response::error(404, "there is nothing here"),
        };
        if request.method != known {
            return Response::error(405, &format!("this address is for {known}"));
        }
        if known == "POST"
            && !request.values("content-type").next_back().is_some_and(|kind| kind.starts_with("application/json"))
        {
            return Response::error(415, "expected Content-Type: application/json");
        }
        let answer = match path {
            "/" => self.first_page(),
            "/api/link" => parse::<LinkState>(&request.body)
                .and_then(|state| Ok(json_response(&json!({ "result": self.link(&state)? })))),
            "/api/row" => parse::<RowRequest>(&request.body).and_then(|row| {
                let (state, result) = self.row(&row)?;
                Ok(json_response(&json!({ "state": state, "result": result })))
            }),
            _ => parse::<LinkState>(&request.body).and_then(|state| {
                let result = self.link(&state)?;
                Ok(html_response(self.page(Mode::Export, &state, &result)))
            }),
        };
        answer.unwrap_or_else(|error| {
            let status = if matches!(error, ReportError::Request(_)) { 400 } else { 422 };
            Response::error(status, &error.to_string())
        })
    }

    /// What is shown first.
    fn first(&self) -> Result<(LinkState, LinkResult), ReportError> {
        match &self.rows {
            Some(rows) => self.row(&rows.first()?),
            None => Ok((self.start.clone(), self.link(&self.start)?)),
        }
    }

    fn first_page(&self) -> Result<Response, ReportError> {
        let (state, result) = self.first()?;
        Ok(html_response(self.page(Mode::Live(&self.nonce), &state, &result)))
    }

    fn link(&self, state: &LinkState) -> Result<LinkResult, ReportError> {
        let (scene, tx, rx) = state.scene(&self.base)?;
        let mut simulator = self.simulator();
        let link = simulator.run(&scene, &tx, &rx, state.tx_power_offset_db, u64::from(state.seed))?;
        let settings = simulator.settings().clone();
        drop(simulator);
        if let Some(measurement) = &self.measurement {
            return self.compared(measurement, &link, (&scene, &tx, &rx), state, &settings);
        }
        let pictured = PicturedLink {
            measured: false,
            number: None,
            scene: &scene,
            tx: &tx,
            rx: &rx,
            paths: &link.paths,
            observation: Some(&link.observation),
            timing_offset_s: link.rf_chain.timing_offset_s,
            found: &link.arrivals,
        };
        let mut result = picture(&pictured, state, &settings, &self.scorer)?;
        result.caption = format!(
            "Simulated: {} paths ({}) at {} GHz, {} antennas, seed {}.",
            link.paths.len(),
            settings.propagation.describe(),
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
        settings: &LinkSettings,
    ) -> Result<LinkResult, ReportError> {
        // The receiver's clock is unknown: the strongest path is put where the strongest arrival is.
        let strongest = link.paths.iter().max_by(|a, b| a.raw_snr_db.total_cmp(&b.raw_snr_db));
        let aligned = measurement.found.first().zip(strongest).map(|(found, path)| found.delay_s - path.path.delay());
        let pictured = PicturedLink {
            measured: true,
            number: None,
            scene,
            tx,
            rx,
            paths: &link.paths,
            observation: Some(&measurement.observation),
            timing_offset_s: aligned.unwrap_or(0.0),
            found: &measurement.found,
        };
        let mut result = picture(&pictured, state, settings, &self.scorer)?;
        let band = settings.radio.band();
        let predicted = titled_channel_chart(&link.observation, band, "Predicted channel", Theme::Page);
        result.channel_svg = result.channel_svg.map(|measured| measured + &predicted);
        result.predicted = link.arrivals.iter().map(ArrivalState::new).collect();
        result.caption = format!(
            "Measured: {}. The TX shown is where you put it: its {} paths and its channel are predicted, delays set so that \
             the strongest path meets the strongest arrival.",
            measurement.name,
            link.paths.len()
        );
        Ok(result)
    }

    fn row(&self, request: &RowRequest) -> Result<(LinkState, LinkResult), ReportError> {
        let rows = self.rows.as_ref().ok_or_else(|| ReportError::State("no dataset is being viewed".into()))?;
        let record = rows.read(request)?;
        let scene = row_scene(&record, rows.dataset().recipe())?;
        let reported = record.reported();
        let tx = reported.hold(&record.tx);
        let mut state = LinkState::new(&scene, &tx, &reported.rx)?;
        state.tx_power_offset_db = record.tx_power_offset_db;
        let mut simulator = self.simulator();
        let paths = simulator.paths(&scene, &tx, &reported.rx, record.tx_power_offset_db)?;
        let settings = simulator.settings().clone();
        drop(simulator);
        let observation = row_observation(&record);
        let pictured =
            PicturedLink::row(&request.split, &record, [&tx, &reported.rx], &scene, &paths, observation.as_ref());
        let mut result = picture(&pictured, &state, &settings, &self.scorer)?;
        result.caption = format!(
            "Simulated: row {} of {}, {}, TX-power offset {} dB.",
            request.index,
            request.split,
            if record.los { "LOS" } else { "NLOS" },
            crate::ticks::number(record.tx_power_offset_db, 2)
        );
        Ok((state, result))
    }

    fn page(&self, mode: Mode<'_>, state: &LinkState, result: &LinkResult) -> String {
        let simulator = self.simulator();
        let settings = simulator.settings();
        let own = self.base.materials.iter();
        let mut materials: Vec<&str> = own.chain(settings.materials.iter()).map(|m| m.name.as_str()).collect();
        materials.sort_unstable();
        materials.dedup();
        let start = json!({
            "live": matches!(mode, Mode::Live(_)),
            "title": self.title,
            "state": state,
            "result": result,
            "materials": materials,
            "lobes": { "tx": lobe(settings.radio.tx_pattern()), "rx": lobe(&settings.radio.rx_patterns()[0]) },
            "dataset": self.rows.as_ref().map(Rows::to_json),
        });
        page(&self.title, mode, &start)
    }

    /// A panic elsewhere leaves the simulator's buffers dirty, never wrong: each run overwrites them.
    fn simulator(&self) -> MutexGuard<'_, Simulator> {
        self.simulator.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ReportError> {
    serde_json::from_slice(body).map_err(ReportError::Request)
}

fn json_response(value: &Value) -> Response {
    Response { status: 200, content_type: "application/json", body: value.to_string().into_bytes() }
}

fn html_response(page: String) -> Response {
    Response { status: 200, content_type: "text/html; charset=utf-8", body: page.into_bytes() }
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
