//! The paths of many links.

use std::path::PathBuf;

use magnetar_scene::{Pose, wrap};
use magnetar_trace::{LeftOut, Path, TraceError, Tracer, azimuth, elevation};
use num_complex::Complex64;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::error::{Failure, Outcome};
use crate::input;
use crate::run::run;
use crate::scene::Scene;

/// The paths of links, one array per quantity; see `magnetar.trace`.
#[pyfunction]
#[pyo3(signature = (scene, tx, rx, frequency_hz, max_order, transmission, materials))]
#[allow(clippy::too_many_arguments, reason = "keywords of Python")]
pub fn trace<'py>(
    py: Python<'py>,
    scene: &Bound<'py, Scene>,
    tx: &Bound<'py, PyAny>,
    rx: &Bound<'py, PyAny>,
    frequency_hz: f64,
    max_order: usize,
    transmission: bool,
    materials: Vec<PathBuf>,
) -> PyResult<Bound<'py, PyDict>> {
    let scene = scene.get();
    let height = scene.scene.device_height;
    let links = input::pairs(input::poses(tx, height, "tx")?, input::poses(rx, height, "rx")?)?;
    let frequency_hz = input::frequency(frequency_hz)?;
    let options = input::options(max_order, transmission)?;
    let world = scene.resolve(frequency_hz, &materials)?;
    let traced = run(py, |stop| {
        let tracer = Tracer::new(world.room, &world.surfaces, &world.boxes, frequency_hz)?.with_options(options)?;
        let several = links.len() > 1;
        let named = |link: usize, error: TraceError| match Failure::from(error) {
            Failure::Named(class, text) if several => Failure::Named(class, format!("link {link}: {text}")),
            other => other,
        };
        let one = |(link, (tx, rx)): (usize, &(Pose, Pose))| -> Outcome<(Vec<Path>, LeftOut)> {
            stop.check()?;
            let mut paths = Vec::new();
            let left_out =
                tracer.trace_into(&tx.position, &rx.position, &mut paths).map_err(|error| named(link, error))?;
            paths.sort_by(|a, b| a.geometry.listing_order(&b.geometry));
            Ok((paths, left_out))
        };
        links.par_iter().enumerate().map(one).collect::<Outcome<Vec<_>>>()
    })?;
    let paths: Vec<(usize, &Path)> =
        traced.iter().enumerate().flat_map(|(link, (paths, _))| paths.iter().map(move |path| (link, path))).collect();
    let found = PyDict::new(py);
    let column =
        |of: &dyn Fn(usize, &Path) -> f64| -> Vec<f64> { paths.iter().map(|(n, path)| of(*n, path)).collect() };
    let link: Vec<i64> = paths.iter().map(|(link, _)| i64::try_from(*link).unwrap_or(i64::MAX)).collect();
    found.set_item("link", link.into_pyarray(py))?;
    found.set_item("kind", paths.iter().map(|(_, path)| path.kind().to_string()).collect::<Vec<_>>())?;
    found.set_item("surface", paths.iter().map(|(_, path)| path.interactions().to_string()).collect::<Vec<_>>())?;
    found.set_item("length_m", column(&|_, path| path.geometry.length).into_pyarray(py))?;
    found.set_item("delay_s", column(&|_, path| path.delay()).into_pyarray(py))?;
    let coefficient: Vec<Complex64> = paths.iter().map(|(_, path)| path.coefficient).collect();
    found.set_item("coefficient", coefficient.into_pyarray(py))?;
    let aoa = |n: usize, path: &Path| wrap(azimuth(&path.geometry.arrival) - links[n].1.heading);
    let aod = |n: usize, path: &Path| wrap(azimuth(&path.geometry.departure) - links[n].0.heading);
    found.set_item("aoa_azimuth_rad", column(&aoa).into_pyarray(py))?;
    found.set_item("aoa_elevation_rad", column(&|_, path| elevation(&path.geometry.arrival)).into_pyarray(py))?;
    found.set_item("aod_azimuth_rad", column(&aod).into_pyarray(py))?;
    found.set_item("aod_elevation_rad", column(&|_, path| elevation(&path.geometry.departure)).into_pyarray(py))?;
    let vertices: Vec<Vec<(f64, f64, f64)>> =
        paths.iter().map(|(_, path)| path.interactions().vertices().map(|v| (v.x, v.y, v.z)).collect()).collect();
    found.set_item("vertices_m", vertices)?;
    let left_out: Vec<u64> =
        traced.iter().map(|(_, left_out)| (left_out.other_faces + left_out.too_long) as u64).collect();
    found.set_item("left_out", left_out.into_pyarray(py))?;
    Ok(found)
}
