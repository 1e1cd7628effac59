//! From a sweep file to a checked sweep with all its points.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use magnetar_dataset::{Drawer, Generator, Recipe, RecipeError};
use magnetar_files::read_text;
use rayon::prelude::*;
use serde::Deserialize;

use super::axis::{Axis, AxisFile, CheckedAxis, Setting};
use super::definition::{Definition, Posterior};
use super::design::{self, MAX_POINTS, PointDesign};
use super::measure::Measures;
use super::point::Point;
use super::shipped::SHIPPED;
use crate::StudyError;

/// A sweep file larger than this is a mistake.
const MAX_BYTES: u64 = 1 << 20;

/// The most rows of a point.
pub const MAX_ROWS: u64 = 10_000_000;

/// The most axes.
const MAX_AXES: usize = 64;

/// Rows drawn while a sweep is checked, of all points together, to find constraints that cannot be met: a few seconds.
const PROBED_ROWS: u64 = 2_000_000;

/// The fewest rows drawn of a point.
const PROBED_ROWS_MIN: u64 = 8;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SweepFile {
    name: String,
    #[serde(default)]
    description: String,
    recipe: Option<String>,
    #[serde(default)]
    set: Vec<String>,
    split: String,
    rows: u64,
    seed: Option<u64>,
    #[serde(default)]
    design: PointDesign,
    points: Option<u64>,
    #[serde(default)]
    store: bool,
    #[serde(default)]
    posterior: Posterior,
    #[serde(default)]
    axis: Vec<AxisFile>,
}

/// A checked sweep: every point's recipe is valid and its first rows can be drawn.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// What it is.
    pub definition: Definition,
    /// The recipe that axes change.
    pub base: Arc<Recipe>,
    /// The points.
    pub points: Vec<Point>,
}

impl Sweep {
    /// Loads a shipped sweep by name, or a file by path.
    ///
    /// # Errors
    /// Anything wrong with the file, an axis or a point, before any work.
    pub fn load(name_or_path: &str) -> Result<Self, StudyError> {
        if let Some((_, text)) = SHIPPED.iter().find(|(name, _)| *name == name_or_path) {
            return Self::parse(text, name_or_path, None);
        }
        let path = PathBuf::from(name_or_path);
        let shipped: Vec<_> = SHIPPED.iter().map(|(name, _)| *name).collect();
        let text = read_text(&path, MAX_BYTES).map_err(|e| {
            StudyError::file(&path, format!("{e}; give a sweep file, or a shipped sweep: {}", shipped.join(", ")))
        })?;
        Self::parse(&text, name_or_path, path.parent())
    }

    /// Checks a sweep's text. A recipe file is looked for in `folder`.
    ///
    /// # Errors
    /// As [`Sweep::load`].
    pub fn parse(text: &str, place: &str, folder: Option<&Path>) -> Result<Self, StudyError> {
        let sweep = Self::outline(text, place, folder)?;
        sweep.check(place)?;
        Ok(sweep)
    }

