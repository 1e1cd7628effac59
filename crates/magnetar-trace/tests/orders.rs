//! Laws of paths with several interactions, and a brute-force image method to hold the search to.

#![allow(clippy::disallowed_methods, reason = "tests compare with the platform's functions")]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::f64::consts::PI;

use magnetar_scene::{BoxShape, Face, SPEED_OF_LIGHT, Slab};
use magnetar_trace::{InteractionKind, Path, PathKind, Surface, TraceError, TraceOptions, Tracer};
use nalgebra::{Point3, Vector3};
use proptest::prelude::*;

mod setup;

use setup::{F, block, is_free, link, room, world_of};

fn surfaces() -> [Slab; 6] {
    [5.24, 3.91, 2.73, 1.99, 7.07, 1.48].map(|eps_r| Slab::new(eps_r, 0.02 * eps_r, 0.1))
}

fn tracer(boxes: &[BoxShape], max_order: usize, transmission: bool) -> Tracer {
    let glass = |n: usize| Slab::new(6.31 - 0.3 * n as f64, 0.0787, 0.033);
    let boxes: Vec<_> = boxes.iter().enumerate().map(|(n, b)| (*b, glass(n))).collect();
    let options = TraceOptions { max_order, transmission };
    Tracer::new(room(), &surfaces(), &boxes, F).unwrap().with_options(options).unwrap()
}

fn world(
    count: impl Into<prop::collection::SizeRange>,
) -> impl Strategy<Value = (Vec<BoxShape>, Point3<f64>, Point3<f64>)> {
    world_of(block([0.3, 0.03, 0.3]), count)
}

/// The points of a path from one end to the other.
fn points(path: &Path, tx: &Point3<f64>, rx: &Point3<f64>) -> Vec<Point3<f64>> {
    let mut points = vec![*tx];
    points.extend(path.interactions().vertices());
    points.push(*rx);
    points
}

fn names(paths: &[Path]) -> Vec<String> {
    let mut names: Vec<_> = paths.iter().map(|path| path.interactions().to_string()).collect();
    names.sort();
    names
}

/// A face of the world: its surface, a point of it, its normal, its box.
type PlainFace = (Surface, Point3<f64>, Vector3<f64>, Option<usize>);

