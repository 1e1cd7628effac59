//! From a link, simulated or stored, to everything the page shows of it.

use magnetar_dataset::Record;
use magnetar_posterior::RowNumber;
use magnetar_scene::{BoxShape, Pose, Scene};
use magnetar_signal::{Arrival, Observation};

use super::protocol::{ArrivalState, ColourState, LinkResult, LinkState, PathState, PlanFrame};
use crate::delay_profile::DelayProfile;
use crate::error::ReportError;
use crate::figure::{PosteriorPicture, draw_marginal, plan_height};
use crate::link_scorer::{LinkScorer, LinkToScore};
use crate::palette::{Theme, power_ink, surface_style};
use crate::plan::{FloorPlan, PathColour, draw_plan, link_plan_paths, plan_frame, plan_legend};
use crate::signal_charts::{ProfileMark, delay_chart, titled_channel_chart};
use crate::simulator::{LinkPath, LinkSettings};
use crate::svg::Canvas;

/// Width of the plan, in units of its SVG.
const PLAN_WIDTH: f64 = 440.0;

/// Most boxes the page scores a posterior with: the work grows with them, and a page should not wait for seconds.
const MAX_POSTERIOR_BOXES: usize = 200;

/// A link to be shown.
pub(crate) struct PicturedLink<'a> {
    /// The row it is, if it is one as stored.
    pub number: Option<RowNumber<'a>>,
    /// The world.
    pub scene: &'a Scene,
    /// The TX.
    pub tx: &'a Pose,
    /// The RX.
    pub rx: &'a Pose,
    /// The true paths.
    pub paths: &'a [LinkPath],
    /// The observation, if there is one.
    pub observation: Option<&'a Observation>,
    /// What the receiver's clock adds to every delay, seconds.
    pub timing_offset_s: f64,
    /// The arrivals, strongest first.
    pub found: &'a [Arrival],
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
        let timing_offset_s = record.rf_chain.timing_offset_s;
        let found = &record.arrivals.found;
        let number = Some(RowNumber { split, index: record.index });
        Self { number, scene, tx, rx, paths, observation, timing_offset_s, found, measured: false }
    }
}

/// Everything the page shows of a link.
pub(super) fn picture(
    link: &PicturedLink<'_>,
    state: &LinkState,
    settings: &LinkSettings,
    scorer: &LinkScorer,
) -> Result<LinkResult, ReportError> {
    let mut result = world(link, state);
    match link.observation {
        Some(observation) => {
            let title = if link.measured { "Measured channel" } else { "Channel magnitude" };
            result.channel_svg = Some(titled_channel_chart(observation, settings.radio.band(), title, Theme::Page));
            result.delay_svg = Some(delay_svg(link, observation, settings));
        }
        None => {
            result.notes.push("This dataset stores no channel (CSI): magnitude and delay profile are not shown.".into())
        }
    }
    result.arrivals = link.found.iter().map(ArrivalState::new).collect();
    result.retained = settings.radio.config().sre.keep;
    if link.found.is_empty() {
        result.notes.push("The estimator found no arrival above the noise.".into());
    }
    if state.posterior && link.scene.boxes.len() > MAX_POSTERIOR_BOXES {
        result.notes.push(format!("The posterior is shown for up to {MAX_POSTERIOR_BOXES} boxes."));
    } else if state.posterior {
        match posterior_svg(link, settings, scorer) {
            Ok((svg, caption)) => {
                result.posterior_svg = Some(svg);
                let origin = if link.measured { "Measured" } else { "Simulated" };
                result.posterior_caption = format!("{origin}: {caption}.");
            }
            Err(error) => result.notes.push(format!("No posterior: {error}.")),
        }
    }
    Ok(result)
}

/// The delay profile with true paths and arrivals.
pub(crate) fn delay_svg(link: &PicturedLink<'_>, observation: &Observation, settings: &LinkSettings) -> String {
    let profile = DelayProfile::new(observation, settings.radio.band());
    let truth: Vec<ProfileMark> = link
        .paths
        .iter()
        .map(|p| ProfileMark { delay_s: p.path.delay() + link.timing_offset_s, raw_snr_db: p.raw_snr_db })
        .collect();
    let found: Vec<ProfileMark> =
        link.found.iter().map(|f| ProfileMark { delay_s: f.delay_s, raw_snr_db: f.raw_snr_db }).collect();
    let name = if link.measured { "predicted" } else { "true" };
    delay_chart(&profile, observation.bins(), (&truth, name), &found, Theme::Page)
}

