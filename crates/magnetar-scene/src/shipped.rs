//! The files of the top-level folders, embedded so that the binary runs from anywhere.

use std::path::Path;

use crate::{SceneError, text};

/// Name and text of each shipped material file.
pub(crate) const MATERIALS: &[(&str, &str)] =
    &[("materials/itu_p2040.toml", include_str!("../materials/itu_p2040.toml"))];

/// Name and text of each shipped scene.
pub(crate) const SCENES: &[(&str, &str)] = &[
    ("lab", include_str!("../scenes/lab.toml")),
    ("lab_left", include_str!("../scenes/lab_left.toml")),
    ("lab_middle", include_str!("../scenes/lab_middle.toml")),
    ("lab_right", include_str!("../scenes/lab_right.toml")),
];

/// Name and text of each shipped antenna pattern.
pub(crate) const PATTERNS: &[(&str, &str)] = &[
    ("isotropic", include_str!("../antenna_patterns/isotropic.csv")),
    ("synthetic_vivaldi", include_str!("../antenna_patterns/synthetic_vivaldi.csv")),
];

/// What a name or a path stands for.
pub(crate) enum Named<'a> {
    /// The name and the text of a shipped file.
    Shipped(&'static str, &'static str),
    /// A file of the user's.
    File(&'a Path),
}

/// Looks among shipped files of a kind first, then takes the text for a path.
///
/// # Errors
/// If it is neither a shipped name nor anything like a path.
pub(crate) fn find<'a>(
    files: &'static [(&str, &str)],
    kind: &'static str,
    name_or_path: &'a str,
) -> Result<Named<'a>, SceneError> {
    if let Some((name, text)) = files.iter().find(|(name, _)| *name == name_or_path) {
        return Ok(Named::Shipped(name, text));
    }
    let path = Path::new(name_or_path);
    if !path.exists() && path.components().count() <= 1 && path.extension().is_none() {
        let known = files.iter().map(|(name, _)| (*name).to_owned()).collect();
        return Err(SceneError::UnknownName { kind, name: text::excerpt(name_or_path), known });
    }
    Ok(Named::File(path))
}
