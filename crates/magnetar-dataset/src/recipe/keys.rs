//! What a recipe key is: type, range, unit, meaning, and whose number it is.

use super::table::KEYS;

/// Whose number a recipe's value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Stated in the paper.
    Paper,
    /// Decided here, because the paper is silent.
    Ours,
}

impl Origin {
    /// `paper` or `ours`.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Ours => "ours",
        }
    }
}

/// The type and the range of a key's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KeyKind {
    /// A finite number within these bounds, both included.
    Float(f64, f64),
    /// A whole number within these bounds, both included.
    Integer(i64, i64),
    /// One of these whole numbers, in ascending order.
    OneOf(&'static [usize]),
    /// `true` or `false`.
    Bool,
    /// Any text of at most 4,096 bytes.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// This many words at least and at most.
    Texts(usize, usize),
    /// At most `MAX_LIST` whole numbers within these bounds, both included.
    Integers(i64, i64),
    /// One to `MAX_LIST` numbers within these bounds, both included.
    Floats(f64, f64),
    /// One to `MAX_LIST` tables of `wall`, `ceiling` and `floor`.
    Assignments,
}

/// The longest list a recipe may hold.
pub const MAX_LIST: usize = 64;

/// The most rows (or sets) of one kind a split may ask for: more than any disk holds.
pub const MAX_COUNT: i64 = 1_000_000_000;

/// One key of a recipe.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    /// Its dotted path; `*` stands for a split's name.
    pub path: &'static str,
    /// Its type and range.
    pub kind: KeyKind,
    /// Unit of the value, empty where it has none.
    pub unit: &'static str,
    /// Whose number the shipped value is.
    pub origin: Origin,
    /// What it means.
    pub meaning: &'static str,
}

impl Key {
    /// The lowest and highest value, for a numeric key.
    #[must_use]
    pub fn range(&self) -> Option<(f64, f64)> {
        match self.kind {
            KeyKind::Float(min, max) | KeyKind::Floats(min, max) => Some((min, max)),
            #[allow(clippy::cast_precision_loss, reason = "the bounds are far below 2^53")]
            KeyKind::Integer(min, max) | KeyKind::Integers(min, max) => Some((min as f64, max as f64)),
            #[allow(clippy::cast_precision_loss, reason = "the numbers are far below 2^53")]
            KeyKind::OneOf(numbers) => Some((*numbers.first()? as f64, *numbers.last()? as f64)),
            _ => None,
        }
    }

    /// Looks a concrete path up, such as `splits.train.board`.
    #[must_use]
    pub fn find(path: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.path == path).or_else(|| {
            let (name, rest) = path.strip_prefix("splits.")?.split_once('.')?;
            if !is_split_name(name) {
                return None;
            }
            KEYS.iter().find(|key| key.path.strip_prefix("splits.*.") == Some(rest))
        })
    }

    /// What a value must be, for messages: `a number from 0 to 1`.
    #[must_use]
    pub fn expectation(&self) -> String {
        match self.kind {
            KeyKind::Float(min, max) => format!("a number from {min} to {max}{}", self.in_unit()),
            KeyKind::Integer(min, max) => format!("a whole number from {min} to {max}{}", self.in_unit()),
            KeyKind::OneOf(numbers) => {
                let numbers: Vec<_> = numbers.iter().map(usize::to_string).collect();
                format!("one of {}", numbers.join(", "))
            }
            KeyKind::Bool => "true or false".into(),
            KeyKind::Text => "a text of at most 4096 bytes".into(),
            KeyKind::Choice(words) => format!("one of {}", words.join(", ")),
            KeyKind::Texts(min, max) if min == max => format!("a list of {min} texts"),
            KeyKind::Texts(min, max) => format!("a list of {min} to {max} texts"),
            KeyKind::Integers(min, max) => format!("a list of up to {MAX_LIST} whole numbers from {min} to {max}"),
            KeyKind::Floats(min, max) => {
                format!("a list of 1 to {MAX_LIST} numbers from {min} to {max}{}", self.in_unit())
            }
            KeyKind::Assignments => {
                format!(
                    "a list of 1 to {MAX_LIST} tables {{ wall = \"..\", ceiling = \"..\", floor = \"..\" }} of material names"
                )
            }
        }
    }

    fn in_unit(&self) -> String {
        if self.unit.is_empty() { String::new() } else { format!(" ({})", self.unit) }
    }
}

/// Whether a split may have this name: it becomes a folder.
#[must_use]
pub fn is_split_name(name: &str) -> bool {
    (1..=32).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-')
        && name.as_bytes()[0].is_ascii_lowercase()
}
