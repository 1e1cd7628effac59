//! `magnetar plot paper`: the paper's figures of a dataset, all designs in each, from one command.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, ensure};
use magnetar_dataset::{Dataset, Record};
use magnetar_posterior::Scorer;
use magnetar_report::Theme;
use magnetar_report::figure::{PosteriorPicture, VolumeRow, volumes_figure};
use magnetar_scene::BoxShape;
use magnetar_study::needed_columns;
use serde_json::json;

use super::posterior::{MARGINAL, SLICES, cones, fusion, scored};
use super::{SCALE, ThemeArg, scorer_line, write_figure};
use crate::args::parse_number;
use crate::commands::dataset_folder::{open_dataset, read_row};
use crate::commands::scorer_args::ScorerArgs;
use crate::output::counted;

/// Most cases of the volumes.
const MAX_CASES: usize = 8;

/// Flags of `magnetar plot paper`.
#[derive(clap::Args)]
#[command(after_help = "\
Writes volumes.svg (a row of HPD volumes per scorer, badges: their mean mass
within 1 m, and in the true heading's bin), marginal-NAME.svg, slices-NAME.svg
(of the first case), cone.svg (all scorers; names that differ in a last number,
as np4-1 and np4-2, are seeds of one design: a mean and a band) and, where the
dataset has a split fusion, fusion-NAME.svg. --png writes PNG files as well.

Examples:
  magnetar plot paper data -o figures
  magnetar plot paper data --scorer twin --scorer np4-1.safetensors \\
      --scorer np4-2.safetensors --row 0 --row 7 --png -o figures")]
pub struct Args {
    /// The dataset's folder.
    dataset: PathBuf,
    /// The split of volumes, marginals, slices and cones.
    #[arg(long, default_value = "test")]
    split: String,
    /// A case of the volumes by its row's number; may be repeated. If left out: the first two rows without and with a board.
    #[arg(long = "row", value_parser = parse_number, allow_negative_numbers = true)]
    cases: Vec<u64>,
    /// Rows of the cone curves, from the first on.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
    /// The set of the fusion figure.
    #[arg(long, default_value_t = 0, value_parser = parse_number, allow_negative_numbers = true)]
    set: u64,
    #[command(flatten)]
    scorer: ScorerArgs,
    /// Folder to write to; made if it is not there.
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Ground of the pictures.
    #[arg(long, value_enum, default_value = "light")]
    theme: ThemeArg,
    /// PNG files besides the SVG files.
    #[arg(long)]
    png: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Draws and writes all figures.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    ensure!(
        args.cases.len() <= MAX_CASES,
        "{} rows were given; the figure shows at most {MAX_CASES}",
        args.cases.len()
    );
    let dataset = open_dataset(&args.dataset)?;
    dataset.require_truth()?;
    let scorers = args.scorer.open_all(dataset.recipe())?;
    let theme = args.theme.theme();
    let numbers = if args.cases.is_empty() { usual_cases(&dataset, &args.split)? } else { args.cases.clone() };
    let cases = numbers
        .iter()
        .map(|row| read_row(&dataset, &args.split, *row, needed_columns(&scorers)))
        .collect::<anyhow::Result<Vec<Record>>>()?;
    magnetar_files::create_folder(&args.out).with_context(|| format!("{} cannot be made", args.out.display()))?;
    let mut written = Vec::new();
    let mut write = |name: &str, svg: String| write(args, name, &svg, &mut written);
    write("volumes", volumes(args, &cases, &scorers, theme)?)?;
    for scorer in &scorers {
        for (name, figure) in [("marginal", MARGINAL), ("slices", SLICES)] {
            if let Some(case) = cases.first() {
                let line = scorer_line(&**scorer);
                let caption = format!("Simulated: row {} of {}; {line}.", case.index, args.split);
                let svg = figure.of_row(&args.split, case, (scorer.name(), &**scorer), &caption, theme)?;
                write(&format!("{name}-{}", scorer.name()), svg)?;
            }
        }
        if dataset.manifest().splits.get("fusion").is_some_and(|split| split.present_rows() > 0) {
            write(&format!("fusion-{}", scorer.name()), fusion(&dataset, "fusion", args.set, scorer, theme)?)?;
        }
    }
    write("cone", cones(&dataset, &args.split, args.limit, scorers, theme)?)?;
    if args.json {
        println!("{}", json!({ "out": written }));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a figure, and says so unless JSON does at the end.
fn write(args: &Args, name: &str, svg: &str, written: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for ending in if args.png { &["svg", "png"][..] } else { &["svg"] } {
        // A scorer's name may be anything that a file can be called.
        let name = name.replace(|c: char| !(c.is_alphanumeric() || "-_.".contains(c)), "_");
        let path = args.out.join(format!("{name}.{ending}"));
        write_figure(&path, svg, SCALE)?;
        if !args.json {
            println!("{}", path.display());
        }
        written.push(path);
    }
    Ok(())
}

/// The first two rows without a board and with one.
fn usual_cases(dataset: &Dataset, split: &str) -> anyhow::Result<Vec<u64>> {
    let mut found = [Vec::new(), Vec::new()];
    for record in dataset.sample(split, magnetar_dataset::Columns::WithoutCsi, 200)? {
        let record = record?;
        let of = &mut found[usize::from(record.layout.board.is_some())];
        if of.len() < 2 {
            of.push(record.index);
        }
    }
    let cases: Vec<u64> = found.concat();
    ensure!(!cases.is_empty(), "split {split} of {} has no rows", dataset.folder().display());
    Ok(cases)
}

fn volumes(args: &Args, cases: &[Record], scorers: &[Arc<dyn Scorer>], theme: Theme) -> anyhow::Result<String> {
    let named: Vec<String> = cases
        .iter()
        .map(|case| {
            let board = if case.layout.board.is_some() { "board" } else { "no board" };
            format!("row {}: {board}, {}", case.index, if case.los { "LOS" } else { "NLOS" })
        })
        .collect();
    let boxes: Vec<Vec<BoxShape>> = cases.iter().map(|case| case.reported_standing().collect()).collect();
    let mut posteriors = Vec::new();
    for scorer in scorers {
        let named = (scorer.name(), &**scorer);
        let of = cases.iter().map(|case| scored(&args.split, case, named, true)).collect::<anyhow::Result<Vec<_>>>()?;
        posteriors.push(of);
    }
    let reported: Vec<_> = cases.iter().map(|case| (case.reported().room, [case.reported().rx])).collect();
    let rows: Vec<VolumeRow<'_>> = scorers
        .iter()
        .zip(&posteriors)
        .map(|(scorer, of)| VolumeRow {
            name: scorer.name().to_owned(),
            cases: (0..cases.len())
                .map(|n| PosteriorPicture {
                    support: &of[n].0,
                    volume: &of[n].1,
                    room: &reported[n].0,
                    boxes: &boxes[n],
                    rx: &reported[n].1,
                    truth: Some(cases[n].tx),
                    caption: &named[n],
                })
                .collect(),
        })
        .collect();
    let knowledge: Vec<String> = scorers.iter().map(|scorer| scorer_line(&**scorer)).collect();
    let caption = format!(
        "Simulated: {} of {}, badges are means over them; {}.",
        counted(cases.len(), "row"),
        args.split,
        knowledge.join("; ")
    );
    Ok(volumes_figure(&rows, &caption, theme))
}
