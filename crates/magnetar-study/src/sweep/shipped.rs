//! The sweeps that come with the binary.

/// Name and text of each shipped sweep.
pub const SHIPPED: &[(&str, &str)] = &[
    ("materials", include_str!("../../sweeps/materials.toml")),
    ("rf_chain", include_str!("../../sweeps/rf_chain.toml")),
    ("board", include_str!("../../sweeps/board.toml")),
    ("sensitivity", include_str!("../../sweeps/sensitivity.toml")),
    ("realism", include_str!("../../sweeps/realism.toml")),
];

/// The names of the shipped sweeps.
pub fn shipped_names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|(name, _)| *name)
}
