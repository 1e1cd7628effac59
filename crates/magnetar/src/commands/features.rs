//! `magnetar features`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use magnetar_dataset::{Columns, Record};
use magnetar_files::FileSet;
use magnetar_files::npy::NpyWriter;
use magnetar_posterior::{Features, PosteriorError, Support, SupportSize, Target, query_channels, spatial_channels};
use magnetar_study::{Candidates, ReceiverView, StudyError, map_rows, support_stream, truth};
use serde_json::json;

use super::dataset_folder::open_dataset;
use super::scorer_args::SupportArgs;
use crate::output::counted;
use crate::progress;

/// The arrays of a set; one holds some of them.
const ARRAYS: [&str; 5] = [SPATIAL, QUERY, DENSE, TARGET, AXES];
const SPATIAL: &str = "spatial.npy";
const QUERY: &str = "query.npy";
const DENSE: &str = "dense.npy";
const TARGET: &str = "target.npy";
const AXES: &str = "axes.npy";
/// What a set is; written last, so that a set that has it is whole.
const DESCRIPTION: &str = "features.json";

/// Flags of `magnetar features`.
#[derive(clap::Args)]
#[command(after_help = "\
Writes NumPy arrays (float32) into a folder, streamed, rows in index order:
  spatial.npy  [rows, 8 + 4K, H, W]
      displacement (2), log range, cos and sin of bearing, b_LOS, spacing (2),
      then per arrival SNR, cos and sin of its mismatch, validity
  query.npy    [rows, 4 + 2K, D, H, W]
      cos and sin of the candidate heading against the RX heading, against the
      direction to the RX, and against each arrival's propagation
  dense.npy    [rows, 12 + 6K, D, H, W]
      with --dense, instead of the two above
  target.npy   [rows, 8, 2]
      flat candidate index and weight; unused places have weight 0
  axes.npy     [rows, H + W]
      y of the rows, then x of the columns, metres
and features.json, which says what they are: dataset, split, support, shapes. In
an object store it is put last: a set without it is not whole.

Examples:
  magnetar features data --split train --limit 1000 --training --out features
  magnetar features data --split test --rows 33 --columns 33 --dense --out features")]
pub struct Args {
    /// The dataset's folder.
    dataset: PathBuf,
    /// The split.
    #[arg(long, default_value = "train", value_name = "NAME")]
    split: String,
    /// Only the first N rows.
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Training supports: representatives drawn in their strata, truth inserted. Otherwise cell centres.
    #[arg(long)]
    training: bool,
    /// Seed of the training supports.
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    seed: u64,
    /// One dense block instead of the two factored fields.
    #[arg(long)]
    dense: bool,
    #[command(flatten)]
    support: SupportArgs,
    /// The folder to write, or a place in an object store; one that holds such arrays is replaced.
    #[arg(short, long, value_name = "FOLDER")]
    out: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Writes the candidate features of a split.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let dataset = open_dataset(&args.dataset)?;
    dataset.require_truth()?;
    let rows = dataset.split(&args.split)?.present_rows().min(args.limit.unwrap_or(u64::MAX));
    let count = usize::try_from(rows)?;
    let size = args.support.size();
    let retained = dataset.recipe().sre.keep;
    let arrays = arrays(count, size, retained, args.dense);
    let bytes = arrays.iter().map(|(_, shape)| array_bytes(shape)).fold(0, u64::saturating_add);
    let of_rows = counted(rows, "row");
    note!("{of_rows} of split {}: {} in {}", args.split, progress::bytes(bytes), args.out.display());
    // The arrays belong together: they appear, or replace older ones, as one.
    let place = || args.out.display().to_string();
    let set = FileSet::create(&args.out, &ARRAYS, DESCRIPTION).with_context(place)?;
    let mut files = Files::create(set.path(), &arrays)?;
    let bar = progress::bar(rows, "rows");
    let mut outcome = Ok(());
    map_rows(
        dataset.records(&args.split, Columns::WithoutCsi)?.take(count),
        |record| make(args, size, record).map_err(|source| StudyError::Row { index: record.index, source }),
        |row| {
            bar.inc(1);
            if outcome.is_ok() {
                outcome = files.write(&row);
            }
        },
    )?;
    outcome?;
    let shapes: serde_json::Map<_, _> = arrays.iter().map(|(name, shape)| ((*name).to_owned(), json!(shape))).collect();
    let description = json!({
        "format": "magnetar-features", "version": env!("CARGO_PKG_VERSION"), "recipe_hash": dataset.manifest().recipe_hash,
        "seed": dataset.manifest().seed, "split": args.split, "rows": rows,
        "training_seed": args.training.then_some(args.seed),
        "support": { "rows": size.rows, "columns": size.columns, "headings": size.headings }, "arrays": shapes,
    });
    set.replace(&arrays.iter().map(|(name, _)| *name).collect::<Vec<_>>()).with_context(place)?;
    files.finish()?;
    set.commit(format!("{description:#}\n").as_bytes()).with_context(place)?;
    bar.finish_and_clear();
    if args.json {
        println!("{}", json!({ "out": args.out, "rows": rows, "bytes": bytes, "arrays": shapes }));
        return Ok(ExitCode::SUCCESS);
    }
    for (name, shape) in &arrays {
        println!("{}: float32 {shape:?}, {}", args.out.join(name).display(), progress::bytes(array_bytes(shape)));
    }
    Ok(ExitCode::SUCCESS)
}

