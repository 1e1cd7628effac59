//! The report's page.

use std::fmt::Write as _;

use magnetar_dataset::{Dataset, Manifest};
use magnetar_study::{Audit, Mean};

use super::coverage::coverage;
use super::distributions::distributions;
use super::{ReportOptions, SplitPicture};
use crate::svg::escape;
use crate::ticks::{count, number};
use crate::view::page::{UNFOLD, frame};

/// The whole page.
pub(super) fn page(
    dataset: &Dataset,
    splits: &[(SplitPicture, Vec<String>)],
    audit: Option<&Audit>,
    options: &ReportOptions,
) -> String {
    let manifest = dataset.manifest();
    let name = &manifest.recipe.name;
    let mut body = format!(
        "<header><h1>{}</h1><span class=\"badge\">simulated</span><p>{}</p></header>\n",
        escape(name),
        escape(&manifest.recipe.description)
    );
    let rows: u64 = splits.iter().map(|(split, _)| split.present).sum();
    if rows == 0 {
        body.push_str("<p class=\"message\" role=\"status\">This dataset has no rows yet: only its recipe is shown. Run <code>magnetar generate</code> on it.</p>\n");
    }
    contents(&mut body, splits, audit.is_some());
    body.push_str("<main>\n");
    facts(&mut body, dataset, rows);
    counts(&mut body, dataset, splits);
    if let Some(audit) = audit {
        shortcuts(&mut body, audit);
    }
    let shown = splits.iter().filter(|(split, _)| split.present > 0);
    for (n, (split, examples)) in shown.enumerate() {
        split_section(&mut body, dataset, split, examples, n == 0);
    }
    recipe(&mut body, dataset);
    let _ = write!(
        body,
        "</main>\n<footer>magnetar {}: everything here is simulated; nothing is measured. Up to {} rows of a split were read.</footer>\n",
        env!("CARGO_PKG_VERSION"),
        count(options.rows)
    );
    body.push_str(UNFOLD);
    frame(&format!("{name}: report"), &body)
}

/// Where everything is.
fn contents(body: &mut String, splits: &[(SplitPicture, Vec<String>)], audited: bool) {
    body.push_str("<nav class=\"contents\" aria-label=\"contents\"><a href=\"#dataset\">Dataset</a><a href=\"#splits\">Splits</a>");
    if audited {
        body.push_str("<a href=\"#shortcuts\">Shortcuts</a>");
    }
    for (split, _) in splits.iter().filter(|(split, _)| split.present > 0) {
        let name = escape(&split.name);
        let _ = write!(body, "<a href=\"#split-{name}\">Split {name}</a><a href=\"#examples-{name}\">its examples</a>");
    }
    body.push_str("<a href=\"#recipe\">Recipe</a></nav>\n");
}

/// Coverage, distributions and examples of a split, to be unfolded; of the first split, the charts are open.
fn split_section(body: &mut String, dataset: &Dataset, split: &SplitPicture, examples: &[String], open: bool) {
    let (name, open) = (escape(&split.name), if open { " open" } else { "" });
    let _ = write!(
        body,
        "<section class=\"wide\"><h2>Split {name}</h2><details class=\"part\" id=\"split-{name}\"{open}><summary>Coverage and distributions</summary>"
    );
    if split.read < split.present {
        let note = if dataset.manifest().stand_in.is_some() || dataset.manifest().measured.is_some() {
            "The charts show {} of {} rows, spread evenly over the protocol."
        } else {
            "The charts show the first {} of {} rows; rows are independent draws."
        };
        let note = note.replacen("{}", &count(split.read), 1).replacen("{}", &count(split.present), 1);
        let _ = write!(body, "<p class=\"caption\">{note}</p>");
    }
    let _ = write!(body, "<h3>Coverage</h3><div class=\"drawing\">{}</div>", coverage(split));
    let _ = write!(body, "<h3>Distributions</h3><div class=\"drawing\">{}</div></details>", distributions(split));
    let _ = writeln!(
        body,
        "<details class=\"part\" id=\"examples-{name}\"><summary>{} of {name}</summary>{}</details></section>",
        if examples.len() == 1 { "1 example row".to_owned() } else { format!("{} example rows", examples.len()) },
        examples.concat()
    );
}

