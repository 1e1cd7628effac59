//! `magnetar plot marginal`, `slices`, `volume`, `cone` and `fusion`: posteriors of a dataset's rows.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use magnetar_dataset::{Dataset, Record, Reported};
use magnetar_posterior::{BalancedMetrics, Scorer, Support, SupportSize, UniformScorer, Volume, fuse};
use magnetar_report::figure::{
    ConeCurve, PosteriorPicture, cone_figure, fusion_figure, marginal_figure, slices_figure, volume_figure,
};
use magnetar_report::{Theme, knowledge_in_words};
use magnetar_scene::BoxShape;
use magnetar_study::{evaluate, is_volume_file, needed_columns, score_aligned, score_record};

use super::{Output, scorer_line};
use crate::args::parse_number;
use crate::commands::dataset_folder::{open_dataset, read_row};
use crate::commands::scorer_args::ScorerArgs;
use crate::progress;

/// Flags of the figures of one row.
#[derive(clap::Args)]
pub struct RowArgs {
    /// The dataset's folder.
    dataset: PathBuf,
    /// The split.
    #[arg(long, default_value = "test")]
    split: String,
    /// The row's number.
    #[arg(long, default_value_t = 0, value_parser = parse_number, allow_negative_numbers = true)]
    row: u64,
    #[command(flatten)]
    scorer: ScorerArgs,
    #[command(flatten)]
    output: Output,
}

/// Flags of the cone curves.
#[derive(clap::Args)]
pub struct ConeArgs {
    /// The dataset's folder.
    dataset: PathBuf,
    /// The split.
    #[arg(long, default_value = "test")]
    split: String,
    /// Rows scored, from the first on.
    #[arg(long, alias = "rows", value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
    #[command(flatten)]
    scorer: ScorerArgs,
    #[command(flatten)]
    output: Output,
}

/// Flags of the fusion figure.
#[derive(clap::Args)]
pub struct FusionArgs {
    /// The dataset's folder.
    dataset: PathBuf,
    /// The split; its sets should have several views.
    #[arg(long, default_value = "fusion")]
    split: String,
    /// The set's number.
    #[arg(long, default_value_t = 0, value_parser = parse_number, allow_negative_numbers = true)]
    set: u64,
    #[command(flatten)]
    scorer: ScorerArgs,
    #[command(flatten)]
    output: Output,
}

/// Name of the uniform scorer.
const UNIFORM: &str = "uniform";

