//! `key.path=value` changes of a recipe, one per line.
#![no_main]

use magnetar_dataset::Recipe;

magnetar_fuzz::target!(|data| {
    if let Ok(text) = std::str::from_utf8(data) {
        let sets: Vec<String> = text.lines().map(str::to_owned).collect();
        match Recipe::load("paper", &sets) {
            Ok(recipe) => drop(recipe.hash()),
            Err(error) => drop(error.to_string()),
        }
    }
});
