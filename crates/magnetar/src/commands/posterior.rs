//! `magnetar posterior`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use magnetar_dataset::{Dataset, Record};
use magnetar_files::npy::{NpyWriter, write_npy};
use magnetar_posterior::{HpdCurve, Scorer, Support, SupportSize, Target, Volume};
use magnetar_study::{
    PosteriorOrigin, PosteriorRow, PosteriorTable, map_posteriors, needed_columns, score_record, truth,
};
use serde_json::{Value, json};

use super::dataset_folder::read_row;
use super::scorer_args::{DatasetScorerArgs, knowledge_line, scorer_json};
use crate::args::{parse_number, parse_volumes_name};
use crate::progress;

/// Flags of `magnetar posterior`.
#[derive(clap::Args)]
#[command(after_help = "\
A volume is a float32 array [D, H, W]: heading bin d looks along 360 d / D
degrees, row i and column j are cells of the room along y and x. With --all the
array is [rows, D, H, W]; a name that ends in .parquet gives a table instead,
one row per posterior: mode, HPD sizes, marginals and the volume. Either file
can be given to --scorer.

Examples:
  magnetar posterior data --row 3
  magnetar posterior data --row 3 --json --out posterior.npy
  magnetar posterior data --all --limit 1000 --out posteriors.npy
  magnetar posterior data --all --out posteriors.parquet")]
pub struct Args {
    /// The split.
    #[arg(long, default_value = "test", value_name = "NAME")]
    split: String,
    /// The row's number, from 0 on.
    #[arg(
        long,
        alias = "index",
        required_unless_present = "all",
        conflicts_with = "all",
        value_name = "I",
        value_parser = parse_number,
        allow_negative_numbers = true
    )]
    row: Option<u64>,
    /// All rows (or the first --limit): only the file is written.
    #[arg(long, requires = "out")]
    all: bool,
    /// With --all: only the first N rows.
    #[arg(long, requires = "all", value_name = "N")]
    limit: Option<u64>,
    /// Write the volume here, as a NumPy array (.npy); with --all a .parquet name gives a table.
    #[arg(short, long, value_name = "FILE", value_parser = parse_volumes_name)]
    out: Option<PathBuf>,
    #[command(flatten)]
    with: DatasetScorerArgs,
}

