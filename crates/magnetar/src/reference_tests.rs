//! The reference pages in docs/reference are what the code says: every command, every recipe key and every column.
//!
//! `MAGNETAR_WRITE_REFERENCE=1 cargo test --release --workspace reference` writes them anew.

use std::fmt::Write;
use std::path::Path;

use clap::CommandFactory;
use magnetar_dataset::{Recipe, SCHEMA_VERSION, Shape};

use super::Cli;
use super::commands::{cell, command_reference};

/// Compares a page with the committed one, or writes it if that is asked for.
fn hold(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
    if std::env::var_os("MAGNETAR_WRITE_REFERENCE").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "docs/reference/{name} is not what the code says; see {}", file!());
}

#[test]
fn reference_of_recipe_keys() {
    let mut page = "# Recipe keys\n\nEvery key of a recipe with the value that recipe `paper` has. Whose number that is: the paper's, or \
                    ours where it is silent. Made from the code.\n\n| key | value | unit | whose | meaning | what it may be |\n|---|---|---|---|---|---|\n"
        .to_owned();
    for entry in Recipe::paper().entries() {
        let value = entry.value.to_string();
        let value = if value.chars().count() > 60 {
            format!("{}...", value.chars().take(57).collect::<String>())
        } else {
            value
        };
        let (value, meaning, expected) = (cell(&value), cell(entry.meaning), cell(&entry.expected));
        let _ = writeln!(
            page,
            "| `{}` | {value} | {} | {} | {meaning} | {expected} |",
            entry.key, entry.unit, entry.origin
        );
    }
    hold("recipe_keys.md", &page);
}

#[test]
fn reference_of_columns() {
    let mut recipe = Recipe::load("field", &[]).unwrap();
    recipe.replay = Recipe::load("replay", &[]).unwrap().replay;
    recipe.scene = Some("lab".to_owned());
    let schema = Shape::of(&recipe, SCHEMA_VERSION).schema();
    let mut page = "# Columns\n\nEvery column that a shard may have; a recipe without scene, model errors, transmission or replay leaves \
                    those of it out. The same texts are in the Parquet files. Made from the code.\n\n| column | unit | frame | meaning |\n|---|---|---|---|\n"
        .to_owned();
    for field in schema.fields() {
        let about = |key: &str| cell(field.metadata().get(key).map_or("", String::as_str));
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} |",
            field.name(),
            about("unit"),
            about("frame"),
            about("description")
        );
    }
    hold("columns.md", &page);
}

#[test]
fn reference_of_commands() {
    hold("commands.md", &command_reference(Cli::command()));
}