/// Every sequence of up to `order` faces of the world, mirrored one after the other; its name, if it is a path.
fn brute_force(boxes: &[BoxShape], tx: &Point3<f64>, rx: &Point3<f64>, order: usize) -> Vec<String> {
    let free = |a: &Point3<f64>, b: &Point3<f64>, except: [Option<usize>; 2]| is_free(boxes, a, b, &except);
    let mut faces: Vec<PlainFace> = Vec::new();
    for face in Face::ALL {
        let mut normal = Vector3::zeros();
        normal[face.axis()] = if face.is_max() { -1.0 } else { 1.0 };
        let on = if face.is_max() { room().max } else { room().min };
        faces.push((Surface::Room(face), on, normal, None));
        for (i, shape) in boxes.iter().enumerate() {
            let mut local = Point3::origin();
            local[face.axis()] = shape.size[face.axis()] / 2.0 * if face.is_max() { 1.0 } else { -1.0 };
            let on = shape.global_from_local(&local);
            faces.push((Surface::Box { index: i as u32, face }, on, (on - shape.center).normalize(), Some(i)));
        }
    }
    let holds = |(surface, _, _, index): &PlainFace, v: &Point3<f64>| {
        let in_room = (0..3).all(|a| room().min[a] - 1e-9 <= v[a] && v[a] <= room().max[a] + 1e-9);
        let on_face = match (surface, index) {
            (Surface::Box { face, .. }, Some(i)) => {
                let p = boxes[*i].local_from_global(v);
                (0..3).all(|a| a == face.axis() || p[a].abs() <= boxes[*i].size[a] / 2.0)
            }
            _ => true,
        };
        in_room && on_face
    };
    let mut found = Vec::new();
    let mut sequences: Vec<Vec<usize>> = vec![vec![]];
    for _ in 0..=order {
        for sequence in &sequences {
            let mut images: Vec<Point3<f64>> = vec![*tx];
            for &f in sequence {
                let (_, on, normal, _) = &faces[f];
                let from = images[images.len() - 1];
                images.push(from - normal * (2.0 * (from - on).dot(normal)));
            }
            let mut at: Vec<Point3<f64>> = vec![*rx];
            let valid = (0..sequence.len()).rev().all(|n| {
                let face: &PlainFace = &faces[sequence[n]];
                let from: Point3<f64> = at[at.len() - 1];
                let (over, under) = ((from - face.1).dot(&face.2), (images[n + 1] - face.1).dot(&face.2));
                if over <= 0.0 || under >= 0.0 {
                    return false;
                }
                let v = from + (images[n + 1] - from) * (over / (over - under));
                at.push(v);
                holds(face, &v)
            });
            at.push(*tx);
            let block =
                |n: usize| sequence.len().checked_sub(n).and_then(|k| sequence.get(k)).and_then(|f| faces[*f].3);
            if valid && at.windows(2).enumerate().all(|(n, leg)| free(&leg[0], &leg[1], [block(n), block(n + 1)])) {
                let surfaces: Vec<_> = sequence.iter().map(|f| faces[*f].0.to_string()).collect();
                found.push(if surfaces.is_empty() { "LOS".to_owned() } else { surfaces.join(" ") });
            }
        }
        let longer =
            |s: &Vec<usize>| (0..faces.len()).map(|f| s.iter().copied().chain([f]).collect()).collect::<Vec<_>>();
        sequences = sequences.iter().flat_map(longer).collect();
    }
    found.sort();
    found
}

#[test]
fn an_empty_room_has_the_paths_of_its_lattice() {
    let (tx, rx) = (Point3::new(0.3, -2.1, 1.1), Point3::new(2.2, 1.4, 1.7));
    // 1, 6, 18 and 38 of each order.
    for (order, count) in [(0, 1), (1, 7), (2, 25), (3, 63)] {
        assert_eq!(tracer(&[], order, false).trace(&tx, &rx).unwrap().len(), count, "order {order}");
    }
    let tracer = Tracer::new(room(), &surfaces(), &[], F).unwrap();
    let refused = tracer.with_options(TraceOptions { max_order: 4, transmission: false }).unwrap_err();
    assert_eq!(refused, TraceError::Order(4));
}

