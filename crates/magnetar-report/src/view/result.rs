//! What the server computes of a state, as the page gets it: metres, degrees, nanoseconds, decibels.

use magnetar_posterior::{Support, Volume};
use magnetar_scene::Pose;
use magnetar_signal::{Arrival, Band, ELEMENTS, Observation};
use magnetar_trace::{azimuth, elevation};
use nalgebra::{Point3, Vector3};
use serde::Serialize;

use crate::figure::hpd_threshold;
use crate::simulator::LinkPath;

/// What follows from a state.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkResult {
    /// What is shown, in one sentence, saying that it is simulated.
    pub caption: String,
    /// The paths.
    pub paths: Vec<PathState>,
    /// What the receiver found.
    #[serde(flatten)]
    pub components: Components,
    /// The plan.
    #[serde(flatten)]
    pub plan: PlanChart,
    /// Charts of the observation.
    #[serde(flatten)]
    pub charts: ObservationCharts,
    /// The posterior, if it is shown.
    #[serde(flatten)]
    pub posterior: PosteriorChart,
    /// Why something is not shown.
    pub notes: Vec<String>,
}

/// What the SRE found.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct Components {
    /// Its components, strongest first.
    pub arrivals: Vec<ArrivalState>,
    /// Why there are none.
    pub no_arrivals: String,
    /// Of a measurement: the components of what is predicted for the TX where it stands, strongest first.
    pub predicted: Vec<ArrivalState>,
    /// How many of them are retained.
    pub retained: usize,
    /// What the receiver's clock adds to every delay, ns: it has been taken off all delays here.
    pub clock_offset_ns: f64,
}

/// The plan view.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanChart {
    /// Its frame, so that the page can turn pixels into metres.
    pub plan_frame: PlanFrame,
    /// The drawing.
    pub plan_svg: String,
}

/// Charts of the observation; empty without one.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct ObservationCharts {
    /// Channel magnitude.
    pub channel_svg: Option<String>,
    /// Delay profile.
    pub delay_svg: Option<String>,
    /// What the charts show, to be taken along.
    pub data: ChartData,
}

/// The posterior's picture and numbers; empty where none is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct PosteriorChart {
    /// Its XY marginal.
    pub posterior_svg: Option<String>,
    /// What it assumes.
    pub posterior_caption: String,
    /// Its numbers.
    pub posterior: Option<PosteriorData>,
}

/// Pixels and metres of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PlanFrame {
    /// `[x, y, width, height]` in units of the SVG.
    pub area: [f64; 4],
    /// `[min, max]` of x, metres.
    pub x_m: [f64; 2],
    /// `[min, max]` of y, metres.
    pub y_m: [f64; 2],
    /// Width and height of the SVG in its own units.
    pub size: [f64; 2],
}

/// A path, for the table and the 3D view.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathState {
    /// `LOS`, `wall:-x`, ...
    pub surface: String,
    /// TX, vertex if any, RX, metres.
    pub points_m: Vec<[f64; 3]>,
    /// Delay, ns.
    pub delay_ns: f64,
    /// SNR in one bin, antennas included, dB.
    pub raw_snr_db: f64,
    /// CSS variable of its colour.
    pub colour: String,
    /// Dash pattern.
    pub dash: &'static str,
    /// RX-local azimuth and elevation of arrival, degrees.
    pub aoa_deg: [f64; 2],
    /// TX-local azimuth and elevation of departure, degrees.
    pub aod_deg: [f64; 2],
}

/// An SRE component.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ArrivalState {
    /// Delay, the clock's offset taken off, ns.
    pub delay_ns: f64,
    /// AoA, principal branch, degrees.
    pub aoa_deg: f64,
    /// Raw SNR, dB.
    pub raw_snr_db: f64,
    /// Processed SNR, dB.
    pub snr_db: f64,
    /// The strongest path within one resolution cell of its delay.
    pub path: Option<usize>,
}

/// Numbers behind the charts of an observation; empty without one.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct ChartData {
    /// Frequencies, GHz.
    pub frequency_ghz: Vec<f64>,
    /// Magnitude over noise of each channel, dB.
    pub magnitude_db: [Vec<f64>; ELEMENTS],
    /// Delays of the profile's samples, ns.
    pub delay_ns: Vec<f64>,
    /// Energy over noise, dB.
    pub energy_db: Vec<f64>,
}

/// Numbers of a posterior.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PosteriorData {
    /// Cell centres along x, metres.
    pub x_m: Vec<f64>,
    /// Cell centres along y, metres.
    pub y_m: Vec<f64>,
    /// `[xmin, xmax, ymin, ymax]` of the cells, metres.
    pub bounds_m: [f64; 4],
    /// Headings, degrees.
    pub heading_deg: Vec<f64>,
    /// Mass of each position, row by row from the lowest y.
    pub marginal: Vec<f32>,
    /// Candidates of the 90 % HPD set, flat: `(heading * rows + row) * columns + column`.
    pub cells: Vec<u32>,
    /// Their masses.
    pub mass: Vec<f32>,
    /// Least mass of the 50 % HPD set.
    pub half_mass: f64,
}

