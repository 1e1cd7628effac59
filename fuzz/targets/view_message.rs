//! What the page sends as JSON: a state that makes sense as a scene is shown again as the same state.
#![no_main]

use std::sync::LazyLock;

use magnetar_report::view::LinkState;
use magnetar_scene::{MaterialLibrary, Scene};

static BASE: LazyLock<Scene> = LazyLock::new(|| Scene::load("lab_middle").expect("a shipped scene"));
static MATERIALS: LazyLock<MaterialLibrary> = LazyLock::new(MaterialLibrary::shipped);

magnetar_fuzz::target!(|data| {
    match serde_json::from_slice::<LinkState>(data) {
        Ok(state) => match state.scene(&BASE) {
            Ok((scene, tx, rx)) => {
                assert!(LinkState::new(&scene, &tx, &rx).is_ok());
                drop(scene.resolve(&MATERIALS, 10e9).map_err(|error| error.to_string()));
            }
            Err(error) => drop(error.to_string()),
        },
        Err(error) => drop(error.to_string()),
    }
});
