//! The files of the top-level folders, embedded so that the binary runs from anywhere.

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
