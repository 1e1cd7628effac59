//! Recipes: what loads, what is refused, and with which words.

use std::fs;

use super::*;

/// Keys that are shown only where they are given.
const LEFT_OUT_AT_DEFAULT: [&str; 2] = ["splits.*.protocol", "scene"];

fn refused(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    fs::write(&path, text).unwrap();
    Recipe::load(path.to_str().unwrap(), &[]).unwrap_err().to_string()
}

fn with(sets: &[&str]) -> Result<Recipe, RecipeError> {
    Recipe::load("paper", &sets.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>())
}

#[test]
fn the_shipped_recipe_loads_and_has_every_key_of_the_table_and_no_other() {
    let recipe = Recipe::paper();
    let shown: Vec<String> = recipe.entries().into_iter().map(|entry| entry.key).collect();
    let of_replays = ["replay.", "splits.full-rotation.", "splits.track."];
    let elsewhere = |path: &str| of_replays.iter().any(|start| path.starts_with(start));
    for key in KEYS.iter().filter(|key| !elsewhere(key.path) && !LEFT_OUT_AT_DEFAULT.contains(&key.path)) {
        for split in recipe.splits.keys() {
            let path = key.path.replace('*', split);
            assert!(shown.contains(&path), "{path} is not in the recipe");
        }
    }
    let table = toml::Value::try_from(&recipe).unwrap();
    assert_eq!(table.as_table().unwrap().len(), 15);
    let rows: Vec<u64> = recipe.splits.values().map(Split::rows).collect();
    assert_eq!(rows, [80_000, 20_000, 10_000, 5_000]);
}

#[test]
fn the_papers_numbers_are_the_signal_crates_defaults() {
    let recipe = Recipe::paper();
    assert_eq!(recipe.band, Band::default());
    assert_eq!(recipe.array, RxArray::default());
    assert_eq!(recipe.link, LinkConfig::default());
    assert_eq!(recipe.rf_chain, RfChainConfig::default());
    assert_eq!(recipe.noise, NoiseConfig::default());
    assert_eq!(recipe.sre, SreOptions::default());
}

#[test]
fn toml_and_json_read_back() {
    let recipe = with(&["link.reference_snr_db=40", "splits.test.board=10"]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("whole.toml");
    fs::write(&path, recipe.to_toml()).unwrap();
    assert_eq!(Recipe::load(path.to_str().unwrap(), &[]).unwrap(), recipe);
    let json = serde_json::to_string(&recipe).unwrap();
    assert_eq!(Recipe::from_json(&json, "json").unwrap(), recipe);
    assert!(Recipe::from_json(&json.replace("\"keep\":2", "\"keep\":200"), "json").is_err());
}

#[test]
fn a_users_recipe_changes_a_few_keys_and_may_add_a_split() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let text = "extends = \"paper\"\nname = \"mine\"\n[board]\nwidth_max_m = 1\n[splits.extra]\nno_board = 1\nboard = 2\n\
                views = 1\ntranslation_min_m = 0\ntranslation_max_m = 0\n\
                materials = [{ wall = \"wood\", ceiling = \"wood\", floor = \"wood\" }]\n";
    fs::write(&path, text).unwrap();
    let recipe = Recipe::load(path.to_str().unwrap(), &[]).unwrap();
    assert_eq!(recipe.board.width_max_m, 1.0);
    assert_eq!(recipe.splits["extra"].rows(), 3);
    assert_eq!(recipe.link, Recipe::paper().link);
    let changed: Vec<_> = recipe.entries().into_iter().filter(|e| e.origin == "changed").map(|e| e.key).collect();
    assert_eq!(changed[..2], ["name", "board.width_max_m"]);
    assert_eq!(changed.len(), 8);
}

#[test]
fn every_value_of_field_that_is_not_the_papers_has_its_reason() {
    let field = Recipe::load("field", &[]).unwrap();
    let paper = Recipe::paper();
    let mut given = 0;
    for entry in field.entries().iter().filter(|entry| !["name", "description"].contains(&entry.key.as_str())) {
        let own = field.get(&entry.key) != paper.get(&entry.key);
        assert_eq!(own, entry.reason.is_some(), "{}", entry.key);
        assert!(!own || entry.origin == "ours", "{}", entry.key);
        given += usize::from(own);
    }
    assert!(given > 15, "{given}");
    let changed = Recipe::load("field", &["model_error.pattern_db_rms=1".to_owned()]).unwrap();
    let entry = changed.entries().into_iter().find(|entry| entry.key == "model_error.pattern_db_rms").unwrap();
    assert_eq!((entry.origin, entry.reason), ("changed", None));
}

#[test]
fn values_that_are_ours_do_not_claim_to_be_the_papers() {
    let origin = |recipe: &Recipe, key: &str| {
        let entry = recipe.entries().into_iter().find(|entry| entry.key == key);
        entry.unwrap_or_else(|| panic!("{key}")).origin
    };
    // The paper gives no thickness of its simulated board.
    assert_eq!(origin(&Recipe::paper(), "board.thickness_m"), "ours");
    let replay = Recipe::load("replay", &[]).unwrap();
    for key in ["splits.track.materials", "splits.full-rotation.materials", "replay.track_headings_no_board"] {
        assert_eq!(origin(&replay, key), "ours", "{key}");
    }
    for key in ["replay.track_headings", "replay.track_tx_x_max_m", "replay.rotation_headings"] {
        assert_eq!(origin(&replay, key), "paper", "{key}");
    }
    // Ten positions are the paper's, their even spacing is not: the key says so.
    assert!(replay.entries().iter().any(|e| e.key == "replay.track_samples" && e.meaning.contains("is ours")));
}

