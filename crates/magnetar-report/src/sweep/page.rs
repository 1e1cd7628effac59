//! The page of a sweep: one self-contained file.

use std::fmt::Write as _;

use magnetar_files::seal;
use magnetar_study::sweep::{Axis, Metric, PointDesign, Posterior, SweepTable, sensitivities};

use super::words::{axis_in_words, metric_in_words, with_unit};
use super::{effect_chart, sensitivity_chart};
use crate::Theme;
use crate::svg::escape;
use crate::ticks::{count, number};
use crate::view::page::frame;

/// Points listed in the page; the table on disk has all.
const LISTED: usize = 500;

/// The whole page, sealed.
#[must_use]
pub fn sweep_page(table: &SweepTable) -> String {
    let manifest = &table.manifest;
    let mut body = format!(
        "<header><h1>{}</h1><span class=\"badge\">simulated</span><p>{}</p></header>\n",
        escape(&manifest.sweep.name),
        escape(&manifest.sweep.description)
    );
    contents(&mut body, table);
    body.push_str("<main>\n");
    facts(&mut body, table);
    if let Some(metric) = sensitivity_metric(table) {
        sensitivity(&mut body, table, metric);
    }
    effects(&mut body, table);
    points(&mut body, table);
    let _ = write!(
        body,
        "</main>\n<footer>magnetar {}: everything here is simulated; nothing is measured.</footer>\n",
        escape(&manifest.version)
    );
    seal(&frame(&format!("{}: sweep", manifest.sweep.name), &body))
}

/// Where everything is.
fn contents(body: &mut String, table: &SweepTable) {
    body.push_str("<nav class=\"contents\" aria-label=\"contents\"><a href=\"#sweep\">Sweep</a>");
    if sensitivity_metric(table).is_some_and(|metric| sensitivities(table, &metric.name).is_some()) {
        body.push_str("<a href=\"#most\">What moves most</a>");
    }
    for (i, axis) in table.manifest.sweep.axes.iter().enumerate() {
        let _ = write!(body, "<a href=\"#axis-{i}\">{}</a>", escape(&axis_in_words(table, axis)));
    }
    body.push_str("<a href=\"#points\">Points</a></nav>\n");
}

/// The metric whose movers are listed: the posterior's NLL, else the arrivals found.
fn sensitivity_metric(table: &SweepTable) -> Option<&Metric> {
    let first = table.results.first()?;
    first.metric("nll").or_else(|| first.metric("arrivals_mean"))
}

fn facts(body: &mut String, table: &SweepTable) {
    let manifest = &table.manifest;
    let axes: Vec<String> = manifest.sweep.axes.iter().map(named).collect();
    // Sweeps of earlier versions do not name their scorer: it was the twin.
    let scorer = manifest.scorer.as_ref().map_or("twin", |scorer| &scorer.name);
    let scored = match manifest.sweep.posterior {
        Posterior::None => "no".to_owned(),
        Posterior::Own => {
            format!("by {scorer}, which knows each point's recipe; fitted parameters are the same everywhere")
        }
        Posterior::Base => format!("by {scorer}, which knows the base recipe only"),
    };
    body.push_str("<section class=\"wide\" id=\"sweep\"><h2>Sweep</h2><dl class=\"facts\">");
    for (name, value) in [
        ("points", format!("{} ({})", count(manifest.points.len() as u64), manifest.sweep.design.label())),
        ("rows of a point", count(manifest.sweep.rows)),
        ("split and seed", format!("{}, {}", manifest.sweep.split, manifest.sweep.seed)),
        ("axes", axes.join("; ")),
        ("base recipe", format!("{} ({})", manifest.base.name, manifest.base.hash())),
        ("posterior scored", scored),
    ] {
        let _ = write!(body, "<dt>{name}</dt><dd>{}</dd>", escape(&value));
    }
    body.push_str(
        "</dl><p class=\"caption\">Simulated. All points share their random numbers: row i has the same draws at every point, so that \
         differences are due to the axes alone. ± and thin bars are one standard error of a value by itself. Thick \
         bars, where rows have values of their own, are one standard error of its difference from the mean of all values of the \
         axis, row by row: compare values by them.</p></section>\n",
    );
}

