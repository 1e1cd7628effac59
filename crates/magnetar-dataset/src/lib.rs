//! Recipes, draws, records, Parquet shards, manifests and their verification.
