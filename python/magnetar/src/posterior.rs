//! Candidate supports, features, scorers and posteriors.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use magnetar_dataset::Record;
use magnetar_neural::LearnedScorers;
use magnetar_posterior::{CpuScoring, Features, PosteriorError, SupportSize, Volume, query_channels, spatial_channels};
use magnetar_report::Theme;
use magnetar_report::figure::{PosteriorPicture, marginal_figure, volume_figure};
use magnetar_scene::{Pose, Room};
use magnetar_study::{
    Candidates, ReceiverView, SceneDevices, ScorerSettings, ScorerSource, StudyError, map_posteriors, open_scorer,
    scene_twin, support_stream, truth, twin_parameters,
};
use numpy::{IntoPyArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::error::{Failure, Outcome};
use crate::figure::{Figure, theme};
use crate::input;
use crate::recipe::Recipe;
use crate::rows::Rows;
use crate::run::{Stop, run};
use crate::scene::Scene;

/// The candidates of one room: D headings by H x W strata. Metres and radians.
#[pyclass(frozen, module = "magnetar")]
pub struct Support {
    support: magnetar_posterior::Support,
}

fn room(bounds: [f64; 6]) -> Outcome<Room> {
    input::check_coordinates(&bounds, "room")?;
    Room::from_bounds(bounds).ok_or_else(|| {
        Failure::input(format!("room {bounds:?}: expected xmin, xmax, ymin, ymax, zmin, zmax, min < max"))
    })
}

#[pymethods]
impl Support {
    /// Representatives at the cell centres of a room (xmin, xmax, ymin, ymax, zmin, zmax).
    #[new]
    #[pyo3(signature = (room, size = (18, 33, 33)))]
    fn new(room: [f64; 6], size: (usize, usize, usize)) -> PyResult<Self> {
        let support =
            magnetar_posterior::Support::centred(&self::room(room)?, input::size(size)).map_err(Failure::from)?;
        Ok(Self { support })
    }

    /// A training support: representatives drawn in their strata by (seed, number), the truth inserted in its own cell.
    #[staticmethod]
    #[pyo3(signature = (room, truth, size = (18, 33, 33), seed = 1, number = 0))]
    fn training(
        room: [f64; 6],
        truth: [f64; 2],
        size: (usize, usize, usize),
        seed: u64,
        number: u64,
    ) -> PyResult<Self> {
        let mut rng = support_stream(seed, number);
        let support = magnetar_posterior::Support::training(&self::room(room)?, input::size(size), truth, &mut rng);
        Ok(Self { support: support.map_err(Failure::from)? })
    }

    /// D, H and W.
    #[getter]
    fn shape(&self) -> (usize, usize, usize) {
        let SupportSize { headings, rows, columns } = self.support.size();
        (headings, rows, columns)
    }

    /// x of the columns, metres.
    #[getter]
    fn xs<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.support.xs().to_vec().into_pyarray(py).into_any()
    }

    /// y of the rows, metres.
    #[getter]
    fn ys<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.support.ys().to_vec().into_pyarray(py).into_any()
    }

    /// The headings, radians in [-pi, pi).
    #[getter]
    fn headings<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        headings(&self.support).into_pyarray(py).into_any()
    }

    /// H x W: false where a candidate coincides with the RX (x, y).
    fn mask<'py>(&self, py: Python<'py>, rx: [f64; 2]) -> PyResult<Bound<'py, PyAny>> {
        input::check_coordinates(&rx, "rx")?;
        let mask = self.support.mask(&Pose::new(rx[0], rx[1], 0.0, 0.0));
        let SupportSize { rows, columns, .. } = self.support.size();
        input::shaped(py, mask.spatial().to_vec(), &[rows, columns])
    }

    /// Row and column of the stratum that a point (x, y) lies in; none outside the room.
    fn cell(&self, point: [f64; 2]) -> Option<(usize, usize)> {
        self.support.cell(point)
    }

    fn __repr__(&self) -> String {
        let SupportSize { headings, rows, columns } = self.support.size();
        format!("Support({headings} x {rows} x {columns})")
    }
}

fn headings(support: &magnetar_posterior::Support) -> Vec<f64> {
    (0..support.size().headings).map(|d| support.heading(d)).collect()
}

/// One row made ready for a network.
struct FeatureRow {
    candidates: Candidates,
    features: Features,
}

