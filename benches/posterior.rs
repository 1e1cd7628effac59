//! Time of one posterior, tracing included, and how it grows with H x W, D and boxes.
//!
//! `cargo bench --bench posterior`

#![allow(clippy::unwrap_used, reason = "a benchmark may stop at the first surprise")]

mod harness;

use std::hint::black_box;
use std::sync::Arc;

use harness::{Contestant, compare, human};
use magnetar_dataset::{Generator, Recipe, Record};
use magnetar_posterior::{Support, SupportSize, TwinFile, TwinScorer};
use magnetar_scene::BoxShape;
use magnetar_study::{ReceiverView, twin_model};
use nalgebra::{Point3, Vector3};

const ROWS: u64 = 8;

fn main() {
    let recipe = Arc::new(Recipe::paper());
    let generator = Generator::new(&recipe, 1, "test").unwrap();
    let mut rows = generator.rows();
    let records: Vec<Record> = (0..ROWS).map(|i| rows.row(i).unwrap()).collect();
    let model = twin_model(&recipe).unwrap();
    let scorer = TwinScorer::new(model, TwinFile::shipped().unwrap().parameters).unwrap();
    let size = |headings, rows, columns| SupportSize { headings, rows, columns };
    let evaluation = SupportSize::EVALUATION;
    let cases = [
        ("18 x 33 x 33", evaluation, 0),
        ("18 x 17 x 33", size(18, 17, 33), 0),
        ("18 x 66 x 33", size(18, 66, 33), 0),
        ("18 x 66 x 66", size(18, 66, 66), 0),
        ("36 x 33 x 33", size(36, 33, 33), 0),
        ("72 x 33 x 33", size(72, 33, 33), 0),
        ("18 x 33 x 33, 10 boxes more", evaluation, 10),
        ("18 x 33 x 33, 100 boxes more", evaluation, 100),
        ("18 x 33 x 33, 200 boxes more", evaluation, 200),
    ];
    let mut contestants: Vec<_> = cases
        .iter()
        .map(|&(name, size, boxes)| {
            let (scorer, records) = (&scorer, &records);
            Contestant::new(name, ROWS as f64, move || {
                for record in records {
                    let mut view = ReceiverView::of(record);
                    view.layout.boxes.extend((0..boxes).map(clutter));
                    let support = Support::centred(&record.layout.room, size).unwrap();
                    black_box(scorer.score(&view.layout, &view.rx, &view.arrivals, &support).unwrap());
                }
            })
        })
        .collect();
    let seconds = compare(&mut contestants, 5);
    println!("{} threads", rayon::current_num_threads());
    for (case, s) in cases.iter().zip(&seconds) {
        println!("{:<32}{:>12}{:>8.2}x", case.0, human(*s), s / seconds[0]);
    }
}

/// Small boxes near the floor, where they block some floor reflections and no device stands.
fn clutter(n: usize) -> BoxShape {
    let (x, y) = ((n * 37 % 100) as f64 / 100.0, (n * 61 % 100) as f64 / 100.0);
    BoxShape {
        center: Point3::new(-1.0 + 4.9 * x, -5.6 + 8.2 * y, 0.3),
        size: Vector3::new(0.15, 0.1, 0.2),
        yaw: n as f64 * 0.7,
    }
}
