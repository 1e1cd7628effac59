//! What a recipe need not mention.

/// Whether a section is as it is where a recipe leaves it out.
pub(super) fn is_default<T: Default + PartialEq>(section: &T) -> bool {
    *section == T::default()
}

/// The default of a switch that is on.
pub(super) fn yes() -> bool {
    true
}

/// Whether a switch has that default; takes what serde gives.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
pub(super) fn is_yes(switch: &bool) -> bool {
    *switch
}