/// The TX mirrored in each surface that a path reflects off, one after the other.
fn image(path: &Path, boxes: &[BoxShape], tx: &Point3<f64>) -> Point3<f64> {
    let reflections = path.interactions().iter().filter(|met| met.kind == InteractionKind::Reflection);
    reflections.fold(*tx, |from, met| {
        let (on, normal) = match met.surface {
            Surface::Room(face) => {
                let on = if face.is_max() { room().max } else { room().min };
                (on, Vector3::ith(face.axis(), 1.0))
            }
            Surface::Box { index, face } => {
                let shape = &boxes[index as usize];
                let mut local = Point3::origin();
                local[face.axis()] = shape.size[face.axis()] / 2.0 * if face.is_max() { 1.0 } else { -1.0 };
                let on = shape.global_from_local(&local);
                (on, (on - shape.center).normalize())
            }
        };
        from - normal * (2.0 * (from - on).dot(&normal))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Of every link in every empty room: 1, 6, 18 and 38 paths of order 0 to 3.
    #[test]
    fn an_empty_room_has_the_paths_of_its_lattice_everywhere((tx, rx) in link(), transmission: bool) {
        let paths = tracer(&[], 3, transmission).trace(&tx, &rx).unwrap();
        for (order, count) in [1, 6, 18, 38].into_iter().enumerate() {
            prop_assert_eq!(paths.iter().filter(|path| path.geometry.order() == order).count(), count);
        }
    }

    #[test]
    fn a_path_is_as_long_as_the_way_from_its_image((boxes, tx, rx) in world(0..4), order in 0usize..4, transmission: bool) {
        for path in tracer(&boxes, order, transmission).trace(&tx, &rx).unwrap() {
            let distance = (rx - image(&path, &boxes, &tx)).norm();
            prop_assert!((distance - path.geometry.length).abs() < 1e-9, "{distance} {}", path.geometry.length);
        }
    }

    /// Paths that are worked out together have the bits of each alone.
    #[test]
    fn a_path_has_its_own_coefficient((boxes, tx, rx) in world(0..4), order in 0usize..4, transmission: bool) {
        let tracer = tracer(&boxes, order, transmission);
        for path in tracer.trace(&tx, &rx).unwrap() {
            let alone = tracer.coefficient(&path.geometry);
            let bits = |z: num_complex::Complex64| (z.re.to_bits(), z.im.to_bits());
            prop_assert_eq!(bits(alone), bits(path.coefficient), "{} {}", alone, path.coefficient);
        }
    }

    #[test]
    fn reciprocity((boxes, tx, rx) in world(0..4), order in 0usize..4, transmission: bool) {
        let t = tracer(&boxes, order, transmission);
        let (there, back) = (t.trace(&tx, &rx).unwrap(), t.trace(&rx, &tx).unwrap());
        prop_assert_eq!(there.len(), back.len());
        let turned = |path: &Path| {
            let met = path.interactions().iter().rev().map(|m| match (m.kind, m.surface) {
                (InteractionKind::Transmission, Surface::Box { index, .. }) => format!("through:box{index}"),
                _ => m.surface.to_string(),
            });
            met.collect::<Vec<_>>().join(" ")
        };
        for p in &there {
            let name = turned(p);
            let other = back.iter().find(|q| {
                let own = q.interactions().to_string();
                if name.is_empty() { own == "LOS" } else { own == name }
            });
            let Some(q) = other else { return Err(TestCaseError::fail(format!("no way back for {name}"))) };
            prop_assert!((p.delay() - q.delay()).abs() < 1e-18);
            let free = SPEED_OF_LIGHT / F / (4.0 * PI * p.geometry.length);
            prop_assert!((p.coefficient - q.coefficient).norm() < 1e-9 * free, "{} {}", p.coefficient, q.coefficient);
            prop_assert!((p.geometry.departure - q.geometry.arrival).norm() < 1e-12);
        }
    }

    #[test]
    fn geometry_and_energy((boxes, tx, rx) in world(0..4), order in 0usize..4, transmission: bool) {
        for path in tracer(&boxes, order, transmission).trace(&tx, &rx).unwrap() {
            let g = path.geometry;
            let at = points(&path, &tx, &rx);
            // The image's distance is the length of the legs, whose ends have the path's directions.
            let legs: f64 = at.windows(2).map(|leg| (leg[1] - leg[0]).norm()).sum();
            prop_assert!((legs - g.length).abs() < 1e-9, "{legs} {}", g.length);
            if (at[1] - tx).norm() > 1e-3 {
                prop_assert!(((at[1] - tx).normalize() - g.departure).norm() < 1e-6);
            }
            // Angle in equals angle out at reflections, straight on at transmissions.
            for (leg, met) in at.windows(3).zip(path.interactions().iter()) {
                let (a, b) = (leg[1] - leg[0], leg[2] - leg[1]);
                if a.norm() < 1e-3 || b.norm() < 1e-3 {
                    continue;
                }
                let bend = b.normalize() - a.normalize();
                match met.kind {
                    InteractionKind::Transmission => prop_assert!(bend.norm() < 1e-6),
                    InteractionKind::Reflection => {
                        prop_assert!(bend.normalize().dot(&(a.normalize() + b.normalize())).abs() < 1e-5);
                    }
                }
            }
            let free = SPEED_OF_LIGHT / F / (4.0 * PI * g.length);
            prop_assert!(path.coefficient.norm() <= free * (1.0 + 1e-9));
            prop_assert!(g.order() <= order && (transmission || g.kind() != PathKind::Transmitted));
        }
    }

    #[test]
    fn a_higher_order_contains_the_lower((boxes, tx, rx) in world(0..4), order in 0usize..3, transmission: bool) {
        let low = tracer(&boxes, order, transmission).trace(&tx, &rx).unwrap();
        let high = tracer(&boxes, order + 1, transmission).trace(&tx, &rx).unwrap();
        let of_low: Vec<_> = high.iter().filter(|p| p.geometry.order() <= order).copied().collect();
        prop_assert_eq!(names(&low), names(&of_low));
        for (p, q) in low.iter().zip(&of_low) {
            prop_assert!((p.coefficient - q.coefficient).norm() < 1e-12 * p.coefficient.norm().max(1e-9));
        }
    }

    #[test]
    fn waves_that_go_through_add_to_those_that_do_not((boxes, tx, rx) in world(0..4), order in 0usize..4) {
        let opaque = tracer(&boxes, order, false).trace(&tx, &rx).unwrap();
        let mut through = tracer(&boxes, order, true).trace(&tx, &rx).unwrap();
        through.retain(|path| path.geometry.kind() != PathKind::Transmitted);
        prop_assert_eq!(names(&opaque), names(&through));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_search_finds_what_brute_force_finds((boxes, tx, rx) in world(0..3)) {
        prop_assert_eq!(names(&tracer(&boxes, 3, false).trace(&tx, &rx).unwrap()), brute_force(&boxes, &tx, &rx, 3));
    }

    #[test]
    fn pruning_among_many_boxes_loses_nothing((boxes, tx, rx) in world(10..16)) {
        let boxes: Vec<_> = boxes.into_iter().map(|b| BoxShape { size: b.size * 0.5, ..b }).collect();
        prop_assert_eq!(names(&tracer(&boxes, 2, false).trace(&tx, &rx).unwrap()), brute_force(&boxes, &tx, &rx, 2));
    }
}

#[test]
fn a_board_between_the_devices_is_crossed_as_one_slab() {
    let board = BoxShape { center: Point3::new(1.0, 0.0, 1.5), size: Vector3::new(1.0, 0.033, 1.7), yaw: 0.0 };
    let (tx, rx) = (Point3::new(1.0, -1.0, 1.5), Point3::new(1.1, 1.0, 1.5));
    let paths = tracer(&[board], 0, true).trace(&tx, &rx).unwrap();
    assert_eq!(names(&paths), ["through:box0"]);
    let free = SPEED_OF_LIGHT / F / (4.0 * PI * (rx - tx).norm());
    let loss_db = -20.0 * (paths[0].coefficient.norm() / free).log10();
    assert!((3.0..7.0).contains(&loss_db), "{loss_db}");
    // Vertically polarised at one height: the field is along the board and across the plane of incidence.
    let cos = paths[0].geometry.cos_incidence;
    let slab = magnetar_trace::SlabResponse::new(&Slab::new(6.31, 0.0787, 0.033), F);
    assert!((paths[0].coefficient - free * slab.transmission(cos).te).norm() < 1e-12 * free);
}

#[test]
fn a_crossing_of_other_faces_is_opaque_and_counted() {
    let block = BoxShape { center: Point3::new(1.0, 0.0, 1.5), size: Vector3::new(1.0, 1.0, 1.0), yaw: 0.0 };
    let (tx, rx) = (Point3::new(0.0, -0.4, 1.5), Point3::new(1.4, 1.0, 1.5));
    let mut paths = Vec::new();
    let left_out = tracer(&[block], 0, true).trace_into(&tx, &rx, &mut paths).unwrap();
    assert!(paths.is_empty());
    assert_eq!((left_out.other_faces, left_out.too_long), (1, 0));
}
