//! Links per second in the laboratory room, and how the cost of a link grows with the number of boxes.
//!
//! `cargo bench --bench tracer`

#![allow(clippy::disallowed_methods, reason = "a benchmark makes no data")]
#![allow(clippy::unwrap_used, reason = "a benchmark may stop at the first surprise")]

mod harness;

use std::f64::consts::PI;
use std::hint::black_box;

use harness::{Contestant, allocations, compare, human};
use magnetar_scene::{BoxShape, Room, Slab};
use magnetar_trace::{TraceOptions, Tracer};
use nalgebra::{Point3, Vector3};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

const LINKS: usize = 2000;

fn main() {
    let room = Room::from_bounds([-1.403, 4.270, -6.060, 3.000, 0.0, 3.050]).unwrap();
    let concrete = Slab::new(5.24, 0.2798, 0.1);
    let marble = Slab::new(7.074, 0.0464, 0.1);
    let surfaces = [concrete, concrete, concrete, concrete, marble, concrete];
    let glass = Slab::new(6.31, 0.0787, 0.033);
    let board =
        BoxShape { center: Point3::new(1.0225, 1.0, 1.0025), size: Vector3::new(1.015, 0.033, 1.715), yaw: 0.0 };
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut inside = |margin: f64, height: std::ops::Range<f64>| {
        Point3::new(
            rng.random_range(room.min.x + margin..room.max.x - margin),
            rng.random_range(room.min.y + margin..room.max.y - margin),
            rng.random_range(height),
        )
    };
    let links: Vec<_> = (0..LINKS).map(|_| (inside(0.1, 1.07..1.09), inside(0.1, 1.07..1.09))).collect();
    // Small boxes near floor and ceiling: no device stands in one, and the paths have to pass between them.
    let clutter: Vec<_> = (0..500)
        .map(|i| {
            let mut center = inside(0.1, 0.1..0.8);
            if i % 2 == 1 {
                center.z += 1.6;
            }
            let yaw = f64::from(i) * 0.7 % PI;
            (BoxShape { center, size: Vector3::new(0.15, 0.1, 0.2), yaw }, glass)
        })
        .collect();

    let world = |boxes: &[(BoxShape, Slab)]| Tracer::new(room, &surfaces, boxes, 10e9).unwrap();
    let lab = world(&[(board, glass)]);
    let counts = [0, 1, 2, 4, 8, 16, 32, 64, 125, 250, 500];
    let worlds: Vec<_> = counts.iter().map(|&n| world(&clutter[..n])).collect();

    let mut paths = Vec::with_capacity(64);
    let mut found = 0;
    let made = allocations(|| {
        for (tx, rx) in &links {
            if lab.trace_into(tx, rx, &mut paths).is_ok() {
                found += paths.len();
            }
        }
    });
    println!(
        "laboratory room, one board: {:.2} paths per link, {made} allocations in {LINKS} links",
        found as f64 / LINKS as f64
    );

    let run = |tracer: &Tracer| {
        let mut paths = Vec::with_capacity(64);
        for (tx, rx) in &links {
            let _ = black_box(tracer.trace_into(tx, rx, &mut paths));
        }
    };
    let names: Vec<_> = counts.iter().map(|n| format!("{n} boxes")).collect();
    let mut contestants = vec![Contestant::new("lab, one board", LINKS as f64, || run(&lab))];
    for (name, tracer) in names.iter().zip(&worlds) {
        contestants.push(Contestant::new(name, LINKS as f64, move || run(tracer)));
    }
    let seconds = compare(&mut contestants, 25);
    let base = seconds[1];
    println!("{:<16} {:>12} {:>16} {:>14}", "world", "per link", "links/s/core", "extra per box");
    println!("{:<16} {:>12} {:>16.0}", contestants[0].name, human(seconds[0]), 1.0 / seconds[0]);
    for ((contestant, s), n) in contestants[1..].iter().zip(&seconds[1..]).zip(counts) {
        let extra = if n > 0 { human((s - base).max(0.0) / n as f64) } else { String::new() };
        println!("{:<16} {:>12} {:>16.0} {extra:>14}", contestant.name, human(*s), 1.0 / s);
    }
    higher_orders(&lab, &worlds, &counts, &links);
    let growth = (seconds[seconds.len() - 1] - base) / (seconds[seconds.len() - 4] - base);
    let bound = 500.0 * 500f64.ln() / (64.0 * 64f64.ln());
    println!("what boxes cost grows x{growth:.1} from 64 to 500 boxes; n log n would be x{bound:.1}");
}

/// Orders two and three in the laboratory, with and without waves through the board, and among more and more boxes.
fn higher_orders(lab: &Tracer, worlds: &[Tracer], counts: &[usize], links: &[(Point3<f64>, Point3<f64>)]) {
    let with = |tracer: &Tracer, max_order: usize, transmission: bool| {
        tracer.clone().with_options(TraceOptions { max_order, transmission }).unwrap()
    };
    let mut cases = Vec::new();
    for order in [2, 3] {
        for transmission in [false, true] {
            let through = if transmission { ", through" } else { "" };
            cases.push((format!("lab, order {order}{through}"), with(lab, order, transmission), 400));
        }
        for (n, world) in counts.iter().zip(worlds).filter(|(n, _)| [8, 64, 500].contains(*n)) {
            let links = if order == 3 && *n > 8 { 4 } else { 40 };
            cases.push((format!("{n} boxes, order {order}"), with(world, order, false), links));
        }
    }
    let mut paths = Vec::with_capacity(1024);
    let made = allocations(|| {
        for (tx, rx) in &links[..400] {
            let _ = black_box(cases[2].1.trace_into(tx, rx, &mut paths));
        }
    });
    println!("order 2 among boxes: {made} allocations in 400 links");
    let mut contestants: Vec<_> = cases
        .iter()
        .map(|(name, tracer, count)| {
            let mut paths = Vec::with_capacity(1024);
            Contestant::new(name, *count as f64, move || {
                for (tx, rx) in &links[..*count] {
                    let _ = black_box(tracer.trace_into(tx, rx, &mut paths));
                }
            })
        })
        .collect();
    let seconds = compare(&mut contestants, 5);
    for (contestant, s) in contestants.iter().zip(&seconds) {
        println!("{:<24} {:>12} {:>16.0} links/s/core", contestant.name, human(*s), 1.0 / s);
    }
}
