//! From files and settings to a checked recipe.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use toml::Value;
use toml::de::{DeTable, DeValue};

use super::files::{FILE_KEYS, beside};
use super::keys::Key;
use super::scene::{self, SCENE, SCENE_TEXT};
use super::text::{convert, line_of, plain};
use super::{Recipe, RecipeError, RecipeProblem};

const PAPER: &str = include_str!("../../recipes/paper.toml");
const FIELD: &str = include_str!("../../recipes/field.toml");
const REPLAY: &str = include_str!("../../recipes/replay.toml");
const REPLAY_TRAIN: &str = include_str!("../../recipes/replay-train.toml");

/// The shipped recipes: name and text.
pub(super) const SHIPPED: &[(&str, &str)] =
    &[("paper", PAPER), ("field", FIELD), ("replay", REPLAY), ("replay-train", REPLAY_TRAIN)];

/// The shipped recipes as tables, once they were asked for: a sweep asks for every point.
static TABLES: [OnceLock<toml::Table>; SHIPPED.len()] = [const { OnceLock::new() }; SHIPPED.len()];

/// A recipe file larger than this is a mistake.
const MAX_BYTES: u64 = 1 << 20;

/// How many recipes may extend one another.
const MAX_DEPTH: usize = 8;

impl Recipe {
    /// The paper's recipe, as shipped.
    #[must_use]
    pub fn paper() -> Self {
        Self::load("paper", &[]).expect("the shipped recipe is checked by a test")
    }

    /// The names of the shipped recipes.
    pub fn shipped() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|(name, _)| *name)
    }

    /// Loads a shipped recipe by name or a file by path, applies `key.path=value` changes in order (values in TOML's
    /// syntax) and checks the result.
    ///
    /// # Errors
    /// Any unknown key, wrong type, value out of range or impossible combination, with file, line and expectation.
    pub fn load(name_or_path: &str, sets: &[String]) -> Result<Self, RecipeError> {
        let mut table = load_table(name_or_path, None, 0)?;
        for set in sets {
            apply_set(&mut table, set)?;
        }
        let mut recipe = from_table(table, name_or_path)?;
        recipe.check().map_err(|e| e.at(name_or_path))?;
        recipe.hash_files()?;
        Ok(recipe)
    }

    /// Changes one key, in TOML's types. Call [`Recipe::check`] when all changes are made: ranges of single values
    /// are checked here, combinations there.
    ///
    /// # Errors
    /// An unknown key, a wrong type or a value out of the key's range.
    pub fn set(&mut self, path: &str, value: &Value) -> Result<(), RecipeError> {
        let place = format!("key {path}");
        let key = Key::find(path).ok_or_else(|| unknown(&place, path))?;
        let value = convert(key, value)
            .ok_or_else(|| RecipeError::new(&place, format!("{value} is not {}", key.expectation())))?;
        let mut table = self.to_table();
        put(&mut table, path, value, &place)?;
        let mut changed = from_table(table, &place)?;
        if FILE_KEYS.contains(&path) {
            changed.hash_files()?;
        }
        *self = changed;
        Ok(())
    }

    /// The value at a path, in TOML's types.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<Value> {
        let mut value = Value::Table(self.to_table());
        for part in path.split('.') {
            value = value.as_table_mut()?.remove(part)?;
        }
        Some(value)
    }

    /// The whole recipe as a TOML table, with the keys that are not written while they have their default.
    pub(super) fn to_table(&self) -> toml::Table {
        const PLAIN: &str = "a recipe is plain data with text keys";
        let mut table = toml::Table::try_from(self).expect(PLAIN);
        let model_error = Value::try_from(self.model_error).expect(PLAIN);
        let outing = Value::try_from(self.outing).expect(PLAIN);
        table.insert("model_error".into(), model_error);
        table.insert("outing".into(), outing);
        table.insert("mounting".into(), Value::try_from(self.mounting).expect(PLAIN));
        table.insert("reflection".into(), Value::try_from(self.reflection).expect(PLAIN));
        table.insert("propagation".into(), Value::try_from(self.propagation).expect(PLAIN));
        if let Some(board) = table.get_mut("board").and_then(Value::as_table_mut) {
            board.insert("placement".into(), Value::try_from(self.board.placement).expect(PLAIN));
        }
        if let Some(Value::Table(sre)) = table.get_mut("sre") {
            sre.entry("excluded_bins").or_insert_with(|| Value::Array(Vec::new()));
        }
        insert(&mut table, "surfaces.scene_materials", Value::Boolean(self.surfaces.scene_materials));
        table
    }

    /// Every value against its key's range.
    pub(super) fn check_ranges(&self) -> Result<(), RecipeError> {
        let place = format!("recipe {:?}", self.name);
        // TOML has no whole numbers above i64; neither has any key of a recipe.
        let table = toml::Table::try_from(self);
        let mut table = table.map_err(|e| RecipeError::new(&place, format!("a number is out of range: {e}")))?;
        table.remove("files");
        table.remove(SCENE_TEXT);
        check_values("", &table, &place)
    }

    /// A recipe stored by us, such as in a manifest, checked like any other.
    ///
    /// # Errors
    /// As [`Recipe::load`].
    pub fn from_json(json: &str, place: &str) -> Result<Self, RecipeError> {
        let recipe: Self = serde_json::from_str(json).map_err(|e| RecipeError::new(place, e))?;
        recipe.check().map_err(|e| e.at(place))?;
        Ok(recipe)
    }
}

