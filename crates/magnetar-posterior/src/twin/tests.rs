//! Laws of the twin scorer.

use std::f64::consts::PI;
use std::sync::OnceLock;

use magnetar_scene::{BoxShape, Pose, Slab};
use magnetar_signal::{Arrival, Arrivals};
use magnetar_trace::{Path, TraceOptions, Tracer};
use nalgebra::{Point3, Vector3};
use proptest::prelude::*;

use super::geometry::{CandidateTracer, DIRECT, MAX_PATHS, Paths};
use super::tables::{GainTable, HeadingTable, SlabTables};
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
        boards in prop::collection::vec((0.0f64..3.0, -4.0f64..2.0, -PI..PI), 0..3), heading in -PI..PI, level: bool,
        order in 0usize..=2, transmission: bool,
    ) {
        // Every surface has its own slab; the last box has the default one.
        let slab = |n: usize| Slab::new(2.0 + 0.7 * n as f64, 0.05 * n as f64, 0.1);
        let shapes: Vec<_> = boards.iter().map(|at| board(at.0, at.1, at.2)).collect();
        let boxes: Vec<_> = shapes.iter().enumerate().map(|(n, s)| (*s, slab(8 + n))).collect();
        let surfaces = std::array::from_fn(slab);
        let propagation = TraceOptions { max_order: order, transmission };
        let tracer = Tracer::new(room(), &surfaces, &boxes, 10e9).unwrap().with_options(propagation).unwrap();
        let tx = Point3::new(tx.0, tx.1, if level { rx.2 } else { tx.2 });
        let rx = Pose::new(rx.0, rx.1, rx.2, heading);
        let Ok(exact) = tracer.trace(&tx, &rx.position) else { return Ok(()) };
        let flat = GainTable::new(|_| 1.0);
        let table = HeadingTable::new(&flat, 8);
        let known = shapes.len().saturating_sub(1);
        let model = TwinModel {
            snr_at_one_metre_db: 0.0,
            assignments: vec![RoomSlabs(surfaces)],
            box_slab: slab(7 + shapes.len()),
            box_slabs: boxes[..known].iter().map(|b| b.1).collect(),
            propagation,
            ..scorer().model().clone()
        };
        let world = Layout { room: room(), boxes: shapes }.world();
        let slabs = SlabTables::new(&model);
        let mut paths = Paths::new();
        CandidateTracer::new(&world, &rx, &model, (&flat, &slabs), (&table, 0.0)).trace(&tx, &mut paths);
        prop_assert_eq!(paths.count, exact.len().min(MAX_PATHS));
        // Power against free space at 1 m: what the raw SNR is relative to.
        let free = 299_792_458.0 / 10e9 / (4.0 * PI);
        let power = |path: &Path| path.coefficient.norm_sqr() / (free * free);
        let got = |n: usize| {
            let response = match paths.response_db.first() {
                Some(db) => 10f64.powf(f64::from(db[n]) / 10.0),
                None if paths.surface[n] == DIRECT => 1.0,
                None => {
                    let reflection = slabs.table(0, paths.surface[n]);
                    f64::from(reflection.power(paths.cos_incidence[n], paths.te[n], paths.tm[n]))
                }
            };
            response * 10f64.powf(f64::from(paths.snr_db[n]) / 10.0)
        };
        for path in &exact[..if exact.len() <= MAX_PATHS { exact.len() } else { 0 }] {
            let close = (0..paths.count).min_by(|a, b| {
                let off = |n: usize| (f64::from(paths.length[n]) - path.geometry.length).abs()
                    + (f64::from(paths.across[n]) - rx.device_from_global(&path.geometry.arrival).y).abs()
                    // Paths of one length and direction differ in strength.
                    + (got(n) - power(path)).abs();
                off(*a).total_cmp(&off(*b))
            }).unwrap();
            prop_assert!((f64::from(paths.length[close]) - path.geometry.length).abs() < 1e-4);
            prop_assert_eq!(paths.surface[close] == DIRECT, path.geometry.is_line_of_sight());
            let (got, power) = (got(close), power(path));
            prop_assert!((got - power).abs() < 4e-3 * path.geometry.length.powi(-2), "{got} {power} {}", path.interactions());
        }
        // Of too many, the strongest stay; in the default, by their lengths alone.
        if exact.len() > MAX_PATHS && !propagation.is_default() {
            let mut powers: Vec<_> = exact.iter().map(power).collect();
            powers.sort_by(|a, b| b.total_cmp(a));
            let kept: f64 = (0..MAX_PATHS).map(got).sum();
            let strongest: f64 = powers[..MAX_PATHS].iter().sum();
            prop_assert!((kept - strongest).abs() < 1e-3 * strongest, "{kept} {strongest}");
        }
    }
}

