//! `magnetar scorer`.

use std::process::ExitCode;

use magnetar_neural::{Design, LearnedScorers, Model, ModelRecord, Network, Widths};
use magnetar_study::SCORERS;
use serde_json::json;

use super::check_files::ListArgs;

/// What `magnetar scorer` does.
#[derive(clap::Subcommand)]
#[command(after_help = "\
Examples:
  magnetar scorer list
  magnetar scorer show mine.safetensors
  magnetar scorer show mine.safetensors --json")]
pub enum Action {
    /// List the scorers and the designs that can be trained.
    List(ListArgs),
    /// Print what a model says of itself.
    Show {
        /// A model file.
        #[arg(value_name = "FILE")]
        name: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// Lists or shows scorers.
pub fn run(action: &Action) -> anyhow::Result<ExitCode> {
    match action {
        Action::List(args) => list(args.json)?,
        Action::Show { name, json } => {
            let (shown, model) = LearnedScorers.model(name)?;
            show(&shown, &model, *json)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn parameter_count(design: Design, widths: &Widths) -> anyhow::Result<usize> {
    Ok(Network::new(design, widths, 2)?.plans().count())
}

fn list(as_json: bool) -> anyhow::Result<()> {
    let mut designs = Vec::new();
    for design in Design::ALL {
        let paper = parameter_count(design, &Widths::of_paper(design))?;
        let cpu = parameter_count(design, &Widths::for_cpu(design))?;
        designs.push((design, paper, cpu));
    }
    if as_json {
        let designs = designs.iter().map(|(design, paper, cpu)| {
            json!({"design": design, "description": design.description(), "parameters": {"paper": paper, "cpu": cpu}})
        });
        let scorers: Vec<&str> = SCORERS.iter().map(|scorer| scorer.name).collect();
        let all = json!({"scorers": scorers, "designs": designs.collect::<Vec<_>>()});
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    println!("scorers: {}", SCORERS.iter().map(|scorer| scorer.name).collect::<Vec<_>>().join(", "));
    println!("designs                                             parameters: paper       cpu");
    for (design, paper, cpu) in designs {
        println!("  {:<6}{:<50}{paper:>10}{cpu:>10}", design.name(), design.description());
    }
    Ok(())
}

fn show(name: &str, model: &Model, as_json: bool) -> anyhow::Result<()> {
    let record = model.record();
    if as_json {
        let all = json!({"name": name, "parameters": model.parameter_count(), "identity": model.identity(), "record": record});
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    let ModelRecord { design, widths, keep, recipe, recipe_hash, calibration, training, .. } = record;
    println!("{name}: {design}, {}", design.description());
    println!("  parameters     {}", model.parameter_count());
    println!(
        "  widths         hidden {:?}, attention {}, levels {:?}, blocks {}",
        widths.hidden, widths.attention, widths.levels, widths.blocks
    );
    println!("  arrivals       {keep}");
    println!("  recipe         {recipe} ({recipe_hash})");
    println!("  calibration    temperature {}, even share {}", calibration.temperature, calibration.uniform_share);
    println!("  identity       {}", model.identity());
    println!("  made by        {}", training.command);
    println!("  rows           {}", training.rows);
    let reduced = if training.reduced { ", a reduced run" } else { "" };
    println!("  exposures      {} in batches of {}{reduced}", training.exposures, training.batch);
    println!("  sampled        {}", training.sampled.as_deref().unwrap_or("all candidates"));
    println!("  largest rate   {:.2e}", training.peak_rate);
    println!("  time           {:.0} s", training.seconds);
    for (n, stage) in training.stages.iter().enumerate() {
        let chosen = if n == training.chosen_stage { ", chosen" } else { "" };
        println!(
            "  stage {n}        {} cells: loss {:.4} nat, density NLL on {} rows of val {:.4} nat{chosen}",
            stage.cells, stage.loss, training.validation_rows, stage.density_nll
        );
    }
    Ok(())
}
