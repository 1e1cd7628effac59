//! Scenes, materials and antenna patterns.

use std::path::PathBuf;

use magnetar_report::figure::{pattern_figure, room_figure};
use magnetar_report::plan::{FloorPlan, PathColour, plan_paths};
use magnetar_scene::{AntennaPattern, BoxShape};
use magnetar_trace::Tracer;
use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Failure, Outcome};
use crate::figure::{Figure, theme};
use crate::input;

/// A room, what its surfaces are made of, and the boxes in it. Metres, global frame, z up.
#[pyclass(frozen, module = "magnetar")]
pub struct Scene {
    pub(crate) scene: magnetar_scene::Scene,
}

#[pymethods]
impl Scene {
    /// A shipped scene by name, or a scene file by path.
    #[new]
    fn new(name_or_path: &str) -> PyResult<Self> {
        let scene = magnetar_scene::Scene::load(name_or_path).map_err(Failure::from)?;
        Ok(Self { scene })
    }

    /// The scene in the text of a scene file; `origin` names it in errors.
    #[staticmethod]
    #[pyo3(signature = (text, origin = "text"))]
    fn from_toml(text: &str, origin: &str) -> PyResult<Self> {
        let scene = magnetar_scene::Scene::from_toml_str(text, origin).map_err(Failure::from)?;
        Ok(Self { scene })
    }

    /// The names of the shipped scenes.
    #[staticmethod]
    fn names() -> Vec<&'static str> {
        magnetar_scene::Scene::shipped_names().collect()
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.scene.name
    }

    /// What it is, in a sentence.
    #[getter]
    fn description(&self) -> &str {
        &self.scene.description
    }

    /// Height of a device whose z is left out, metres.
    #[getter]
    fn device_height(&self) -> f64 {
        self.scene.device_height
    }

    /// Bounds of the room, metres: xmin, xmax, ymin, ymax, zmin, zmax.
    #[getter]
    fn room(&self) -> [f64; 6] {
        self.scene.room.bounds()
    }

    /// What stands in the room: name, centre and size (metres), yaw (radians), material and its thickness (metres).
    #[getter]
    fn boxes<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let of = |one: &magnetar_scene::SceneBox| {
            let item = PyDict::new(py);
            let BoxShape { center, size, yaw } = one.shape;
            item.set_item("name", one.name.as_deref())?;
            item.set_item("center_m", (center.x, center.y, center.z))?;
            item.set_item("size_m", (size.x, size.y, size.z))?;
            item.set_item("yaw_rad", yaw)?;
            item.set_item("material", &one.layer.material)?;
            item.set_item("thickness_m", one.layer.thickness)?;
            Ok(item)
        };
        self.scene.boxes.iter().map(of).collect()
    }

    /// Material and thickness (metres) of the room's surfaces: -x, +x, -y, +y, floor, ceiling.
    #[getter]
    fn surfaces(&self) -> Vec<(String, f64)> {
        self.scene.surfaces.iter().map(|layer| (layer.material.clone(), layer.thickness)).collect()
    }

    /// Relative permittivity and conductivity (S/m) of the six surfaces, then of the boxes, at a carrier.
    #[pyo3(signature = (frequency_hz = 10e9, materials = Vec::new()))]
    fn slabs(&self, frequency_hz: f64, materials: Vec<PathBuf>) -> PyResult<Vec<(f64, f64, f64)>> {
        let world = self.resolve(input::frequency(frequency_hz)?, &materials)?;
        let boxes = world.boxes.iter().map(|(_, slab)| slab);
        Ok(world.surfaces.iter().chain(boxes).map(|slab| (slab.eps_r, slab.sigma, slab.thickness)).collect())
    }

    /// What is odd about it, if anything.
    fn warnings(&self) -> Vec<String> {
        self.scene.warnings()
    }

    /// The text of a scene file that loads again.
    fn to_toml(&self) -> String {
        self.scene.to_toml()
    }

    /// The room from above; with TX and RX, the paths between them.
    #[pyo3(signature = (tx = None, rx = None, *, frequency_hz = 10e9, max_order = 1, transmission = false,
        materials = Vec::new(), colour = "surface", theme = "light"))]
    #[allow(clippy::too_many_arguments, reason = "keywords of Python")]
    fn figure(
        &self,
        py: Python<'_>,
        tx: Option<&Bound<'_, PyAny>>,
        rx: Option<&Bound<'_, PyAny>>,
        frequency_hz: f64,
        max_order: usize,
        transmission: bool,
        materials: Vec<PathBuf>,
        colour: &str,
        theme: &str,
    ) -> PyResult<Figure> {
        let theme = self::theme(theme)?;
        let colour = match colour {
            "surface" => PathColour::Surface,
            "power" => PathColour::Power,
            _ => Err(Failure::input(format!("colour {colour:?}: expected \"surface\" or \"power\"")))?,
        };
        let frequency_hz = input::frequency(frequency_hz)?;
        let options = input::options(max_order, transmission)?;
        let world = self.resolve(frequency_hz, &materials)?;
        let height = self.scene.device_height;
        let link = match (tx, rx) {
            (None, None) => None,
            (Some(tx), Some(rx)) => {
                match input::pairs(input::poses(tx, height, "tx")?, input::poses(rx, height, "rx")?)?[..] {
                    [pair] => Some(pair),
                    _ => Err(Failure::input("a plan shows one link; give one pose each"))?,
                }
            }
            _ => Err(Failure::input("give both tx and rx, or neither"))?,
        };
        let svg = py.detach(|| -> Outcome<String> {
            let mut paths = Vec::new();
            if let Some((tx, rx)) = &link {
                let tracer = Tracer::new(world.room, &world.surfaces, &world.boxes, frequency_hz)?;
                let traced = tracer.with_options(options)?.trace(&tx.position, &rx.position)?;
                let power_db: Vec<f64> = traced.iter().map(|path| 20.0 * path.coefficient.norm().log10()).collect();
                paths = plan_paths(tx, rx, &traced, &power_db);
            }
            let boxes: Vec<BoxShape> = self.scene.boxes.iter().map(|one| one.shape).collect();
            let rx: Vec<_> = link.iter().map(|(_, rx)| *rx).collect();
            let room = &self.scene.room;
            let plan = FloorPlan { room, boxes: &boxes, tx: link.map(|(tx, _)| tx), rx: &rx, paths: &paths };
            let (count, ghz) = (paths.len(), frequency_hz / 1e9);
            let caption = match link {
                Some(_) => {
                    format!("Simulated: {count} paths ({}) at {ghz} GHz, isotropic antennas.", options.describe())
                }
                None => self.scene.description.clone(),
            };
            Ok(room_figure(&plan, &self.scene.name, &caption, colour, theme))
        })?;
        Ok(Figure::new(svg))
    }

    fn __repr__(&self) -> String {
        let [x0, x1, y0, y1, z0, z1] = self.scene.room.bounds();
        let (name, boxes) = (&self.scene.name, self.scene.boxes.len());
        format!("Scene({name:?}, {:.2} x {:.2} x {:.2} m, {boxes} boxes)", x1 - x0, y1 - y0, z1 - z0)
    }
}

