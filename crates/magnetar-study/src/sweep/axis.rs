//! An axis: which keys it changes, and to what.

use serde::{Deserialize, Serialize};
use toml::Value;

use super::design::MAX_POINTS;
use super::label::label;
use magnetar_dataset::Recipe;
use magnetar_dataset::recipe::{Key, KeyKind};

/// One axis of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Its name; its first key's if none was given.
    pub name: String,
    /// The recipe keys it changes, all alike; none for an axis of whole recipes.
    pub keys: Vec<String>,
    /// Whether a value multiplies the base recipe's values instead of replacing them.
    pub factor: bool,
    /// Unit of its values, empty where they have none.
    pub unit: String,
    /// Whether its range is logarithmic.
    pub log: bool,
    /// Whether its values are numbers.
    pub numeric: bool,
}

/// The value of an axis at a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// For people.
    pub label: String,
    /// The value, if it is a number.
    pub number: Option<f64>,
    /// Whether this is the base recipe's own value, which was left alone.
    pub base: bool,
}

/// An axis as a sweep file gives it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AxisFile {
    name: Option<String>,
    key: Option<String>,
    #[serde(default)]
    keys: Vec<String>,
    /// Shipped recipes that take the base recipe's place.
    recipes: Option<Vec<String>>,
    #[serde(default)]
    factor: bool,
    values: Option<Vec<Value>>,
    labels: Option<Vec<String>>,
    from: Option<f64>,
    to: Option<f64>,
    steps: Option<u64>,
    #[serde(default)]
    scale: Scale,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Scale {
    #[default]
    Linear,
    Log,
}

#[derive(Debug, Clone)]
enum Levels {
    List(Vec<(Value, String)>),
    /// Whole recipes by name.
    Recipes(Vec<(String, Recipe)>),
    Range {
        from: f64,
        to: f64,
        log: bool,
        whole: bool,
    },
}

/// A checked axis with its values.
#[derive(Debug, Clone)]
pub(super) struct CheckedAxis {
    pub axis: Axis,
    levels: Levels,
}

impl AxisFile {
    /// Checks what can be checked without a point: keys, lists and ranges.
    pub(super) fn check(&self, base: &Recipe) -> Result<CheckedAxis, String> {
        if let Some(recipes) = &self.recipes {
            return self.check_recipes(recipes);
        }
        let keys: Vec<String> = self.key.iter().chain(&self.keys).cloned().collect();
        let first = keys.first().ok_or("give key = \"...\" or keys = [...]")?;
        let name = self.name.clone().unwrap_or_else(|| first.clone());
        let fail = |problem: String| format!("axis {name:?}: {problem}");
        if name.trim().is_empty() {
            return Err(fail("the name is empty".into()));
        }
        let mut kinds = Vec::new();
        for path in &keys {
            let key = Key::find(path).ok_or_else(|| {
                let hint = Recipe::nearest_key(path).map_or_else(String::new, |k| format!("; did you mean {k}?"));
                fail(format!("unknown key {path}{hint} (magnetar recipe show lists all keys)"))
            })?;
            if !changes_rows(path) {
                return Err(fail(format!("{path} does not change a row; an axis needs a key that does")));
            }
            let value = base.get(path).ok_or_else(|| fail(format!("the base recipe has no {path}")))?;
            if self.factor && !matches!(key.kind, KeyKind::Float(..)) {
                return Err(fail(format!(
                    "factor = true needs keys that are numbers; {path} is {}",
                    key.expectation()
                )));
            }
            if self.factor && value.as_float().is_none_or(|v| v == 0.0) {
                return Err(fail(format!("factor = true multiplies {path}, which is 0 in the base recipe")));
            }
            kinds.push(key);
        }
        let whole =
            !self.factor && kinds.iter().any(|key| matches!(key.kind, KeyKind::Integer(..) | KeyKind::OneOf(_)));
        let numeric =
            kinds.iter().all(|key| matches!(key.kind, KeyKind::Float(..) | KeyKind::Integer(..) | KeyKind::OneOf(_)));
        let levels = self.levels(numeric, whole).map_err(fail)?;
        let unit = if self.factor { "times the base" } else { kinds[0].unit };
        Ok(CheckedAxis {
            axis: Axis {
                name,
                keys,
                factor: self.factor,
                unit: unit.to_owned(),
                log: self.scale == Scale::Log,
                numeric,
            },
            levels,
        })
    }

