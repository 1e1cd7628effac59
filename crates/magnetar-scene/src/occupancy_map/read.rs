//! The `map_server` format: a YAML description beside a PGM or PNG image.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use image::{DynamicImage, ImageDecoder, ImageReader, Limits};
use magnetar_files::{BoundedReadError, open_file, read_text};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{Cell, MapError};

/// Maps larger than this on a side are refused: 20,000 cells of 5 cm are a kilometre.
const MAX_SIDE: u32 = 20_000;
/// Larger maps are refused: a square of half a kilometre in cells of 5 cm. Bounds memory.
const MAX_CELLS: u64 = 100_000_000;
/// Images that take more when unpacked are refused: colours and 16-bit greys take more per cell.
const MAX_IMAGE_BYTES: u64 = 256 << 20;
/// No `map_server` description is near this long.
const MAX_YAML_BYTES: u64 = 64 * 1024;

/// How a file begins that Git LFS left in place of a large one.
const LARGE_FILE_POINTER: &[u8] = b"version https://git-lfs";

/// A `map_server` description. Other programs add keys of their own, which are left aside with a note.
#[derive(Debug, Deserialize)]
struct Description {
    image: PathBuf,
    resolution: f64,
    /// x, y and, in most files, yaw.
    origin: Vec<f64>,
    #[serde(default)]
    negate: Switch,
    #[serde(default = "default_occupied")]
    occupied_thresh: f64,
    #[serde(default = "default_free")]
    free_thresh: f64,
    #[serde(default)]
    mode: Mode,
    #[serde(flatten)]
    others: BTreeMap<String, IgnoredAny>,
}

/// `0`, `1`, `false` or `true`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Switch {
    Number(f64),
    Word(bool),
}

impl Default for Switch {
    fn default() -> Self {
        Self::Word(false)
    }
}

impl Switch {
    fn is_on(&self) -> bool {
        match self {
            Self::Number(number) => *number != 0.0,
            Self::Word(word) => *word,
        }
    }
}

#[derive(Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Trinary,
    Scale,
    Raw,
}

fn default_occupied() -> f64 {
    0.65
}

fn default_free() -> f64 {
    0.196
}

/// An occupancy map: cells in the map's own grid, and where that grid lies in the map frame.
#[derive(Debug, Clone, PartialEq)]
pub struct OccupancyMap {
    /// Cells a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Side of a cell, metres.
    pub resolution: f64,
    /// Map-frame x, y (metres) and yaw (radians) of the lower-left corner of the grid.
    pub origin: [f64; 3],
    cells: Vec<Cell>,
    notes: Vec<String>,
    image: Option<PathBuf>,
}

impl OccupancyMap {
    /// A map from its cells, row by row from the lowest y up; `None` if their number does not fit.
    #[must_use]
    pub fn from_cells(
        width: usize,
        height: usize,
        resolution: f64,
        origin: [f64; 3],
        cells: Vec<Cell>,
    ) -> Option<Self> {
        let (notes, image) = (Vec::new(), None);
        let fits = cells.len() == width.checked_mul(height)?;
        fits.then_some(Self { width, height, resolution, origin, cells, notes, image })
    }

    /// Reads a `map_server` map by its YAML file.
    ///
    /// # Errors
    /// If either file cannot be read, a key is missing, unknown or out of range, or the image is too large.
    pub fn load(yaml: &Path) -> Result<Self, MapError> {
        let description = describe(yaml)?;
        let (path, mut notes) = image_of(yaml, &description);
        if !description.others.is_empty() {
            let names: Vec<&str> = description.others.keys().map(String::as_str).take(8).collect();
            notes.push(format!("keys that mean nothing here were left aside: {}", names.join(", ")));
        }
        let image_error = |message: String| MapError::Image { path: path.clone(), message };
        let file = open_file(&path).map_err(|source| MapError::Read { path: path.clone(), source })?;
        let mut file = BufReader::new(file);
        let start = file.fill_buf().map_err(|source| MapError::Read { path: path.clone(), source })?;
        if start.is_empty() {
            return Err(image_error("the file is empty".to_owned()));
        }
        if start.starts_with(LARGE_FILE_POINTER) {
            return Err(image_error(
                "a pointer of Git LFS, not the image itself; fetch it with `git lfs pull`".to_owned(),
            ));
        }
        let mut reader = ImageReader::new(file)
            .with_guessed_format()
            .map_err(|source| MapError::Read { path: path.clone(), source })?;
        let mut limits = Limits::default();
        limits.max_image_width = Some(MAX_SIDE);
        limits.max_image_height = Some(MAX_SIDE);
        limits.max_alloc = Some(MAX_IMAGE_BYTES);
        reader.limits(limits);
        let refused = |e| image_error(format!("{e}; expected a PGM, PNG or BMP of at most {MAX_SIDE} cells on a side"));
        let decoder = reader.into_decoder().map_err(refused)?;
        let (width, height) = decoder.dimensions();
        let cells = u64::from(width) * u64::from(height);
        if cells == 0 || cells > MAX_CELLS || decoder.total_bytes() > MAX_IMAGE_BYTES {
            return Err(image_error(format!(
                "the image has {width} x {height} cells; expected 1 to {MAX_CELLS}, at most {MAX_IMAGE_BYTES} bytes unpacked"
            )));
        }
        let image = DynamicImage::from_decoder(decoder).map_err(refused)?.into_luma8();
        // Images start at the top, maps at the lowest y.
        let cells = image.rows().rev().flatten().map(|pixel| classify(pixel.0[0], &description)).collect();
        Ok(Self {
            width: width as usize,
            height: height as usize,
            resolution: description.resolution,
            origin: [0, 1, 2].map(|i| description.origin.get(i).copied().unwrap_or(0.0)),
            cells,
            notes,
            image: Some(path),
        })
    }

