//! One example row: plan, channel, delay profile, posterior.

use std::fmt::Write as _;

use magnetar_dataset::{Recipe, Record};

use crate::corpus::{row_observation, row_scene};
use crate::error::ReportError;
use crate::link_scorer::LinkScorer;
use crate::palette::Theme;
use crate::plan::PathColour;
use crate::signal_charts::channel_chart;
use crate::simulator::Simulator;
use crate::svg::escape;
use crate::ticks::number;
use crate::view::links::paths_in_words;
use crate::view::picture::{PicturedLink, delay_svg, plan_chart, posterior_svg};

/// The row as a piece of a page.
pub(super) fn example(
    split: &str,
    record: &Record,
    recipe: &Recipe,
    simulator: &mut Simulator,
    scorer: Option<&LinkScorer>,
) -> Result<String, ReportError> {
    let scene = row_scene(record, recipe)?;
    let reported = record.reported();
    let tx = reported.hold(&record.tx);
    let paths = simulator.paths(&scene, &tx, &reported.rx, record.tx_power_offset_db)?;
    let settings = simulator.settings();
    let observation = row_observation(record);
    let pictured = PicturedLink::row(split, record, [&tx, &reported.rx], &scene, &paths, observation.as_ref());
    let m = &record.materials;
    let mut out = format!(
        "<div class=\"row\"><h3>Row {} of {}: {}, {}</h3><p class=\"caption\">walls {}, ceiling {}, floor {}; TX-power offset {} dB; {}, {} found. Simulated.</p><div class=\"charts\">",
        record.index,
        escape(split),
        if record.los { "LOS" } else { "NLOS" },
        if record.layout.board.is_some() { "board" } else { "no board" },
        escape(&m.wall),
        escape(&m.ceiling),
        escape(&m.floor),
        number(record.tx_power_offset_db, 2),
        paths_in_words(paths.len()),
        match record.arrivals.found.len() {
            1 => "1 arrival".to_owned(),
            found => format!("{found} arrivals"),
        }
    );
    let plan = plan_chart(&pictured, PathColour::Surface);
    let _ = write!(out, "<div>{}</div>", plan.plan_svg);
    if let Some(scorer) = scorer {
        match posterior_svg(&pictured, settings, scorer) {
            Ok((svg, caption)) => {
                let caption = escape(&caption);
                let _ = write!(out, "<div>{svg}<p class=\"caption\">XY marginal: {caption}.</p></div>");
            }
            Err(error) => {
                let _ = write!(out, "<p class=\"caption\">No posterior: {}.</p>", escape(&error.to_string()));
            }
        }
    }
    match &observation {
        Some(observation) => {
            let channel = channel_chart(observation, settings.radio.band(), Theme::Page);
            let _ = write!(out, "<div>{channel}{}</div>", delay_svg(&pictured, observation, settings));
        }
        None => out.push_str(
            "<p class=\"caption\">This dataset stores no channel (CSI): no magnitude and no delay profile.</p>",
        ),
    }
    out.push_str("</div></div>");
    Ok(out)
}