    /// An axis whose values are whole recipes: what their keys do together.
    fn check_recipes(&self, names: &[String]) -> Result<CheckedAxis, String> {
        let name = self.name.clone().unwrap_or_else(|| "recipe".to_owned());
        let fail = |problem: String| format!("axis {name:?}: {problem}");
        let alone = self.key.is_none()
            && self.keys.is_empty()
            && self.values.is_none()
            && self.labels.is_none()
            && (self.from, self.to, self.steps) == (None, None, None)
            && !self.factor;
        if !alone || names.is_empty() || name.trim().is_empty() {
            return Err(fail(
                "recipes = [...] needs at least one shipped recipe, and nothing but a name beside it".into(),
            ));
        }
        let mut recipes = Vec::new();
        for recipe in names {
            if !Recipe::shipped().any(|shipped| shipped == recipe) {
                let shipped: Vec<_> = Recipe::shipped().collect();
                return Err(fail(format!("{recipe:?} is no shipped recipe; there is {}", shipped.join(", "))));
            }
            if recipes.iter().any(|(known, _)| known == recipe) {
                return Err(fail(format!("the recipe {recipe:?} is given twice")));
            }
            recipes.push((recipe.clone(), Recipe::load(recipe, &[]).map_err(|e| fail(e.to_string()))?));
        }
        let (keys, unit) = (Vec::new(), String::new());
        let axis = Axis { name, keys, factor: false, unit, log: false, numeric: false };
        Ok(CheckedAxis { axis, levels: Levels::Recipes(recipes) })
    }

    fn levels(&self, numeric: bool, whole: bool) -> Result<Levels, String> {
        match (&self.values, self.from, self.to) {
            (Some(values), None, None) => {
                if self.steps.is_some() {
                    return Err("steps belongs to a range (from, to), not to a list of values".into());
                }
                if values.is_empty() {
                    return Err("values is empty; give at least one".into());
                }
                if values.len() as u64 > MAX_POINTS {
                    return Err(format!("{} values; at most {MAX_POINTS}", values.len()));
                }
                let labels = match &self.labels {
                    None => values.iter().map(label).collect(),
                    Some(labels) if labels.len() == values.len() => labels.clone(),
                    Some(labels) => return Err(format!("{} labels for {} values", labels.len(), values.len())),
                };
                if numeric && values.iter().any(|value| number(value).is_none()) {
                    return Err("expected numbers for this key".into());
                }
                if let Some(twice) = values.iter().enumerate().find(|(i, value)| values[..*i].contains(value)) {
                    return Err(format!("the value {} is given twice", label(twice.1)));
                }
                let labels: Vec<String> = labels;
                let same = |(i, label): &(usize, &String)| self.labels.is_some() && labels[..*i].contains(label);
                if let Some((_, twice)) = labels.iter().enumerate().find(same) {
                    return Err(format!("the label {twice:?} is given twice"));
                }
                if self.scale == Scale::Log && !values.iter().all(|v| number(v).is_some_and(|x| x > 0.0)) {
                    return Err("scale = \"log\" needs numbers above 0".into());
                }
                Ok(Levels::List(values.iter().cloned().zip(labels).collect()))
            }
            (None, Some(from), Some(to)) => {
                if self.labels.is_some() {
                    return Err("labels belongs to a list of values, not to a range".into());
                }
                if !numeric {
                    return Err("a range needs a key that is a number; give values = [...]".into());
                }
                let log = self.scale == Scale::Log;
                if !(from.is_finite() && to.is_finite() && from < to) {
                    return Err(format!("from = {from} must be below to = {to}, both finite"));
                }
                if log && from <= 0.0 {
                    return Err(format!("a log range must begin above 0, not at {from}"));
                }
                match self.steps {
                    None => Ok(Levels::Range { from, to, log, whole }),
                    Some(steps @ 2..=MAX_POINTS) => Ok(Levels::List(range(from, to, log, whole, steps))),
                    Some(steps) => Err(format!("steps = {steps}; expected 2 to {MAX_POINTS}")),
                }
            }
            _ => Err("give either values = [...], or from and to (with steps, scale)".into()),
        }
    }
}

/// Evenly spaced values, both ends included; whole numbers once each.
#[allow(clippy::cast_precision_loss, reason = "at most MAX_POINTS steps")]
fn range(from: f64, to: f64, log: bool, whole: bool, steps: u64) -> Vec<(Value, String)> {
    let mut values: Vec<Value> =
        (0..steps).map(|i| between(from, to, log, whole, i as f64 / (steps - 1) as f64)).collect();
    values.dedup();
    values.into_iter().map(|value| (value.clone(), label(&value))).collect()
}

