//! Scene TOML: what parses is written and read back as the same scene, and resolves or says why not.
#![no_main]

use std::sync::LazyLock;

use magnetar_scene::{MaterialLibrary, Scene};

static MATERIALS: LazyLock<MaterialLibrary> = LazyLock::new(MaterialLibrary::shipped);

magnetar_fuzz::target!(|data| {
    if let Ok(text) = std::str::from_utf8(data) {
        match Scene::from_toml_str(text, "fuzz.toml") {
            Ok(scene) => {
                let again = Scene::from_toml_str(&scene.to_toml(), "again.toml");
                assert!(again.is_ok(), "written and read back: {again:?}");
                drop(scene.resolve(&MATERIALS, 10e9).map_err(|error| error.to_string()));
                drop(scene.warnings());
            }
            Err(error) => drop(error.to_string()),
        }
    }
});
