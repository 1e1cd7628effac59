//! `magnetar pattern`.

use std::process::ExitCode;

use clap::Subcommand;
use magnetar_scene::{AntennaPattern, Cut};
use serde_json::{Map, Value, json};

use super::check_files::{Accepted, CheckArgs, ListArgs};

/// What `magnetar pattern` does.
#[derive(Subcommand)]
#[command(after_help = "\
A pattern file is a CSV with the header azimuth_deg,elevation_deg,gain_db (a
full grid) or cut,angle_deg,gain_db (an azimuth and an elevation cut), an MSI
Planet file (.msi, .pln), or a far field of HFSS (.ffd), CST (.ffs, text tables)
or FEKO (.ffe).

Examples:
  magnetar pattern list
  magnetar pattern show synthetic_vivaldi
  magnetar pattern show vendor.msi --csv > vendor.csv
  magnetar pattern check vendor.msi measured.csv")]
pub enum Action {
    /// List the shipped antenna patterns.
    List(ListArgs),
    /// Show a pattern: gain, half-power widths, front-to-back ratio and the two principal cuts.
    Show {
        /// A shipped pattern's name or a pattern file.
        pattern: String,
        /// Print one JSON object.
        #[arg(long, conflicts_with = "csv")]
        json: bool,
        /// Print the full grid as CSV, to convert a file.
        #[arg(long)]
        csv: bool,
    },
    /// Check pattern files. Exit code 1 if any is refused.
    Check(CheckArgs),
}

/// Lists, shows or checks antenna patterns.
pub fn run(action: &Action) -> anyhow::Result<ExitCode> {
    match action {
        Action::List(args) => list(args.json),
        Action::Show { pattern, json, csv } => show(pattern, *json, *csv),
        Action::Check(args) => Ok(args.run(check)),
    }
}

fn list(as_json: bool) -> anyhow::Result<ExitCode> {
    let patterns = AntennaPattern::shipped_names().map(AntennaPattern::load).collect::<Result<Vec<_>, _>>()?;
    if as_json {
        println!("{:#}", Value::from(patterns.iter().map(to_json).collect::<Vec<_>>()));
        return Ok(ExitCode::SUCCESS);
    }
    println!("{:<18} {:>8} {:>7} {:>7}  source", "name", "peak dBi", "H deg", "E deg");
    for pattern in &patterns {
        let width = |cut| width_deg(pattern, cut).map_or("-".to_owned(), |width| format!("{width:.1}"));
        println!(
            "{:<18} {:>8.2} {:>7} {:>7}  {}",
            pattern.info().name,
            pattern.peak_gain_db(),
            width(Cut::Azimuth),
            width(Cut::Elevation),
            pattern.info().source
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn show(name: &str, as_json: bool, as_csv: bool) -> anyhow::Result<ExitCode> {
    let pattern = AntennaPattern::load(name)?;
    if as_csv {
        print!("{}", pattern.to_csv());
        return Ok(ExitCode::SUCCESS);
    }
    if as_json {
        println!("{:#}", to_json(&pattern));
        return Ok(ExitCode::SUCCESS);
    }
    let info = pattern.info();
    println!("{}{}", info.name, if info.synthetic { " (synthetic)" } else { "" });
    println!("source                {}", if info.source.is_empty() { "-" } else { &info.source });
    if let Some(frequency_hz) = info.frequency_hz {
        println!("frequency             {} GHz", frequency_hz / 1e9);
    }
    let (azimuths, elevations) = pattern.grid_size();
    println!("grid                  {azimuths} azimuths x {elevations} elevations");
    println!("peak gain             {:.2} dBi", pattern.peak_gain_db());
    println!("mean gain             {:.2} dBi", pattern.mean_gain_db() + 0.0);
    println!("front to back         {:.2} dB", pattern.front_to_back_db());
    for (label, cut) in [("azimuth (H)", Cut::Azimuth), ("elevation (E)", Cut::Elevation)] {
        let width = width_deg(&pattern, cut).map_or("none".to_owned(), |width| format!("{width:.1} deg"));
        println!("half power, {label:<13} {width}");
    }
    println!("\n{:>9} {:>12} {:>14}", "angle deg", "azimuth dBi", "elevation dBi");
    for angle in (-180..180).step_by(15).map(f64::from) {
        let gain = |cut| pattern.cut_gain_db(cut, angle.to_radians());
        println!("{angle:>9} {:>12.2} {:>14.2}", gain(Cut::Azimuth), gain(Cut::Elevation));
    }
    warnings(&pattern).iter().for_each(|warning| println!("warning: {warning}"));
    Ok(ExitCode::SUCCESS)
}

fn check(name: &str) -> Result<Accepted, magnetar_scene::SceneError> {
    let pattern = AntennaPattern::load(name)?;
    Ok(Accepted {
        summary: format!("peak gain {:.2} dBi", pattern.peak_gain_db()),
        keys: Map::new(),
        warnings: warnings(&pattern),
    })
}

/// What is allowed but probably not meant.
fn warnings(pattern: &AntennaPattern) -> Vec<String> {
    let mut warnings = Vec::new();
    if pattern.pole_spread_db() > 0.1 {
        let spread = pattern.pole_spread_db();
        warnings.push(format!("the gains at a pole differ by {spread:.1} dB between azimuths; their mean is used"));
    }
    let mean = pattern.mean_gain_db();
    if mean > 0.5 {
        warnings.push(format!("the mean gain over all directions is {mean:.1} dBi: more power out than in"));
    }
    warnings
}

fn width_deg(pattern: &AntennaPattern, cut: Cut) -> Option<f64> {
    pattern.half_power_width(cut).map(f64::to_degrees)
}

fn to_json(pattern: &AntennaPattern) -> Value {
    let info = pattern.info();
    let (azimuths, elevations) = pattern.grid_size();
    json!({
        "name": info.name,
        "source": info.source,
        "synthetic": info.synthetic,
        "frequency_hz": info.frequency_hz,
        "grid": [azimuths, elevations],
        "peak_gain_dbi": pattern.peak_gain_db(),
        "mean_gain_dbi": pattern.mean_gain_db(),
        "boresight_gain_dbi": pattern.gain_db(0.0, 0.0),
        "front_to_back_db": pattern.front_to_back_db(),
        "azimuth_half_power_width_deg": width_deg(pattern, Cut::Azimuth),
        "elevation_half_power_width_deg": width_deg(pattern, Cut::Elevation),
        "warnings": warnings(pattern),
    })
}