    /// A sweep and its points, before any row of them is drawn: whether they can be is not known.
    ///
    /// # Errors
    /// Anything wrong with the file or an axis.
    pub fn outline(text: &str, place: &str, folder: Option<&Path>) -> Result<Self, StudyError> {
        let file: SweepFile = toml::from_str(text).map_err(|e| {
            let line = e.span().map_or(1, |span| text.bytes().take(span.start).filter(|b| *b == b'\n').count() + 1);
            StudyError::file(Path::new(&format!("{place}:{line}")), e.message().to_owned())
        })?;
        let fail = |problem: String| StudyError::file(Path::new(place), problem);
        let base = Recipe::load(&recipe_place(file.recipe.as_deref(), folder), &file.set);
        let base = Arc::new(base.map_err(|e| fail(format!("base recipe: {e}")))?);
        base.split(&file.split).map_err(|e| fail(format!("base recipe: {e}")))?;
        if file.rows == 0 || file.rows > MAX_ROWS {
            return Err(fail(format!("rows = {}; expected 1 to {MAX_ROWS}", file.rows)));
        }
        if file.axis.is_empty() || file.axis.len() > MAX_AXES {
            return Err(fail(format!("{} axes; give 1 to {MAX_AXES} [[axis]] tables", file.axis.len())));
        }
        let axes = file.axis.iter().map(|axis| axis.check(&base)).collect::<Result<Vec<_>, _>>().map_err(fail)?;
        check_keys(&axes).map_err(fail)?;
        if file.design != PointDesign::OneAtATime && axes.iter().any(CheckedAxis::is_of_recipes) {
            return Err(fail(
                "an axis of recipes replaces what other axes change; it needs design = \"one-at-a-time\"".into(),
            ));
        }
        check_columns(axes.iter().map(|axis| &axis.axis), []).map_err(|e| fail(e.to_string()))?;
        let seed = file.seed.unwrap_or(1);
        let places = places(&file, &axes, seed).map_err(fail)?;
        let mut points = Vec::with_capacity(places.len());
        for place in places {
            points.push(point(&base, &axes, &place, points.len()).map_err(fail)?);
        }
        let definition = Definition {
            name: file.name,
            description: file.description,
            split: file.split,
            rows: file.rows,
            seed,
            design: file.design,
            store: file.store,
            posterior: file.posterior,
            axes: axes.into_iter().map(|axis| axis.axis).collect(),
        };
        Ok(Self { definition, base, points })
    }

    /// Every point can be generated: materials and patterns are there, and its rows (the first, if there are very many)
    /// can be drawn.
    fn check(&self, place: &str) -> Result<(), StudyError> {
        let probed = (PROBED_ROWS / self.points.len().max(1) as u64).max(PROBED_ROWS_MIN);
        self.points.par_iter().try_for_each(|point| {
            let fail = |problem: String| {
                let label = point.label(&self.definition.axes);
                StudyError::file(Path::new(place), format!("point {} ({label}): {problem}", point.number))
            };
            let split = point.recipe.split(&self.definition.split)?;
            if self.definition.rows > split.rows() || !self.definition.rows.is_multiple_of(u64::from(split.views)) {
                return Err(fail(format!(
                    "rows = {}; expected a multiple of {} up to the {} rows of split {}",
                    self.definition.rows,
                    split.views,
                    split.rows(),
                    self.definition.split
                )));
            }
            let (seed, name) = (self.definition.seed, &self.definition.split);
            Generator::new(&point.recipe, seed, name).map_err(|e| fail(e.to_string()))?;
            let drawer = Drawer::new(&point.recipe, seed, name)?;
            let sets = probed.min(self.definition.rows).div_ceil(u64::from(split.views));
            (0..sets).try_for_each(|set| drawer.scene(set).map(drop)).map_err(|e| fail(e.to_string()))
        })
    }
}

/// A recipe's name, or its file beside the sweep's.
fn recipe_place(recipe: Option<&str>, folder: Option<&Path>) -> String {
    let name = recipe.unwrap_or("paper");
    match folder {
        Some(folder) if !Recipe::shipped().any(|shipped| shipped == name) => {
            folder.join(name).to_str().map_or_else(|| name.to_owned(), str::to_owned)
        }
        _ => name.to_owned(),
    }
}

/// No key is changed by two axes, and no name is used twice.
fn check_keys(axes: &[CheckedAxis]) -> Result<(), String> {
    let mut keys: Vec<&str> = axes.iter().flat_map(|axis| &axis.axis.keys).map(String::as_str).collect();
    let mut names: Vec<&str> = axes.iter().map(|axis| axis.axis.name.as_str()).collect();
    for (list, what) in [(&mut keys, "key"), (&mut names, "axis name")] {
        list.sort_unstable();
        if let Some(pair) = list.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("{what} {:?} is given twice", pair[0]));
        }
    }
    Ok(())
}

