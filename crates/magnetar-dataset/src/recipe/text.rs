//! Small helpers on TOML text: lines, conversion to a key's type, similar names.

use toml::Value;
use toml::de::DeValue;

use super::Recipe;
use super::keys::{Key, KeyKind, MAX_LIST, is_split_name};
use super::table::KEYS;

/// The line (from 1) a byte offset lies on.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|b| *b == b'\n').count() + 1
}

impl Recipe {
    /// Whether a dotted path is a table that holds keys.
    pub(super) fn is_section(path: &str) -> bool {
        if let Some(name) = path.strip_prefix("splits.") {
            return is_split_name(name);
        }
        KEYS.iter().any(|key| key.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
    }
}

/// A value in its key's type, or `None` if it has another type or is out of range.
pub(super) fn convert(key: &Key, value: &Value) -> Option<Value> {
    match key.kind {
        KeyKind::Float(min, max) => number(value, min, max).map(Value::Float),
        KeyKind::Integer(min, max) => value.as_integer().filter(|v| (min..=max).contains(v)).map(Value::Integer),
        KeyKind::OneOf(numbers) => {
            let known = |v: &i64| usize::try_from(*v).is_ok_and(|v| numbers.contains(&v));
            value.as_integer().filter(known).map(Value::Integer)
        }
        KeyKind::Bool => value.as_bool().map(Value::Boolean),
        KeyKind::Text => short_text(value),
        KeyKind::Choice(words) => value.as_str().filter(|s| words.contains(s)).map(|s| Value::String(s.into())),
        KeyKind::Texts(min, max) => list(value, min, max, short_text),
        KeyKind::Integers(min, max) => {
            list(value, 0, MAX_LIST, |item| item.as_integer().filter(|v| (min..=max).contains(v)).map(Value::Integer))
        }
        KeyKind::Floats(min, max) => list(value, 1, MAX_LIST, |item| number(item, min, max).map(Value::Float)),
        KeyKind::Assignments => list(value, 1, MAX_LIST, assignment),
    }
}

/// A parsed value without its place in the text; `None` for a number that is out of range.
pub(super) fn plain(value: &DeValue<'_>) -> Option<Value> {
    Some(match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => Value::Integer(i64::from_str_radix(number.as_str(), number.radix()).ok()?),
        DeValue::Float(number) => Value::Float(number.as_str().parse().ok()?),
        DeValue::Boolean(value) => Value::Boolean(*value),
        DeValue::Datetime(time) => Value::Datetime(*time),
        DeValue::Array(items) => Value::Array(items.iter().map(|item| plain(item.get_ref())).collect::<Option<_>>()?),
        DeValue::Table(entries) => Value::Table(
            entries
                .iter()
                .map(|(name, value)| Some((name.get_ref().to_string(), plain(value.get_ref())?)))
                .collect::<Option<_>>()?,
        ),
    })
}

fn list(value: &Value, min: usize, max: usize, item: impl Fn(&Value) -> Option<Value>) -> Option<Value> {
    let items = value.as_array()?;
    if !(min..=max).contains(&items.len()) {
        return None;
    }
    items.iter().map(item).collect::<Option<Vec<_>>>().map(Value::Array)
}

fn assignment(value: &Value) -> Option<Value> {
    let table = value.as_table()?;
    let mut out = toml::Table::new();
    for name in ["wall", "ceiling", "floor"] {
        out.insert(name.into(), short_text(table.get(name)?)?);
    }
    (table.len() == out.len()).then_some(Value::Table(out))
}

fn short_text(value: &Value) -> Option<Value> {
    value.as_str().filter(|s| s.len() <= 4096).map(|s| Value::String(s.into()))
}

fn number(value: &Value, min: f64, max: f64) -> Option<f64> {
    let number = match *value {
        Value::Float(float) => float,
        #[allow(clippy::cast_precision_loss, reason = "whole numbers in recipes are far below 2^53")]
        Value::Integer(integer) => integer as f64,
        _ => return None,
    };
    // A negative zero would change the hash but nothing else.
    (number.is_finite() && number >= min && number <= max).then_some(number + 0.0)
}

/// The known key most like a mistyped one, if any is near.
pub(super) fn nearest(path: &str) -> Option<String> {
    if path.len() > 80 {
        return None;
    }
    let split = path.strip_prefix("splits.").and_then(|rest| rest.split_once('.')).map(|(name, _)| name);
    KEYS.iter()
        .map(|key| match split {
            Some(name) => key.path.replace('*', name),
            None => key.path.to_owned(),
        })
        .map(|known| (edit_distance(path, &known), known))
        .min()
        .filter(|(distance, known)| *distance * 3 <= known.len())
        .map(|(_, known)| known)
}

fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
