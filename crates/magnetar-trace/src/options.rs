//! Which paths are looked for.

use serde::{Deserialize, Serialize};

use crate::TraceError;

/// The highest order that is traced.
pub const MAX_ORDER: usize = 3;

/// Which paths are looked for. The default is line of sight and first order in an opaque world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TraceOptions {
    /// The most reflections of a path, 0 to [`MAX_ORDER`].
    pub max_order: usize,
    /// Whether waves go through boxes, in at one face and out at the opposite one. The room's surfaces stay opaque.
    pub transmission: bool,
}

impl Default for TraceOptions {
    fn default() -> Self {
        Self { max_order: 1, transmission: false }
    }
}

impl TraceOptions {
    /// Whether it is line of sight and first order in an opaque world.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// In words: `order 1`, `order 2, through boxes`.
    #[must_use]
    pub fn describe(&self) -> String {
        format!("order {}{}", self.max_order, if self.transmission { ", through boxes" } else { "" })
    }

    /// Checks the order.
    ///
    /// # Errors
    /// If it is above [`MAX_ORDER`].
    pub fn check(&self) -> Result<(), TraceError> {
        if self.max_order > MAX_ORDER { Err(TraceError::Order(self.max_order)) } else { Ok(()) }
    }
}

/// Paths that were found and left out, of one link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeftOut {
    /// Enter a box at one face and leave it at another that is not the opposite one: such a crossing is opaque.
    pub other_faces: usize,
    /// Have more than [`crate::MAX_INTERACTIONS`] interactions.
    pub too_long: usize,
}