/// Scores one row, or all.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(path) = args.out.as_ref().filter(|path| !args.all && is_table(path)) {
        bail!(
            "--out {}: a table holds the posteriors of many rows; use --all, or a name that ends in .npy",
            path.display()
        );
    }
    let (dataset, scorer) = args.with.open()?;
    let size = args.with.size();
    let Some(index) = args.row else {
        return write_all(args, &dataset, &scorer, size);
    };
    let record = read_row(&dataset, &args.split, index, needed_columns(std::slice::from_ref(&scorer)))?;
    let (support, volume) = score_record(&args.split, &record, &*scorer, size)?;
    if let Some(path) = &args.out {
        write_npy(path, &[size.headings, size.rows, size.columns], volume.mass())?;
    }
    let mut description = describe(&record, &support, &volume)?;
    description["scorer"] = scorer_json(&*scorer);
    description["out"] = json!(args.out);
    if args.with.json {
        println!("{}", serde_json::to_string_pretty(&description)?);
    } else {
        println!("{}", knowledge_line(&*scorer));
        print(&description);
        if let Some(path) = &args.out {
            println!("volume, float32 [{}, {}, {}]: {}", size.headings, size.rows, size.columns, path.display());
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn write_all(args: &Args, dataset: &Dataset, scorer: &Arc<dyn Scorer>, size: SupportSize) -> anyhow::Result<ExitCode> {
    let rows = dataset.split(&args.split)?.present_rows().min(args.limit.unwrap_or(u64::MAX));
    let path = args.out.as_ref().context("--all needs --out")?;
    let count = usize::try_from(rows)?;
    let bar = progress::bar(rows, "rows");
    let records = dataset.records(&args.split, needed_columns(std::slice::from_ref(scorer)))?.take(count);
    if is_table(path) {
        let manifest = dataset.manifest();
        let origin = PosteriorOrigin {
            split: &args.split,
            recipe_hash: &manifest.recipe_hash,
            seed: manifest.seed,
            scorer: &**scorer,
        };
        let mut table = PosteriorTable::create(path, size, &origin).with_context(|| path.display().to_string())?;
        let keep = |record: &Record, support: &Support, volume: &Volume| Ok(PosteriorRow::new(record, support, volume));
        let mut outcome = Ok(());
        map_posteriors(&args.split, records, &**scorer, size, keep, |row| {
            bar.inc(1);
            if outcome.is_ok() {
                outcome = table.write(row);
            }
        })?;
        outcome.and_then(|()| table.finish()).with_context(|| path.display().to_string())?;
    } else {
        let mut writer = NpyWriter::<f32>::create(path, &[count, size.headings, size.rows, size.columns])?;
        let keep = |_: &Record, _: &Support, volume: &Volume| Ok(volume.clone());
        let mut outcome = Ok(());
        map_posteriors(&args.split, records, &**scorer, size, keep, |volume| {
            bar.inc(1);
            if outcome.is_ok() {
                outcome = writer.write(volume.mass());
            }
        })?;
        outcome?;
        writer.finish()?;
    }
    bar.finish_and_clear();
    let shape = [size.headings, size.rows, size.columns];
    if args.with.json {
        let written = json!({ "out": path, "split": args.split, "rows": rows, "volume": shape, "scorer": scorer_json(&**scorer) });
        println!("{written:#}");
    } else {
        println!("{}", knowledge_line(&**scorer));
        println!("{rows} posteriors of split {}, float32 {shape:?} each: {}", args.split, path.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("parquet"))
}

fn describe(record: &Record, support: &Support, volume: &Volume) -> anyhow::Result<Value> {
    let (d, i, j) = support.place(volume.mode());
    let rx = record.reported().rx;
    let mask = support.mask(&rx);
    let curve = HpdCurve::new(volume, &mask, &Target { voxels: Vec::new() });
    let hpd: Vec<_> = [50usize, 90]
        .iter()
        .map(|percent| json!({ "mass_percent": percent, "support_percent": 100.0 * curve.support[*percent] }))
        .collect();
    let target = Target::evaluation(support, &mask, &truth(record))?;
    let nll: f64 = target.voxels.iter().map(|&(n, w)| -w * f64::from(volume.mass()[n]).ln()).sum();
    let pose = |p: &magnetar_scene::Pose| json!({ "x_m": p.position.x, "y_m": p.position.y, "heading_deg": p.heading.to_degrees() });
    let xy: Vec<Vec<f64>> = volume.position_marginal().chunks(support.size().columns).map(<[f64]>::to_vec).collect();
    Ok(json!({
        "index": record.index,
        "mode": {
            "x_m": support.xs()[j],
            "y_m": support.ys()[i],
            "heading_deg": support.heading(d).to_degrees(),
            "mass": volume.mass()[volume.mode()],
        },
        "truth": pose(&record.tx),
        "rx": pose(&rx),
        "nll": nll,
        "hpd": hpd,
        "heading_deg": (0..support.size().headings).map(|d| support.heading(d).to_degrees()).collect::<Vec<_>>(),
        "heading_marginal": volume.heading_marginal(),
        "xs_m": support.xs(),
        "ys_m": support.ys(),
        "xy_marginal": xy,
    }))
}

/// Shades of the XY marginal, light to dark, relative to its largest cell.
const SHADES: [char; 6] = [' ', '.', ':', 'o', 'O', '@'];

fn print(d: &Value) {
    let number = |v: &Value| v.as_f64().unwrap_or(f64::NAN);
    let pose = |p: &Value| {
        format!("({:.2}, {:.2}) m, {:.0} deg", number(&p["x_m"]), number(&p["y_m"]), number(&p["heading_deg"]))
    };
    println!("row {}: mode {} with mass {:.4}", d["index"], pose(&d["mode"]), number(&d["mode"]["mass"]));
    println!("truth {}, RX {}, NLL {:.3} nat", pose(&d["truth"]), pose(&d["rx"]), number(&d["nll"]));
    for region in d["hpd"].as_array().into_iter().flatten() {
        println!("HPD {} %: {:.2} % of the candidates", region["mass_percent"], number(&region["support_percent"]));
    }
    println!("heading marginal, %:");
    let headings =
        d["heading_deg"].as_array().into_iter().flatten().zip(d["heading_marginal"].as_array().into_iter().flatten());
    for (heading, mass) in headings {
        println!(
            "  {:>5.0} deg {:>6.2} {}",
            number(heading),
            100.0 * number(mass),
            "#".repeat((60.0 * number(mass)) as usize)
        );
    }
    println!("XY marginal (y up, x right):");
    let rows: Vec<Vec<f64>> = serde_json::from_value(d["xy_marginal"].clone()).unwrap_or_default();
    let top = rows.iter().flatten().copied().fold(f64::MIN_POSITIVE, f64::max);
    for row in rows.iter().rev() {
        let shade = |m: &f64| SHADES[((m / top).sqrt() * (SHADES.len() - 1) as f64).round() as usize];
        println!("  |{}|", row.iter().flat_map(|m| [shade(m); 2]).collect::<String>());
    }
}