#[allow(clippy::cast_possible_truncation, reason = "a key's range is checked when the value is set")]
fn between(from: f64, to: f64, log: bool, whole: bool, t: f64) -> Value {
    let value = match (log, t) {
        // The ends are exact.
        (_, 0.0) => from,
        (_, 1.0) => to,
        (true, t) => libm::exp(libm::log(from) + t * (libm::log(to) - libm::log(from))),
        (false, t) => from + t * (to - from),
    };
    if whole { Value::Integer(value.round() as i64) } else { Value::Float(value) }
}

impl CheckedAxis {
    /// The values of a list; `None` for a continuous range.
    pub(super) fn count(&self) -> Option<usize> {
        match &self.levels {
            Levels::List(values) => Some(values.len()),
            Levels::Recipes(recipes) => Some(recipes.len()),
            Levels::Range { .. } => None,
        }
    }

    /// Whether its values are whole recipes, which take the place of all keys.
    pub(super) fn is_of_recipes(&self) -> bool {
        matches!(self.levels, Levels::Recipes(_))
    }

    /// The value at a place of a list.
    pub(super) fn level(&self, index: usize) -> Option<(Value, Setting)> {
        match &self.levels {
            Levels::List(values) => values.get(index).map(|(value, label)| (value.clone(), setting(value, label))),
            Levels::Recipes(recipes) => recipes.get(index).map(|(name, _)| {
                let value = Value::String(name.clone());
                (value.clone(), setting(&value, name))
            }),
            Levels::Range { .. } => None,
        }
    }

    /// The value at a coordinate in [0, 1).
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a coordinate below 1 times a list's length"
    )]
    pub(super) fn at(&self, u: f64) -> Option<(Value, Setting)> {
        match &self.levels {
            Levels::List(_) | Levels::Recipes(_) => {
                let count = self.count().unwrap_or(1);
                self.level(((u * count as f64) as usize).min(count - 1))
            }
            Levels::Range { from, to, log, whole } => {
                let value = between(*from, *to, *log, *whole, u);
                let shown = setting(&value, &label(&value));
                Some((value, shown))
            }
        }
    }

    /// Changes a recipe to a value.
    pub(super) fn apply(&self, recipe: &mut Recipe, base: &Recipe, value: &Value) -> Result<(), String> {
        if let Levels::Recipes(recipes) = &self.levels {
            if let Some((_, whole)) = recipes.iter().find(|(name, _)| value.as_str() == Some(name)) {
                *recipe = whole.clone();
            }
            return Ok(());
        }
        for key in &self.axis.keys {
            let value = match (self.axis.factor, number(value), base.get(key).as_ref().and_then(number)) {
                (true, Some(factor), Some(of)) => Value::Float(factor * of),
                _ => value.clone(),
            };
            recipe.set(key, &value).map_err(|e| format!("axis {:?}: {e}", self.axis.name))?;
        }
        Ok(())
    }

    /// The base recipe's own value, for the points that leave the axis alone.
    pub(super) fn base(&self, base: &Recipe) -> Setting {
        if self.is_of_recipes() {
            return Setting { label: base.name.clone(), number: None, base: true };
        }
        if self.axis.factor {
            return Setting { label: "1".into(), number: Some(1.0), base: true };
        }
        let mut values: Vec<Value> = self.axis.keys.iter().filter_map(|key| base.get(key)).collect();
        values.dedup();
        let shown = values.iter().map(label).collect::<Vec<_>>().join(", ");
        // Keys that differ in the base recipe, such as a least and a greatest width, have no one number.
        let number = if let [value] = &values[..] { number(value) } else { None };
        Setting { label: shown, number, base: true }
    }
}

fn setting(value: &Value, label: &str) -> Setting {
    Setting { label: label.to_owned(), number: number(value), base: false }
}

#[allow(clippy::cast_precision_loss, reason = "whole numbers in recipes are far below 2^53")]
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Float(x) => Some(*x),
        Value::Integer(x) => Some(*x as f64),
        _ => None,
    }
}

/// Whether a key is part of what a row depends on: a recipe's hash leaves the others out.
fn changes_rows(key: &str) -> bool {
    !matches!(key, "name" | "description") && !key.starts_with("store.")
}