#[test]
fn the_hash_minds_content_and_nothing_else() {
    let base = Recipe::paper().hash();
    assert_eq!(base.len(), 64);
    for same in
        ["name=x", "store.csi=none", "store.shard_rows=7", "link.reference_snr_db=50", "propagation.max_order=1"]
    {
        assert_eq!(with(&[same]).unwrap().hash(), base, "{same}");
    }
    for other in ["link.reference_snr_db=50.5", "splits.val.board=1", "board.along_min=0.21", "sre.aoa_mode=wideband"]
        .into_iter()
        .chain(["propagation.max_order=2", "propagation.transmission=true"])
    {
        assert_ne!(with(&[other]).unwrap().hash(), base, "{other}");
    }
}

#[test]
fn mistakes_are_named_with_line_key_and_expectation() {
    for (text, words) in [
        (
            "extends = \"paper\"\n[board]\nwidht_max_m = 1",
            vec!["mine.toml:3", "board.widht_max_m", "board.width_max_m"],
        ),
        ("extends = \"paper\"\n[bord]\nwidth_max_m = 1", vec!["mine.toml:2", "bord"]),
        ("extends = \"paper\"\n\n[link]\nreference_snr_db = \"50 dB\"", vec!["mine.toml:4", "50 dB", "a number from"]),
        ("extends = \"paper\"\nboard = 3", vec!["mine.toml:2", "board"]),
        ("extends = \"paper\"\n[splits.train]\nboard = 1000000000000000000", vec!["mine.toml:3", "1000000000"]),
        ("extends = \"paper\"\n[splits.\"../x\"]\nboard = 1", vec!["mine.toml:2", "../x"]),
        ("extends = \"nothing\"", vec!["nothing", "shipped recipe"]),
        ("extends = \"mine.toml\"", vec!["mine.toml", "8 deep"]),
        ("extends = 3", vec!["mine.toml:1"]),
        ("[board]\nwidth_max_m = 1", vec!["mine.toml", "missing field", "extends"]),
        ("extends = \"paper\"\n[link", vec!["mine.toml:2"]),
        ("extends = \"paper\"\n[antennas]\ntx_pattern = \"horn.csv\"", vec!["horn.csv", "synthetic_vivaldi"]),
    ] {
        let error = refused(text);
        for word in words {
            assert!(error.contains(word), "{text:?} gave {error:?}, without {word:?}");
        }
    }
}

#[test]
fn impossible_combinations_are_named() {
    for (set, word) in [
        ("board.width_min_m=2", "board.width_max_m"),
        ("splits.train.translation_min_m=1", "translation_max_m"),
        ("devices.wall_margin_m=3", "devices.wall_margin_m"),
        ("devices.separation_min_m=50", "devices.separation_min_m"),
        ("devices.height_m=3", "devices.height_m"),
        ("board.height_m=2.9", "board.center_heights_m"),
        ("room.x_min_m=5", "room.x_max_m"),
        ("sre.keep=7", "sre.max_paths"),
        ("propagation.max_order=4", "from 0 to 3"),
        ("sre.oversampling=5", "sre.oversampling"),
        ("band.bins=7", "from 8"),
        ("store.shard_rows=0", "from 1"),
        ("splits.train.board=-1", "from 0"),
        ("link.reference_snr_db=nan", "a number"),
        ("link.reference_snr_db", "key.path=value"),
        ("link.reference_snr=3", "link.reference_snr_db"),
        ("splits.train.materials=[]", "a list of 1 to 64"),
    ] {
        let error = with(&[set]).unwrap_err().to_string();
        assert!(error.contains(word), "{set} gave {error:?}, without {word:?}");
    }
    let empty = with(&["splits.val.board=0", "splits.val.no_board=0"]).unwrap_err().to_string();
    assert!(empty.contains("splits.val is empty"), "{empty}");
}

#[test]
fn keys_can_be_set_by_path_one_at_a_time() {
    let mut recipe = Recipe::paper();
    for key in KEYS.iter().filter(|key| !key.path.starts_with("replay.")) {
        let Some((min, max)) = key.range() else { continue };
        let path = key.path.replace('*', "train");
        let value = recipe.get(&path).unwrap();
        recipe.set(&path, &value).unwrap();
        for outside in [min - 1.0, max + max.abs() + 1.0] {
            assert!(recipe.set(&path, &toml::Value::Float(outside)).is_err(), "{path} = {outside}");
        }
    }
    assert_eq!(recipe, Recipe::paper());
    recipe.set("board.width_max_m", &toml::Value::Integer(1)).unwrap();
    assert_eq!(recipe.board.width_max_m, 1.0);
    recipe.check().unwrap();
    assert!(recipe.set("board.nothing", &toml::Value::Integer(1)).is_err());
}

#[test]
fn a_single_keys_range_is_what_the_check_takes() {
    const TIED: [&str; 6] =
        ["band.carrier_hz", "band.bandwidth_hz", "sre.max_paths", "sre.keep", "sre.inactive_bins", "sre.excluded_bins"];
    let of_radio =
        |key: &&Key| ["band.", "array.", "link.", "rf_chain.", "sre."].iter().any(|s| key.path.starts_with(s));
    for key in KEYS.iter().filter(of_radio).filter(|key| !TIED.contains(&key.path)) {
        let Some((min, max)) = key.range() else { continue };
        for end in [min, max] {
            let end = if matches!(key.kind, KeyKind::Float(..)) { format!("{end:e}") } else { end.to_string() };
            let recipe = with(&[&format!("{}={end}", key.path)]);
            assert!(recipe.is_ok(), "{} = {end}: {:?}", key.path, recipe.err());
        }
    }
    let mut recipe = Recipe::paper();
    recipe.board.clearance_min_m = f64::NAN;
    assert!(recipe.check().unwrap_err().to_string().contains("board.clearance_min_m"));
}