fn sensitivity(body: &mut String, table: &SweepTable, metric: &Metric) {
    let Some(found) = sensitivities(table, &metric.name) else { return };
    let chart = sensitivity_chart(&metric_in_words(&metric.name), &metric.unit, &found, Theme::Page);
    let known = match table.manifest.sweep.posterior {
        Posterior::None => "",
        Posterior::Own | Posterior::Base => {
            " The scorer is given each row's room bounds, board and RX pose, whatever the recipe."
        }
    };
    let _ = write!(
        body,
        "<section class=\"wide\" id=\"most\"><h2>What moves {} most</h2><p class=\"caption\">One key at a time; the axis with the largest \
         difference from the base recipe comes first. Differences are taken row by row; bars and ± are one standard error of \
         such a paired difference.{known} Orange is more than the base, blue is less.</p>{chart}",
        escape(&metric_in_words(&metric.name))
    );
    body.push_str("<div class=\"scroll\"><table><thead><tr>");
    for (name, unit) in [("axis", ""), ("value", ""), ("base", ""), ("unit", ""), ("difference", &metric.unit)] {
        body.push_str(&head(name, unit));
    }
    body.push_str("</tr></thead><tbody>");
    for s in &found {
        let _ = write!(
            body,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&s.axis),
            escape(&s.value),
            escape(&s.base),
            escape(&s.unit),
            shown(Some(s.difference), s.stderr)
        );
    }
    body.push_str("</tbody></table></div></section>\n");
}

fn effects(body: &mut String, table: &SweepTable) {
    let Some(first) = table.results.first() else { return };
    let others = match table.manifest.sweep.design {
        PointDesign::OneAtATime => "the other keys as in the base recipe",
        PointDesign::Grid => "averaged over the other axes",
        PointDesign::LatinHypercube | PointDesign::Sobol => {
            "dots are the points, which the other axes move as well; marks are means over bins of equally many, bars one standard error by how far the dots of a bin spread"
        }
    };
    for (i, axis) in table.manifest.sweep.axes.iter().enumerate() {
        let _ = write!(
            body,
            "<section class=\"wide\" id=\"axis-{i}\"><h2>Main effects of {}</h2><p class=\"caption\"><code>{}</code>: {others}.</p><div class=\"effects\">",
            escape(&with_unit(&axis_in_words(table, axis), &axis.unit)),
            escape(&axis.keys.join(", "))
        );
        for metric in &first.metrics {
            body.push_str(&effect_chart(table, i, metric, Theme::Page));
        }
        body.push_str("</div></section>\n");
    }
}

fn points(body: &mut String, table: &SweepTable) {
    let manifest = &table.manifest;
    let metrics = table.results.first().map_or(&[][..], |first| &first.metrics);
    body.push_str("<section class=\"wide\" id=\"points\"><h2>Points</h2>");
    if manifest.points.len() > LISTED {
        let _ = write!(body, "<p class=\"caption\">The first {LISTED}; <code>sweep.parquet</code> has all.</p>");
    }
    body.push_str("<div class=\"scroll\"><table><thead><tr><th scope=\"col\">point</th>");
    manifest.sweep.axes.iter().for_each(|axis| body.push_str(&head(&axis.name, &axis.unit)));
    metrics.iter().for_each(|metric| body.push_str(&head(&metric_in_words(&metric.name), &metric.unit)));
    body.push_str("</tr></thead><tbody>");
    for (i, (point, result)) in manifest.points.iter().zip(&table.results).enumerate().take(LISTED) {
        let _ = write!(body, "<tr><td>{i}</td>");
        for setting in &point.settings {
            let _ = write!(body, "<td>{}</td>", escape(&setting.label));
        }
        for metric in &result.metrics {
            let _ = write!(body, "<td>{}</td>", shown(metric.value, metric.stderr));
        }
        body.push_str("</tr>");
    }
    body.push_str("</tbody></table></div></section>\n");
}

/// The heading of a column.
fn head(name: &str, unit: &str) -> String {
    let unit = if unit.is_empty() { String::new() } else { format!(", {}", escape(unit)) };
    format!("<th scope=\"col\">{}{unit}</th>", escape(name))
}

/// An axis and the keys it changes, where its name does not say them.
fn named(axis: &Axis) -> String {
    if axis.keys.len() == 1 && axis.keys[0] == axis.name {
        return axis.name.clone();
    }
    format!("{} ({})", axis.name, axis.keys.join(", "))
}

/// A value and its standard error with as many digits as the latter deserves.
fn shown(value: Option<f64>, stderr: Option<f64>) -> String {
    match (value, stderr) {
        (None, _) => "n/a".into(),
        (Some(value), None) => number(value, 3),
        (Some(value), Some(stderr)) => {
            let digits = if stderr > 0.0 { (1.0 - stderr.log10().floor()).clamp(0.0, 6.0) as usize } else { 3 };
            format!("{} ± {}", number(value, digits), number(stderr, digits))
        }
    }
}
