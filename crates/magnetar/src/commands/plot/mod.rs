//! `magnetar plot`: figures as SVG and PNG.

mod paper;
mod pattern;
mod posterior;
mod room;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Subcommand;
use magnetar_files::AtomicFile;
use magnetar_posterior::Scorer;
use magnetar_report::{Theme, knowledge_in_words, png_from_svg};
use serde_json::json;

/// Flags of `magnetar plot`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  magnetar plot room lab_middle --tx 0.98,2.28,1.08,-90 --rx 1,-1,1.08,90 -o room.svg -o room.png
  magnetar plot pattern synthetic_vivaldi -o pattern.png --theme dark
  magnetar plot marginal data --split test --row 3 -o marginal.svg
  magnetar plot slices data --row 3 -o slices.png
  magnetar plot volume data --row 3 -o volume.png
  magnetar plot cone data --split test --limit 500 -o cone.svg
  magnetar plot fusion data --split fusion --set 0 -o fusion.svg
  magnetar plot paper data -o figures      # the paper's figures, all scorers in each")]
pub struct Args {
    #[command(subcommand)]
    figure: Figure,
}

/// What to draw.
#[derive(Subcommand)]
enum Figure {
    /// A room from above, with the paths of one link.
    Room(room::Args),
    /// The polar cuts of an antenna pattern.
    Pattern(pattern::Args),
    /// A row's posterior: XY marginal in dB with the conditional-heading field.
    Marginal(posterior::RowArgs),
    /// A row's posterior: slices at fixed headings.
    Slices(posterior::RowArgs),
    /// A row's posterior: HPD sets of the joint volume.
    Volume(posterior::RowArgs),
    /// Cone curves of posteriors over rows of a split.
    Cone(posterior::ConeArgs),
    /// Early and late fusion of one set of views, and their contrast.
    Fusion(posterior::FusionArgs),
    /// The paper's figures of a dataset, with all scorers given.
    Paper(paper::Args),
}

/// Where a figure goes and how it looks.
#[derive(clap::Args)]
pub(super) struct Output {
    /// File to write, `.svg` or `.png`; may be given more than once.
    #[arg(short, long = "out", value_name = "FILE", required = true)]
    out: Vec<PathBuf>,
    /// Ground of the picture.
    #[arg(long, value_enum, default_value = "light")]
    theme: ThemeArg,
    /// Pixels of a PNG for each unit of the SVG.
    #[arg(long, default_value_t = SCALE, value_parser = parse_scale)]
    scale: f32,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Light or dark.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(super) enum ThemeArg {
    /// Dark ink on white.
    Light,
    /// Light ink on near-black.
    Dark,
}

impl ThemeArg {
    /// As pictures want it.
    fn theme(self) -> Theme {
        match self {
            Self::Light => Theme::Light,
            Self::Dark => Theme::Dark,
        }
    }
}

impl Output {
    /// The theme asked for.
    pub(super) fn theme(&self) -> Theme {
        self.theme.theme()
    }

    /// Refuses names that say nothing about the format, before any work.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        self.out.iter().try_for_each(|path| check_name(path))
    }

    /// Writes a picture in every format asked for.
    pub(super) fn write(&self, svg: &str) -> anyhow::Result<ExitCode> {
        for path in &self.out {
            write_figure(path, svg, self.scale)?;
            if !self.json {
                println!("{}", path.display());
            }
        }
        if self.json {
            println!("{}", json!({ "out": self.out }));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Pixels of a PNG for each unit of the SVG, where nothing else is asked for.
pub(super) const SCALE: f32 = 2.0;

/// One line about what a scorer was given, for a caption.
pub(super) fn scorer_line(scorer: &dyn Scorer) -> String {
    format!("{}: {}", scorer.name(), knowledge_in_words(scorer))
}

/// Refuses a name that says nothing about the format.
pub(super) fn check_name(path: &Path) -> anyhow::Result<()> {
    if !has_extension(path, "svg") && !has_extension(path, "png") {
        bail!("{}: expected a name that ends in .svg or .png", path.display());
    }
    Ok(())
}

/// Writes a picture in the format of its name.
pub(super) fn write_figure(path: &Path, svg: &str, scale: f32) -> anyhow::Result<()> {
    let bytes = if has_extension(path, "png") { png_from_svg(svg, scale)? } else { svg.as_bytes().to_vec() };
    AtomicFile::write(path, &bytes).with_context(|| format!("{} cannot be written", path.display()))
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(wanted))
}

fn parse_scale(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(scale) if (0.1..=10.0).contains(&scale) => Ok(scale),
        _ => Err("expected a number from 0.1 to 10".into()),
    }
}

/// Draws and writes one figure.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.figure {
        Figure::Room(args) => room::run(args),
        Figure::Pattern(args) => pattern::run(args),
        Figure::Marginal(args) => posterior::run_row(args, posterior::MARGINAL),
        Figure::Slices(args) => posterior::run_row(args, posterior::SLICES),
        Figure::Volume(args) => posterior::run_row(args, posterior::VOLUME),
        Figure::Cone(args) => posterior::run_cone(args),
        Figure::Fusion(args) => posterior::run_fusion(args),
        Figure::Paper(args) => paper::run(args),
    }
}
