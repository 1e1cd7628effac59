//! `magnetar material`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use clap::Subcommand;
use magnetar_scene::{Material, MaterialLibrary};
use serde_json::{Map, Value, json};

use super::check_files::{Accepted, CheckArgs};
use crate::args::parse_frequency_ghz;

/// What `magnetar material` does.
#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  magnetar material list
  magnetar material list --carrier-ghz 60 --json
  magnetar material show glass
  magnetar material show my_board --materials my_materials.toml
  magnetar material check my_materials.toml")]
pub enum Action {
    /// List the materials with permittivity and conductivity at the carrier, where defined.
    List {
        #[command(flatten)]
        options: Options,
    },
    /// Show a material: its frequency ranges and the laws in them.
    Show {
        /// Its name.
        name: String,
        #[command(flatten)]
        options: Options,
    },
    /// Check material files, or folders of them. Exit code 1 if any is refused.
    Check(CheckArgs),
}

/// Which materials there are.
#[derive(clap::Args)]
pub struct MaterialsArgs {
    /// A material file, or a folder of them, besides the shipped materials; may be repeated.
    #[arg(long, value_name = "PATH")]
    materials: Vec<PathBuf>,
}

impl MaterialsArgs {
    /// The shipped materials and the user's.
    pub fn library(&self) -> anyhow::Result<MaterialLibrary> {
        let mut library = MaterialLibrary::shipped();
        for path in &self.materials {
            library.add_path(path)?;
        }
        Ok(library)
    }

    /// The user's, as they were given.
    pub fn files(&self) -> Vec<String> {
        self.materials.iter().map(|path| path.display().to_string()).collect()
    }

    /// Whether the user brought any.
    pub fn any(&self) -> bool {
        !self.materials.is_empty()
    }
}

#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    materials: MaterialsArgs,
    /// Carrier frequency, GHz.
    #[arg(long, alias = "frequency-ghz", default_value = "10", value_name = "GHZ", value_parser = parse_frequency_ghz)]
    carrier_ghz: f64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Lists, shows or checks materials.
pub fn run(action: &Action) -> anyhow::Result<ExitCode> {
    match action {
        Action::List { options } => list(options),
        Action::Show { name, options } => show(name, options),
        Action::Check(args) => Ok(args.run(check)),
    }
}

fn list(options: &Options) -> anyhow::Result<ExitCode> {
    let library = options.materials.library()?;
    if options.json {
        println!("{:#}", Value::from(library.iter().map(|m| to_json(m, options)).collect::<Vec<_>>()));
        return Ok(ExitCode::SUCCESS);
    }
    println!("{:<18} {:>9} {:>12}  ranges (values at {} GHz)", "name", "eps_r", "sigma S/m", options.carrier_ghz);
    for material in library.iter() {
        let [eps_r, sigma] = match material.at(options.carrier_ghz * 1e9) {
            Ok((eps_r, sigma)) => [format!("{eps_r:.4}"), format!("{sigma:.6}")],
            Err(_) => ["-".to_owned(), "-".to_owned()],
        };
        println!("{:<18} {eps_r:>9} {sigma:>12}  {}", material.name, material.ranges_label());
    }
    Ok(ExitCode::SUCCESS)
}

fn show(name: &str, options: &Options) -> anyhow::Result<ExitCode> {
    let library = options.materials.library()?;
    let Some(material) = library.get(name) else {
        let known: Vec<&str> = library.iter().map(|material| material.name.as_str()).collect();
        bail!("unknown material `{}`; known are {}", name.escape_debug(), known.join(", "));
    };
    if options.json {
        println!("{:#}", to_json(material, options));
        return Ok(ExitCode::SUCCESS);
    }
    println!("{}  (source: {})", material.name, if material.source.is_empty() { "-" } else { &material.source });
    println!("eps_r = a f^b, sigma = c f^d in S/m, f in GHz; the first range that holds f counts");
    println!("{:>10} {:>10} {:>10} {:>8} {:>12} {:>8}", "min GHz", "max GHz", "a", "b", "c", "d");
    for r in &material.ranges {
        let (lo, hi) = (r.min_hz / 1e9, r.max_hz / 1e9);
        println!("{lo:>10} {hi:>10} {:>10} {:>8} {:>12} {:>8}", r.a, r.b, r.c, r.d);
    }
    match material.at(options.carrier_ghz * 1e9) {
        Ok((eps_r, sigma)) => println!("at {} GHz: eps_r {eps_r:.4}, sigma {sigma:.6} S/m", options.carrier_ghz),
        Err(error) => println!("{error}"),
    }
    Ok(ExitCode::SUCCESS)
}

fn check(name: &str) -> Result<Accepted, magnetar_scene::SceneError> {
    let (shipped, mut library) = (MaterialLibrary::shipped(), MaterialLibrary::shipped());
    if shipped.get(name).is_none() {
        library.add_path(Path::new(name))?;
    }
    let added: Vec<&str> = library
        .iter()
        .filter(|material| material.name == name || shipped.get(&material.name) != Some(*material))
        .map(|material| material.name.as_str())
        .collect();
    let keys = Map::from_iter([("materials".to_owned(), json!(added))]);
    Ok(Accepted { summary: format!("defines {}", added.join(", ")), keys, warnings: Vec::new() })
}

fn to_json(material: &Material, options: &Options) -> Value {
    let at = material.at(options.carrier_ghz * 1e9).ok();
    // JSON has no infinity: an unbounded end is null.
    let bound = |hz: f64| hz.is_finite().then_some(hz / 1e9);
    let ranges = material.ranges.iter().map(
        |r| json!({ "min_ghz": bound(r.min_hz), "max_ghz": bound(r.max_hz), "a": r.a, "b": r.b, "c": r.c, "d": r.d }),
    );
    json!({
        "name": material.name,
        "source": material.source,
        "ranges": ranges.collect::<Vec<_>>(),
        "frequency_hz": options.carrier_ghz * 1e9,
        "eps_r": at.map(|(eps_r, _)| eps_r),
        "sigma_s_per_m": at.map(|(_, sigma)| sigma),
    })
}
