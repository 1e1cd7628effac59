//! Rows a second of a sweep that stores nothing, against plain generation of the same rows.

mod harness;

use std::sync::Arc;

use harness::{Contestant, compare, human};
use magnetar_dataset::{Job, Plan, Recipe};
use magnetar_study::sweep::Sweep;

/// The paper's train split has 80,000 rows, fewer than 50 points of 2,000.
const LARGER: &str = "splits.train.board=100000";

/// Points of the sweep.
const POINTS: u64 = 50;

fn main() {
    // 2,000 rows per point for the whole measurement: cargo bench --bench sweep -- 2000
    let rows: u64 = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(200);
    let text = format!(
        "name = \"bench\"\nsplit = \"train\"\nset = [\"{LARGER}\"]\nrows = {rows}\n[[axis]]\nkey = \"link.reference_snr_db\"\nfrom = 45\nto = 55\nsteps = {POINTS}\n"
    );
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut turn = 0;
    let mut fresh = || {
        turn += 1;
        folder.path().join(turn.to_string())
    };
    let (a, b): (Vec<_>, Vec<_>) = (0..8).map(|_| (fresh(), fresh())).unzip();
    let (mut a, mut b) = (a.into_iter(), b.into_iter());
    let total = (POINTS * rows) as f64;
    let generate = || {
        let out = a.next().expect("fewer rounds than folders");
        let recipe = Arc::new(Recipe::load("paper", &[LARGER.to_owned()]).expect("the recipe is right"));
        let job = Job { splits: vec!["train".into()], limit: Some(POINTS * rows), ..Job::new(recipe, 1, &out) };
        Plan::new(job).and_then(|plan| plan.run(&|_| {})).expect("the paper's recipe generates");
        std::fs::remove_dir_all(out).expect("the folder is ours");
    };
    let sweep = || {
        let out = b.next().expect("fewer rounds than folders");
        // Checking the points is part of the work.
        let sweep = Sweep::parse(&text, "bench", None).expect("the sweep is right");
        sweep.run(&out, 0, None, &|_| {}).expect("the sweep runs");
    };
    let mut contestants =
        [Contestant::new("generate", total, generate), Contestant::new("sweep, nothing stored", total, sweep)];
    let seconds = compare(&mut contestants, 3);
    println!("{POINTS} points x {rows} rows");
    println!("  generate               {:>9.0} rows/s, a row {}", 1.0 / seconds[0], human(seconds[0]));
    println!("  sweep, nothing stored  {:>9.0} rows/s, a row {}", 1.0 / seconds[1], human(seconds[1]));
    println!("  ratio                  {:>9.2}", seconds[0] / seconds[1]);
}
