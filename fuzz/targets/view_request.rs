//! Requests as the view's server gets them, answered in full.
#![no_main]

use std::sync::LazyLock;

use magnetar_report::view::{App, respond};
use magnetar_report::{LinkScorer, LinkSettings, Simulator};
use magnetar_scene::{Pose, Scene};
use magnetar_study::ScorerSettings;

static APP: LazyLock<App> = LazyLock::new(app);

magnetar_fuzz::target!(|data| {
    let response = respond(&APP, 8080, data);
    assert!(response.is_empty() || response.starts_with(b"HTTP/1.1 "), "no answer of HTTP");
});

/// The view of a shipped scene.
fn app() -> App {
    let scene = Scene::load("lab_middle").expect("a shipped scene");
    let (tx, rx) = (Pose::new(1.0, 2.0, 1.0, -1.5), Pose::new(1.0, -1.0, 1.0, 1.5));
    let simulator = Simulator::new(LinkSettings::shipped().expect("the shipped settings")).expect("a shipped order");
    let scorer = LinkScorer::scene_twin(ScorerSettings::shipped().expect("the shipped parameters"));
    App::scene(scene, &tx, &rx, simulator, scorer).expect("a shipped scene can be shown")
}
