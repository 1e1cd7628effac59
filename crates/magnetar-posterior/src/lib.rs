//! Candidate support, features, the twin scorer, metrics and fusion.
