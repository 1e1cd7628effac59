//! Laws of specular paths, and a second implementation of the tracer to hold the first one to.

#![allow(clippy::disallowed_methods, reason = "tests compare with the platform's functions")]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::f64::consts::PI;

use magnetar_scene::{BoxShape, Face, SPEED_OF_LIGHT, Slab};
use magnetar_trace::{Path, Surface, TraceError, Tracer};
use nalgebra::{Point3, Vector3};
use num_complex::Complex64;
use proptest::prelude::*;

mod setup;

use setup::{F, block, is_free, link, room, world_of};

/// Smallest sides of a box, metres.
const SMALLEST: [f64; 3] = [0.02, 0.02, 0.1];

fn slab(eps_r: f64, sigma: f64) -> Slab {
    Slab::new(eps_r, sigma, 0.1)
}

/// Six different surfaces, so that a mix-up of faces shows.
fn surfaces() -> [Slab; 6] {
    [slab(5.24, 0.28), slab(3.91, 0.034), slab(2.73, 0.074), slab(1.99, 0.055), slab(7.07, 0.046), slab(1.48, 0.013)]
}

fn glass() -> Slab {
    Slab::new(6.31, 0.0787, 0.033)
}

fn tracer(boxes: &[BoxShape]) -> Tracer {
    let boxes: Vec<_> = boxes.iter().map(|b| (*b, glass())).collect();
    Tracer::new(room(), &surfaces(), &boxes, F).unwrap()
}

fn world(
    count: impl Into<prop::collection::SizeRange>,
) -> impl Strategy<Value = (Vec<BoxShape>, Point3<f64>, Point3<f64>)> {
    world_of(block(SMALLEST), count)
}

/// Surface and reflection point (none for the direct path) and length.
type PlainPath = (Option<(Surface, Point3<f64>)>, f64);

/// The tracer written a second time, plainly: mirror the TX in each plane, intersect, ask parry's own ray casts.
fn plain(boxes: &[BoxShape], tx: &Point3<f64>, rx: &Point3<f64>) -> Vec<PlainPath> {
    let free = |a: &Point3<f64>, b: &Point3<f64>, except: Option<usize>| is_free(boxes, a, b, &[except]);
    let mut paths = Vec::new();
    if free(tx, rx, None) {
        paths.push((None, (rx - tx).norm()));
    }
    let mut mirror =
        |surface: Surface, on_plane: Point3<f64>, normal: Vector3<f64>, holds: &dyn Fn(&Point3<f64>) -> bool| {
            let (ht, hr) = ((tx - on_plane).dot(&normal), (rx - on_plane).dot(&normal));
            if ht <= 0.0 || hr <= 0.0 {
                return;
            }
            let image = tx - normal * (2.0 * ht);
            let v = rx + (image - rx) * (hr / (ht + hr));
            let except = match surface {
                Surface::Box { index, .. } => Some(index as usize),
                _ => None,
            };
            if holds(&v) && free(tx, &v, except) && free(&v, rx, except) {
                paths.push((Some((surface, v)), (image - rx).norm()));
            }
        };
    for face in Face::ALL {
        let mut normal = Vector3::zeros();
        normal[face.axis()] = if face.is_max() { -1.0 } else { 1.0 };
        mirror(Surface::Room(face), if face.is_max() { room().max } else { room().min }, normal, &|_| true);
    }
    for (i, shape) in boxes.iter().enumerate() {
        for face in Face::ALL {
            let a = face.axis();
            let mut local = Point3::origin();
            local[a] = shape.size[a] / 2.0 * if face.is_max() { 1.0 } else { -1.0 };
            let on_plane = shape.global_from_local(&local);
            let normal = (on_plane - shape.center).normalize();
            mirror(Surface::Box { index: i as u32, face }, on_plane, normal, &|v| {
                let p = shape.local_from_global(v);
                let r = room();
                (0..3).all(|b| b == a || p[b].abs() <= shape.size[b] / 2.0)
                    && (0..3).all(|b| r.min[b] <= v[b] && v[b] <= r.max[b])
            });
        }
    }
    paths
}

/// The surface a path of first order meets; none for the direct one.
fn met(path: &Path) -> Option<Surface> {
    path.interactions().surfaces().next()
}