fn feature_row(record: &Record, size: SupportSize, training_seed: Option<u64>) -> Result<FeatureRow, PosteriorError> {
    let (view, tx) = (ReceiverView::of(record), truth(record));
    let candidates = match training_seed {
        None => Candidates::evaluation(&view, size, &tx)?,
        Some(seed) => Candidates::training(&view, size, &tx, &mut support_stream(seed, record.index))?,
    };
    let features = Features::new(&candidates.support, &view.layout, &view.rx, &view.arrivals);
    Ok(FeatureRow { candidates, features })
}

/// Candidate features and targets of rows, one array per field; see `magnetar.features`.
#[pyfunction]
#[pyo3(signature = (rows, size, training_seed))]
pub fn features<'py>(
    py: Python<'py>,
    rows: &Bound<'py, Rows>,
    size: (usize, usize, usize),
    training_seed: Option<u64>,
) -> PyResult<Bound<'py, PyDict>> {
    let rows = rows.get();
    let (size, count) = (input::size(size), rows.len());
    let SupportSize { headings: d, rows: h, columns: w } = size;
    let made = run(py, |stop| {
        let records = rows.records()?;
        let keep = records.first().map_or(0, |record| record.arrivals.keep);
        input::volume_of(&[count, query_channels(keep), d, h, w], "features")?;
        let one = |record: &Record| -> Outcome<FeatureRow> {
            stop.check()?;
            feature_row(record, size, training_seed)
                .map_err(|source| StudyError::Row { index: record.index, source }.into())
        };
        Ok((keep, records.par_iter().map(one).collect::<Outcome<Vec<_>>>()?))
    })?;
    let (keep, made) = made;
    let found = PyDict::new(py);
    let gather = |of: &dyn Fn(&FeatureRow) -> Vec<f32>| made.iter().flat_map(of).collect::<Vec<f32>>();
    let spatial = gather(&|row| row.features.spatial.clone());
    found.set_item("spatial", input::shaped(py, spatial, &[count, spatial_channels(keep), h, w])?)?;
    let query = gather(&|row| row.features.query.clone());
    found.set_item("query", input::shaped(py, query, &[count, query_channels(keep), d, h, w])?)?;
    let mut index = vec![0i64; 8 * count];
    let mut weight = vec![0f32; 8 * count];
    for (n, row) in made.iter().enumerate() {
        for (place, (voxel, share)) in row.candidates.target.voxels.iter().enumerate() {
            (index[8 * n + place], weight[8 * n + place]) = (i64::try_from(*voxel).unwrap_or(i64::MAX), *share as f32);
        }
    }
    found.set_item("target_index", input::shaped(py, index, &[count, 8])?)?;
    found.set_item("target_weight", input::shaped(py, weight, &[count, 8])?)?;
    let mask: Vec<bool> = made.iter().flat_map(|row| row.candidates.mask.spatial().to_vec()).collect();
    found.set_item("mask", input::shaped(py, mask, &[count, h, w])?)?;
    let ys = made.iter().flat_map(|row| row.candidates.support.ys().to_vec()).collect();
    found.set_item("ys", input::shaped::<f64>(py, ys, &[count, h])?)?;
    let xs = made.iter().flat_map(|row| row.candidates.support.xs().to_vec()).collect();
    found.set_item("xs", input::shaped::<f64>(py, xs, &[count, w])?)?;
    Ok(found)
}

/// What turns rows into posteriors over TX poses.
#[pyclass(frozen, module = "magnetar")]
pub struct Scorer {
    pub(crate) scorer: Arc<dyn magnetar_posterior::Scorer>,
}

/// How scorers are made, on the CPU, learned ones included.
fn settings(parameters: Option<&str>, recipe: Option<&Recipe>) -> Outcome<ScorerSettings> {
    let parameters = twin_parameters(parameters.map(Path::new), recipe.map(|recipe| &*recipe.recipe))?;
    Ok(ScorerSettings { parameters, backend: Arc::new(CpuScoring), source: Some(Arc::new(LearnedScorers)) })
}

