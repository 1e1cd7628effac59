//! `magnetar calibrate`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use magnetar_dataset::{Campaign, Dataset, Recipe, ReflectionLevels, import};
use magnetar_files::AtomicFile;
use magnetar_signal::KeyRange;
use magnetar_study::{CalibrationSettings, FoundOffsets, HeldOut, calibrate_receiver};
use serde_json::{Value, json};

use super::dataset_folder::open_dataset;
use crate::args::keep_inputs;
use crate::{console, progress};

/// Flags of `magnetar calibrate`.
#[derive(clap::Args)]
#[command(after_help = "\
What a receiver and its world differ from the recipe by, from rows whose TX is
known: the level, the inter-channel phase (and its change with the angle), the
boresights of RX and TX, the RX's position, one reflection level per kind of
surface, and the spreads. Maximum likelihood with standard errors; one row in
five is held out, and how well those are explained is shown before and after.

The rows are made anew by the recipe's simulator, of a receiver as it was found:
what their calibration finds beyond that is the method's own bias. It is taken
off, and their spread is part of the standard errors (--replicas).

--out writes a recipe that extends the rows' own: link.reference_snr_db,
sre.phase_offset_deg, array.spacing_m (the effective one: it holds the phase's
change with the angle), rf_chain.phase_error_deg_rms, [reflection], and
[mounting], which locate and import apply to reported poses.

Examples:
  magnetar calibrate campaign.toml --out office.toml
  magnetar calibrate data --split val --hold phase_slope_deg --json
  magnetar locate office_scene.toml snap.npy --rx 1,-1,,90 --recipe office.toml")]
pub struct Args {
    /// A dataset's folder, or a campaign's file (.toml).
    what: PathBuf,
    /// The split with the rows; the first one if not given.
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// Use at most N rows, spread over the split.
    #[arg(long, default_value_t = 4000, value_name = "N")]
    limit: usize,
    /// Leave this number as the recipe has it; may be given more than once.
    #[arg(long, value_name = "NAME")]
    hold: Vec<String>,
    /// Make the rows anew so many times, and take off what their calibration finds too much; 0 leaves that out.
    #[arg(long, default_value_t = CalibrationSettings::default().replicas, value_name = "N",
        value_parser = clap::value_parser!(u32).range(0..=1000))]
    replicas: u32,
    /// The recipe that the new one extends: a shipped one's name or a file. If not given, the campaign's, or the
    /// dataset's if it is a shipped one.
    #[arg(long, value_name = "NAME|FILE")]
    base: Option<String>,
    /// Write the calibrated recipe here: .toml.
    #[arg(short, long, value_name = "FILE.toml")]
    out: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Prints what was found, and writes a recipe.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(out) = args.out.as_ref().filter(|out| !has_ending(out)) {
        bail!("{}: expected a name that ends in .toml, which is what is written", out.display());
    }
    if let Some(out) = &args.out {
        keep_inputs(out, [&*args.what].into_iter().chain(args.base.as_deref().map(Path::new)))?;
    }
    if has_ending(&args.what) {
        let campaign = Campaign::load(&args.what)?;
        let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
        console::remove_when_interrupted(folder.path());
        let rows = folder.path().join("rows");
        let bar = progress::counter("rows");
        import(&campaign, &rows, &|rows| bar.inc(rows))?;
        bar.finish_and_clear();
        let base = campaign.path(Path::new(&campaign.recipe));
        let base = if base.is_file() { base.display().to_string() } else { campaign.recipe.clone() };
        if let Some(out) = &args.out {
            keep_inputs(out, [Path::new(&base)])?;
        }
        of_dataset(args, &open_dataset(&rows)?, Some(base))?;
        if args.out.is_some() && campaign.receiver.phase_offset_deg.is_some() {
            note!(
                "note: the recipe's sre.phase_offset_deg holds the campaign's receiver.phase_offset_deg, too: take that out where you use it"
            );
        }
        if args.out.is_some() && campaign.receiver.phase_table.is_some() {
            note!("note: what was found comes on top of the campaign's receiver.phase_table, which stays needed");
        }
        return Ok(ExitCode::SUCCESS);
    }
    of_dataset(args, &open_dataset(&args.what)?, None)
}

fn has_ending(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
}

