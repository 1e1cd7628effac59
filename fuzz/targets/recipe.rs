//! Recipe TOML, files it names and recipes it extends included: what loads is stored as JSON and read back.
#![no_main]

use std::sync::LazyLock;

use magnetar_dataset::Recipe;
use magnetar_fuzz::scratch::Scratch;

static SCRATCH: LazyLock<Scratch> = LazyLock::new(|| Scratch::new("recipe"));

magnetar_fuzz::target!(|data| {
    let path = SCRATCH.write("fuzz.toml", data);
    match Recipe::load(&path.display().to_string(), &[]) {
        Ok(recipe) => {
            let json = serde_json::to_string(&recipe).expect("a recipe is plain data");
            let again = Recipe::from_json(&json, "again");
            assert!(again.is_ok_and(|again| again.hash() == recipe.hash()), "stored and read back");
        }
        Err(error) => drop(error.to_string()),
    }
});