impl ChartData {
    /// Magnitudes of an observation.
    pub(super) fn channel(&mut self, observation: &Observation, band: &Band) {
        let ghz = |k: usize| digits((band.carrier_hz + band.offset_hz(k)) / 1e9, 1e6);
        self.frequency_ghz = (0..observation.bins()).map(ghz).collect();
        self.magnitude_db = std::array::from_fn(|channel| {
            let db = |k: usize| 20.0 * f64::from(observation.get(k, channel).norm()).max(1e-6).log10();
            (0..observation.bins()).map(|k| digits(db(k), 1e3)).collect()
        });
    }

    /// Samples of a delay profile, delay in seconds and energy in dB.
    pub(super) fn profile(&mut self, samples: impl IntoIterator<Item = [f64; 2]>) {
        let rounded = samples.into_iter().map(|[s, db]| (digits(s * 1e9, 1e4), digits(db, 1e3)));
        (self.delay_ns, self.energy_db) = rounded.unzip();
    }
}

impl PosteriorData {
    /// Of a posterior.
    pub(super) fn new(support: &Support, volume: &Volume) -> Self {
        let mass: Vec<f64> = volume.mass().iter().map(|m| f64::from(*m)).collect();
        let least = hpd_threshold(&mass, 0.9);
        let within = |m: &f32| f64::from(*m) >= least && *m > 0.0;
        Self {
            x_m: support.xs().iter().map(|x| digits(*x, 1e4)).collect(),
            y_m: support.ys().iter().map(|y| digits(*y, 1e4)).collect(),
            bounds_m: support.bounds(),
            heading_deg: (0..support.size().headings).map(|d| digits(support.heading(d).to_degrees(), 1e3)).collect(),
            marginal: volume.position_marginal().into_iter().map(|m| m as f32).collect(),
            cells: (0u32..).zip(volume.mass()).filter(|(_, m)| within(m)).map(|(n, _)| n).collect(),
            mass: volume.mass().iter().copied().filter(within).collect(),
            half_mass: hpd_threshold(&mass, 0.5),
        }
    }
}

/// Rounded to one part in `per_unit`.
fn digits(value: f64, per_unit: f64) -> f64 {
    (value * per_unit).round() / per_unit
}

impl ArrivalState {
    /// From an arrival at a receiver whose clock adds an offset (seconds) to every delay. Delays repeat after `period_s`;
    /// the nearest of the paths within `cell_s` counts by its power.
    #[must_use]
    pub fn new(arrival: &Arrival, clock_offset_s: f64, [cell_s, period_s]: [f64; 2], paths: &[LinkPath]) -> Self {
        let delay_s = arrival.delay_s - clock_offset_s;
        let near = |path: &LinkPath| {
            let apart = (path.path.delay() - delay_s).rem_euclid(period_s);
            apart.min(period_s - apart) < cell_s
        };
        let strength = |a: &(usize, &LinkPath), b: &(usize, &LinkPath)| a.1.raw_snr_db.total_cmp(&b.1.raw_snr_db);
        let path = paths.iter().enumerate().filter(|(_, path)| near(path)).max_by(strength).map(|(n, _)| n);
        Self {
            path,
            delay_ns: delay_s * 1e9,
            aoa_deg: arrival.aoa_rad.to_degrees(),
            raw_snr_db: arrival.raw_snr_db,
            snr_db: arrival.snr_db,
        }
    }
}

impl PathState {
    /// A path between two devices; colour and dash are those of the plan.
    #[must_use]
    pub fn new(path: &LinkPath, tx: &Pose, rx: &Pose, colour: String, dash: &'static str) -> Self {
        let flat = |p: &Point3<f64>| [p.x, p.y, p.z];
        let mut points_m = vec![flat(&tx.position)];
        points_m.extend(path.path.interactions().vertices().map(|v| flat(&v)));
        points_m.push(flat(&rx.position));
        let local = |direction: &Vector3<f64>, pose: &Pose| {
            let d = pose.device_from_global(direction);
            [azimuth(&d).to_degrees(), elevation(&d).to_degrees()]
        };
        Self {
            surface: path.path.interactions().to_string(),
            points_m,
            delay_ns: path.path.delay() * 1e9,
            raw_snr_db: path.raw_snr_db,
            colour,
            dash,
            aoa_deg: local(&path.path.geometry.arrival, rx),
            aod_deg: local(&path.path.geometry.departure, tx),
        }
    }
}