fn of_dataset(args: &Args, dataset: &Dataset, base: Option<String>) -> anyhow::Result<ExitCode> {
    let recipe = dataset.recipe();
    let split = match &args.split {
        Some(split) => split.as_str(),
        None => dataset.manifest().splits.keys().next().context("the dataset has no split")?,
    };
    let base = match args.out.as_ref().map(|_| args.base.clone().or(base)) {
        None => None,
        Some(Some(base)) => Some(base),
        Some(None) => Some(shipped_base(recipe)?),
    };
    let bar = progress::counter("steps");
    let settings = CalibrationSettings { held: args.hold.clone(), replicas: args.replicas };
    let found = calibrate_receiver(dataset, split, args.limit, &settings, &|steps| bar.inc(steps))?;
    bar.finish_and_clear();
    if let (Some(out), Some(base)) = (&args.out, &base) {
        let text = recipe_text(recipe, &as_seen_from(out, base)?, &found);
        AtomicFile::write(out, text.as_bytes()).with_context(|| format!("cannot write {}", out.display()))?;
        Recipe::load(&out.display().to_string(), &[]).context("the calibrated recipe does not load")?;
    }
    if found.after.log_likelihood < found.before.log_likelihood {
        eprintln!(
            "warning: the rows held out are less likely with what was found ({:.2} nat per row) than without it ({:.2}); are the \
             poses, the scene and the materials those of the rows?",
            found.after.log_likelihood, found.before.log_likelihood
        );
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&to_json(args, split, &found))?);
    } else {
        print(&found);
        if let Some(out) = &args.out {
            println!("wrote {}", out.display());
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The name of the shipped recipe that a dataset was made with.
fn shipped_base(recipe: &Recipe) -> anyhow::Result<String> {
    match Recipe::load(&recipe.name, &[]) {
        Ok(shipped) if shipped.hash() == recipe.hash() => Ok(recipe.name.clone()),
        Ok(_) => bail!(
            "the rows' recipe is {:?} with changes: give the one to extend, changes included, with --base FILE",
            recipe.name
        ),
        Err(_) => bail!("{:?} is no shipped recipe: give the one to extend with --base NAME|FILE", recipe.name),
    }
}

/// A recipe to extend as a file beside `out` names it: a shipped one by its name, a file by the way to it from there.
fn as_seen_from(out: &Path, base: &str) -> anyhow::Result<String> {
    if Recipe::shipped().any(|name| name == base) || !Path::new(base).is_file() {
        return Ok(base.to_owned());
    }
    let (base, out) = (std::path::absolute(base)?, std::path::absolute(out)?);
    let beside = out.parent().and_then(|folder| base.strip_prefix(folder).ok());
    Ok(beside.unwrap_or(&base).display().to_string())
}

/// The recipe as it is calibrated.
fn recipe_text(recipe: &Recipe, base: &str, found: &FoundOffsets) -> String {
    let now = |name: &str, before: f64| before + found.value(name);
    let error = |name: &str| {
        let estimate = found.estimates.iter().find(|estimate| estimate.key.name == name);
        match estimate.map(|estimate| (estimate.held, estimate.standard_error)) {
            Some((true, _)) => "held".to_owned(),
            Some((false, Some(error))) => format!("+- {error:.2e}"),
            _ => "not determined".to_owned(),
        }
    };
    let mounting = &recipe.mounting;
    let mut text = format!(
        "# Calibrated against {} rows by `magnetar calibrate`.\nextends = {base:?}\nname = \"{} calibrated\"\n",
        found.rows,
        recipe.name.replace(['"', '\\'], "'")
    );
    let mut section = |name: &str, keys: &[(&str, f64, &str)]| {
        let _ = writeln!(text, "\n[{name}]");
        for (key, value, of) in keys {
            let _ = writeln!(text, "{key} = {value:.6} # {of} {}", error(of));
        }
    };
    section("link", &[("reference_snr_db", now("level_db", recipe.link.reference_snr_db), "level_db")]);
    section("array", &[("spacing_m", effective_spacing_m(recipe, found), "phase_slope_deg")]);
    let phase = wrapped(now("phase_deg", recipe.sre.phase_offset_deg));
    section("sre", &[("phase_offset_deg", phase, "phase_deg")]);
    let spread = found.value("phase_sigma_deg").min(180.0);
    section("rf_chain", &[("phase_error_deg_rms", spread, "phase_sigma_deg")]);
    let rx_heading = wrapped(now("rx_heading_deg", mounting.rx_heading_deg));
    let tx_heading = wrapped(now("tx_heading_deg", mounting.tx_heading_deg));
    section(
        "mounting",
        &[
            ("rx_heading_deg", rx_heading, "rx_heading_deg"),
            ("rx_x_m", now("rx_x_m", mounting.rx_x_m), "rx_x_m"),
            ("rx_y_m", now("rx_y_m", mounting.rx_y_m), "rx_y_m"),
            ("tx_heading_deg", tx_heading, "tx_heading_deg"),
        ],
    );
    let levels = recipe.reflection;
    let kinds = [
        ("walls_db", levels.walls_db),
        ("ceiling_db", levels.ceiling_db),
        ("floor_db", levels.floor_db),
        ("board_db", levels.board_db),
        ("boxes_db", levels.boxes_db),
    ];
    // One range holds for all kinds.
    let KeyRange { min, max, .. } = ReflectionLevels::WALLS_DB;
    section("reflection", &kinds.map(|(name, before)| (name, now(name, before).clamp(min, max), name)));
    text
}

/// The spacing of two elements that have the inter-element phase that was found, metres: a phase that grows with the
/// direction's y component is what elements further apart would give.
fn effective_spacing_m(recipe: &Recipe, found: &FoundOffsets) -> f64 {
    let spacing_m = recipe.array.spacing_m;
    let phase_per_unit = recipe.array.phase(std::f64::consts::FRAC_PI_2, recipe.band.carrier_hz);
    spacing_m * (1.0 + found.value("phase_slope_deg").to_radians() / phase_per_unit)
}

/// An angle within half a turn, degrees.
fn wrapped(degrees: f64) -> f64 {
    (degrees + 180.0).rem_euclid(360.0) - 180.0
}

fn to_json(args: &Args, split: &str, found: &FoundOffsets) -> Value {
    let estimate = |e: &magnetar_study::OffsetEstimate| {
        let value = json!({
            "value": e.value, "standard_error": e.standard_error, "bias_taken_off": e.bias, "unit": e.key.unit,
            "held": e.held,
        });
        (e.key.name.to_owned(), value)
    };
    let held_out = |of: &HeldOut| {
        json!({
            "rows": of.rows, "log_likelihood_per_row": of.log_likelihood, "phase_deg": of.phase_deg,
            "level_db": of.level_db,
        })
    };
    json!({
        "rows": found.rows,
        "replicas": found.replicas,
        "split": split,
        "estimates": found.estimates.iter().map(estimate).collect::<serde_json::Map<_, _>>(),
        "held_out_before": held_out(&found.before),
        "held_out_after": held_out(&found.after),
        "recipe": args.out,
    })
}

fn print(found: &FoundOffsets) {
    println!("fitted to {} rows", found.rows);
    if found.replicas > 0 {
        let (replicas, seconds) = (found.replicas, found.replicas_took.as_secs_f64());
        println!("{replicas} replicas of them made and calibrated in {seconds:.1} s: the bias is taken off the values");
    }
    println!("  {:<18}{:>10}{:>12}{:>10}  {:<5}what it is", "", "value", "+-", "bias", "unit");
    for e in &found.estimates {
        let error = match (e.held, e.standard_error) {
            (true, _) => "held".to_owned(),
            (false, Some(error)) => format!("{error:.4}"),
            (false, None) => "not known".to_owned(),
        };
        println!(
            "  {:<18}{:>10.4}{error:>12}{:>10.4}  {:<5}{}",
            e.key.name, e.value, e.bias, e.key.unit, e.key.meaning
        );
    }
    println!("rows held out: {}", found.before.rows);
    println!("  {:<12}{:>22}{:>16}{:>16}", "", "ln likelihood, nat", "phase off, deg", "level off, dB");
    for (name, of) in [("as it was", &found.before), ("calibrated", &found.after)] {
        println!("  {name:<12}{:>22.3}{:>16.2}{:>16.2}", of.log_likelihood, of.phase_deg, of.level_db);
    }
}
