//! What a sweep's points share: the draws of a row change only where a key is about them.

use magnetar_dataset::*;

use super::tests::{rows, run, sweep};

#[test]
fn an_axis_without_effect_gives_identical_rows() {
    // Keys of a split that is not swept, and a bound that no draw reaches.
    for axis in [
        "[[axis]]\nkey = \"splits.train.translation_max_m\"\nvalues = [0.0, 0.1, 0.2]",
        "[[axis]]\nkey = \"board.attempts_max\"\nvalues = [900, 1000, 5000]",
    ] {
        let sweep = sweep("", axis).unwrap();
        let first = rows(&sweep.points[0].recipe, 60);
        for point in &sweep.points[1..] {
            assert_ne!(point.recipe.hash(), sweep.points[0].recipe.hash());
            assert!(rows(&point.recipe, 60) == first);
        }
        let folder = tempfile::tempdir().unwrap();
        let outcome = run(&sweep, folder.path(), 2);
        for result in &outcome.table.results[1..] {
            assert_eq!(result.metrics, outcome.table.results[0].metrics);
        }
    }
}

#[test]
fn rf_chain_severity_keeps_scene_draws_and_noise() {
    let axis = "[[axis]]\nname = \"severity\"\nkeys = [\"rf_chain.gain_ripple_db_rms\", \"rf_chain.phase_error_deg_rms\", \
                \"rf_chain.gain_imbalance_db_rms\", \"rf_chain.phase_ripple_deg_rms\"]\nfactor = true\nvalues = [0, 1, 4]";
    let sweep = sweep("", axis).unwrap();
    let points: Vec<Vec<Record>> = sweep.points.iter().map(|point| rows(&point.recipe, 50)).collect();
    for (a, b) in points[1].iter().zip(&points[2]) {
        assert_eq!((&a.layout, a.tx, a.rx, &a.materials), (&b.layout, b.tx, b.rx, &b.materials));
        assert_eq!((a.tx_power_offset_db, &a.paths), (b.tx_power_offset_db, &b.paths));
        let (c, d) = (&a.rf_chain, &b.rf_chain);
        assert_eq!((c.common_phase_rad, c.timing_offset_s), (d.common_phase_rad, d.timing_offset_s));
        // Four times the same draw.
        assert!((4.0 * c.phase_error_rad - d.phase_error_rad).abs() < 1e-12);
        assert!((4.0 * c.gain_imbalance_db - d.gain_imbalance_db).abs() < 1e-12);
    }
    // Noise is the same: with the signal switched off, all that is left are the same bits.
    let off = |recipe: &Recipe| {
        let mut recipe = recipe.clone();
        recipe.link.reference_snr_db = -100.0;
        std::sync::Arc::new(recipe)
    };
    let weak: Vec<Vec<Record>> = sweep.points.iter().map(|point| rows(&off(&point.recipe), 5)).collect();
    for (a, b) in weak[0].iter().zip(&weak[2]) {
        let difference =
            a.csi.iter().flatten().zip(b.csi.iter().flatten()).map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
        assert!(difference < 1e-3, "{difference}");
    }
}

/// What the streams of each purpose gave a row: a key that belongs to one of them leaves the others as they are.
#[test]
fn a_key_changes_the_draws_of_its_own_purpose_only() {
    let base = std::sync::Arc::new(Recipe::paper());
    let first = rows(&base, 300);
    for set in [
        "rf_chain.enabled=false",
        "rf_chain.common_phase=false",
        "rf_chain.timing_offset_max_ns=500",
        "rf_chain.ripple_terms=8",
        "link.tx_power_offset_max_db=0",
        "link.reference_snr_db=30",
        "array.spacing_m=0.02",
        "sre.max_paths=3",
        "surfaces.board_material=metal",
        "board.width_max_m=2.5",
        "board.behind_distance_max_m=2.5",
        "board.yaw_jitter_max_deg=45",
        "board.attempts_max=200",
        "room.planar_scale_max=0.2",
        "splits.test.materials=[{wall=\"metal\",ceiling=\"metal\",floor=\"metal\"}]",
    ] {
        let recipe = std::sync::Arc::new(Recipe::load("paper", &[set.to_owned()]).unwrap());
        let changed = rows(&recipe, 300);
        let kept = |what: &str, same: fn(&Record, &Record) -> bool| {
            let differ = first.iter().zip(&changed).filter(|(a, b)| !same(a, b)).count();
            assert!(differ == 0, "{set} changes the {what} of {differ} rows");
        };
        kept("headings", |a, b| (a.tx.heading, a.rx.heading) == (b.tx.heading, b.rx.heading));
        kept("presence of boards", |a, b| a.layout.board.is_some() == b.layout.board.is_some());
        if !set.contains("materials") {
            kept("materials", |a, b| a.materials.wall == b.materials.wall);
        }
        if !set.starts_with("room") {
            kept("room", |a, b| a.layout.room == b.layout.room);
            // No region around the first link may admit a wide board: then there is another link, but rarely.
            let moved = first.iter().zip(&changed).filter(|(a, b)| (a.tx, a.rx) != (b.tx, b.rx)).count();
            assert!(moved == 0 || set.starts_with("board") && moved <= 3, "{set} moves {moved} links");
        }
        if !set.starts_with("link.tx") {
            kept("TX-power offset", |a, b| a.tx_power_offset_db == b.tx_power_offset_db);
        }
        if !set.starts_with("rf_chain") {
            kept("RF chain", |a, b| a.rf_chain == b.rf_chain);
        }
        if !(set.starts_with("board") || set.starts_with("room")) {
            kept("board", |a, b| a.layout.board == b.layout.board);
        }
    }
}