/// No axis is named like a column of the table.
pub(super) fn check_columns<'a>(
    axes: impl IntoIterator<Item = &'a Axis>,
    more: impl IntoIterator<Item = (&'static str, &'static str)>,
) -> Result<(), StudyError> {
    let metrics = Measures::default().finish(&[], 1).0.into_iter().map(|metric| metric.name);
    let mut taken: Vec<String> = metrics.chain(more.into_iter().map(|(name, _)| name.to_owned())).collect();
    taken.extend(taken.clone().into_iter().map(|name| format!("{name}_stderr")));
    taken.extend(["point", "hash", "rows"].map(str::to_owned));
    match axes.into_iter().find(|axis| taken.contains(&axis.name)) {
        None => Ok(()),
        Some(axis) => Err(StudyError::AxisName { axis: axis.name.clone() }),
    }
}

/// Where a point lies on an axis.
enum Place {
    Base,
    Level(usize),
    At(f64),
}

fn places(file: &SweepFile, axes: &[CheckedAxis], seed: u64) -> Result<Vec<Vec<Place>>, String> {
    let counts = || -> Result<Vec<usize>, String> {
        let count = |axis: &CheckedAxis| {
            axis.count().ok_or_else(|| {
                format!("axis {:?}: design = {:?} needs steps for a range", axis.axis.name, file.design.label())
            })
        };
        axes.iter().map(count).collect()
    };
    let bounded = |points: u128| {
        if (1..=u128::from(MAX_POINTS)).contains(&points) {
            Ok(usize::try_from(points).unwrap_or(usize::MAX))
        } else {
            Err(format!("{points} points; expected 1 to {MAX_POINTS}"))
        }
    };
    if file.design.takes_points() != file.points.is_some() {
        let need = if file.points.is_some() { "does not take" } else { "needs" };
        return Err(format!("design = {:?} {need} points = N", file.design.label()));
    }
    match file.design {
        PointDesign::Grid => {
            let counts = counts()?;
            let total = counts.iter().try_fold(1_u128, |n, count| n.checked_mul(*count as u128));
            let total = bounded(total.unwrap_or(u128::MAX))?;
            let level = |mut index: usize| {
                let mut place: Vec<Place> = Vec::with_capacity(counts.len());
                // The last axis varies fastest.
                for count in counts.iter().rev() {
                    place.push(Place::Level(index % count));
                    index /= count;
                }
                place.reverse();
                place
            };
            Ok((0..total).map(level).collect())
        }
        PointDesign::OneAtATime => {
            let counts = counts()?;
            bounded(1 + counts.iter().map(|count| *count as u128).sum::<u128>())?;
            let alone = |axis: Option<(usize, usize)>| -> Vec<Place> {
                let at = |i: usize| axis.filter(|(a, _)| *a == i).map_or(Place::Base, |(_, level)| Place::Level(level));
                (0..axes.len()).map(at).collect()
            };
            let mut places = vec![alone(None)];
            for (axis, count) in counts.iter().enumerate() {
                places.extend((0..*count).map(|level| alone(Some((axis, level)))));
            }
            Ok(places)
        }
        PointDesign::LatinHypercube | PointDesign::Sobol => {
            let points = bounded(u128::from(file.points.unwrap_or(0)))?;
            let positions = if file.design == PointDesign::Sobol {
                design::sobol(points, axes.len(), seed).ok_or_else(|| design::too_many_axes(axes.len()))?
            } else {
                design::latin_hypercube(points, axes.len(), seed)
            };
            Ok(positions.into_iter().map(|p| p.into_iter().map(Place::At).collect()).collect())
        }
    }
}

fn point(base: &Arc<Recipe>, axes: &[CheckedAxis], place: &[Place], number: usize) -> Result<Point, String> {
    let mut recipe = (**base).clone();
    let mut settings: Vec<Setting> = Vec::with_capacity(axes.len());
    for (axis, place) in axes.iter().zip(place) {
        let found = match place {
            Place::Base => None,
            Place::Level(index) => axis.level(*index),
            Place::At(u) => axis.at(*u),
        };
        match found {
            None => settings.push(axis.base(base)),
            Some((value, setting)) => {
                axis.apply(&mut recipe, base, &value)?;
                settings.push(setting);
            }
        }
    }
    recipe.check().map_err(|e: RecipeError| format!("point {number}: {}", e.problem))?;
    Ok(Point { number, settings, recipe: Arc::new(recipe) })
}