impl Scene {
    /// The scene with its materials at a carrier.
    pub(crate) fn resolve(&self, frequency_hz: f64, materials: &[PathBuf]) -> Outcome<magnetar_scene::ResolvedScene> {
        Ok(self.scene.resolve(&input::library(materials)?, frequency_hz)?)
    }
}

/// A building material: permittivity and conductivity over frequency.
#[pyclass(frozen, module = "magnetar")]
pub struct Material {
    material: magnetar_scene::Material,
}

#[pymethods]
impl Material {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.material.name
    }

    /// Where its numbers come from.
    #[getter]
    fn source(&self) -> &str {
        &self.material.source
    }

    /// The frequencies it is defined at, for people.
    #[getter]
    fn ranges(&self) -> String {
        self.material.ranges_label()
    }

    /// Relative permittivity and conductivity (S/m) at a frequency (Hz).
    fn at(&self, frequency_hz: f64) -> PyResult<(f64, f64)> {
        Ok(self.material.at(frequency_hz).map_err(Failure::from)?)
    }

    fn __repr__(&self) -> String {
        format!("Material({:?}, {})", self.material.name, self.material.ranges_label())
    }
}

/// The shipped materials and those of material files, by name.
#[pyfunction]
#[pyo3(signature = (paths = Vec::new()))]
pub fn materials(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Bound<'_, PyDict>> {
    let found = PyDict::new(py);
    for material in input::library(&paths)?.iter() {
        found.set_item(&material.name, Bound::new(py, Material { material: material.clone() })?)?;
    }
    Ok(found)
}