#[pymethods]
impl Scorer {
    /// A scorer by name (`twin`, `uniform`), a learned model (.safetensors) or a file of volumes (.npy, .parquet), for rows
    /// of a recipe, or of recipe `paper`. A model that was trained on another recipe is a `UserWarning`.
    #[new]
    #[pyo3(signature = (name, recipe = None, parameters = None))]
    fn new(
        py: Python<'_>,
        name: PathBuf,
        recipe: Option<&Bound<'_, Recipe>>,
        parameters: Option<&str>,
    ) -> PyResult<Self> {
        let name = input::text(&name, "name")?;
        let recipe = recipe.map_or_else(|| Recipe::shared(Arc::new(magnetar_dataset::Recipe::paper())), Recipe::of);
        let settings = settings(parameters, Some(&recipe))?;
        let scorer = py.detach(|| open_scorer(name, &recipe.recipe, &settings)).map_err(Failure::from)?;
        if let Some(warning) =
            LearnedScorers.opens(name).then(|| LearnedScorers.warning(name, &recipe.recipe)).flatten()
        {
            py.import("warnings")?.call_method1("warn", (warning,))?;
        }
        Ok(Self { scorer })
    }

    /// The twin that knows every surface of a scene, as `magnetar locate` uses it.
    #[staticmethod]
    #[pyo3(signature = (scene, recipe = None, parameters = None, materials = Vec::new()))]
    fn of_scene(
        scene: &Bound<'_, Scene>,
        recipe: Option<&Bound<'_, Recipe>>,
        parameters: Option<&str>,
        materials: Vec<PathBuf>,
    ) -> PyResult<Self> {
        let scene = scene.get();
        let recipe = recipe
            .map_or_else(|| Arc::new(magnetar_dataset::Recipe::paper()), |recipe| Arc::clone(&recipe.get().recipe));
        let radio = recipe.radio().map_err(Failure::from)?;
        let world = scene.resolve(radio.band().carrier_hz, &materials)?;
        let devices = SceneDevices {
            radio: &radio,
            tx_height_m: scene.scene.device_height,
            wall_margin_m: recipe.devices.wall_margin_m,
            separation_min_m: recipe.devices.separation_min_m,
        };
        let twin = scene_twin(&world, &devices, &settings(parameters, None)?).map_err(Failure::from)?;
        Ok(Self { scorer: Arc::new(twin) })
    }

    /// Its name in tables.
    #[getter]
    fn name(&self) -> &str {
        self.scorer.name()
    }

    /// SHA-256 of all that decides its results besides the rows.
    #[getter]
    fn identity(&self) -> String {
        self.scorer.identity()
    }

    /// What it was given besides the rows, in a line.
    #[getter]
    fn knowledge(&self) -> String {
        self.scorer.knowledge().to_string()
    }

    /// One posterior per row: masses (rows, D, H, W), xs (rows, W), ys (rows, H), headings (D,).
    #[pyo3(signature = (rows, size = (18, 33, 33)))]
    fn score<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, Rows>,
        size: (usize, usize, usize),
    ) -> PyResult<Bound<'py, PyDict>> {
        let rows = rows.get();
        let (size, count) = (input::size(size), rows.len());
        let SupportSize { headings: d, rows: h, columns: w } = size;
        let numbers = input::volume_of(&[count, d, h, w], "posteriors")?;
        let (mass, xs, ys) = run(py, |stop| {
            let (mut mass, mut xs, mut ys) = (Vec::with_capacity(numbers), Vec::new(), Vec::new());
            let records = stopping(rows.records()?, stop);
            let keep = |_: &Record, support: &magnetar_posterior::Support, volume: &Volume| {
                Ok((support.xs().to_vec(), support.ys().to_vec(), volume.mass().to_vec()))
            };
            map_posteriors(rows.split(), records, &*self.scorer, size, keep, |(x, y, m)| {
                xs.extend(x);
                ys.extend(y);
                mass.extend(m);
            })?;
            stop.check()?;
            Ok((mass, xs, ys))
        })?;
        let found = PyDict::new(py);
        found.set_item("mass", input::shaped::<f32>(py, mass, &[count, d, h, w])?)?;
        found.set_item("xs", input::shaped::<f64>(py, xs, &[count, w])?)?;
        found.set_item("ys", input::shaped::<f64>(py, ys, &[count, h])?)?;
        let anywhere = Room { min: [0.0; 3].into(), max: [1.0; 3].into() };
        let support = magnetar_posterior::Support::centred(&anywhere, size).map_err(Failure::from)?;
        found.set_item("headings", headings(&support).into_pyarray(py))?;
        Ok(found)
    }

    fn __repr__(&self) -> String {
        format!("Scorer({:?})", self.scorer.name())
    }
}

