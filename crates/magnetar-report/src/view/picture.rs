//! From a simulated link to everything the page shows of it.

use magnetar_scene::{BoxShape, Pose, Scene};

use super::protocol::{ArrivalState, ColourState, LinkResult, LinkState, PathState, PlanFrame};
use crate::delay_profile::DelayProfile;
use crate::error::ReportError;
use crate::figure::plan_height;
use crate::palette::{Theme, power_ink, surface_style};
use crate::plan::{PathColour, Plan, PlanPath, draw_plan, plan_frame, plan_legend};
use crate::signal_charts::{ProfileMark, channel_chart, delay_chart};
use crate::simulator::{LinkPath, LinkSettings, SimulatedLink};
use crate::svg::Canvas;

/// Width of the plan, in units of its SVG.
const PLAN_WIDTH: f64 = 520.0;

/// Everything the page shows of a simulated link.
pub(super) fn picture(
    scene: &Scene,
    tx: &Pose,
    rx: &Pose,
    link: &SimulatedLink,
    state: &LinkState,
    settings: &LinkSettings,
) -> Result<LinkResult, ReportError> {
    let offset = link.rf_chain.timing_offset_s;
    let mut result = world(scene, tx, rx, &link.paths, state)?;
    result.caption = format!(
        "Simulated: {} paths at {} GHz, {} antennas, seed {}.",
        link.paths.len(),
        settings.band.carrier_hz / 1e9,
        settings.tx_pattern.info().name,
        state.seed
    );
    let profile = DelayProfile::new(&link.observation, &settings.band);
    let truth: Vec<ProfileMark> =
        link.paths.iter().map(|p| ProfileMark { delay_s: p.path.delay() + offset, raw_snr_db: p.raw_snr_db }).collect();
    let found: Vec<ProfileMark> =
        link.components.iter().map(|c| ProfileMark { delay_s: c.delay_s, raw_snr_db: c.raw_snr_db }).collect();
    result.channel_svg = Some(channel_chart(&link.observation, &settings.band, Theme::Page));
    result.delay_svg = Some(delay_chart(&profile, link.observation.bins(), &truth, &found, Theme::Page));
    let arrival = |c: &magnetar_signal::sre::Component| ArrivalState {
        delay_ns: c.delay_s * 1e9,
        aoa_deg: c.aoa_rad.to_degrees(),
        raw_snr_db: c.raw_snr_db,
        snr_db: c.snr_db,
    };
    result.arrivals = link.components.iter().map(arrival).collect();
    result.retained = settings.sre.keep;
    if link.components.is_empty() {
        result.notes.push("The estimator found no arrival above the noise.".into());
    }
    Ok(result)
}

/// The plan and the paths.
pub(super) fn world(
    scene: &Scene,
    tx: &Pose,
    rx: &Pose,
    paths: &[LinkPath],
    state: &LinkState,
) -> Result<LinkResult, ReportError> {
    let strongest = paths.iter().map(|p| p.raw_snr_db).fold(f64::NEG_INFINITY, f64::max);
    let colour = match state.colour {
        ColourState::Surface => PathColour::Surface,
        ColourState::Power => PathColour::Power,
    };
    let planned: Vec<PlanPath> = paths
        .iter()
        .map(|p| {
            let mut points = vec![[tx.position.x, tx.position.y]];
            points.extend(p.path.vertex().map(|v| [v.x, v.y]));
            points.push([rx.position.x, rx.position.y]);
            PlanPath { surface: p.path.geometry.surface, points, relative_db: p.raw_snr_db - strongest }
        })
        .collect();
    let boxes: Vec<BoxShape> = scene.boxes.iter().map(|b| b.shape).collect();
    let plan = Plan { room: &scene.room, boxes: &boxes, tx: Some(*tx), rx: &[*rx], paths: &planned };
    let height = plan_height(&scene.room, PLAN_WIDTH);
    let mut canvas = Canvas::new(PLAN_WIDTH, height + 44.0, Theme::Page, "Plan of the room with TX, RX and paths");
    let frame = plan_frame([0.0, 0.0, PLAN_WIDTH, height], &scene.room);
    draw_plan(&mut canvas, &frame, &plan, "", colour);
    plan_legend(&mut canvas, [16.0, height + 12.0], PLAN_WIDTH - 24.0, &plan, colour);
    let states = paths.iter().zip(&planned).map(|(path, flat)| {
        let (ink, dash, _) = surface_style(&flat.surface);
        let ink = if colour == PathColour::Power { power_ink(flat.relative_db) } else { ink };
        PathState::new(path, tx, rx, Theme::Page.paint(ink).into_owned(), dash)
    });
    Ok(LinkResult {
        caption: String::new(),
        paths: states.collect(),
        arrivals: Vec::new(),
        retained: 0,
        plan_frame: PlanFrame {
            area: frame.area,
            x_m: [frame.x.min, frame.x.max],
            y_m: [frame.y.min, frame.y.max],
            size: [PLAN_WIDTH, height + 44.0],
        },
        plan_svg: canvas.finish(),
        channel_svg: None,
        delay_svg: None,
        posterior_svg: None,
        notes: Vec::new(),
    })
}