/// The arrays that are written, with their shapes.
fn arrays(rows: usize, size: SupportSize, retained: usize, dense: bool) -> Vec<(&'static str, Vec<usize>)> {
    let (d, h, w) = (size.headings, size.rows, size.columns);
    let (s, q) = (spatial_channels(retained), query_channels(retained));
    let mut arrays = if dense {
        vec![(DENSE, vec![rows, s + q, d, h, w])]
    } else {
        vec![(SPATIAL, vec![rows, s, h, w]), (QUERY, vec![rows, q, d, h, w])]
    };
    arrays.extend([(TARGET, vec![rows, 8, 2]), (AXES, vec![rows, h + w])]);
    arrays
}

fn array_bytes(shape: &[usize]) -> u64 {
    shape.iter().fold(size_of::<f32>() as u64, |bytes, n| bytes.saturating_mul(*n as u64))
}

struct Row {
    support: Support,
    features: Features,
    target: Target,
}

fn make(args: &Args, size: SupportSize, record: &Record) -> Result<Row, PosteriorError> {
    let (view, tx) = (ReceiverView::of(record), truth(record));
    let Candidates { support, target, .. } = if args.training {
        Candidates::training(&view, size, &tx, &mut support_stream(args.seed, record.index))?
    } else {
        Candidates::evaluation(&view, size, &tx)?
    };
    let features = Features::new(&support, &view.layout, &view.rx, &view.arrivals);
    Ok(Row { support, features, target })
}

type Writer = NpyWriter<f32>;

/// The arrays being written; they appear when all are complete.
struct Files {
    spatial: Option<Writer>,
    query: Option<Writer>,
    dense: Option<Writer>,
    target: Option<Writer>,
    axes: Option<Writer>,
}

impl Files {
    fn create(folder: &Path, arrays: &[(&str, Vec<usize>)]) -> anyhow::Result<Self> {
        let open = |wanted: &str| {
            let shape = arrays.iter().find(|(name, _)| *name == wanted).map(|(_, shape)| shape);
            shape.map(|shape| Writer::create(&folder.join(wanted), shape)).transpose()
        };
        Ok(Self {
            spatial: open(SPATIAL)?,
            query: open(QUERY)?,
            dense: open(DENSE)?,
            target: open(TARGET)?,
            axes: open(AXES)?,
        })
    }

    fn write(&mut self, row: &Row) -> anyhow::Result<()> {
        if let Some(file) = &mut self.spatial {
            file.write(&row.features.spatial)?;
        }
        if let Some(file) = &mut self.query {
            file.write(&row.features.query)?;
        }
        if let Some(file) = &mut self.dense {
            file.write(&row.features.dense(&row.support))?;
        }
        let mut target = [0f32; 16];
        for (pair, (index, weight)) in target.chunks_exact_mut(2).zip(&row.target.voxels) {
            pair.copy_from_slice(&[*index as f32, *weight as f32]);
        }
        if let Some(file) = &mut self.target {
            file.write(&target)?;
        }
        let axes: Vec<f32> = row.support.ys().iter().chain(row.support.xs()).map(|v| *v as f32).collect();
        if let Some(file) = &mut self.axes {
            file.write(&axes)?;
        }
        Ok(())
    }

    fn finish(self) -> anyhow::Result<()> {
        let files = [self.spatial, self.query, self.dense, self.target, self.axes];
        files.into_iter().flatten().try_for_each(|file| Ok(file.finish()?))
    }
}
