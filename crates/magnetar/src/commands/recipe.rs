//! `magnetar recipe`.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use magnetar_dataset::{Generator, Recipe};
use serde_json::{Map, json};

use super::check_files::{Accepted, CheckArgs, ListArgs};
use crate::advice::at_its_line;

/// Which recipe, with which changes.
#[derive(clap::Args)]
pub struct RecipeArgs {
    /// A shipped recipe's name or a recipe file.
    #[arg(long, default_value = "paper", value_name = "NAME|FILE")]
    pub recipe: String,
    /// Change one key; may be given many times.
    #[arg(long, value_name = "KEY.PATH=VALUE")]
    pub set: Vec<String>,
}

/// Loads a recipe; what is wrong with a file has its line.
pub fn load_recipe(name: &str, set: &[String]) -> anyhow::Result<Recipe> {
    Recipe::load(name, set).map_err(|error| at_its_line(name, error))
}

/// What `magnetar recipe` does.
#[derive(clap::Subcommand)]
#[command(after_help = "\
Examples:
  magnetar recipe list
  magnetar recipe show
  magnetar recipe show field
  magnetar recipe show --set link.reference_snr_db=40 --json
  magnetar recipe show --toml > mine.toml
  magnetar recipe check mine.toml")]
pub enum Action {
    /// List the shipped recipes.
    List(ListArgs),
    /// Print every value with its unit, its range, and whether it is the paper's or ours.
    Show {
        /// A shipped recipe's name or a recipe file, as --recipe.
        #[arg(conflicts_with = "recipe", value_name = "NAME|FILE")]
        name: Option<String>,
        #[command(flatten)]
        recipe: RecipeArgs,
        /// Print one JSON object.
        #[arg(long, conflicts_with = "toml")]
        json: bool,
        /// Print a recipe file that loads again.
        #[arg(long)]
        toml: bool,
    },
    /// Check recipes and print their hashes. Exit code 1 if any is refused.
    Check {
        #[command(flatten)]
        files: CheckArgs,
        /// Change one key of each; may be given many times.
        #[arg(long, value_name = "KEY.PATH=VALUE")]
        set: Vec<String>,
    },
}

fn list(as_json: bool) -> anyhow::Result<ExitCode> {
    let recipes = Recipe::shipped().map(|name| Recipe::load(name, &[])).collect::<Result<Vec<_>, _>>()?;
    if as_json {
        let shown = recipes.iter().map(|r| json!({ "name": r.name, "description": r.description, "hash": r.hash() }));
        println!("{:#}", serde_json::Value::from(shown.collect::<Vec<_>>()));
    } else {
        recipes.iter().for_each(|recipe| println!("{:<8} {}", recipe.name, recipe.description));
    }
    Ok(ExitCode::SUCCESS)
}

/// Lists, shows or checks recipes.
pub fn run(action: &Action) -> anyhow::Result<ExitCode> {
    match action {
        Action::List(args) => return list(args.json),
        Action::Show { name, recipe, json, toml } => {
            let name = name.as_ref().unwrap_or(&recipe.recipe);
            show(&load_recipe(name, &recipe.set)?, *json, *toml)?;
        }
        Action::Check { files, set } => return Ok(files.run(|name| check(name, set))),
    }
    Ok(ExitCode::SUCCESS)
}

fn check(name: &str, set: &[String]) -> anyhow::Result<Accepted> {
    let recipe = Arc::new(load_recipe(name, set)?);
    for split in recipe.splits.keys() {
        // Patterns and materials are looked up too.
        Generator::new(&recipe, 0, split).map_err(|error| at_its_line(name, error))?;
    }
    let hash = recipe.hash();
    let keys = Map::from_iter([("name".to_owned(), json!(recipe.name)), ("hash".to_owned(), json!(hash))]);
    Ok(Accepted { summary: format!("hash {hash}"), keys, warnings: Vec::new() })
}

fn show(recipe: &Recipe, json: bool, toml: bool) -> anyhow::Result<()> {
    if toml {
        print!("{}", recipe.to_toml());
    } else if json {
        let shown = json!({ "name": recipe.name, "hash": recipe.hash(), "values": recipe.entries() });
        println!("{}", serde_json::to_string_pretty(&shown).context("the recipe cannot be written as JSON")?);
    } else {
        println!("# {}: {}\n# hash {}", recipe.name, recipe.description, recipe.hash());
        println!("# columns: key = value [unit], whose value it is, what it means; what it may be\n");
        for entry in recipe.entries().into_iter().skip(2) {
            let unit = if entry.unit.is_empty() { String::new() } else { format!(" {}", entry.unit) };
            let value = format!("{} = {}{unit}", entry.key, entry.value);
            println!("{value:<60} {:<8} {}; {}", entry.origin, entry.meaning, entry.expected);
            if let Some(reason) = &entry.reason {
                println!("    # {reason}");
            }
        }
    }
    Ok(())
}
