//! `magnetar view`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use magnetar_dataset::{Mounting, Recipe};
use magnetar_files::AtomicFile;
use magnetar_report::corpus::recipe_settings;
use magnetar_report::view::{App, Measurement, Rows, Server, Spoken, default_poses};
use magnetar_report::{LinkScorer, LinkSettings, Simulator};
use magnetar_scene::Scene;
use magnetar_signal::{AntennaConfig, RadioConfig};
use magnetar_study::open_scorer;
use magnetar_trace::TraceOptions;

use super::dataset_folder::open_dataset;
use super::material::MaterialsArgs;
use super::measurement::{SnapshotArgs, Snapshots, noise_advice};
use super::propagation::PropagationArgs;
use super::scorer_args::{ScorerArgs, TWIN};
use crate::args::{PoseArg, parse_number};

/// The pattern if none is given.
const PATTERN: &str = "synthetic_vivaldi";

/// Name of the uniform scorer.
const UNIFORM: &str = "uniform";

/// Flags of `magnetar view`.
#[derive(clap::Args)]
#[command(after_help = "\
The page is served on 127.0.0.1 only and loads nothing from elsewhere; Ctrl-C
ends it. With --export nothing is served: the file opens from disk.

Examples:
  magnetar view
  magnetar view lab_left --tx 0.98,2.28,1.08,-90 --rx 1,-1,1.08,90 --open
  magnetar view my_room.toml --max-order 3 --transmission --export room.html
  magnetar view data --split test --row 3
  magnetar view my_room.toml --observation measured.npy --rx 1,-1,,90 \\
      --noise-variance auto    # a measurement, and what is predicted where you drag the TX")]
pub struct Args {
    /// A shipped scene's name, a scene file, or a dataset's folder.
    #[arg(default_value = "lab_middle", value_name = "SCENE|DATASET")]
    what: String,
    /// Of a dataset: the split to begin with (the first that has rows if left out).
    #[arg(long)]
    split: Option<String>,
    /// Of a dataset: the row to begin with.
    #[arg(long, value_parser = parse_number, allow_negative_numbers = true)]
    row: Option<u64>,
    /// Of a scene: transmitter to begin with, metres in the global frame (the scene's device height without Z), heading
    /// in degrees (0 if left out).
    #[arg(long, value_name = "X,Y[,Z[,YAW_DEG]]", allow_hyphen_values = true)]
    tx: Option<PoseArg>,
    /// Of a scene: receiver to begin with, as the transmitter.
    #[arg(long, value_name = "X,Y[,Z[,YAW_DEG]]", allow_hyphen_values = true)]
    rx: Option<PoseArg>,
    /// Of a scene: a measured snapshot (.npy or .parquet, as `locate` reads it) by the receiver at --rx.
    #[arg(long, value_name = "FILE", requires = "rx")]
    observation: Option<PathBuf>,
    /// Which snapshot of that file.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "observation")]
    snapshot: usize,
    #[command(flatten)]
    radio: SnapshotArgs,
    #[command(flatten)]
    materials: MaterialsArgs,
    #[command(flatten)]
    propagation: PropagationArgs,
    /// Antenna pattern of both ends: a shipped pattern's name or a file.
    #[arg(long, default_value = PATTERN, value_name = "NAME|FILE")]
    pattern: String,
    /// Seed of the RF chain and the noise.
    #[arg(long, default_value_t = 1)]
    seed: u32,
    /// Port to listen on; 0 takes any that is free.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Open the page in the browser.
    #[arg(long)]
    open: bool,
    /// Write what would be shown as one self-contained page, and serve nothing.
    #[arg(long, value_name = "FILE.html", conflicts_with_all = ["port", "open"])]
    export: Option<PathBuf>,
    #[command(flatten)]
    scorer: ScorerArgs,
}

/// Serves the page, or writes it.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let app = app(args)?;
    if let Some(path) = &args.export {
        let page = app.export()?;
        AtomicFile::write(path, page.as_bytes()).with_context(|| format!("{} cannot be written", path.display()))?;
        println!("{}", path.display());
        return Ok(ExitCode::SUCCESS);
    }
    let server = Server::bind(args.port, app)?;
    let address = server.address();
    println!("{address}");
    std::io::stdout().flush()?;
    note!("serving until Ctrl-C");
    if args.open {
        open(&address);
    }
    server.run();
    Ok(ExitCode::SUCCESS)
}