/// What the dataset gives away without the radio, and by its direct path alone.
fn shortcuts(body: &mut String, audit: &Audit) {
    body.push_str("<section class=\"wide\" id=\"shortcuts\"><h2>Shortcuts</h2><div class=\"scroll\"><table><thead><tr><th scope=\"col\">rows</th><th scope=\"col\">layout and RX pose alone, nat</th><th scope=\"col\">direct path alone, nat</th><th scope=\"col\">arrivals</th><th scope=\"col\">strongest is LOS</th></tr></thead><tbody>");
    for (name, of) in audit.conditions() {
        let nat = |value: Mean| format!("{} &plusmn; {}", number(value.mean, 3), number(value.stderr, 3));
        let _ = write!(
            body,
            "<tr><th scope=\"row\">{name} ({})</th><td>{}</td><td>{}</td><td>{}</td><td>{} %</td></tr>",
            count(of.rows as u64),
            nat(of.layout_only_nat),
            nat(of.direct_path_nat),
            number(of.arrivals_per_row.mean, 2),
            number(of.first_is_los_percent.mean, 1)
        );
    }
    let _ = writeln!(
        body,
        "</tbody></table></div><p class=\"caption\">Gain over the uniform posterior of binned models fitted to {} rows of {} and scored on {} rows of {}.</p></section>",
        count(audit.splits.fitted_rows as u64),
        escape(&audit.splits.fitted),
        count(audit.all.rows as u64),
        escape(&audit.splits.scored)
    );
}

/// Simulated, a stand-in or measured.
fn what_it_is(manifest: &Manifest) -> String {
    match (&manifest.measured, &manifest.stand_in) {
        (Some(measured), _) => format!("measured: {}", measured.campaign),
        (None, Some(stand_in)) => stand_in.clone(),
        (None, None) => "simulated corpus".into(),
    }
}

fn facts(body: &mut String, dataset: &Dataset, rows: u64) {
    let manifest = dataset.manifest();
    let bytes: u64 = manifest.splits.values().flat_map(|s| &s.shards).map(|s| s.bytes).sum();
    let facts = [
        ("what it is", what_it_is(manifest)),
        ("rows", count(rows)),
        ("size", format!("{} MB in {} shards", number(bytes as f64 / 1e6, 1), shards(dataset))),
        ("seed", manifest.seed.to_string()),
        ("made by", format!("magnetar {} ({})", manifest.version, manifest.backend)),
        ("recipe hash", manifest.recipe_hash.clone()),
        ("channel stored as", format!("{:?}", manifest.recipe.store.csi).to_lowercase()),
    ];
    body.push_str("<section class=\"wide\" id=\"dataset\"><h2>Dataset</h2><dl class=\"facts\">");
    for (name, value) in facts {
        let _ = write!(body, "<dt>{name}</dt><dd>{}</dd>", escape(&value));
    }
    body.push_str("</dl></section>\n");
}

fn shards(dataset: &Dataset) -> usize {
    dataset.manifest().splits.values().map(|s| s.shards.len()).sum()
}

fn counts(body: &mut String, dataset: &Dataset, splits: &[(SplitPicture, Vec<String>)]) {
    body.push_str("<section class=\"wide\" id=\"splits\"><h2>Splits</h2><div class=\"scroll\"><table><thead><tr><th scope=\"col\">split</th><th scope=\"col\">rows there</th><th scope=\"col\">rows planned</th><th scope=\"col\">no board</th><th scope=\"col\">board</th><th scope=\"col\">LOS, no board</th><th scope=\"col\">LOS, board</th></tr></thead><tbody>");
    for (split, _) in splits {
        let share = |n: usize| {
            let c = &split.conditions[n];
            if c.rows == 0 { "n/a".into() } else { format!("{} %", number(100.0 * c.los as f64 / c.rows as f64, 1)) }
        };
        let condition = |n: usize| {
            let rows = split.conditions[n].rows;
            // Of a sample only the read rows are known.
            if split.read < split.present { format!("{} read", count(rows)) } else { count(rows) }
        };
        let _ = write!(
            body,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&split.name),
            count(split.present),
            count(split.expected),
            condition(0),
            condition(1),
            share(0),
            share(1)
        );
    }
    if dataset.manifest().splits.is_empty() {
        body.push_str("<tr><td colspan=\"7\">no split yet</td></tr>");
    }
    body.push_str("</tbody></table></div></section>\n");
}

fn recipe(body: &mut String, dataset: &Dataset) {
    body.push_str("<section class=\"wide\"><h2>Recipe</h2><details class=\"part\" id=\"recipe\"><summary>Every value with its unit</summary><div class=\"scroll\"><table><thead><tr><th scope=\"col\">key</th><th scope=\"col\">value</th><th scope=\"col\">unit</th><th scope=\"col\">whose</th><th scope=\"col\">meaning</th></tr></thead><tbody>");
    for entry in dataset.recipe().entries() {
        let value = match &entry.value {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let _ = write!(
            body,
            "<tr><td><code>{}</code></td><td>{}</td><td>{}</td><td>{}</td><td class=\"words\">{}</td></tr>",
            escape(&entry.key),
            escape(&value),
            escape(entry.unit),
            escape(entry.origin),
            escape(entry.meaning)
        );
    }
    body.push_str("</tbody></table></div></details></section>\n");
}
