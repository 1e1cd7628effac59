//! Paths that an export and the tracer do not both have, or that are not compared.

use super::judge::LeftOutReason;

/// Such paths, by names of type `N`.
#[derive(Debug, Clone, PartialEq)]
pub struct Unmatched<N> {
    /// Those that the export has and the tracer has not.
    pub missing: Vec<N>,
    /// Those that the tracer has and the export has not.
    pub extra: Vec<N>,
    /// Those that one side has, too close to an edge to be decided.
    pub ambiguous: Vec<N>,
    /// Those that are not compared, and why.
    pub left_out: Vec<(N, LeftOutReason)>,
}

impl<N> Default for Unmatched<N> {
    fn default() -> Self {
        Self { missing: Vec::new(), extra: Vec::new(), ambiguous: Vec::new(), left_out: Vec::new() }
    }
}

impl<N> Unmatched<N> {
    /// Adds those of another comparison, renamed.
    pub(super) fn extend<M>(&mut self, other: Unmatched<M>, name: impl Fn(M) -> N + Copy) {
        self.missing.extend(other.missing.into_iter().map(name));
        self.extra.extend(other.extra.into_iter().map(name));
        self.ambiguous.extend(other.ambiguous.into_iter().map(name));
        self.left_out.extend(other.left_out.into_iter().map(|(path, reason)| (name(path), reason)));
    }
}