fn app(args: &Args) -> anyhow::Result<App> {
    if Path::new(&args.what).is_dir() {
        return dataset_app(args);
    }
    if args.split.is_some() || args.row.is_some() {
        bail!("--split and --row are for a dataset, and {} is not the folder of one", args.what);
    }
    let mut recipe = args.radio.recipe()?;
    let spacing_m = args.radio.receiver.pair_spacing_m();
    if let (Some(recipe), Some(spacing_m)) = (&mut recipe, spacing_m) {
        recipe.array.spacing_m = spacing_m;
    }
    if recipe.is_some() && args.observation.is_none() {
        bail!("--recipe is for the radio of --observation");
    }
    let mounting = recipe.as_ref().map_or_else(Mounting::default, |recipe| recipe.mounting);
    let mut settings = match &recipe {
        Some(recipe) => LinkSettings {
            radio: Arc::new(recipe.radio()?),
            materials: args.materials.library()?,
            propagation: TraceOptions::default(),
        },
        None => {
            let mut config = RadioConfig { antennas: AntennaConfig::all(&args.pattern), ..RadioConfig::default() };
            config.array.spacing_m = spacing_m.unwrap_or(config.array.spacing_m);
            LinkSettings::new(config, args.materials.library()?)?
        }
    };
    settings.propagation = args.propagation.options();
    let scene = Scene::load(&args.what)?;
    let scene = match &recipe {
        Some(recipe) => recipe.reflection.apply(scene),
        None => scene,
    };
    let measurement = args.observation.as_ref().map(|file| measurement(args, file, &settings)).transpose()?;
    let (tx, rx) = default_poses(&scene);
    let tx = args.tx.map_or(tx, |pose| pose.in_scene(&scene));
    let rx = args.rx.map_or(rx, |pose| pose.in_scene(&scene));
    let rx = mounting.rx(&rx);
    let (first, others) = scene_scorers(&args.scorer)?;
    let spoken = spoken(args, std::iter::once(&first).chain(&others));
    let app = App::scene(scene, &tx, &rx, Simulator::new(settings)?, first)?.spoken(spoken);
    let mut app = others.into_iter().fold(app, App::with_scorer);
    app.start_mut().seed = args.seed;
    if let Some(measurement) = measurement {
        app = app.measured(measurement);
    }
    // Whatever is wrong with the link to begin with is reported here and not in the browser.
    app.check()?;
    Ok(app)
}

/// The snapshot to be looked at.
fn measurement(args: &Args, file: &Path, settings: &LinkSettings) -> anyhow::Result<Measurement> {
    let radio = &settings.radio;
    let measured = Snapshots::read(&[file.to_owned()], &args.radio, radio, radio.config().sre.clone())?;
    let number = args.snapshot;
    let (Some(block), Some(observation)) = (measured.blocks.get(number), measured.observation(number)) else {
        bail!("{}: there is no snapshot {number}; there are {}, the first is 0", file.display(), measured.blocks.len());
    };
    let components = measured.receiver.components(block, &mut measured.receiver.workspace());
    let components = components.map_err(|error| args.radio.subcarriers.in_the_file(error))?;
    if let Some(advice) = noise_advice(&measured.receiver, block) {
        eprintln!("warning: {}: {advice}", file.display());
    }
    let name = format!("snapshot {number} of {}", file.display());
    Ok(Measurement { name, observation, found: components.iter().map(|component| component.arrival).collect() })
}

fn dataset_app(args: &Args) -> anyhow::Result<App> {
    if args.observation.is_some() {
        bail!("--observation is for a scene, and {} is a dataset", args.what);
    }
    let propagation = args.propagation.options() != TraceOptions::default();
    if args.tx.is_some() || args.rx.is_some() || args.materials.any() || propagation {
        bail!("--tx, --rx, --materials, --max-order and --transmission are for a scene; a dataset's row has its own");
    }
    let rows = Rows::new(open_dataset(&args.what)?).starting_at(args.split.as_deref(), args.row)?;
    let settings = recipe_settings(rows.dataset().recipe())?;
    let title = rows.dataset().recipe().name.clone();
    let recipe = rows.dataset().recipe().clone();
    let scorers: Vec<LinkScorer> = args.scorer.open_all(&recipe)?.into_iter().map(LinkScorer::fixed).collect();
    let spoken = spoken(args, &scorers);
    let mut scorers = scorers.into_iter();
    let first = scorers.next().context("no scorer was given")?;
    let app = App::rows(&title, rows, Simulator::new(settings)?, first)?.spoken(spoken);
    let app = scorers.fold(app, App::with_scorer);
    // The uniform posterior is there to compare with.
    let uniform = open_scorer(UNIFORM, &recipe, &args.scorer.settings(Some(&recipe))?)?;
    Ok(app.with_scorer(LinkScorer::fixed(uniform)))
}

/// What was given, for the commands that the page shows; of the scorers those that were asked for come first.
fn spoken<'a>(args: &Args, scorers: impl IntoIterator<Item = &'a LinkScorer>) -> Spoken {
    let given = args.scorer.given().iter().map(String::as_str).chain([TWIN, UNIFORM]);
    let flags = |(scorer, given): (&LinkScorer, &str)| (scorer.name().to_owned(), args.scorer.flags_of(given));
    Spoken {
        what: args.what.clone(),
        pattern: (args.pattern != PATTERN).then(|| args.pattern.clone()),
        materials: args.materials.files(),
        scorers: scorers.into_iter().zip(given).map(flags).collect(),
    }
}

/// What scores a scene, the first to begin with: the scorers that were asked for (the twin then knows the scene's
/// materials), the twin and the uniform posterior.
fn scene_scorers(args: &ScorerArgs) -> anyhow::Result<(LinkScorer, Vec<LinkScorer>)> {
    let (asked, settings) = args.scene_scorers()?;
    let names = asked.iter().map(String::as_str).chain([TWIN, UNIFORM]);
    let mut scorers = Vec::new();
    for name in names {
        scorers.push(match name {
            TWIN => LinkScorer::scene_twin(settings.clone()),
            name => LinkScorer::fixed(open_scorer(name, &Recipe::paper(), &settings)?),
        });
    }
    let others = scorers.split_off(1);
    Ok((scorers.pop().context("no scorer was given")?, others))
}

/// Opens the page in the system's browser; the address is printed anyway.
fn open(address: &str) {
    let (program, args): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start"])
    } else {
        ("xdg-open", &[])
    };
    if std::process::Command::new(program).args(args).arg(address).spawn().is_err() {
        eprintln!("no browser could be started; open the address yourself");
    }
}
