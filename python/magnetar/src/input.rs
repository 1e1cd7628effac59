//! What Python hands in: arrays of the right shape and type, poses, sizes.

use magnetar_posterior::SupportSize;
use magnetar_scene::{MAX_COORDINATE, MaterialLibrary, Pose};
use magnetar_trace::{MAX_ORDER, TraceOptions};
use numpy::{Complex32, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};

use crate::error::{Failure, Outcome};

/// The most numbers that one call may ask for: 2 GiB of them as float32.
const MOST_NUMBERS: usize = 1 << 29;

fn array<'py, T: numpy::Element>(
    value: &Bound<'py, PyAny>,
    what: &str,
    kinds: &str,
    dtype: &str,
) -> Outcome<PyReadonlyArrayDyn<'py, T>> {
    let numpy = value.py().import("numpy")?;
    let wrong = |why: String| Failure::input(format!("{what}: {why}; expected an array of {dtype}"));
    let array = numpy.call_method1("asarray", (value,)).map_err(|error| wrong(error.to_string()))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if !kinds.contains(kind.as_str()) {
        return Err(wrong(format!("an array of {}", array.getattr("dtype")?)));
    }
    let options = PyDict::new(value.py());
    options.set_item("dtype", dtype)?;
    let array = numpy.call_method("ascontiguousarray", (array,), Some(&options))?;
    let array = array.cast_into::<numpy::PyArrayDyn<T>>().map_err(|error| wrong(error.to_string()))?;
    array.try_into_readonly().map_err(|error| wrong(error.to_string()))
}

/// An array of real numbers.
pub fn floats<'py>(value: &Bound<'py, PyAny>, what: &str) -> Outcome<PyReadonlyArrayDyn<'py, f64>> {
    array(value, what, "fiu", "float64")
}

/// An array of real numbers in single precision.
pub fn singles<'py>(value: &Bound<'py, PyAny>, what: &str) -> Outcome<PyReadonlyArrayDyn<'py, f32>> {
    array(value, what, "f", "float32")
}

/// An array of complex numbers.
pub fn complexes<'py>(value: &Bound<'py, PyAny>, what: &str) -> Outcome<PyReadonlyArrayDyn<'py, Complex32>> {
    array(value, what, "c", "complex64")
}

/// The numbers of an array that was made contiguous.
pub fn slice<'a, T: numpy::Element>(array: &'a PyReadonlyArrayDyn<'_, T>, what: &str) -> Outcome<&'a [T]> {
    array.as_slice().map_err(|error| Failure::input(format!("{what}: {error}")))
}

/// Refuses what is not a number of metres or radians.
pub fn check_coordinates(values: &[f64], what: &str) -> Outcome<()> {
    match values.iter().position(|value| value.is_nan() || value.abs() > MAX_COORDINATE) {
        None => Ok(()),
        Some(at) => Err(Failure::input(format!(
            "{what}: value {} at place {at}; expected finite numbers, at most {MAX_COORDINATE} in size",
            values[at]
        ))),
    }
}

/// Poses `x, y[, z[, heading]]`: metres, radians counter-clockwise from +x; one, or one per row.
pub fn poses(value: &Bound<'_, PyAny>, height: f64, what: &str) -> Outcome<Vec<Pose>> {
    let array = floats(value, what)?;
    let shape = array.shape().to_vec();
    let columns = match shape[..] {
        [columns] | [_, columns] if (2..=4).contains(&columns) => columns,
        _ => {
            let expected = "expected x, y[, z[, heading]] in metres and radians: shape (2..4,) or (n, 2..4)";
            return Err(Failure::input(format!("{what}: an array of shape {shape:?}; {expected}")));
        }
    };
    let values = slice(&array, what)?;
    check_coordinates(values, what)?;
    let at = |row: &[f64], n: usize, otherwise: f64| row.get(n).copied().unwrap_or(otherwise);
    Ok(values.chunks_exact(columns).map(|row| Pose::new(row[0], row[1], at(row, 2, height), at(row, 3, 0.0))).collect())
}

/// Two lists of one length, of which either may be a single pose that serves all of the other.
pub fn pairs(tx: Vec<Pose>, rx: Vec<Pose>) -> Outcome<Vec<(Pose, Pose)>> {
    let count = tx.len().max(rx.len());
    let fits = |poses: &[Pose]| poses.len() == count || poses.len() == 1;
    if !(fits(&tx) && fits(&rx)) || tx.is_empty() || rx.is_empty() {
        let (tx, rx) = (tx.len(), rx.len());
        return Err(Failure::input(format!("{tx} poses of the TX and {rx} of the RX; give as many, or one for all")));
    }
    let of = |poses: &[Pose], n: usize| poses[if poses.len() == 1 { 0 } else { n }];
    Ok((0..count).map(|n| (of(&tx, n), of(&rx, n))).collect())
}

/// Which paths are looked for.
pub fn options(max_order: usize, transmission: bool) -> Outcome<TraceOptions> {
    if max_order > MAX_ORDER {
        return Err(Failure::input(format!("max_order {max_order}: expected 0 to {MAX_ORDER}")));
    }
    Ok(TraceOptions { max_order, transmission })
}

/// A carrier, as the command line bounds it.
pub fn frequency(frequency_hz: f64) -> Outcome<f64> {
    if (1e6..=1e12).contains(&frequency_hz) {
        return Ok(frequency_hz);
    }
    Err(Failure::input(format!("frequency_hz {frequency_hz}: expected a frequency from 1e6 to 1e12 Hz")))
}

/// D, H and W of a support.
pub fn size((headings, rows, columns): (usize, usize, usize)) -> SupportSize {
    SupportSize { headings, rows, columns }
}

/// A name, or a path that is text.
pub fn text<'a>(path: &'a Path, what: &str) -> Outcome<&'a str> {
    path.to_str().ok_or_else(|| Failure::input(format!("{what}: {} is not Unicode text", path.display())))
}

/// The shipped materials and those of some files.
pub fn library(paths: &[PathBuf]) -> Outcome<MaterialLibrary> {
    let mut library = MaterialLibrary::shipped();
    for path in paths {
        library.add_path(path)?;
    }
    Ok(library)
}

/// How many numbers an array of this shape holds; refused where memory would hardly hold it.
pub fn volume_of(shape: &[usize], what: &str) -> Outcome<usize> {
    let count = shape.iter().try_fold(1usize, |product, side| product.checked_mul(*side));
    count.filter(|count| *count <= MOST_NUMBERS).ok_or_else(|| {
        Failure::input(format!("{what}: {shape:?} numbers at once; ask for at most {MOST_NUMBERS}, in several calls"))
    })
}

/// An array of a shape from its numbers.
pub fn shaped<'py, T: numpy::Element>(py: Python<'py>, values: Vec<T>, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    use numpy::IntoPyArray;
    Ok(values.into_pyarray(py).reshape(shape.to_vec())?.into_any())
}

/// JSON as Python's own types.
pub fn from_json<'py>(py: Python<'py>, value: &serde_json::Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (value.to_string(),))
}
