//! What `list` and `check` share, whatever kind of file they are about.

use std::process::ExitCode;

use serde_json::{Map, Value, json};

use crate::advice::message_of;

/// Flags of `list`.
#[derive(clap::Args)]
pub struct ListArgs {
    /// Print a JSON array.
    #[arg(long)]
    pub json: bool,
}

/// Flags of `check`.
#[derive(clap::Args)]
pub struct CheckArgs {
    /// Names of shipped ones, or files.
    #[arg(required = true, value_name = "NAME|FILE")]
    names: Vec<String>,
    /// Print a JSON array.
    #[arg(long)]
    json: bool,
}

/// What is said of a file that was accepted.
pub struct Accepted {
    /// In a few words, after "ok, ".
    pub summary: String,
    /// Keys of its JSON report besides `file`, `ok` and `warnings`.
    pub keys: Map<String, Value>,
    /// What is allowed but probably not meant.
    pub warnings: Vec<String>,
}

impl CheckArgs {
    /// Checks every file; exit code 1 if any is refused. One bad file does not hide the next.
    pub fn run<E: Into<anyhow::Error>>(&self, check: impl Fn(&str) -> Result<Accepted, E>) -> ExitCode {
        let mut reports = Vec::new();
        let mut all_accepted = true;
        for name in &self.names {
            let checked = check(name).map_err(|error| message_of(&error.into()));
            all_accepted &= checked.is_ok();
            match checked {
                Ok(Accepted { mut keys, warnings, .. }) if self.json => {
                    keys.extend(
                        [("file", json!(name)), ("ok", json!(true)), ("warnings", json!(warnings))]
                            .map(|(key, value)| (key.to_owned(), value)),
                    );
                    reports.push(Value::Object(keys));
                }
                Err(error) if self.json => {
                    reports.push(json!({ "file": name, "ok": false, "error": error }));
                }
                Ok(Accepted { summary, warnings, .. }) => {
                    println!("{name}: ok, {summary}");
                    warnings.iter().for_each(|warning| println!("{name}: warning: {warning}"));
                }
                // Refusals are errors, and go where errors go.
                Err(error) => eprintln!("error: {error}"),
            }
        }
        if self.json {
            println!("{:#}", Value::from(reports));
        }
        if all_accepted { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