/// Every value of a tree against its key's range.
fn check_values(prefix: &str, table: &toml::Table, place: &str) -> Result<(), RecipeError> {
    for (name, value) in table {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match (Key::find(&path), value) {
            (Some(key), value) if convert(key, value).is_none() => {
                return Err(RecipeError::new(place, format!("{path} = {value} is not {}", key.expectation())));
            }
            (Some(_), _) => {}
            (None, Value::Table(inner)) => check_values(&path, inner, place)?,
            (None, _) => return Err(unknown(place, &path)),
        }
    }
    Ok(())
}

fn from_table(table: toml::Table, place: &str) -> Result<Recipe, RecipeError> {
    Recipe::try_from_table(table)
        .map_err(|message| RecipeError::new(place, format!("{message}; extend a whole recipe: extends = \"paper\"")))
}

impl Recipe {
    fn try_from_table(table: toml::Table) -> Result<Self, String> {
        Value::Table(table).try_into().map_err(|e: toml::de::Error| e.message().to_owned())
    }
}

fn apply_set(table: &mut toml::Table, set: &str) -> Result<(), RecipeError> {
    let place = format!("setting {set:?}");
    let (path, text) = set
        .split_once('=')
        .ok_or_else(|| RecipeError::new(&place, "expected key.path=value, such as link.reference_snr_db=40"))?;
    let (path, text) = (path.trim(), text.trim());
    let key = Key::find(path).ok_or_else(|| unknown(&place, path))?;
    // A bare word is taken as text, so that the shell need not be fought over quotes.
    let quoted = format!("{text:?}");
    let parsed = |text: &str| convert(key, &plain(DeValue::parse(text).ok()?.get_ref())?);
    let value = parsed(text)
        .or_else(|| parsed(&quoted))
        .ok_or_else(|| RecipeError::new(&place, format!("{text} is not {}", key.expectation())))?;
    put(table, path, value, &place)
}

/// Sets a key, and with a scene what the scene decides.
fn put(table: &mut toml::Table, path: &str, value: Value, place: &str) -> Result<(), RecipeError> {
    match (path, &value) {
        (SCENE, Value::String(name)) => scene::apply(table, name, None, place),
        _ => {
            insert(table, path, value);
            Ok(())
        }
    }
}

fn insert(table: &mut toml::Table, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            table.insert(path.to_owned(), value);
        }
        Some((head, rest)) => {
            let entry = table.entry(head).or_insert_with(|| Value::Table(toml::Table::new()));
            if let Some(inner) = entry.as_table_mut() {
                insert(inner, rest, value);
            }
        }
    }
}

fn load_table(name: &str, beside: Option<&Path>, depth: usize) -> Result<toml::Table, RecipeError> {
    if depth >= MAX_DEPTH {
        return Err(RecipeError::new(name, format!("recipes extend one another more than {MAX_DEPTH} deep")));
    }
    if let Some((table, (_, text))) = TABLES.iter().zip(SHIPPED).find(|(_, (shipped, _))| *shipped == name) {
        return match table.get() {
            Some(table) => Ok(table.clone()),
            None => parse(text, name, None, 0).map(|parsed| table.get_or_init(|| parsed).clone()),
        };
    }
    let path = beside.map_or_else(|| PathBuf::from(name), |folder| folder.join(name));
    let place = path.display().to_string();
    let text = magnetar_files::read_text(&path, MAX_BYTES).map_err(|source| {
        let shipped: Vec<_> = Recipe::shipped().collect();
        let instead = format!("a recipe file, or a shipped recipe: {}", shipped.join(", "));
        RecipeError::new(&place, RecipeProblem::File { source, instead })
    })?;
    parse(&text, &place, path.parent(), depth)
}

