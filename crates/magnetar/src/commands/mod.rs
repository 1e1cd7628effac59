//! One module per subcommand; each has its flags (`Args`) and a `run` that returns the exit code.

mod ablation;
mod audit;
mod backend;
mod bench_gpu;
mod benchmark;
mod calibrate;
mod check_files;
mod command_reference;
mod completions;
mod dataset_folder;
mod devices;
mod doctor;
mod estimate;
mod evaluate;
mod features;
mod fit;
mod fuse;
mod generate;
mod import;
mod link;
mod locate;
mod man;
mod material;
mod measurement;
mod merge;
mod observe;
mod part;
mod pattern;
mod plot;
mod posterior;
mod propagation;
mod recipe;
mod replay;
mod report;
mod scene;
mod scene_from_map;
mod scorer;
mod scorer_args;
mod stats;
mod sweep;
mod trace;
mod train;
mod validate;
mod verify;
mod version;
mod view;

use std::process::ExitCode;

use clap::Subcommand;
pub use version::LONG as LONG_VERSION;

#[cfg(test)]
pub use command_reference::{cell, command_reference};
pub use dataset_folder::open_dataset;
pub use validate::to_json as validation_json;

/// What the user asked for; `--help` lists it in this order, that of the pipeline.
#[derive(Subcommand)]
pub enum Command {
    /// Print the paths between two devices in a scene.
    Trace(trace::Args),
    /// Compare the tracer with exports of Sionna RT.
    Validate(validate::Args),
    /// List, show and check scenes.
    #[command(subcommand)]
    Scene(scene::Action),
    /// List, show and check building materials.
    #[command(subcommand)]
    Material(material::Action),
    /// List, show and check antenna patterns.
    #[command(subcommand)]
    Pattern(pattern::Action),
    /// Simulate what the receiver measures on one link, as a NumPy file.
    Observe(observe::Args),
    /// Estimate the arrivals in observations.
    Estimate(estimate::Args),
    /// Infer where the transmitter of measured snapshots stands and which way it faces.
    Locate(locate::Args),
    /// List, show and check recipes.
    #[command(subcommand)]
    Recipe(recipe::Action),
    /// Make a dataset: the paper's corpora, or those of a recipe.
    Generate(generate::Args),
    /// Check a dataset: hashes, counts, schema, ranges, rows made again.
    Verify(verify::Args),
    /// Put slices of a dataset together.
    Merge(merge::Args),
    /// Print what a dataset looks like.
    Stats(stats::Args),
    /// Score a split: the metrics of one scorer or more, and of the uniform posterior.
    Evaluate(evaluate::Args),
    /// Infer where the TX stands and which way it faces.
    Posterior(posterior::Args),
    /// Fuse the views of each set, early and late.
    Fuse(fuse::Args),
    /// Report what each term of the twin's likelihood is worth.
    Ablation(ablation::Args),
    /// What a dataset gives away without the radio, and by its direct path alone.
    Audit(audit::Args),
    /// Fit the widths of the twin's likelihood on training rows.
    Fit(fit::Args),
    /// Train a learned scorer: the paper's designs, or ours on top of the twin.
    Train(train::Args),
    /// Score designs as the paper's table does, and train them for it.
    Benchmark(benchmark::Args),
    /// List scorers and designs, show a model.
    #[command(subcommand)]
    Scorer(scorer::Action),
    /// Write candidate features and targets for training elsewhere.
    Features(features::Args),
    /// Compare corpora over axes of recipe keys, on the same random numbers.
    Sweep(sweep::Args),
    /// Replay the paper's measurement protocols in the reference room (simulated stand-ins).
    Replay(replay::Args),
    /// Make a dataset of a measurement campaign.
    Import(import::Args),
    /// Calibrate a recipe against measured rows with known poses.
    Calibrate(calibrate::Args),
    /// Look at a room and its paths in the browser, and move things.
    View(view::Args),
    /// Write one self-contained page about a dataset.
    Report(report::Args),
    /// Draw a room, an antenna pattern or a posterior as SVG or PNG.
    Plot(plot::Args),
    /// Show the GPUs, their drivers and which kernels load.
    Devices(devices::Args),
    /// Measure the GPU against the CPU.
    BenchGpu(bench_gpu::Args),
    /// Show what this machine has, and how fast it is.
    Doctor(doctor::Args),
    /// Print completions for a shell.
    Completions(completions::Args),
    /// Print the manual page, or write those of all commands.
    Man(man::Args),
    /// Print the version as one JSON object.
    Version(version::Args),
}

/// Runs one subcommand. `whole` is the whole command line, for what describes it.
pub fn run(command: Command, whole: fn() -> clap::Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Trace(args) => trace::run(&args),
        Command::Validate(args) => validate::run(&args),
        Command::Scene(action) => scene::run(&action),
        Command::Material(action) => material::run(&action),
        Command::Pattern(action) => pattern::run(&action),
        Command::Observe(args) => observe::run(&args),
        Command::Estimate(args) => estimate::run(&args),
        Command::Locate(args) => locate::run(&args),
        Command::Recipe(action) => recipe::run(&action),
        Command::Generate(args) => generate::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Stats(args) => stats::run(&args),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Posterior(args) => posterior::run(&args),
        Command::Fuse(args) => fuse::run(&args),
        Command::Ablation(args) => ablation::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Fit(args) => fit::run(&args),
        Command::Train(args) => train::run(&args),
        Command::Benchmark(args) => benchmark::run(&args),
        Command::Scorer(action) => scorer::run(&action),
        Command::Features(args) => features::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Calibrate(args) => calibrate::run(&args),
        Command::View(args) => view::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Plot(args) => plot::run(&args),
        Command::Devices(args) => devices::run(&args),
        Command::BenchGpu(args) => bench_gpu::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Completions(args) => completions::run(&args, whole()),
        Command::Man(args) => man::run(&args, whole()),
        Command::Version(args) => version::run(&args),
    }
}
