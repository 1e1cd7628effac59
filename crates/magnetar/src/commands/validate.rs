//! `magnetar validate`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use magnetar_trace::sionna::{self, ErrorSummary, PathErrors, PathName, Validation};
use serde_json::{Value, json};

use crate::output::counted;

/// How many paths are named in a list on screen; `--json` gives all.
const MOST_NAMED: usize = 10;

/// Flags of `magnetar validate`.
#[derive(clap::Args)]
#[command(after_help = "\
Exit code 0 if in every file the path sets are identical and every error is
inside tolerance, 1 otherwise. Of paths with several interactions, 0.5 % may be
missing from the export; paths within 2 mm of an edge are shown as ambiguous.
The schema is described in docs/sionna.md; magnetar-sionna-export of the
Python package writes it from a scene. An .npz file holds plain arrays of Sionna
RT's Paths, as magnetar-sionna-arrays writes them.

Examples:
  magnetar validate cases.json.gz
  magnetar validate --json train.json test.json.gz
  magnetar validate paths.npz")]
pub struct Args {
    /// Exports of schema sionna-box-v1 or sionna-box-v2, plain or gzip, or arrays of Paths in .npz files.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print one JSON object: the totals, and each file under `files`.
    #[arg(long)]
    json: bool,
}

/// One kind of error: how it is called, on screen and in JSON, and its value.
struct Kind {
    title: &'static str,
    key: &'static str,
    pick: fn(&PathErrors) -> f64,
}

const KINDS: [Kind; 4] = [
    Kind { title: "coefficient", key: "coefficient", pick: |e| e.coefficient },
    Kind { title: "delay (relative)", key: "delay", pick: |e| e.delay },
    Kind { title: "angle (rad)", key: "angle", pick: |e| e.angle },
    Kind { title: "vertex (m)", key: "vertex", pick: |e| e.vertex },
];

