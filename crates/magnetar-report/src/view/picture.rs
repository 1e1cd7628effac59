//! From a link, simulated or stored, to everything the page shows of it.

use magnetar_dataset::Record;
use magnetar_posterior::{RowNumber, Snapshot};
use magnetar_scene::{BoxShape, Pose, Scene};
use magnetar_signal::{Arrival, Observation};

use super::protocol::{ColourState, LinkState};
use super::result::{
    ArrivalState, Components, LinkResult, ObservationCharts, PathState, PlanChart, PlanFrame, PosteriorChart,
    PosteriorData,
};
use crate::delay_profile::DelayProfile;
use crate::error::ReportError;
use crate::figure::{PosteriorPicture, draw_marginal, plan_height};
use crate::link_scorer::{LinkPosterior, LinkScorer, ObservedLink};
use crate::palette::{Theme, power_ink, surface_style};
use crate::plan::{FloorPlan, PathColour, draw_plan, link_plan_paths, plan_frame, plan_legend, plan_legend_height};
use crate::signal_charts::{ProfileMark, delay_chart, delay_window, titled_channel_chart};
use crate::simulator::{LinkPath, LinkSettings};
use crate::svg::Canvas;

/// Width of the plan, in units of its SVG.
const PLAN_WIDTH: f64 = 380.0;

/// Most boxes the page scores a posterior with: the work grows with them, and a page should not wait for seconds.
const MAX_POSTERIOR_BOXES: usize = 200;

/// A link to be shown.
pub(crate) struct PicturedLink<'a> {
    /// Devices, observation and arrivals.
    pub observed: ObservedLink<'a>,
    /// The true paths.
    pub paths: &'a [LinkPath],
    /// What the receiver's clock adds to every delay, seconds.
    pub timing_offset_s: f64,
    /// All receivers, the one that is shown among them.
    pub receivers: &'a [Pose],
    /// Whether observation and arrivals were measured; TX and paths are then a prediction.
    pub measured: bool,
}