#[test]
fn an_order_that_is_not_traced_is_refused() {
    let propagation = TraceOptions { max_order: 4, transmission: true };
    let model = TwinModel { propagation, ..scorer().model().clone() };
    let error = TwinScorer::new(model, *scorer().parameters()).unwrap_err().to_string();
    assert!(error.contains("the twin's paths") && error.contains('4'), "{error}");
}

fn one_board() -> Layout {
    Layout { room: room(), boxes: vec![board(1.0, 0.0, 0.3)] }
}

/// Two arrivals of the given SNRs, dB.
fn two_arrivals(first: f64, second: f64) -> Arrivals {
    let arrival = |phase_rad: f64, snr: f64| Arrival { phase_rad, raw_snr_db: snr, snr_db: snr, ..Arrival::default() };
    Arrivals { keep: 2, found: vec![arrival(0.4, first), arrival(-0.9, second)] }
}

#[test]
fn headings_may_be_counted_from_anywhere() {
    let (s, layout, rx) = (support(), one_board(), Pose::new(0.5, -2.0, 1.08, 1.0));
    let arrivals = two_arrivals(14.0, 11.0);
    let plain = scorer().score(&layout, &rx, &arrivals, &s).unwrap();
    // Three bins further: the same candidates under other numbers.
    let turned = s.clone().turned(s.heading(3));
    let shifted = scorer().score(&layout, &rx, &arrivals, &turned).unwrap();
    let size = s.size();
    for d in 0..size.headings {
        for cell in 0..size.rows * size.columns {
            let (i, j) = (cell / size.columns, cell % size.columns);
            let (a, b) = (plain.mass()[s.index((d + 3) % size.headings, i, j)], shifted.mass()[s.index(d, i, j)]);
            assert!((a - b).abs() <= 1e-4 * a + 1e-9, "{a} {b}");
        }
    }
    let truth = Pose::new(0.7, 0.2, 1.08, turned.heading(5));
    let target = crate::Target::evaluation(&turned, &turned.mask(&rx), &truth).unwrap();
    assert!(target.voxels.iter().all(|(n, w)| turned.place(*n).0 == 5 || *w < 1e-9));
}

#[test]
fn what_is_not_known_widens_the_posterior() {
    let (s, layout, rx) = (support(), one_board(), Pose::new(0.5, -2.0, 1.08, 1.0));
    let arrivals = two_arrivals(14.0, 11.0);
    let score = |arrivals: &Arrivals, change: &dyn Fn(&mut TwinParameters)| {
        let mut parameters = *scorer().parameters();
        change(&mut parameters);
        scorer().with_parameters(parameters).score(&layout, &rx, arrivals, &s).unwrap()
    };
    let entropy = |change: &dyn Fn(&mut TwinParameters)| {
        let volume = score(&arrivals, change);
        volume.mass().iter().map(|m| -f64::from(*m) * f64::from(*m).max(1e-30).ln()).sum::<f64>()
    };
    let sure = entropy(&|_| {});
    let widened = [
        entropy(&|p| p.heading_sigma_deg = 10.0),
        entropy(&|p| p.position_sigma_m = 0.5),
        entropy(&|p| p.outlier_second = 0.8),
    ];
    assert!(widened.iter().all(|wide| *wide > sure), "{sure} {widened:?}");
    // A level that may be anything says nothing: 4 dB more on both arrivals hardly matter.
    let louder = two_arrivals(18.0, 15.0);
    let moved = |level: f64| {
        let with = |p: &mut TwinParameters| p.level_max_db = level;
        let (a, b) = (score(&arrivals, &with), score(&louder, &with));
        a.mass().iter().zip(b.mass()).map(|(a, b)| (a - b).abs()).sum::<f32>()
    };
    assert!(moved(30.0) < 0.5 * moved(3.0), "{} {}", moved(30.0), moved(3.0));
}