/// An antenna's amplitude pattern in its own frame: azimuth counter-clockwise from boresight, elevation up.
#[pyclass(frozen, module = "magnetar")]
pub struct Pattern {
    pub(crate) pattern: AntennaPattern,
}

#[pymethods]
impl Pattern {
    /// A shipped pattern by name, or a pattern file (CSV, MSI Planet, far-field export) by path.
    #[new]
    fn new(name_or_path: &str) -> PyResult<Self> {
        let pattern = AntennaPattern::load(name_or_path).map_err(Failure::from)?;
        Ok(Self { pattern })
    }

    /// A pattern from a grid: azimuths and elevations in degrees, gains in dBi of shape (elevations, azimuths).
    #[staticmethod]
    fn from_array(
        azimuth_deg: &Bound<'_, PyAny>,
        elevation_deg: &Bound<'_, PyAny>,
        gain_db: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let axes = [("azimuth_deg", azimuth_deg), ("elevation_deg", elevation_deg)];
        let [azimuth, elevation] = axes.map(|(what, axis)| input::floats(axis, what));
        let (azimuth, elevation) = (azimuth?, elevation?);
        let gains = input::floats(gain_db, "gain_db")?;
        let (azimuths, elevations) =
            (input::slice(&azimuth, "azimuth_deg")?, input::slice(&elevation, "elevation_deg")?);
        if gains.shape() != [elevations.len(), azimuths.len()] {
            let (found, expected) = (gains.shape(), [elevations.len(), azimuths.len()]);
            let message = format!("gain_db: an array of shape {found:?}; expected {expected:?}: elevations, azimuths");
            return Err(Failure::input(message).into());
        }
        let mut text = String::from("azimuth_deg,elevation_deg,gain_db\n");
        let rows = elevations.iter().zip(input::slice(&gains, "gain_db")?.chunks(azimuths.len().max(1)));
        for (elevation, row) in rows {
            for (azimuth, gain) in azimuths.iter().zip(row) {
                text.push_str(&format!("{azimuth},{elevation},{gain}\n"));
            }
        }
        let pattern = AntennaPattern::from_csv_str(&text, "array").map_err(Failure::from)?;
        Ok(Self { pattern })
    }

    /// The names of the shipped patterns.
    #[staticmethod]
    fn names() -> Vec<&'static str> {
        AntennaPattern::shipped_names().collect()
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.pattern.info().name
    }

    /// Whether it is made up, not measured.
    #[getter]
    fn synthetic(&self) -> bool {
        self.pattern.info().synthetic
    }

    /// The largest gain, dBi.
    #[getter]
    fn peak_gain_db(&self) -> f64 {
        self.pattern.peak_gain_db()
    }

    /// Gain in dBi at azimuths and elevations in radians: arrays of one shape.
    fn gain_db<'py>(
        &self,
        py: Python<'py>,
        azimuth: &Bound<'py, PyAny>,
        elevation: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (azimuth, elevation) = (input::floats(azimuth, "azimuth")?, input::floats(elevation, "elevation")?);
        if azimuth.shape() != elevation.shape() {
            let (az, el) = (azimuth.shape(), elevation.shape());
            return Err(Failure::input(format!("azimuth of shape {az:?}, elevation of {el:?}; give one shape")).into());
        }
        let (az, el) = (input::slice(&azimuth, "azimuth")?, input::slice(&elevation, "elevation")?);
        for (values, what) in [(az, "azimuth"), (el, "elevation")] {
            input::check_coordinates(values, what)?;
        }
        let gains = az.iter().zip(el).map(|(az, el)| self.pattern.gain_db(*az, *el)).collect();
        input::shaped::<f64>(py, gains, azimuth.shape())
    }

    /// The text of a pattern file (CSV), gains to a ten-thousandth of a dB.
    fn to_csv(&self) -> String {
        self.pattern.to_csv()
    }

    /// Its cuts.
    #[pyo3(signature = (theme = "light"))]
    fn figure(&self, theme: &str) -> PyResult<Figure> {
        Ok(Figure::new(pattern_figure(&self.pattern, self::theme(theme)?)))
    }

    fn __repr__(&self) -> String {
        format!("Pattern({:?}, {:.1} dBi)", self.pattern.info().name, self.pattern.peak_gain_db())
    }
}