impl<'a> PicturedLink<'a> {
    /// A dataset's row, in the scene and with the RX pose that its receiver believes in.
    pub(crate) fn row(
        split: &'a str,
        record: &'a Record,
        [tx, rx]: [&'a Pose; 2],
        scene: &'a Scene,
        paths: &'a [LinkPath],
        observation: Option<&'a Observation>,
    ) -> Self {
        let number = Some(RowNumber { split, index: record.index });
        let found = &record.arrivals.found;
        Self {
            observed: ObservedLink { number, scene, tx, rx, found, observation },
            paths,
            timing_offset_s: record.rf_chain.timing_offset_s,
            receivers: std::slice::from_ref(rx),
            measured: false,
        }
    }
}

/// Everything the page shows of a link. Where several receivers are fused, `views` has what each of them found.
pub(super) fn picture(
    link: &PicturedLink<'_>,
    state: &LinkState,
    settings: &LinkSettings,
    scorer: &LinkScorer,
    views: &[Snapshot],
) -> Result<LinkResult, ReportError> {
    let mut result = world(link, state);
    let band = settings.radio.band();
    match link.observed.observation {
        Some(observation) => {
            let title = if link.measured { "Measured channel" } else { "Channel magnitude" };
            result.charts.channel_svg = Some(titled_channel_chart(observation, band, title, Theme::Page));
            result.charts.delay_svg = Some(delay_svg(link, observation, settings));
            result.charts.data.channel(observation, band);
            result.charts.data.profile(profile_samples(link, observation, settings));
        }
        None => {
            result.notes.push("This dataset stores no channel (CSI): magnitude and delay profile are not shown.".into())
        }
    }
    let delays = [1.0 / band.bandwidth_hz, 1.0 / band.spacing_hz()];
    let arrival = |arrival: &Arrival| ArrivalState::new(arrival, link.timing_offset_s, delays, link.paths);
    result.components.arrivals = link.observed.found.iter().map(arrival).collect();
    result.components.retained = settings.radio.config().sre.keep;
    if state.posterior && link.observed.scene.boxes.len() > MAX_POSTERIOR_BOXES {
        result.notes.push(format!("The posterior is shown for up to {MAX_POSTERIOR_BOXES} boxes."));
    } else if state.posterior {
        let scored = match views.len() {
            0 | 1 => scorer.score(&link.observed, settings),
            _ => scorer.fuse(link.observed.scene, link.observed.tx, views, settings),
        };
        match scored {
            Ok(posterior) => {
                let receivers = if views.len() > 1 { link.receivers } else { std::slice::from_ref(link.observed.rx) };
                let origin = if link.measured { "Measured" } else { "Simulated" };
                result.posterior = PosteriorChart {
                    posterior_svg: Some(marginal_svg(link, &posterior, receivers)),
                    posterior_caption: format!("{origin}: {}.", posterior.caption),
                    posterior: Some(PosteriorData::new(&posterior.support, &posterior.volume)),
                };
            }
            Err(error) => result.notes.push(format!("No posterior: {error}.")),
        }
    }
    Ok(result)
}

/// True paths and arrivals as marks of the profile, the clock's offset taken off.
fn profile_marks(link: &PicturedLink<'_>) -> [Vec<ProfileMark>; 2] {
    let truth = link.paths.iter().map(|p| ProfileMark { delay_s: p.path.delay(), raw_snr_db: p.raw_snr_db }).collect();
    let mark = |f: &Arrival| ProfileMark { delay_s: f.delay_s - link.timing_offset_s, raw_snr_db: f.raw_snr_db };
    [truth, link.observed.found.iter().map(mark).collect()]
}

/// The delay profile with true paths and arrivals.
pub(crate) fn delay_svg(link: &PicturedLink<'_>, observation: &Observation, settings: &LinkSettings) -> String {
    let profile = DelayProfile::new(observation, settings.radio.band()).shifted(link.timing_offset_s);
    let [truth, found] = profile_marks(link);
    let name = if link.measured { "predicted" } else { "true" };
    delay_chart(&profile, observation.bins(), (&truth, name), &found, Theme::Page)
}

/// What the delay profile's curve shows: delay in seconds, energy in dB.
fn profile_samples(
    link: &PicturedLink<'_>,
    observation: &Observation,
    settings: &LinkSettings,
) -> impl Iterator<Item = [f64; 2]> {
    let profile = DelayProfile::new(observation, settings.radio.band()).shifted(link.timing_offset_s);
    let [truth, found] = profile_marks(link);
    let (first, last) = delay_window(&profile, &truth, &found);
    let step_s = profile.step_s;
    let count = ((last - first) / step_s).ceil().max(0.0) as usize;
    (0..=count).map(move |n| first + n as f64 * step_s).map(move |t| [t, profile.at(t)])
}

/// The XY marginal of the posterior, for a page, and what it assumes.
pub(crate) fn posterior_svg(
    link: &PicturedLink<'_>,
    settings: &LinkSettings,
    scorer: &LinkScorer,
) -> Result<(String, String), ReportError> {
    let posterior = scorer.score(&link.observed, settings)?;
    Ok((marginal_svg(link, &posterior, std::slice::from_ref(link.observed.rx)), posterior.caption))
}

/// The XY marginal with its key.
fn marginal_svg(link: &PicturedLink<'_>, posterior: &LinkPosterior, receivers: &[Pose]) -> String {
    let boxes: Vec<BoxShape> = link.observed.scene.boxes.iter().map(|b| b.shape).collect();
    page_marginal(&PosteriorPicture {
        support: &posterior.support,
        volume: &posterior.volume,
        room: &link.observed.scene.room,
        boxes: &boxes,
        rx: receivers,
        // A TX that was put somewhere to look at its prediction is no truth.
        truth: (!link.measured).then_some(*link.observed.tx),
        caption: "",
    })
}

/// The marginal with its key, for a page.
fn page_marginal(picture: &PosteriorPicture<'_>) -> String {
    let height = plan_height(picture.room, PLAN_WIDTH - 70.0);
    let title = "XY marginal of the TX posterior in dB under its peak, with headings as arrows";
    let mut canvas = Canvas::new(PLAN_WIDTH, height + 32.0, Theme::Page, title);
    draw_marginal(&mut canvas, [0.0, 0.0, PLAN_WIDTH - 70.0, height], picture, "");
    crate::figure::marginal_key(&mut canvas, [PLAN_WIDTH - 66.0, height], picture);
    canvas.finish()
}

/// The plan alone, for a page.
pub(crate) fn plan_chart(link: &PicturedLink<'_>, colour: PathColour) -> PlanChart {
    let planned = link_plan_paths(link.observed.tx, link.observed.rx, link.paths);
    let boxes: Vec<BoxShape> = link.observed.scene.boxes.iter().map(|b| b.shape).collect();
    let plan = FloorPlan {
        room: &link.observed.scene.room,
        boxes: &boxes,
        tx: Some(*link.observed.tx),
        rx: link.receivers,
        paths: &planned,
    };
    let height = plan_height(&link.observed.scene.room, PLAN_WIDTH);
    let (legend, legend_height) = (height + 8.0, plan_legend_height(PLAN_WIDTH - 24.0, &plan, colour));
    let total = legend + legend_height;
    let mut canvas = Canvas::new(PLAN_WIDTH, total, Theme::Page, "Plan of the room with TX, RX and paths");
    let frame = plan_frame([0.0, 0.0, PLAN_WIDTH, height], &link.observed.scene.room);
    draw_plan(&mut canvas, &frame, &plan, "", colour);
    plan_legend(&mut canvas, [16.0, legend], PLAN_WIDTH - 24.0, &plan, colour);
    let plan_frame = PlanFrame {
        area: frame.area,
        x_m: [frame.x.min, frame.x.max],
        y_m: [frame.y.min, frame.y.max],
        size: [PLAN_WIDTH, total],
    };
    PlanChart { plan_frame, plan_svg: canvas.finish() }
}

/// The plan and the paths.
fn world(link: &PicturedLink<'_>, state: &LinkState) -> LinkResult {
    let colour = match state.colour {
        ColourState::Surface => PathColour::Surface,
        ColourState::Power => PathColour::Power,
    };
    let planned = link_plan_paths(link.observed.tx, link.observed.rx, link.paths);
    let states = link.paths.iter().zip(&planned).map(|(path, flat)| {
        let (ink, dash, _) = surface_style(flat.surface);
        let ink = if colour == PathColour::Power { power_ink(flat.relative_db) } else { ink };
        PathState::new(path, link.observed.tx, link.observed.rx, Theme::Page.paint(ink).into_owned(), dash)
    });
    let components = Components { clock_offset_ns: link.timing_offset_s * 1e9, ..Components::default() };
    LinkResult {
        caption: String::new(),
        paths: states.collect(),
        components,
        plan: plan_chart(link, colour),
        charts: ObservationCharts::default(),
        posterior: PosteriorChart::default(),
        notes: Vec::new(),
    }
}
