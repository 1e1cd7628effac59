//! Prints `antenna_patterns/synthetic_vivaldi.csv`, computed from its formula:
//!
//! ```text
//! cargo run --release -p magnetar-scene --example synthetic_vivaldi > antenna_patterns/synthetic_vivaldi.csv
//! ```

fn main() {
    print!("{}", magnetar_scene::synthetic_vivaldi().to_csv());
}
