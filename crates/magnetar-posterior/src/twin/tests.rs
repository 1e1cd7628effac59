//! Laws of the twin scorer.

use std::f64::consts::PI;
use std::sync::OnceLock;

use magnetar_scene::{BoxShape, Pose, Slab};
use magnetar_signal::{Arrival, Arrivals};
use magnetar_trace::{Surface, Tracer};
use nalgebra::{Point3, Vector3};
use proptest::prelude::*;

use super::geometry::{Class, MAX_PATHS, Paths, World};
use super::tables::{GainTable, HeadingTable, ReflectionTable};
use super::*;
use crate::Layout;
use crate::testing::{paper_model, room, support};

fn scorer() -> &'static TwinScorer {
    static SCORER: OnceLock<TwinScorer> = OnceLock::new();
    SCORER.get_or_init(|| TwinScorer::new(paper_model(), TwinFile::shipped().unwrap().parameters).unwrap())
}

fn board(x: f64, y: f64, yaw: f64) -> BoxShape {
    BoxShape { center: Point3::new(x, y, 1.08), size: Vector3::new(1.0, 0.033, 1.27), yaw }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn candidate_paths_are_the_tracers(
        tx in (-1.2f64..4.1, -5.9f64..2.9, 0.6f64..2.0), rx in (-1.2f64..4.1, -5.9f64..2.9, 0.6f64..2.0),
        at in (0.0f64..3.0, -4.0f64..2.0, -PI..PI), heading in -PI..PI, boxed: bool,
    ) {
        let slab = Slab { eps_r: 5.24, sigma: 0.28, thickness: 0.1 };
        let shapes: Vec<_> = boxed.then(|| board(at.0, at.1, at.2)).into_iter().collect();
        let boxes: Vec<_> = shapes.iter().map(|s| (*s, slab)).collect();
        let tracer = Tracer::new(room(), &[slab; 6], &boxes, 10e9).unwrap();
        let tx = Point3::new(tx.0, tx.1, tx.2);
        let rx = Pose::new(rx.0, rx.1, rx.2, heading);
        let Ok(exact) = tracer.trace(&tx, &rx.position) else { return Ok(()) };
        let flat = GainTable::new(|_| 1.0);
        let table = HeadingTable::new(&flat, 8);
        let layout = Layout { room: room(), boxes: shapes };
        let mut paths = Paths::new();
        World::new(&layout, &rx, 0.0, &flat, &table).trace(&tx, &mut paths);
        prop_assert_eq!(paths.count, exact.len());
        let reflection = ReflectionTable::new(&slab, 10e9);
        for path in &exact {
            let close = (0..paths.count).min_by(|a, b| {
                let off = |n: usize| (f64::from(paths.length[n]) - path.geometry.length).abs()
                    + (f64::from(paths.across[n]) - rx.device_from_global(&path.geometry.arrival).y).abs();
                off(*a).total_cmp(&off(*b))
            }).unwrap();
            prop_assert!((f64::from(paths.length[close]) - path.geometry.length).abs() < 1e-4);
            let class = match path.interactions().surfaces().next() {
                None => Class::Direct,
                Some(Surface::Room(magnetar_scene::Face::ZMin)) => Class::Floor,
                Some(Surface::Room(magnetar_scene::Face::ZMax)) => Class::Ceiling,
                Some(Surface::Room(_)) => Class::Wall,
                Some(Surface::Box { .. }) => Class::Box,
            };
            prop_assert_eq!(paths.class[close], class);
            // Power against free space at 1 m: what the raw SNR is relative to.
            let free = 299_792_458.0 / 10e9 / (4.0 * PI);
            let power = path.coefficient.norm_sqr() / (free * free);
            let got = if class == Class::Direct { 1.0 } else {
                f64::from(reflection.power(paths.cos_incidence[close], paths.te[close], paths.tm[close]))
            } * 10f64.powf(f64::from(paths.snr_db[close]) / 10.0);
            prop_assert!((got - power).abs() < 2e-3 * path.geometry.length.powi(-2), "{got} {power} {class:?}");
        }
        prop_assert!(paths.count <= MAX_PATHS);
    }
}

fn check(volume: &crate::Volume, mask: &crate::Mask) {
    let sum: f64 = volume.mass().iter().map(|m| f64::from(*m)).sum();
    assert!((sum - 1.0).abs() < 1e-6, "{sum}");
    assert!(volume.mass().iter().all(|m| m.is_finite() && *m >= 0.0));
    let plane = volume.size().rows * volume.size().columns;
    assert!(volume.mass().iter().enumerate().all(|(n, m)| mask.is_valid(n % plane) == (*m > 0.0)));
}

#[test]
fn any_arrivals_give_a_distribution() {
    let s = support();
    let layout = Layout { room: room(), boxes: vec![board(1.0, 0.0, 0.3)] };
    let on_candidate = Pose::new(s.xs()[7], s.ys()[9], 1.08, 1.0);
    let arrival =
        |phase: f64, snr: f64| Arrival { phase_rad: phase, raw_snr_db: snr, snr_db: snr, ..Arrival::default() };
    let cases = [
        vec![],
        vec![arrival(0.3, 12.0)],
        vec![arrival(-PI, 25.0), arrival(PI - 1e-9, -17.0)],
        vec![arrival(1.0, 1e6), arrival(1.0, -1e6)],
        vec![arrival(0.0, f64::MAX), arrival(0.0, f64::MIN)],
        vec![arrival(0.3, 12.0), arrival(0.2, 9.0), arrival(0.1, 3.0)],
    ];
    for found in cases {
        let arrivals = Arrivals { keep: 2, found };
        for rx in [on_candidate, Pose::new(-1.402, -6.05, 1.08, -3.0)] {
            let volume = scorer().score(&layout, &rx, &arrivals, &s).unwrap();
            check(&volume, &s.mask(&rx));
        }
    }
}