    /// What was made up for when the files were read.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The image it was read from.
    #[must_use]
    pub fn image(&self) -> Option<&Path> {
        self.image.as_deref()
    }

    /// The same map with other cells.
    pub(super) fn with_cells(&self, cells: Vec<Cell>) -> Self {
        Self { cells, ..self.clone() }
    }

    /// All cells, row by row from the lowest y up.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The cell in a column and a row (from the lowest y up); unknown beyond the grid.
    #[must_use]
    pub fn cell(&self, column: isize, row: isize) -> Cell {
        if (0..self.width as isize).contains(&column) && (0..self.height as isize).contains(&row) {
            self.cells[row as usize * self.width + column as usize]
        } else {
            Cell::Unknown
        }
    }

    /// A point of the grid (in cells from its lower-left corner) in the map frame, metres.
    #[must_use]
    pub fn map_from_grid(&self, column: f64, row: f64) -> [f64; 2] {
        let [x, y, yaw] = self.origin;
        let (sin, cos) = libm::sincos(yaw);
        let (u, v) = (column * self.resolution, row * self.resolution);
        [x + cos * u - sin * v, y + sin * u + cos * v]
    }

    /// A point of the map frame in cells from the grid's lower-left corner.
    #[must_use]
    pub fn grid_from_map(&self, point: [f64; 2]) -> [f64; 2] {
        let (sin, cos) = libm::sincos(self.origin[2]);
        let (u, v) = (point[0] - self.origin[0], point[1] - self.origin[1]);
        [(cos * u + sin * v) / self.resolution, (cos * v - sin * u) / self.resolution]
    }
}

fn classify(value: u8, description: &Description) -> Cell {
    let bright = f64::from(value) / 255.0;
    let occupancy = if description.negate.is_on() { bright } else { 1.0 - bright };
    if occupancy > description.occupied_thresh {
        Cell::Occupied
    } else if occupancy < description.free_thresh {
        Cell::Free
    } else {
        Cell::Unknown
    }
}

/// Where the image is: as the description says, or beside it where that path is of another machine.
fn image_of(yaml: &Path, description: &Description) -> (PathBuf, Vec<String>) {
    let folder = yaml.parent().unwrap_or(Path::new(""));
    let stated = folder.join(&description.image);
    if stated.exists() {
        return (stated, Vec::new());
    }
    // Paths of another system have other separators.
    let text = description.image.to_string_lossy();
    let name = text.rsplit(['/', '\\']).next().unwrap_or_default();
    let beside = (!name.is_empty()).then(|| folder.join(name));
    let same_stem = ["pgm", "png", "bmp"].map(|ending| Some(yaml.with_extension(ending)));
    let found = [beside].into_iter().chain(same_stem).flatten().find(|path| path.is_file());
    match found {
        Some(path) => {
            let note = format!("{} is not there; {} was taken", stated.display(), path.display());
            (path, vec![note])
        }
        None => (stated, Vec::new()),
    }
}

fn describe(yaml: &Path) -> Result<Description, MapError> {
    let bad = |message: String| MapError::Yaml { path: yaml.to_owned(), message };
    let text = read_text(yaml, MAX_YAML_BYTES).map_err(|error| match error {
        BoundedReadError::Io(source) => MapError::Read { path: yaml.to_owned(), source },
        other => bad(format!("not a map_server description: {other}")),
    })?;
    let description: Description = serde_saphyr::from_str(&text).map_err(|e| {
        bad(format!("{e}\nexpected a map_server description with image, resolution and origin [x, y, yaw]"))
    })?;
    let d = &description;
    if !(d.resolution.is_finite() && (1e-3..=10.0).contains(&d.resolution)) {
        return Err(bad(format!("resolution is {}; expected 0.001 to 10 metres per cell", d.resolution)));
    }
    if !(2..=3).contains(&d.origin.len()) || !d.origin.iter().all(|v| v.is_finite() && v.abs() < 1e6) {
        return Err(bad(format!(
            "origin is {:?}; expected finite [x, y] or [x, y, yaw] in metres and radians",
            d.origin
        )));
    }
    if !(0.0 <= d.free_thresh && d.free_thresh < d.occupied_thresh && d.occupied_thresh <= 1.0) {
        return Err(bad(format!(
            "free_thresh is {} and occupied_thresh {}; expected 0 <= free_thresh < occupied_thresh <= 1",
            d.free_thresh, d.occupied_thresh
        )));
    }
    if d.mode == Mode::Raw {
        return Err(bad("mode is raw, which has no thresholds; expected trinary or scale".to_owned()));
    }
    Ok(description)
}