/// A figure of one row's posterior.
#[derive(Clone, Copy)]
pub struct RowFigure {
    draw: fn(&PosteriorPicture<'_>, Theme) -> String,
    /// Whether its headings are counted from the true one.
    aligned: bool,
}

/// The XY marginal with the conditional-heading field.
pub const MARGINAL: RowFigure = RowFigure { draw: marginal_figure, aligned: false };
/// Slices at fixed headings.
pub const SLICES: RowFigure = RowFigure { draw: slices_figure, aligned: true };
/// HPD sets of the joint volume.
pub const VOLUME: RowFigure = RowFigure { draw: volume_figure, aligned: false };

/// Draws a figure of one row.
pub fn run_row(args: &RowArgs, figure: RowFigure) -> anyhow::Result<ExitCode> {
    args.output.check()?;
    let dataset = open_dataset(&args.dataset)?;
    let scorer = args.scorer.open(dataset.recipe())?;
    let record = read_row(&dataset, &args.split, args.row, needed_columns(std::slice::from_ref(&scorer)))?;
    let caption = format!(
        "Simulated: row {} of {}, {}, {}; {}.",
        record.index,
        args.split,
        if record.los { "LOS" } else { "NLOS" },
        if record.layout.board.is_some() { "board" } else { "no board" },
        scorer_line(&*scorer)
    );
    let name = args.scorer.name()?;
    args.output.write(&figure.of_row(&args.split, &record, (name, &*scorer), &caption, args.output.theme())?)
}

impl RowFigure {
    /// The figure of a row's posterior by a scorer of this name.
    pub(super) fn of_row(
        self,
        split: &str,
        record: &Record,
        (name, scorer): (&str, &dyn Scorer),
        caption: &str,
        theme: Theme,
    ) -> anyhow::Result<String> {
        let (support, volume) = scored(split, record, (name, scorer), self.aligned)?;
        let Reported { room, rx, .. } = record.reported();
        let boxes: Vec<BoxShape> = record.reported_standing().collect();
        let picture = PosteriorPicture {
            support: &support,
            volume: &volume,
            room: &room,
            boxes: &boxes,
            rx: &[rx],
            truth: Some(record.tx),
            caption,
        };
        Ok((self.draw)(&picture, theme))
    }
}

/// A row's posterior, headings counted from the true one if asked for (the paper's figures); a file's volumes are where they
/// are.
pub(super) fn scored(
    split: &str,
    record: &Record,
    (name, scorer): (&str, &dyn Scorer),
    aligned: bool,
) -> anyhow::Result<(Support, Volume)> {
    let score = if aligned && !is_volume_file(name) { score_aligned } else { score_record };
    Ok(score(split, record, scorer, SupportSize::EVALUATION)?)
}

/// Draws the cone curves of the scorers and of the uniform posterior.
pub fn run_cone(args: &ConeArgs) -> anyhow::Result<ExitCode> {
    args.output.check()?;
    let dataset = open_dataset(&args.dataset)?;
    let scorers = args.scorer.open_all(dataset.recipe())?;
    args.output.write(&cones(&dataset, &args.split, args.limit, scorers, args.output.theme())?)
}

/// The cone curves of scorers over rows of a split, seeds of one design together.
pub(super) fn cones(
    dataset: &Dataset,
    split: &str,
    rows: u64,
    mut scorers: Vec<Arc<dyn Scorer>>,
    theme: Theme,
) -> anyhow::Result<String> {
    let mut knowledge: Vec<String> = Vec::new();
    for scorer in &scorers {
        let line = format!("{}: {}", design_of(scorer.name()), knowledge_in_words(&**scorer));
        if !knowledge.contains(&line) {
            knowledge.push(line);
        }
    }
    if !scorers.iter().any(|scorer| scorer.name() == UNIFORM) {
        scorers.push(Arc::new(UniformScorer));
    }
    let total = dataset.sample_rows(split, rows)?;
    let bar = progress::bar(total, "rows");
    let records = dataset.sample(split, needed_columns(&scorers), rows)?;
    let evaluations = evaluate([(split, records)], &scorers, SupportSize::EVALUATION, &|n| bar.inc(n))?;
    bar.finish_and_clear();
    let mut designs: Vec<(&str, Vec<ConeCurve>)> = Vec::new();
    let mut scored = 0;
    for evaluation in &evaluations {
        let Some(metrics) = evaluation.scores.metrics() else {
            bail!("split {split} of {} has no rows", dataset.folder().display());
        };
        scored = metrics.samples;
        // The uniform posterior has no mode, and so no hits.
        let curve = match evaluation.name.as_str() {
            UNIFORM => curve("uniform (mass only)", &metrics, false),
            name => curve(name, &metrics, true),
        };
        let design = design_of(&evaluation.name);
        match designs.iter_mut().find(|(known, _)| *known == design) {
            Some((_, seeds)) => seeds.push(curve),
            None => designs.push((design, vec![curve])),
        }
    }
    let curves: Vec<ConeCurve> =
        designs.iter().filter_map(|(design, seeds)| ConeCurve::of_seeds(design, seeds)).collect();
    let bands = if designs.iter().any(|(_, seeds)| seeds.len() > 1) {
        "; bands: one sample deviation over the seeds of a design"
    } else {
        ""
    };
    let caption = format!(
        "Simulated: {scored} rows of {split}, balanced over {}{bands}; {}.",
        match dataset.manifest().stand_in {
            Some(_) => "board condition, placements and RX sites",
            None => "board condition and materials",
        },
        knowledge.join("; ")
    );
    Ok(cone_figure(&curves, &caption, theme))
}

/// The design of a scorer: names that differ only in a number after the last `-` or `_` (or `-seed`) are seeds of one.
fn design_of(name: &str) -> &str {
    let head = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let head = if head.len() < name.len() { head.strip_suffix("seed").unwrap_or(head) } else { return name };
    head.strip_suffix(['-', '_']).filter(|design| !design.is_empty()).unwrap_or(name)
}

fn curve(name: &str, metrics: &BalancedMetrics, hits: bool) -> ConeCurve {
    ConeCurve {
        name: name.to_owned(),
        opening_deg: metrics.cones.cone_opening_deg.clone(),
        mass_percent: metrics.cones.cone_mass_percent.clone(),
        hit_percent: if hits { metrics.cones.cone_hit_percent.clone() } else { Vec::new() },
        spread_percent: Default::default(),
    }
}

/// Draws early and late fusion of one set.
pub fn run_fusion(args: &FusionArgs) -> anyhow::Result<ExitCode> {
    args.output.check()?;
    let dataset = open_dataset(&args.dataset)?;
    let scorer = args.scorer.open(dataset.recipe())?;
    args.output.write(&fusion(&dataset, &args.split, args.set, &scorer, args.output.theme())?)
}

/// Early and late fusion of one set of a split.
pub(super) fn fusion(
    dataset: &Dataset,
    split: &str,
    set: u64,
    scorer: &Arc<dyn Scorer>,
    theme: Theme,
) -> anyhow::Result<String> {
    let views = u64::from(dataset.split(split)?.views);
    let first = set.checked_mul(views).context("there is no such set")?;
    let records = (first..first + views)
        .map(|index| read_row(dataset, split, index, needed_columns(std::slice::from_ref(scorer))))
        .collect::<Result<Vec<Record>, _>>()?;
    let Some(start) = records.first() else { bail!("split {split} has no views") };
    let scored = records
        .iter()
        .map(|record| score_record(split, record, &**scorer, SupportSize::EVALUATION))
        .collect::<Result<Vec<_>, _>>()?;
    let (supports, volumes): (Vec<Support>, Vec<Volume>) = scored.into_iter().unzip();
    let fused = fuse(&volumes)?;
    let room = start.reported().room;
    let boxes: Vec<BoxShape> = start.reported_standing().collect();
    let rx: Vec<_> = records.iter().map(|r| r.reported().rx).collect();
    let caption = format!("Simulated: set {set} of {split}, {views} views; {}.", scorer_line(&**scorer));
    let picture = PosteriorPicture {
        support: &supports[0],
        volume: &volumes[0],
        room: &room,
        boxes: &boxes,
        rx: &rx,
        truth: Some(start.tx),
        caption: &caption,
    };
    Ok(fusion_figure(&picture, &fused, theme))
}

#[cfg(test)]
mod tests {
    use super::design_of;

    #[test]
    fn seeds_are_told_from_designs() {
        for (name, design) in [
            ("np4-1", "np4"),
            ("np4_seed12", "np4"),
            ("np4", "np4"),
            ("sa1", "sa1"),
            ("np5-S-seed3", "np5-S"),
            ("twin", "twin"),
            ("-1", "-1"),
            ("7", "7"),
        ] {
            assert_eq!(design_of(name), design, "{name}");
        }
    }
}
