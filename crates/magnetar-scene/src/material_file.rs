//! Material files: TOML with a `[material.NAME]` table for each material.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::error::{Place, SceneError};
use crate::material::{Material, MaterialRange};
use crate::text;

/// Far above what any table needs.
pub(crate) const MAX_MATERIAL_FILE_BYTES: u64 = 4 << 20;

const MAX_RANGES: usize = 1000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    material: BTreeMap<String, Spanned<RawMaterial>>,
}

/// A `[material.NAME]` table, in a material file or in a scene.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawMaterial {
    #[serde(default)]
    source: String,
    ranges: Option<Vec<Spanned<RawRange>>>,
    eps_r: Option<Spanned<f64>>,
    sigma: Option<Spanned<f64>>,
    min_ghz: Option<f64>,
    max_ghz: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRange {
    min_ghz: f64,
    max_ghz: f64,
    a: f64,
    b: f64,
    c: f64,
    d: f64,
}

/// Parses the text of a material file.
pub(crate) fn parse(text: &str, origin: &str) -> Result<Vec<Material>, SceneError> {
    let raw: RawFile = text::parse_toml(text, origin)?;
    raw.material.into_iter().map(|(name, material)| check(&name, material, text, origin)).collect()
}

/// Checks one table of the TOML document `text`.
pub(crate) fn check(name: &str, raw: Spanned<RawMaterial>, text: &str, origin: &str) -> Result<Material, SceneError> {
    let span = raw.span();
    let place = |start: usize| {
        let line = text::line_at(text.as_bytes(), start);
        Place::new(origin).at_line(line).at_key(format!("material.{}", text::excerpt(name)))
    };
    if !text::is_name(name) {
        return Err(SceneError::malformed(place(span.start), "bad material name", "letters, digits, `_`, `-` or `.`"));
    }
    let raw = raw.into_inner();
    let ranges = match (raw.ranges, raw.eps_r, raw.sigma) {
        (Some(ranges), None, None) if raw.min_ghz.is_none() && raw.max_ghz.is_none() => {
            if ranges.is_empty() || ranges.len() > MAX_RANGES {
                let problem = format!("{} ranges", ranges.len());
                return Err(SceneError::malformed(place(span.start), problem, format!("1 to {MAX_RANGES} ranges")));
            }
            let checked = ranges.into_iter().map(|range| {
                let start = range.span().start;
                let r = range.into_inner();
                let laws =
                    MaterialRange { min_hz: ghz(r.min_ghz), max_hz: ghz(r.max_ghz), a: r.a, b: r.b, c: r.c, d: r.d };
                laws.check().map_err(|(problem, expected)| SceneError::malformed(place(start), problem, expected))
            });
            checked.collect::<Result<Vec<_>, _>>()?
        }
        (None, Some(eps_r), Some(sigma)) => {
            let start = eps_r.span().start;
            let (min_hz, max_hz) = (raw.min_ghz.map_or(0.0, ghz), raw.max_ghz.map_or(f64::INFINITY, ghz));
            let laws = MaterialRange { min_hz, max_hz, a: eps_r.into_inner(), b: 0.0, c: sigma.into_inner(), d: 0.0 };
            vec![laws.check().map_err(|(problem, expected)| SceneError::malformed(place(start), problem, expected))?]
        }
        _ => {
            let expected = "either `ranges`, or `eps_r` and `sigma` with optional `min_ghz`, `max_ghz`";
            return Err(SceneError::malformed(
                place(span.start),
                "neither a table material nor a measured one",
                expected,
            ));
        }
    };
    Ok(Material { name: name.to_owned(), source: raw.source, ranges })
}

fn ghz(value: f64) -> f64 {
    value * 1e9
}

impl MaterialRange {
    /// Itself if it makes sense; otherwise what is wrong and what was expected.
    pub(crate) fn check(self) -> Result<Self, (String, &'static str)> {
        if !(self.min_hz >= 0.0 && self.min_hz.is_finite() && self.min_hz <= self.max_hz && self.max_hz > 0.0) {
            let problem = format!("range {} to {} GHz", self.min_hz / 1e9, self.max_hz / 1e9);
            return Err((problem, "0 <= min_ghz <= max_ghz"));
        }
        if !(self.a > 0.0 && self.a.is_finite()) {
            return Err((format!("permittivity {}", self.a), "a positive finite number"));
        }
        if !(self.c >= 0.0 && self.c.is_finite()) {
            return Err((format!("conductivity {} S/m", self.c), "a finite number, zero or more"));
        }
        if !(self.b.is_finite() && self.d.is_finite()) {
            return Err((format!("exponents {} and {}", self.b, self.d), "finite numbers"));
        }
        Ok(self)
    }
}