#[test]
fn where_the_second_arrival_is_always_a_stray_its_phase_says_nothing() {
    let s = support();
    let layout = Layout { room: room(), boxes: vec![board(1.0, 0.0, 0.3)] };
    let rx = Pose::new(0.5, -2.0, 1.08, 1.0);
    let world = layout.world();
    let scorer = scorer();
    let table = scorer.heading_table(8);
    let tracer = CandidateTracer::new(
        &world,
        &rx,
        scorer.model(),
        (&scorer.shared.rx_gain, &scorer.shared.slabs),
        (&table, 0.0),
    );
    let mut paths = Paths::new();
    tracer.trace(&Point3::new(2.0, 0.7, 1.08), &mut paths);
    let base: [f32; MAX_PATHS] = std::array::from_fn(|i| paths.snr_db[i] - 8.0);
    let kappa = scorer.model().phase_per_unit() as f32;
    let total = |outlier_second: f32, phases: [f32; 2]| {
        let widths = widths::Widths { outlier_second, outlier_first: 0.3, ..scorer.widths() };
        let arrival = |phase: f32, snr: f64| Arrival {
            phase_rad: f64::from(phase),
            raw_snr_db: snr,
            snr_db: snr,
            ..Arrival::default()
        };
        let arrivals = Arrivals { keep: 2, found: vec![arrival(phases[0], 14.0), arrival(phases[1], 11.0)] };
        let seen = scorer.observed(&arrivals, &widths);
        let mut matches = matches::Matches::new();
        matches.compare(&paths, &seen, &widths, kappa, scorer.patch2(&s));
        let mut block = likelihood::HeadingBlock::new();
        for (i, snr) in block.snr.iter_mut().enumerate().take(paths.count) {
            // Eight headings, twice.
            let gains = table.gains(paths.row[i] as usize);
            snr.0 = std::array::from_fn(|lane| gains[lane % gains.len()] + base[i]);
        }
        likelihood::likelihood(&mut block, paths.count, &matches, &seen, &widths).0
    };
    // Phases that a path explains, and one that none does.
    let near = kappa * paths.across[0];
    let phases = (0..60).map(|n| -3.0 + 0.1 * n as f32);
    let off = |phase: f32| {
        let turns = |i: usize| (kappa * paths.across[i] - phase) / std::f32::consts::TAU;
        (0..paths.count).map(|i| (turns(i) - turns(i).round()).abs()).fold(1.0, f32::min)
    };
    let far = phases.clone().max_by(|a, b| off(*a).total_cmp(&off(*b))).unwrap();
    for first in [near, far] {
        let reference = total(1.0, [first, 0.0]);
        for second in phases.clone() {
            assert_eq!(total(1.0, [first, second]), reference, "{first} {second}");
        }
        let told = phases.clone().map(|second| total(0.2, [first, second])[0]);
        let (least, most) = told.fold((f32::INFINITY, 0.0f32), |(a, b), v| (a.min(v), b.max(v)));
        assert!(most > 1.5 * least, "{first}: {least} {most}");
    }
}

#[test]
fn the_integral_over_a_bin_of_headings_is_near_its_limit() {
    let s = support();
    let layout = Layout { room: room(), boxes: vec![board(1.0, 0.0, 0.3)] };
    let rx = Pose::new(0.5, -2.0, 1.08, 1.0);
    let arrival = |phase_rad: f64, snr: f64| Arrival { phase_rad, raw_snr_db: snr, snr_db: snr, ..Arrival::default() };
    let arrivals = Arrivals { keep: 2, found: vec![arrival(0.4, 14.0), arrival(-0.9, 11.0)] };
    let with = |heading: usize| {
        scorer().with_grain(Grain { heading, ..Grain::default() }).score(&layout, &rx, &arrivals, &s).unwrap()
    };
    let limit = with(16);
    let away = |heading: usize| -> f32 {
        let volume = with(heading);
        volume.mass().iter().zip(limit.mass()).map(|(a, b)| (a - b).abs()).sum::<f32>() / 2.0
    };
    // A single heading per bin is the bin's own value, not the hat's integral.
    assert!(Grain::default().heading == 2 && away(2) < 0.5 * away(1), "{} {}", away(1), away(2));
    assert!(away(2) < 0.05, "{}", away(2));
}

#[test]
fn more_arrivals_than_the_likelihood_takes_are_refused() {
    let model = TwinModel { keep: MAX_ARRIVALS + 1, ..scorer().model().clone() };
    let error = TwinScorer::new(model, *scorer().parameters()).unwrap_err();
    assert!(matches!(error, crate::PosteriorError::TooManyArrivals { keep: 3, most: 2 }), "{error}");
}

#[test]
fn a_slab_behind_one_wall_alone_changes_the_posterior() {
    let s = support();
    let layout = Layout { room: room(), boxes: vec![board(1.0, 0.0, 0.3)] };
    let rx = Pose::new(0.5, -2.0, 1.08, 1.0);
    let arrivals = Arrivals {
        keep: 2,
        found: [(0.4, 14.0), (-0.9, 11.0)]
            .map(|(phase_rad, snr)| Arrival { phase_rad, raw_snr_db: snr, snr_db: snr, ..Arrival::default() })
            .into(),
    };
    let metal = Slab::new(1.0, 1e7, 0.1);
    let plain = TwinModel { assignments: scorer().model().assignments[..1].to_vec(), ..scorer().model().clone() };
    let score = |model: TwinModel| {
        let volume = TwinScorer::new(model, *scorer().parameters()).unwrap().score(&layout, &rx, &arrivals, &s);
        volume.unwrap()
    };
    let before = score(plain.clone());
    for face in magnetar_scene::Face::ALL {
        let mut model = plain.clone();
        model.assignments[0].0[face as usize] = metal;
        assert_ne!(score(model), before, "{face}");
    }
    assert_ne!(score(TwinModel { box_slabs: vec![metal], ..plain.clone() }), before);
    // The default slab is that of boxes without one of their own.
    assert_eq!(
        score(TwinModel { box_slabs: vec![metal], ..plain.clone() }),
        score(TwinModel { box_slab: metal, ..plain })
    );
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