fn parse(text: &str, place: &str, folder: Option<&Path>, depth: usize) -> Result<toml::Table, RecipeError> {
    let document = DeTable::parse(text).map_err(|e| {
        let line = e.span().map_or(1, |span| line_of(text, span.start));
        RecipeError::new(format!("{place}:{line}"), e.message())
    })?;
    let document = document.get_ref();
    let mut table = match document.get("extends") {
        None => toml::Table::new(),
        Some(base) => match base.get_ref() {
            DeValue::String(name) => load_table(name, folder, depth + 1)?,
            _ => {
                let line = line_of(text, base.span().start);
                return Err(RecipeError::new(format!("{place}:{line}"), "extends: expected the name of a recipe"));
            }
        },
    };
    if let Some(inherit) = document.get("inherit_splits") {
        match inherit.get_ref() {
            DeValue::Boolean(true) => {}
            DeValue::Boolean(false) => {
                table.remove("splits");
            }
            _ => {
                let line = line_of(text, inherit.span().start);
                return Err(RecipeError::new(format!("{place}:{line}"), "inherit_splits: expected true or false"));
            }
        }
    }
    if let Some(named) = document.get(SCENE) {
        let at = format!("{place}:{}", line_of(text, named.span().start));
        let name =
            named.get_ref().as_str().ok_or_else(|| RecipeError::new(&at, "scene: expected a scene's name or file"))?;
        scene::apply(&mut table, name, folder, &at)?;
    }
    merge(&mut table, document, "", &Source { text, place, folder })?;
    Ok(table)
}

/// The file a table came from.
struct Source<'a> {
    text: &'a str,
    place: &'a str,
    folder: Option<&'a Path>,
}

impl Source<'_> {
    fn at(&self, span: &std::ops::Range<usize>) -> String {
        format!("{}:{}", self.place, line_of(self.text, span.start))
    }
}

/// Puts a parsed file over a tree, key by key, checking each.
fn merge(
    table: &mut toml::Table,
    document: &DeTable<'_>,
    prefix: &str,
    source: &Source<'_>,
) -> Result<(), RecipeError> {
    for (name, value) in document {
        let path = if prefix.is_empty() { name.get_ref().to_string() } else { format!("{prefix}.{}", name.get_ref()) };
        if path == "extends" || path == "inherit_splits" || path == SCENE {
            continue;
        }
        let at = || source.at(&name.span());
        if let Some(key) = Key::find(&path) {
            let mut value = plain(value.get_ref()).and_then(|value| convert(key, &value)).ok_or_else(|| {
                let found: String = source.text[value.span()].chars().take(80).collect();
                RecipeError::new(at(), format!("{path} = {found} is not {}", key.expectation()))
            })?;
            if let Some(folder) = source.folder.filter(|_| FILE_KEYS.contains(&path.as_str())) {
                resolve(&mut value, folder);
            }
            table.insert(name.get_ref().to_string(), value);
        } else if let (DeValue::Table(inner), true) = (value.get_ref(), Recipe::is_section(&path)) {
            let entry = table.entry(name.get_ref().to_string()).or_insert_with(|| Value::Table(toml::Table::new()));
            if let Some(entry) = entry.as_table_mut() {
                merge(entry, inner, &path, source)?;
            }
        } else {
            return Err(unknown(&at(), &path));
        }
    }
    Ok(())
}

/// Makes file names relative to the recipe's folder.
fn resolve(value: &mut Value, folder: &Path) {
    match value {
        Value::String(name) => *name = beside(folder, name),
        Value::Array(items) => items.iter_mut().for_each(|item| resolve(item, folder)),
        _ => {}
    }
}

impl Recipe {
    /// The known key most like a mistyped one, if any is near.
    #[must_use]
    pub fn nearest_key(path: &str) -> Option<String> {
        super::text::nearest(path)
    }
}

/// An unknown key, with the known one that looks most like it.
fn unknown(place: &str, path: &str) -> RecipeError {
    let shown: String = path.chars().take(80).collect();
    let hint = super::text::nearest(path).map_or_else(String::new, |near| format!("; did you mean {near}?"));
    RecipeError::new(place, format!("unknown key {shown}{hint}"))
}
