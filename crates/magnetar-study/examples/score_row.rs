//! Scores one simulated row and prints where the TX most likely stands: `cargo run --example score_row`.

use std::sync::Arc;

use magnetar_dataset::{Recipe, generate_record};
use magnetar_posterior::SupportSize;
use magnetar_study::{ScorerSettings, open_scorer, score_record};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let recipe = Arc::new(Recipe::paper());
    let row = generate_record(&recipe, 1, "test", 0)?;
    let scorer = open_scorer("twin", &recipe, &ScorerSettings::shipped()?)?;
    let (support, volume) = score_record("test", &row, &*scorer, SupportSize::EVALUATION)?;
    let (heading, y, x) = support.place(volume.mode());
    println!("{}: {}", scorer.name(), scorer.knowledge());
    println!("mode  {:.2} m, {:.2} m, {:.2} rad", support.xs()[x], support.ys()[y], support.heading(heading));
    println!("truth {:.2} m, {:.2} m, {:.2} rad", row.tx.position.x, row.tx.position.y, row.tx.heading);
    Ok(())
}
