//! The whole pipeline, from recipe to Parquet on disk: `cargo bench --bench pipeline`.
//!
//! Rows per second with one and two threads taking turns, where the time of a row goes, and what other ways of storing
//! cost. About a minute on an idle machine. `python/bench_sionna.py` compares with Sionna RT.

#![allow(clippy::unwrap_used, reason = "a benchmark may stop at the first surprise")]

mod harness;

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use harness::{Contestant, allocations, compare, copy_and_hash, human};
use magnetar_dataset::{Generator, Job, Plan, Recipe, Summary};

/// Rows of a run that compares threads: two seconds or more for two threads, so that starting them and the last shards,
/// which not all threads have a part in, do not count.
const THREAD_ROWS: u64 = 40_000;

/// Runs of each number of threads, after one that warms up.
const THREAD_ROUNDS: usize = 3;

/// Rows of all other runs, which have one thread.
const ROWS: u64 = 4000;

fn recipe(sets: &[&str]) -> Arc<Recipe> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Arc::new(Recipe::load("paper", &sets).unwrap())
}

/// With shards small enough for [`ROWS`] rows to fill several.
fn small_shards(sets: &[&str]) -> Arc<Recipe> {
    recipe(&[&["store.shard_rows=500"], sets].concat())
}

/// Makes the first rows of the training split on disk.
fn generate(recipe: &Arc<Recipe>, rows: u64, threads: usize) -> Summary {
    let folder = tempfile::tempdir_in(target()).unwrap();
    let made = Job::new(Arc::clone(recipe), 1, folder.path());
    let job = Job { splits: vec!["train".into()], limit: Some(rows), threads, ..made };
    Plan::new(job).unwrap().run(&|_| {}).unwrap()
}

/// A folder on a real disk: temporary ones may be in memory.
fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

fn main() {
    threads();
    stream();
    stages();
    storage();
}

fn threads() {
    let recipe = recipe(&[]);
    let rows = THREAD_ROWS as f64;
    let mut contestants = [
        Contestant::new("1 thread", rows, || {
            generate(&recipe, THREAD_ROWS, 1);
        }),
        Contestant::new("2 threads", rows, || {
            generate(&recipe, THREAD_ROWS, 2);
        }),
    ];
    let seconds = compare(&mut contestants, THREAD_ROUNDS);
    println!(
        "`magnetar generate --split train --limit {THREAD_ROWS}` without its start: draw, trace, synthesise, noise, SRE, \
         Parquet on disk\n(CSI in f32, shards of {} rows); median of {THREAD_ROUNDS} runs, taking turns",
        recipe.store.shard_rows
    );
    for (contestant, s) in contestants.iter().zip(&seconds) {
        println!("  {:<10} {:>8.0} rows/s, {} per row, {:.2} s per run", contestant.name, 1.0 / s, human(*s), s * rows);
    }
    println!("  two threads over one: {:.2}", seconds[0] / seconds[1]);
}

/// Rows that are not stored: arrivals alone, on all threads.
fn stream() {
    let recipe = recipe(&[]);
    let generator = Generator::new(&recipe, 1, "train").unwrap();
    let mut contestants = [Contestant::new("arrivals, nothing stored", THREAD_ROWS as f64, || {
        black_box(generator.map_rows(0..THREAD_ROWS, |row| row.arrivals.clone()).unwrap());
    })];
    let s = compare(&mut contestants, THREAD_ROUNDS)[0];
    let threads = rayon::current_num_threads();
    println!("\n{}, {threads} threads: {:.0} rows/s, a row {}", contestants[0].name, 1.0 / s, human(s));
}

/// Time of each stage of a row, one thread, in memory; the rest is encoding and writing.
fn stages() {
    let recipe = small_shards(&[]);
    let generator = Generator::new(&recipe, 1, "train").unwrap();
    let mut rows = generator.rows();
    let mut record = rows.row(0).unwrap();
    let mut spent = [0.0; 4];
    for index in 0..ROWS {
        let mut last = Instant::now();
        let mut lap = |stage: usize| {
            let now = Instant::now();
            spent[stage] += (now - last).as_secs_f64();
            last = now;
        };
        rows.draw(index, &mut record).unwrap();
        lap(0);
        rows.trace(&mut record).unwrap();
        lap(1);
        rows.synthesise(&mut record);
        lap(2);
        rows.estimate(&mut record).unwrap();
        lap(3);
    }
    let made = allocations(|| (0..ROWS).for_each(|index| rows.row_into(index, &mut record).unwrap()));
    println!("\nallocations in making {ROWS} rows: {made}");
    let stored = |rows: u64| allocations(|| drop(generate(&recipe, rows, 1)));
    let (fewer, more) = (stored(ROWS), stored(2 * ROWS));
    let shards = ROWS / u64::from(recipe.store.shard_rows);
    println!("allocations of a shard of {} rows: {}", recipe.store.shard_rows, more.saturating_sub(fewer) / shards);
    let started = Instant::now();
    generate(&recipe, ROWS, 1);
    let whole = started.elapsed().as_secs_f64();
    let rest = (whole - spent.iter().sum::<f64>()).max(0.0);
    println!("\nwhere a row's time goes ({ROWS} rows, one thread)");
    // The reference that times are compared with is measured here.
    compare(&mut [], 101);
    let names = ["draw", "trace, antennas", "synthesis, RF chain, noise", "SRE", "columns, Parquet, hash, disk"];
    for (name, seconds) in names.iter().zip(spent.into_iter().chain([rest])) {
        println!("  {name:<30} {:>10} {:>5.1} %", human(seconds / ROWS as f64), 100.0 * seconds / whole);
    }
}

fn storage() {
    println!(
        "\nways to store (bytes and time of a row, and the time against the default's; {ROWS} rows, one thread, taking turns)"
    );
    let ways: [(&str, &[&str]); 8] = [
        ("f32, split, zstd 1 (default)", &[]),
        ("f32, split, zstd 3", &["store.compression_level=3"]),
        ("f32, split, zstd 9", &["store.compression_level=9"]),
        ("f32, plain, zstd 1", &["store.encoding=plain"]),
        ("f32, split, none", &["store.compression=none"]),
        ("f32, plain, none", &["store.encoding=plain", "store.compression=none"]),
        ("f16, split, zstd 1", &["store.csi=f16"]),
        ("no CSI, split, zstd 1", &["store.csi=none"]),
    ];
    let recipes: Vec<_> = ways.iter().map(|(_, sets)| small_shards(sets)).collect();
    let bytes: Vec<u64> = recipes.iter().map(|recipe| generate(recipe, ROWS, 1).bytes).collect();
    let mut contestants: Vec<_> = ways
        .iter()
        .zip(&recipes)
        .map(|((name, _), recipe)| {
            Contestant::new(name, ROWS as f64, || {
                generate(recipe, ROWS, 1);
            })
        })
        .collect();
    let seconds = compare(&mut contestants, 3);
    for ((name, _), (bytes, s)) in ways.iter().zip(bytes.iter().zip(&seconds)) {
        println!("  {name:<30} {:>6.0} bytes {:>10} {:>6.2}", *bytes as f64 / ROWS as f64, human(*s), s / seconds[0]);
    }
    let row = (bytes[0] / ROWS) as usize;
    let least = copy_and_hash(row);
    println!("  a plain copy and SHA-256 of the default's {row} bytes: {}", human(least));
}
