//! The page of a sweep: one self-contained file.

use std::fmt::Write as _;

use magnetar_dataset::sweep::{Metric, Posterior, SweepTable, sensitivities};

use super::{effect_chart, sensitivity_chart};
use crate::Theme;
use crate::svg::escape;
use crate::ticks::count;
use crate::view::page::frame;

/// Points listed in the page; the table on disk has all.
const LISTED: usize = 500;

/// The whole page.
#[must_use]
pub fn sweep_page(table: &SweepTable) -> String {
    let manifest = &table.manifest;
    let mut body = format!(
        "<header><h1>{}</h1><span class=\"badge\">simulated</span><p>{}</p></header>\n<main>\n",
        escape(&manifest.name),
        escape(&manifest.description)
    );
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
    frame(&format!("{}: sweep", manifest.name), &body)
}

/// The metric whose movers are listed: the posterior's NLL, else the arrivals found.
fn sensitivity_metric(table: &SweepTable) -> Option<&Metric> {
    let first = table.results.first()?;
    first.metric("nll").or_else(|| first.metric("arrivals_mean"))
}

fn facts(body: &mut String, table: &SweepTable) {
    let manifest = &table.manifest;
    let axes: Vec<String> =
        manifest.axes.iter().map(|axis| format!("{} ({})", axis.name, axis.keys.join(", "))).collect();
    let scored = match manifest.posterior {
        Posterior::None => "no",
        Posterior::Own => "by a twin that knows each point's recipe",
        Posterior::Base => "by a twin that knows the base recipe only",
    };
    body.push_str("<section class=\"wide\"><h2>Sweep</h2><dl class=\"facts\">");
    for (name, value) in [
        ("points", format!("{} ({})", count(manifest.points.len() as u64), manifest.design.label())),
        ("rows of a point", count(manifest.rows)),
        ("split and seed", format!("{}, {}", manifest.split, manifest.seed)),
        ("axes", axes.join("; ")),
        ("base recipe", format!("{} ({})", manifest.base.name, manifest.base.hash())),
        ("posterior scored", scored.into()),
    ] {
        let _ = write!(body, "<dt>{name}</dt><dd>{}</dd>", escape(&value));
    }
    body.push_str(
        "</dl><p class=\"caption\">All points share their random numbers: row i has the same draws at every point, so that \
         differences are due to the axes alone. Bars and ± are one standard error over rows; because rows are shared, \
         differences between points are known better than these say.</p></section>\n",
    );
}

fn sensitivity(body: &mut String, table: &SweepTable, metric: &Metric) {
    let Some(found) = sensitivities(table, &metric.name) else { return };
    let chart = sensitivity_chart(&metric.name, &metric.unit, &found, Theme::Page);
    let _ = write!(body, "<section class=\"wide\"><h2>What moves {} most</h2>{chart}", escape(&metric.name));
    body.push_str("<div class=\"scroll\"><table><thead><tr><th scope=\"col\">axis</th><th scope=\"col\">value</th><th scope=\"col\">base</th><th scope=\"col\">difference</th></tr></thead><tbody>");
    for s in &found {
        let _ = write!(
            body,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&s.axis),
            escape(&s.value),
            escape(&s.base),
            shown(Some(s.difference), s.stderr)
        );
    }
    body.push_str("</tbody></table></div></section>\n");
}

fn effects(body: &mut String, table: &SweepTable) {
    let Some(first) = table.results.first() else { return };
    for (i, axis) in table.manifest.axes.iter().enumerate() {
        let _ = write!(
            body,
            "<section class=\"wide\"><h2>Main effects of {}</h2><p class=\"caption\"><code>{}</code>, averaged over the other \
             axes.</p><div style=\"display:grid;grid-template-columns:repeat(auto-fill,minmax(300px,1fr));gap:8px\">",
            escape(&axis.name),
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
    body.push_str("<section class=\"wide\"><h2>Points</h2>");
    if manifest.points.len() > LISTED {
        let _ = write!(body, "<p class=\"caption\">The first {LISTED}; <code>sweep.parquet</code> has all.</p>");
    }
    body.push_str("<div class=\"scroll\"><table><thead><tr><th scope=\"col\">point</th>");
    let head = |name: &str, unit: &str| {
        let unit = if unit.is_empty() { String::new() } else { format!(", {}", escape(unit)) };
        format!("<th scope=\"col\">{}{unit}</th>", escape(name))
    };
    manifest.axes.iter().for_each(|axis| body.push_str(&head(&axis.name, &axis.unit)));
    metrics.iter().for_each(|metric| body.push_str(&head(&metric.name, &metric.unit)));
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

/// A value and its standard error with as many digits as the latter deserves.
fn shown(value: Option<f64>, stderr: Option<f64>) -> String {
    match (value, stderr) {
        (None, _) => "n/a".into(),
        (Some(value), None) => format!("{value:.3}"),
        (Some(value), Some(stderr)) => {
            let digits = if stderr > 0.0 { (1.0 - stderr.log10().floor()).clamp(0.0, 6.0) as usize } else { 3 };
            format!("{value:.digits$} ± {stderr:.digits$}")
        }
    }
}
