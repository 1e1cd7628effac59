//! The dataset card: what is in the folder, for people and for Hugging Face.

use std::fmt::Write;

use arrow::datatypes::{DataType, Field, Fields};
use magnetar_files::{seal, unseal};
use magnetar_scene::AntennaPattern;

use crate::manifest::Manifest;
use crate::recipe::{BoardPlacement, Csi};

/// Name of the card in the dataset's folder: the one that Hugging Face and people look for.
pub(crate) const CARD: &str = "README.md";

/// The card as Markdown, with the YAML head that Hugging Face reads.
pub(crate) fn card(manifest: &Manifest) -> String {
    seal(&plain(manifest))
}

/// The card without its seal.
fn plain(manifest: &Manifest) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_card(&mut text, manifest);
    text
}

/// Whether a text is a whole card of this dataset, of this state or of an earlier one.
pub(crate) fn is_card_of(text: &str, manifest: &Manifest) -> bool {
    unseal(text).is_some_and(|text| text.contains(&origin(manifest)))
}

/// What the figures of an audit begin with; they are the last of a card.
const AUDIT_HEAD: &str = "\n## Audit\n\n";

/// The card with the figures of an audit (Markdown) at its end.
pub(crate) fn card_with_audit(manifest: &Manifest, figures: &str) -> String {
    seal(&format!("{}{AUDIT_HEAD}{figures}", plain(manifest)))
}

/// Whether a text is the whole card of this state of the dataset, with the figures of an audit or without.
pub(crate) fn is_present_card(text: &str, manifest: &Manifest) -> bool {
    let rest = unseal(text).and_then(|text| text.strip_prefix(&plain(manifest)));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(AUDIT_HEAD))
}

/// Which dataset this is.
fn origin(manifest: &Manifest) -> String {
    if let Some(measured) = &manifest.measured {
        return format!(
            "Measured data: campaign {:?}, imported by magnetar {} (schema {}); its files and their SHA-256 are in\n\
             `manifest.json` (recipe hash `{}`).",
            measured.campaign, manifest.version, manifest.schema_version, manifest.recipe_hash
        );
    }
    format!(
        "Simulated data. Made by magnetar {} (backend {}, schema {}) from seed {} and the recipe in `manifest.json`\n\
         (hash `{}`).",
        manifest.version, manifest.backend, manifest.schema_version, manifest.seed, manifest.recipe_hash
    )
}

