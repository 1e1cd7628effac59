//! Pictures and pages of scenes, corpora and posteriors.