/// Compares every case of every file with the tracer.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut total = Validation::default();
    let mut all_ok = true;
    let mut reports = Vec::new();
    for file in &args.files {
        let export = match sionna::read_export(file) {
            Ok(export) => export,
            Err(error) => {
                eprintln!("error: {error}");
                all_ok = false;
                reports.push(json!({ "file": file.display().to_string(), "ok": false, "error": error.to_string() }));
                continue;
            }
        };
        for warning in &export.warnings {
            eprintln!("warning: {}: {warning}", file.display());
        }
        let validation = sionna::validate(&export);
        all_ok &= validation.ok();
        if args.json {
            let mut report = to_json(&validation, validation.ok());
            report["file"] = json!(file.display().to_string());
            report["warnings"] = json!(export.warnings);
            reports.push(report);
        } else {
            print(file, &validation);
        }
        total.merge(validation);
    }
    if args.json {
        let mut report = to_json(&total, all_ok);
        report["files"] = Value::Array(reports);
        let text = serde_json::to_string_pretty(&report).context("the report cannot be written as JSON")?;
        println!("{text}");
    }
    Ok(if all_ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What was found, as `--json` has it.
#[must_use]
pub fn to_json(validation: &Validation, ok: bool) -> Value {
    let mut report = json!({
        "cases": validation.cases,
        "paths": validation.paths,
        "missing_paths": validation.unmatched.missing.len(),
        "extra_paths": validation.unmatched.extra.len(),
        "ambiguous_paths": validation.unmatched.ambiguous.len(),
        "left_out_paths": validation.unmatched.left_out.len(),
    });
    let summaries = KINDS.map(|kind| validation.summary(kind.pick));
    for (kind, summary) in KINDS.iter().zip(&summaries) {
        report[format!("max_{}_error", kind.key)] = json!(summary.max);
    }
    report["p99_coefficient_error"] = json!(summaries[0].p99);
    report["coefficients_beyond_1e-4"] = json!(validation.beyond_first_order_tolerance());
    report["most_coefficients_beyond_1e-4"] = json!(validation.most_beyond());
    report["ok"] = json!(ok);
    for (kind, summary) in KINDS.iter().zip(&summaries) {
        report[format!("median_{}_error", kind.key)] = json!(summary.median);
    }
    for (kind, summary) in KINDS.iter().zip(&summaries) {
        report["worst"][kind.key] = summary.worst.as_ref().map_or(Value::Null, name_to_json);
        report["tolerance"][kind.key] = json!((kind.pick)(validation.tolerance()));
    }
    report["missing"] = validation.unmatched.missing.iter().map(name_to_json).collect();
    report["extra"] = validation.unmatched.extra.iter().map(name_to_json).collect();
    report["ambiguous"] = validation.unmatched.ambiguous.iter().map(name_to_json).collect();
    let mut reasons = BTreeMap::new();
    for (_, reason) in &validation.unmatched.left_out {
        *reasons.entry(reason.label()).or_insert(0) += 1;
    }
    report["left_out_reasons"] = json!(reasons);
    let left_out = validation.unmatched.left_out.iter();
    report["left_out"] = left_out
        .map(|(name, reason)| {
            let mut path = name_to_json(name);
            path["reason"] = json!(reason.label());
            path
        })
        .collect();
    report["outside_tolerance"] = validation
        .outside_tolerance()
        .map(|(name, errors)| {
            let mut path = name_to_json(name);
            for kind in &KINDS {
                path[format!("{}_error", kind.key)] = json!((kind.pick)(errors));
            }
            path
        })
        .collect();
    report["untraced"] = validation.untraced.iter().map(|u| json!({ "case": u.case, "reason": u.reason })).collect();
    report
}

fn name_to_json(name: &PathName) -> Value {
    json!({ "case": name.case, "object": name.object })
}

fn print(file: &Path, validation: &Validation) {
    println!(
        "{}: {}, {}, {} missing, {} extra: {}",
        file.display(),
        counted(validation.cases, "case"),
        counted(validation.paths, "path"),
        validation.unmatched.missing.len(),
        validation.unmatched.extra.len(),
        if validation.ok() { "ok" } else { "NOT OK" }
    );
    if validation.several {
        let p99 = validation.summary(KINDS[0].pick).p99;
        println!(
            "  several interactions: {} ambiguous, {} left out; 99 % of coefficients within {p99:.2e}, {} beyond 1e-4 \
             (at most {})",
            validation.unmatched.ambiguous.len(),
            validation.unmatched.left_out.len(),
            validation.beyond_first_order_tolerance(),
            validation.most_beyond()
        );
    }
    println!("  {:<17} {:>9} {:>9} {:>9}  worst", "error", "largest", "median", "tolerance");
    for kind in &KINDS {
        let ErrorSummary { max, median, worst, .. } = validation.summary(kind.pick);
        let tolerance = (kind.pick)(validation.tolerance());
        let worst = worst.map_or_else(String::new, |name| format!("case {} {}", name.case, name.object));
        let mark = if max <= tolerance { "" } else { " OUTSIDE" };
        println!("  {:<17} {max:>9.2e} {median:>9.2e} {tolerance:>9.0e}  {worst}{mark}", kind.title);
    }
    list("not traced", validation.untraced.iter().map(|u| format!("case {}: {}", u.case, u.reason)));
    list("missing (only in the export)", validation.unmatched.missing.iter().map(title));
    list("extra (only in the trace)", validation.unmatched.extra.iter().map(title));
    list("ambiguous (within 2 mm of an edge)", validation.unmatched.ambiguous.iter().map(title));
    list(
        "left out",
        validation.unmatched.left_out.iter().map(|(name, why)| format!("{}: {}", title(name), why.label())),
    );
    list(
        "outside tolerance",
        validation.outside_tolerance().map(|(name, errors)| {
            // Not a number is outside.
            let inside = |kind: &Kind| (kind.pick)(errors) <= (kind.pick)(validation.tolerance());
            let outside = KINDS.iter().filter(|kind| !inside(kind));
            let outside: Vec<_> = outside.map(|kind| format!("{} {:.2e}", kind.title, (kind.pick)(errors))).collect();
            format!("{}: {}", title(name), outside.join(", "))
        }),
    );
}

fn title(name: &PathName) -> String {
    format!("case {} {}", name.case, name.object)
}

fn list(heading: &str, items: impl Iterator<Item = String>) {
    let mut more = 0;
    for (i, item) in items.enumerate() {
        if i < MOST_NAMED {
            println!("  {heading}: {item}");
        } else {
            more += 1;
        }
    }
    if more > 0 {
        println!("  {heading}: {more} more; --json names all");
    }
}
