//! `magnetar scorer`.

use std::process::ExitCode;

use anyhow::bail;
use magnetar_neural::{Design, LearnedScorers, Model, ModelRecord, Network, ShippedModel, Widths};
use magnetar_study::{SCORERS, ScorerSource};
use serde_json::{Map, json};

use super::check_files::{Accepted, CheckArgs, ListArgs};

/// What `magnetar scorer` does.
#[derive(clap::Subcommand)]
#[command(after_help = "\
Examples:
  magnetar scorer list
  magnetar scorer show mine.safetensors
  magnetar scorer show twin
  magnetar scorer show mine.safetensors --json
  magnetar scorer check mine.safetensors")]
pub enum Action {
    /// List the scorers, the shipped models and the designs that can be trained.
    List(ListArgs),
    /// Print what a model says of itself, or what a scorer is.
    Show {
        /// A model file, a shipped model, or the name of a scorer.
        #[arg(value_name = "NAME|FILE")]
        name: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Check model files. Exit code 1 if any is refused.
    Check(CheckArgs),
}

/// Lists or shows scorers.
pub fn run(action: &Action) -> anyhow::Result<ExitCode> {
    match action {
        Action::List(args) => list(args.json)?,
        Action::Check(args) => return Ok(args.run(check)),
        Action::Show { name, json } => {
            if let Some(description) = described(name) {
                if *json {
                    println!("{:#}", json!({ "name": name, "description": description }));
                } else {
                    println!("{name}: {description}");
                }
                return Ok(ExitCode::SUCCESS);
            }
            let (shown, model) = open(name)?;
            show(&shown, &model, *json)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What a scorer that needs no file is.
fn described(name: &str) -> Option<&'static str> {
    SCORERS.iter().find(|scorer| scorer.name == name).map(|scorer| scorer.description)
}

/// A model's file; of any other name says what there is.
fn open(name: &str) -> anyhow::Result<(String, Model)> {
    if LearnedScorers.opens(name) {
        return Ok(LearnedScorers.model(name, None)?);
    }
    let shipped = ShippedModel::all().iter().map(|shipped| shipped.name);
    let names: Vec<&str> = SCORERS.iter().map(|scorer| scorer.name).chain(shipped).collect();
    bail!(
        "no scorer {name:?}; there are {}; or give a model file, which ends in .safetensors and which `magnetar train` makes",
        names.join(", ")
    );
}

fn check(name: &str) -> anyhow::Result<Accepted> {
    if let Some(description) = described(name) {
        return Ok(Accepted { summary: description.to_owned(), keys: Map::new(), warnings: Vec::new() });
    }
    let (_, model) = open(name)?;
    let (design, parameters) = (model.record().design, model.parameter_count());
    let keys = Map::from_iter([
        ("design".to_owned(), json!(design)),
        ("parameters".to_owned(), json!(parameters)),
        ("identity".to_owned(), json!(model.identity())),
    ]);
    Ok(Accepted { summary: format!("{design} with {parameters} parameters"), keys, warnings: Vec::new() })
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
        let shipped: Vec<&str> = ShippedModel::all().iter().map(|model| model.name).collect();
        let all = json!({"scorers": scorers, "shipped": shipped, "designs": designs.collect::<Vec<_>>()});
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    println!("scorers: {}", SCORERS.iter().map(|scorer| scorer.name).collect::<Vec<_>>().join(", "));
    if !ShippedModel::all().is_empty() {
        println!("shipped models, reduced runs            parameters  exposures  density NLL on val, nat");
    }
    for shipped in ShippedModel::all() {
        let model = shipped.model()?;
        let training = &model.record().training;
        let nll = training.stages.get(training.chosen_stage).map_or(f64::NAN, |stage| stage.density_nll);
        println!("  {:<36}{:>12}{:>11}{nll:>25.3}", shipped.name, model.parameter_count(), training.exposures);
    }
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
    if let Some(real) = &training.real {
        let moved = if real.moved { ", TX and RX moved together" } else { "" };
        println!("  real           {} exposures of {}{moved}", real.exposures, real.source);
    }
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
