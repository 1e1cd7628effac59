//! A dataset's manifest. Its hash of the recipe is made right first, so that what lies behind that check is reached too.
#![no_main]

use std::sync::LazyLock;

use magnetar_dataset::{Columns, Dataset, Recipe};
use magnetar_fuzz::scratch::Scratch;
use serde_json::Value;

static SCRATCH: LazyLock<Scratch> = LazyLock::new(|| Scratch::new("manifest"));

magnetar_fuzz::target!(|data| {
    open(data);
    if let Some(text) = with_right_hash(data) {
        open(text.as_bytes());
    }
});

fn open(bytes: &[u8]) {
    SCRATCH.write("manifest.json", bytes);
    match Dataset::open(SCRATCH.folder()) {
        Ok(dataset) => {
            for (name, split) in &dataset.manifest().splits {
                let _ = (split.present_rows(), split.is_complete());
                drop(dataset.read_row(name, 0, Columns::All).map_err(|error| error.to_string()));
                drop(dataset.records(name, Columns::WithoutCsi).map(|mut records| records.next().is_some()));
            }
        }
        Err(error) => drop(error.to_string()),
    }
}

fn with_right_hash(data: &[u8]) -> Option<String> {
    let mut manifest: Value = serde_json::from_slice(data).ok()?;
    let recipe = manifest.get("recipe")?.to_string();
    let hash = Recipe::from_json(&recipe, "fuzz").ok()?.hash();
    manifest.as_object_mut()?.insert("recipe_hash".to_owned(), Value::String(hash));
    Some(manifest.to_string())
}
