//! All cases of one or more exports together.

use super::case::Case;
use super::compare::{PathErrors, TOLERANCE, TOLERANCE_SEVERAL, compare_case};
use super::export::Export;
use super::names::BoxMode;
use super::unmatched::Unmatched;

/// A path of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathName {
    /// Id of the case.
    pub case: String,
    /// The object the path meets, as the export names it.
    pub object: String,
}

/// A case that could not be traced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untraced {
    /// Id of the case.
    pub case: String,
    /// Why.
    pub reason: String,
}

/// The distribution of one kind of error over all matched paths.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorSummary {
    /// The largest; 0 if no path was matched.
    pub max: f64,
    /// The median; 0 if no path was matched.
    pub median: f64,
    /// The 99th percentile; 0 if no path was matched.
    pub p99: f64,
    /// Where the largest is; none if no path was matched.
    pub worst: Option<PathName>,
}

/// What came of validating one or more exports.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Validation {
    /// Number of cases.
    pub cases: usize,
    /// Number of paths in the exports.
    pub paths: usize,
    /// Paths that not both have, or that are not compared.
    pub unmatched: Unmatched<PathName>,
    /// Cases that could not be traced; their paths are among the missing.
    pub untraced: Vec<Untraced>,
    /// The paths that both have, with their errors.
    pub matched: Vec<(PathName, PathErrors)>,
    /// Whether cases have paths of several interactions, which are held to [`TOLERANCE_SEVERAL`].
    pub several: bool,
}

/// The largest share of paths that Sionna RT's ray sampling may miss where paths have several interactions.
pub const MOST_EXTRA: f64 = 0.005;

/// The share of coefficients of paths with several interactions that may be outside [`TOLERANCE`]. Sionna RT's own
/// float32 puts about as many there (1.0 % of 2,022 against a plain f64 reference), so a count is judged with what chance
/// does to it: it may be up to three standard deviations above.
pub const MOST_BEYOND: f64 = 0.01;

/// Traces every case of an export and compares the paths.
#[must_use]
pub fn validate(export: &Export) -> Validation {
    let several = |case: &Case| case.max_depth > 1 || case.names.mode == BoxMode::Through;
    let mut validation =
        Validation { cases: export.cases.len(), several: export.cases.iter().any(several), ..Validation::default() };
    for case in &export.cases {
        let name = |object: String| PathName { case: case.id.clone(), object };
        let comparison = compare_case(case, export.frequency_hz);
        validation.paths += comparison.reference_paths;
        validation.unmatched.extend(comparison.unmatched, name);
        validation.matched.extend(comparison.matched.into_iter().map(|path| (name(path.object), path.errors)));
        if let Some(error) = comparison.untraced {
            validation.untraced.push(Untraced { case: case.id.clone(), reason: error.to_string() });
        }
    }
    validation
}

impl Validation {
    /// Whether every case was traced, no path is missing, none is extra (but for [`MOST_EXTRA`] where paths have several
    /// interactions), and every error is inside its tolerance.
    #[must_use]
    pub fn ok(&self) -> bool {
        let most_extra = if self.several { MOST_EXTRA * self.paths as f64 } else { 0.0 };
        self.unmatched.missing.is_empty()
            && self.unmatched.extra.len() as f64 <= most_extra
            && self.untraced.is_empty()
            && self.outside_tolerance().next().is_none()
            && self.beyond_first_order_tolerance() <= self.most_beyond()
    }

    /// Coefficients outside [`TOLERANCE`]: those that not all paths of several interactions are inside.
    #[must_use]
    pub fn beyond_first_order_tolerance(&self) -> usize {
        // An error that is not a number is outside.
        let inside = |errors: &PathErrors| errors.coefficient <= TOLERANCE.coefficient;
        self.matched.iter().filter(|(_, errors)| !inside(errors)).count()
    }

    /// How many of them there may be; see [`MOST_BEYOND`].
    #[must_use]
    pub fn most_beyond(&self) -> usize {
        let expected = MOST_BEYOND * self.matched.len() as f64;
        if self.several { (expected + 3.0 * expected.sqrt()) as usize } else { 0 }
    }

    /// What errors are held to.
    #[must_use]
    pub fn tolerance(&self) -> &'static PathErrors {
        if self.several { &TOLERANCE_SEVERAL } else { &TOLERANCE }
    }

    /// The matched paths with an error outside tolerance.
    pub fn outside_tolerance(&self) -> impl Iterator<Item = &(PathName, PathErrors)> {
        self.matched.iter().filter(|(_, errors)| !errors.within(self.tolerance()))
    }

    /// The distribution of one kind of error, chosen by `pick`.
    pub fn summary(&self, pick: impl Fn(&PathErrors) -> f64) -> ErrorSummary {
        // total_cmp: an error that is not a number counts as the largest.
        let worst = self.matched.iter().max_by(|(_, a), (_, b)| pick(a).total_cmp(&pick(b)));
        let mut values: Vec<f64> = self.matched.iter().map(|(_, errors)| pick(errors)).collect();
        values.sort_by(f64::total_cmp);
        let median = match values.len() {
            0 => 0.0,
            n if n % 2 == 1 => values[n / 2],
            n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
        };
        ErrorSummary {
            max: worst.map_or(0.0, |(_, errors)| pick(errors)),
            median,
            p99: values.get((values.len() * 99).div_ceil(100).saturating_sub(1)).copied().unwrap_or(0.0),
            worst: worst.map(|(name, _)| name.clone()),
        }
    }

    /// Adds another export's outcome.
    pub fn merge(&mut self, other: Self) {
        self.cases += other.cases;
        self.paths += other.paths;
        self.unmatched.extend(other.unmatched, |name| name);
        self.several |= other.several;
        self.untraced.extend(other.untraced);
        self.matched.extend(other.matched);
    }
}
