//! Simulates what the receiver measures on one link and estimates its arrivals:
//! `cargo run -p magnetar-signal --example simulate_link`.

use std::sync::Arc;

use magnetar_scene::{MaterialLibrary, Pose, Scene};
use magnetar_signal::sre::Component;
use magnetar_signal::{LinkDraw, LinkSimulator, Radio, RadioConfig, seeded_streams};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let radio = Arc::new(Radio::new(RadioConfig::default())?);
    let world = Scene::load("lab")?.resolve(&MaterialLibrary::shipped(), radio.band().carrier_hz)?;
    let (tx, rx) = (Pose::new(0.98, 2.28, 1.08, -1.57), Pose::new(1.0, -1.0, 1.08, 1.57));
    let mut link = LinkSimulator::new(radio);
    link.trace(world.room, &world.surfaces, &world.boxes, &tx, &rx)?;
    let [mut rf_chain, mut noise] = seeded_streams(1, 0);
    let rf_chain = link.radio().config().rf_chain.draw(&mut rf_chain);
    let mut block = link.block();
    link.observe(&LinkDraw { tx_power_offset_db: 0.0, rf_chain }, &mut noise, &mut block);
    for Component { arrival, .. } in link.estimate(&block)?.kept() {
        println!("AoA {:6.2} deg, SNR {:5.1} dB", arrival.aoa_rad.to_degrees(), arrival.snr_db);
    }
    Ok(())
}
