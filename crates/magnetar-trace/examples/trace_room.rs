//! Traces one link in a shipped room and prints its paths: `cargo run -p magnetar-trace --example trace_room`.

#![allow(clippy::disallowed_methods, reason = "printed for people, not data")]

use magnetar_scene::{MaterialLibrary, Scene};
use magnetar_trace::Tracer;
use nalgebra::Point3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let carrier_hz = 10e9;
    let world = Scene::load("lab_middle")?.resolve(&MaterialLibrary::shipped(), carrier_hz)?;
    let tracer = Tracer::new(world.room, &world.surfaces, &world.boxes, carrier_hz)?;
    let (tx, rx) = (Point3::new(0.98, 2.28, 1.08), Point3::new(1.0, -1.0, 1.08));
    for path in tracer.trace(&tx, &rx)? {
        let gain_db = 20.0 * path.coefficient.norm().log10();
        println!("{:<10} {:6.2} ns {gain_db:7.1} dB", path.interactions().to_string(), 1e9 * path.delay());
    }
    Ok(())
}