fn same(a: &[Path], b: &[Path]) -> bool {
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(p, q)| (p.coefficient - q.coefficient).norm() < 1e-15 && (p.delay() - q.delay()).abs() < 1e-20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn reciprocity((boxes, tx, rx) in world(0..4)) {
        let t = tracer(&boxes);
        let (there, back) = (t.trace(&tx, &rx).unwrap(), t.trace(&rx, &tx).unwrap());
        prop_assert_eq!(there.len(), back.len());
        for (p, q) in there.iter().zip(&back) {
            prop_assert!(p.interactions().same_surfaces(q.interactions()));
            prop_assert!((p.delay() - q.delay()).abs() < 1e-20);
            prop_assert!((p.coefficient - q.coefficient).norm() < 1e-12 * p.coefficient.norm().max(1e-6));
            prop_assert!((p.geometry.departure - q.geometry.arrival).norm() < 1e-12);
            prop_assert!((p.geometry.arrival - q.geometry.departure).norm() < 1e-12);
        }
    }

    #[test]
    fn mirror_symmetry_of_the_room((tx, rx) in link(), axis in 0usize..3) {
        // Mirror the world in the plane through the room's centre: the two surfaces of that axis change places.
        let centre = nalgebra::center(&room().min, &room().max);
        let mirror = |p: &Point3<f64>| { let mut q = *p; q[axis] = 2.0 * centre[axis] - p[axis]; q };
        let mut swapped = surfaces();
        swapped.swap(2 * axis, 2 * axis + 1);
        let a = tracer(&[]).trace(&tx, &rx).unwrap();
        let b = Tracer::new(room(), &swapped, &[], F).unwrap().trace(&mirror(&tx), &mirror(&rx)).unwrap();
        prop_assert!(a.iter().zip(&b).all(|(p, q)| (p.coefficient - q.coefficient).norm() < 1e-12));
        prop_assert!(a.iter().zip(&b).all(|(p, q)| (p.delay() - q.delay()).abs() < 1e-20));
    }

    #[test]
    fn geometry_of_reflection((boxes, tx, rx) in world(0..4)) {
        for path in tracer(&boxes).trace(&tx, &rx).unwrap() {
            let g = path.geometry;
            prop_assert!((g.departure.norm() - 1.0).abs() < 1e-12 && (g.arrival.norm() - 1.0).abs() < 1e-12);
            let Some(v) = path.interactions().vertices().next() else { continue };
            // The length of the two legs is the image distance, and the directions run along the legs.
            prop_assert!(((v - tx).norm() + (rx - v).norm() - g.length).abs() < 1e-9);
            prop_assert!(((v - tx).normalize() - g.departure).norm() < 1e-7);
            prop_assert!(((v - rx).normalize() - g.arrival).norm() < 1e-7);
            // Angle in equals angle out: the change of direction is along the normal.
            let bend = -g.arrival - g.departure;
            let normal = bend.normalize();
            prop_assert!((bend.norm() - 2.0 * g.cos_incidence).abs() < 1e-9);
            prop_assert!((normal.dot(&-g.arrival) + normal.dot(&g.departure)).abs() < 1e-7);
            // A passive surface: the field does not grow.
            let spread = SPEED_OF_LIGHT / F / (4.0 * PI * g.length);
            prop_assert!(path.coefficient.norm() <= spread * (1.0 + 1e-12));
        }
    }

    #[test]
    fn a_box_out_of_the_way_changes_nothing((tx, rx) in link(), z in 10.0f64..20.0) {
        let away = BoxShape { center: Point3::new(0.0, 0.0, z), size: Vector3::new(1.0, 1.0, 1.0), yaw: 0.3 };
        prop_assert!(same(&tracer(&[]).trace(&tx, &rx).unwrap(), &tracer(&[away]).trace(&tx, &rx).unwrap()));
    }

    #[test]
    fn a_few_boxes_give_the_paths_of_the_plain_tracer((boxes, tx, rx) in world(0..12)) {
        compare_with_plain(&boxes, &tx, &rx)?;
    }

    #[test]
    fn touching_halves_are_one_box((tx, rx) in link(), whole in block(SMALLEST), cut in 0.1f64..0.9) {
        prop_assume!(!whole.contains(&tx) && !whole.contains(&rx));
        let halves = [(0.0, cut), (cut, 1.0)].map(|(from, to)| {
            let local = Point3::new(whole.size.x * ((from + to) / 2.0 - 0.5), 0.0, 0.0);
            let size = Vector3::new(whole.size.x * (to - from), whole.size.y, whole.size.z);
            BoxShape { center: whole.global_from_local(&local), size, yaw: whole.yaw }
        });
        prop_assert!(same(&tracer(&[whole]).trace(&tx, &rx).unwrap(), &tracer(&halves).trace(&tx, &rx).unwrap()));
    }

    #[test]
    fn a_box_twice_is_a_box_once((boxes, tx, rx) in world(1..3)) {
        let twice: Vec<_> = boxes.iter().chain(&boxes).copied().collect();
        prop_assert!(same(&tracer(&boxes).trace(&tx, &rx).unwrap(), &tracer(&twice).trace(&tx, &rx).unwrap()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn five_hundred_boxes_give_the_paths_of_the_plain_tracer((boxes, tx, rx) in world(500)) {
        // Small boxes, so that some paths get through.
        let boxes: Vec<_> = boxes.into_iter().map(|b| BoxShape { size: b.size * 0.2, ..b }).collect();
        compare_with_plain(&boxes, &tx, &rx)?;
    }
}

fn compare_with_plain(boxes: &[BoxShape], tx: &Point3<f64>, rx: &Point3<f64>) -> Result<(), TestCaseError> {
    let mut fast = Vec::new();
    tracer(boxes).trace_into(tx, rx, &mut fast).unwrap();
    let slow = plain(boxes, tx, rx);
    prop_assert_eq!(
        fast.iter().map(met).collect::<Vec<_>>(),
        slow.iter().map(|p| p.0.map(|m| m.0)).collect::<Vec<_>>()
    );
    for (p, (met, length)) in fast.iter().zip(slow) {
        let apart = p.interactions().vertices().zip(met).map(|(ours, (_, vertex))| (ours - vertex).norm());
        prop_assert!(apart.fold(0.0, f64::max) < 1e-9 && (p.geometry.length - length).abs() < 1e-9);
    }
    Ok(())
}

#[test]
fn no_ray_slips_through_the_seam_of_touching_boxes() {
    let half = |x: f64| BoxShape { center: Point3::new(x, 0.0, 1.0), size: Vector3::new(1.0, 0.1, 2.0), yaw: 0.0 };
    let paths =
        tracer(&[half(0.5), half(1.5)]).trace(&Point3::new(1.0, -1.0, 1.0), &Point3::new(1.0, 1.0, 1.0)).unwrap();
    assert!(paths.iter().all(|p| !p.geometry.is_line_of_sight()));
}

#[test]
fn a_box_flush_with_the_wall_hides_the_wall_behind_it() {
    let flush =
        BoxShape { center: Point3::new(room().min.x + 0.1, 0.0, 1.5), size: Vector3::new(0.2, 2.0, 2.0), yaw: 0.0 };
    let paths = tracer(&[flush]).trace(&Point3::new(2.0, -0.3, 1.5), &Point3::new(2.0, 0.3, 1.5)).unwrap();
    let met: Vec<_> = paths.iter().map(met).collect();
    assert!(!met.contains(&Some(Surface::Room(Face::XMin))));
    assert!(met.contains(&Some(Surface::Box { index: 0, face: Face::XMax })));
}

#[test]
fn a_box_behind_a_wall_does_not_reflect_with_it() {
    for (axis, (face, wall)) in
        [(Face::XMax, Face::XMin), (Face::YMax, Face::YMin), (Face::ZMax, Face::ZMin)].into_iter().enumerate()
    {
        for far in [false, true] {
            let mut center = Point3::new(1.0, 0.0, 1.5);
            center[axis] = if far { room().max[axis] + 0.5 } else { room().min[axis] - 0.5 };
            let mut size = Vector3::new(4.0, 4.0, 4.0);
            size[axis] = 1.0;
            let behind = BoxShape { center, size, yaw: 0.0 };
            let (tx, rx) = (Point3::new(1.0, 0.3, 1.5), Point3::new(1.4, -0.3, 1.2));
            let alone = tracer(&[]).trace(&tx, &rx).unwrap();
            let paths = tracer(&[behind]).trace(&tx, &rx).unwrap();
            assert!(same(&alone, &paths), "{face} {wall} {far}: {paths:?}");
        }
    }
}

#[test]
fn free_space_loss_of_the_direct_path() {
    let paths = tracer(&[]).trace(&Point3::new(1.0, 0.0, 1.0), &Point3::new(1.0, -2.0, 1.0)).unwrap();
    let expected = Complex64::new(SPEED_OF_LIGHT / F / (8.0 * PI), 0.0);
    assert!((paths[0].coefficient - expected).norm() < 1e-18);
    assert_eq!(paths.len(), 7);
}

#[test]
fn devices_in_impossible_places_are_refused() {
    let board = BoxShape { center: Point3::new(1.0, 1.0, 1.0), size: Vector3::new(1.0, 0.5, 1.5), yaw: 0.4 };
    let (open, inside, outside) = (Point3::new(0.0, 0.0, 1.0), Point3::new(1.0, 1.0, 1.0), Point3::new(9.0, 0.0, 1.0));
    let t = tracer(&[board]);
    assert!(matches!(t.trace(&open, &inside), Err(TraceError::InsideBox { index: 0, .. })));
    assert!(matches!(t.trace(&outside, &open), Err(TraceError::OutsideRoom { .. })));
    assert!(matches!(t.trace(&open, &open), Err(TraceError::SamePoint(_))));
    let nan = Point3::new(f64::NAN, 0.0, 1.0);
    assert!(matches!(t.trace(&nan, &open), Err(TraceError::OutsideRoom { .. })));
    assert!(t.trace(&outside, &open).unwrap_err().to_string().contains("TX at"));
}

#[test]
fn impossible_worlds_are_refused() {
    let bad_size = BoxShape { center: Point3::origin(), size: Vector3::new(1.0, -1.0, 1.0), yaw: 0.0 };
    assert!(matches!(
        Tracer::new(room(), &surfaces(), &[(bad_size, glass())], F),
        Err(TraceError::Shape { index: 0, .. })
    ));
    let mut bad = surfaces();
    bad[4].sigma = f64::NAN;
    let error = Tracer::new(room(), &bad, &[], F).unwrap_err();
    assert!(error.to_string().starts_with("floor"), "{error}");
    assert!(matches!(Tracer::new(room(), &surfaces(), &[], 0.0), Err(TraceError::Frequency(_))));
}