fn write_card(text: &mut String, manifest: &Manifest) -> std::fmt::Result {
    let recipe = &manifest.recipe;
    // A name may hold anything; JSON's quotes are YAML's too.
    let title = serde_json::Value::from(format!("magnetar {}", recipe.name));
    writeln!(text, "---\npretty_name: {title}\ndataset_info:\n  features:")?;
    // Hugging Face's library does not know Arrow's tensor type; with the features spelt out it takes the list below it.
    write_features(text, manifest.shape().schema().fields(), "  ")?;
    writeln!(text, "configs:\n- config_name: default\n  data_files:")?;
    for name in manifest.splits.keys() {
        writeln!(text, "  - split: {name}\n    path: {name}/*.parquet")?;
    }
    writeln!(text, "---\n\n# magnetar dataset: {}\n\n{}\n", recipe.name, recipe.description)?;
    if let Some(stand_in) = &manifest.stand_in {
        writeln!(text, "> **{stand_in}.** Nothing in it was measured.\n")?;
    }
    let made = match &manifest.measured {
        None => "Every row is a function of recipe, seed, split and index alone; `magnetar verify` checks it.",
        Some(measured) if measured.truth => {
            "The columns `tx` and `los` are the poses that were reported; `paths`, `rf_chain` and `tx_power_offset_db` are \
             empty or zero: nobody knows them."
        }
        Some(_) => {
            "The TX's pose is unknown: the column `tx` is the room's centre and means nothing, as do `los`, `paths`, \
             `rf_chain` and `tx_power_offset_db`."
        }
    };
    writeln!(text, "{} {made}\n", origin(manifest))?;
    let antennas = &recipe.antennas;
    let mut patterns = vec![&antennas.tx_pattern, &antennas.rx_patterns[0], &antennas.rx_patterns[1]];
    patterns.sort_unstable();
    patterns.dedup();
    for name in patterns {
        let synthetic = AntennaPattern::load(name).is_ok_and(|pattern| pattern.info().synthetic);
        let kind = if synthetic { " **is synthetic**: it was made up, not measured" } else { "" };
        writeln!(text, "- Antenna pattern `{name}`{kind}.")?;
    }
    if manifest.measured.is_none() {
        writeln!(text, "- Rooms, materials, link scale, RF chain and noise are simulated as the recipe says.")?;
    }
    writeln!(text)?;
    writeln!(text, "## Splits\n\n| split | rows | of | rows of a set | shards |\n|---|---|---|---|---|")?;
    for (name, split) in &manifest.splits {
        let (present, shards) = (split.present_rows(), split.shards.len());
        writeln!(text, "| {name} | {present} | {} | {} | {shards} |", split.rows, split.views)?;
    }
    writeln!(
        text,
        "\nA set with a board is found by `board IS NOT NULL`. Units are SI, angles are radians. Global frame: z up,\n\
         headings counter-clockwise from +x. RX-local angles are zero at boresight and positive to the left.\n"
    )?;
    let placed = match recipe.board.placement {
        BoardPlacement::Link => {
            "Boards stand relative to the link (across, beside, behind), so layout and RX pose alone, without any radio, tell \
             something about the TX"
        }
        BoardPlacement::Free => "Boards stand anywhere, whatever the link",
    };
    let model = if recipe.model_error.is_off() {
        "The receiver's model is the one that made the rows: what a scorer reaches here is a ceiling"
    } else {
        "The receiver's model is wrong as `[model_error]` of the recipe says: use the `reported_*` columns as inputs, the others \
         as truth"
    };
    writeln!(text, "## Shortcuts\n\n{placed}. {model}. `magnetar audit` measures what a dataset gives away.\n")?;
    writeln!(text, "## Columns\n\n| column | type | unit | frame | meaning |\n|---|---|---|---|---|")?;
    for field in manifest.shape().schema().fields() {
        write_field(text, "", field)?;
    }
    if recipe.store.csi != Csi::None {
        writeln!(
            text,
            "\n`csi` is an `arrow.fixed_shape_tensor` of shape [{}, 2, 2]: bin, channel, (re, im). In numpy:\n\
             `table[\"csi\"].combine_chunks().to_numpy_ndarray().view(np.complex64)[..., 0]` for f32.",
            recipe.band.bins
        )?;
    }
    Ok(())
}

/// The columns in Hugging Face's own YAML.
fn write_features(text: &mut String, fields: &Fields, indent: &str) -> std::fmt::Result {
    let deeper = format!("{indent}  ");
    for field in fields {
        writeln!(text, "{indent}- name: {}", field.name())?;
        match field.data_type() {
            DataType::Struct(inner) => {
                writeln!(text, "{indent}  struct:")?;
                write_features(text, inner, &deeper)?;
            }
            DataType::List(item) => match item.data_type() {
                DataType::Struct(inner) => {
                    writeln!(text, "{indent}  list:")?;
                    write_features(text, inner, &deeper)?;
                }
                other => writeln!(text, "{indent}  list: {}", feature_type(other))?,
            },
            DataType::FixedSizeList(item, n) => {
                writeln!(text, "{indent}  list: {}\n{indent}  length: {n}", feature_type(item.data_type()))?;
            }
            other => writeln!(text, "{indent}  dtype: {}", feature_type(other))?,
        }
    }
    Ok(())
}

fn feature_type(data_type: &DataType) -> String {
    match data_type {
        DataType::Utf8 => "string".to_owned(),
        DataType::Boolean => "bool".to_owned(),
        other => other.to_string().to_lowercase(),
    }
}

fn write_field(text: &mut String, prefix: &str, field: &Field) -> std::fmt::Result {
    let name = format!("{prefix}{}", field.name());
    let about = |key: &str| field.metadata().get(key).map_or("", String::as_str);
    let (kind, inner) = match field.data_type() {
        DataType::Struct(fields) => ("struct".to_owned(), Some(fields)),
        DataType::List(item) => match item.data_type() {
            DataType::Struct(fields) => ("list of struct".to_owned(), Some(fields)),
            other => (format!("list of {other}"), None),
        },
        DataType::FixedSizeList(item, n) => (format!("{} x {n}", item.data_type()), None),
        other => (other.to_string(), None),
    };
    writeln!(text, "| `{name}` | {kind} | {} | {} | {} |", about("unit"), about("frame"), about("description"))?;
    for child in inner.into_iter().flatten() {
        write_field(text, &format!("{name}."), child)?;
    }
    Ok(())
}