/// The XY marginal of the posterior, for a page, and what it assumes.
pub(crate) fn posterior_svg(
    link: &PicturedLink<'_>,
    settings: &LinkSettings,
    scorer: &LinkScorer,
) -> Result<(String, String), ReportError> {
    let to_score = LinkToScore {
        number: link.number,
        scene: link.scene,
        tx_height_m: link.tx.position.z,
        rx: link.rx,
        found: link.found,
        observation: link.observation,
    };
    let posterior = scorer.score(&to_score, settings)?;
    let boxes: Vec<BoxShape> = link.scene.boxes.iter().map(|b| b.shape).collect();
    let picture = PosteriorPicture {
        support: &posterior.support,
        volume: &posterior.volume,
        room: &link.scene.room,
        boxes: &boxes,
        rx: &[*link.rx],
        // A TX that was put somewhere to look at its prediction is no truth.
        truth: (!link.measured).then_some(*link.tx),
        caption: "",
    };
    Ok((page_marginal(&picture), posterior.caption))
}

/// The marginal with its key, for a page.
fn page_marginal(picture: &PosteriorPicture<'_>) -> String {
    let height = plan_height(picture.room, PLAN_WIDTH - 70.0);
    let title = "XY marginal of the TX posterior in dB under its peak, with the mean heading as arrows";
    let mut canvas = Canvas::new(PLAN_WIDTH, height + 26.0, Theme::Page, title);
    draw_marginal(&mut canvas, [0.0, 0.0, PLAN_WIDTH - 70.0, height], picture, "");
    crate::figure::marginal_key(&mut canvas, [PLAN_WIDTH - 66.0, height], picture);
    canvas.finish()
}

/// The plan alone, for a page.
pub(crate) fn plan_svg(link: &PicturedLink<'_>, colour: PathColour) -> (String, PlanFrame) {
    let planned = link_plan_paths(link.tx, link.rx, link.paths);
    let boxes: Vec<BoxShape> = link.scene.boxes.iter().map(|b| b.shape).collect();
    let plan =
        FloorPlan { room: &link.scene.room, boxes: &boxes, tx: Some(*link.tx), rx: &[*link.rx], paths: &planned };
    let height = plan_height(&link.scene.room, PLAN_WIDTH);
    let mut canvas = Canvas::new(PLAN_WIDTH, height + 58.0, Theme::Page, "Plan of the room with TX, RX and paths");
    let frame = plan_frame([0.0, 0.0, PLAN_WIDTH, height], &link.scene.room);
    draw_plan(&mut canvas, &frame, &plan, "", colour);
    plan_legend(&mut canvas, [16.0, height + 12.0], PLAN_WIDTH - 24.0, &plan, colour);
    let frame = PlanFrame {
        area: frame.area,
        x_m: [frame.x.min, frame.x.max],
        y_m: [frame.y.min, frame.y.max],
        size: [PLAN_WIDTH, height + 58.0],
    };
    (canvas.finish(), frame)
}

/// The plan and the paths.
fn world(link: &PicturedLink<'_>, state: &LinkState) -> LinkResult {
    let colour = match state.colour {
        ColourState::Surface => PathColour::Surface,
        ColourState::Power => PathColour::Power,
    };
    let (plan_svg, plan_frame) = plan_svg(link, colour);
    let planned = link_plan_paths(link.tx, link.rx, link.paths);
    let states = link.paths.iter().zip(&planned).map(|(path, flat)| {
        let (ink, dash, _) = surface_style(flat.surface);
        let ink = if colour == PathColour::Power { power_ink(flat.relative_db) } else { ink };
        PathState::new(path, link.tx, link.rx, Theme::Page.paint(ink).into_owned(), dash)
    });
    LinkResult {
        caption: String::new(),
        paths: states.collect(),
        arrivals: Vec::new(),
        predicted: Vec::new(),
        retained: 0,
        plan_frame,
        plan_svg,
        channel_svg: None,
        delay_svg: None,
        posterior_svg: None,
        posterior_caption: String::new(),
        notes: Vec::new(),
    }
}