/// Records until the caller asks to stop.
pub(crate) fn stopping(
    records: Vec<Record>,
    stop: &Stop,
) -> impl Iterator<Item = Result<Record, magnetar_dataset::DatasetError>> + '_ {
    records.into_iter().take_while(|_| !stop.asked()).map(Ok)
}

/// The volumes in an array of shape (rows, D, H, W), each normalised over the candidates that count for its row.
pub(crate) fn volumes(mass: &Bound<'_, PyAny>) -> Outcome<(SupportSize, Vec<Vec<f64>>)> {
    let array = input::singles(mass, "mass")?;
    let shape = array.shape().to_vec();
    let [rows, headings, h, w] = shape[..] else {
        return Err(Failure::input(format!("mass: an array of shape {shape:?}; expected (rows, D, H, W)")));
    };
    let size = SupportSize { headings, rows: h, columns: w };
    let values = input::slice(&array, "mass")?;
    let each: Vec<Vec<f64>> =
        values.chunks(size.len().max(1)).map(|one| one.iter().map(|m| f64::from(*m)).collect()).collect();
    if each.len() != rows || size.is_empty() {
        return Err(Failure::input(format!("mass: an array of shape {shape:?} without candidates")));
    }
    Ok((size, each))
}

/// Early and late fusion of posteriors (views, D, H, W) of one TX on one grid; see `magnetar.fuse`.
#[pyfunction]
pub fn fuse<'py>(py: Python<'py>, mass: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let (size, each) = volumes(mass)?;
    let SupportSize { headings: d, rows: h, columns: w } = size;
    let fused = py.detach(|| -> Outcome<_> {
        // A mask that leaves nothing out: what is masked has no mass.
        let anywhere = Room { min: [0.0; 3].into(), max: [1.0; 3].into() };
        let support = magnetar_posterior::Support::centred(&anywhere, size)?;
        let mask = support.mask(&Pose::new(f64::MAX, f64::MAX, 0.0, 0.0));
        let volumes =
            each.iter().map(|weights| Volume::from_weights(size, &mask, weights)).collect::<Result<Vec<_>, _>>()?;
        Ok(magnetar_posterior::fuse(&volumes)?)
    })?;
    let found = PyDict::new(py);
    found.set_item("early", input::shaped(py, fused.early, &[h, w])?)?;
    found.set_item("late", input::shaped(py, fused.late, &[h, w])?)?;
    found.set_item("kappa", input::shaped(py, fused.kappa, &[h, w])?)?;
    found.set_item("joint", input::shaped(py, fused.joint, &[d, h, w])?)?;
    Ok(found)
}

/// A picture of one row's posterior (D, H, W): its position marginal, or the HPD sets of the volume.
#[pyfunction]
#[pyo3(signature = (rows, index, mass, kind = "marginal", caption = "", theme = "light"))]
pub fn posterior_figure(
    py: Python<'_>,
    rows: &Bound<'_, Rows>,
    index: usize,
    mass: &Bound<'_, PyAny>,
    kind: &str,
    caption: &str,
    theme: &str,
) -> PyResult<Figure> {
    let draw: fn(&PosteriorPicture<'_>, Theme) -> String = match kind {
        "marginal" => marginal_figure,
        "volume" => volume_figure,
        _ => Err(Failure::input(format!("kind {kind:?}: expected \"marginal\" or \"volume\"")))?,
    };
    let theme = self::theme(theme)?;
    let (size, each) = volumes(mass)?;
    let rows = rows.get();
    let svg = py.detach(|| -> Outcome<String> {
        let records = rows.records()?;
        let (Some(record), [weights]) = (records.get(index), &each[..]) else {
            let count = records.len();
            return Err(Failure::input(format!(
                "row {index} of {count} with {} posteriors; give one of one",
                each.len()
            )));
        };
        let view = ReceiverView::of(record);
        let support = view.support(size)?;
        let volume = Volume::from_weights(size, &support.mask(&view.rx), weights)?;
        let picture = PosteriorPicture {
            support: &support,
            volume: &volume,
            room: &view.layout.room,
            boxes: &view.layout.boxes,
            rx: &[view.rx],
            truth: Some(record.tx),
            caption,
        };
        Ok(draw(&picture, theme))
    })?;
    Ok(Figure::new(svg))
}
