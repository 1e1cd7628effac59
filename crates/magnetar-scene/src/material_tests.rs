//! Laws of the material library and its files.

use crate::{MaterialLibrary, SceneError};

#[test]
fn the_shipped_library_is_the_itu_table() {
    let library = MaterialLibrary::shipped();
    assert_eq!(library.len(), 19);
    // Values at 10 GHz as Sionna RT 2.2.0 reports them for the same table.
    for (name, eps_r, sigma) in [
        ("concrete", 5.24, 0.279796),
        ("brick", 3.91, 0.034401),
        ("plasterboard", 2.73, 0.073947),
        ("wood", 1.99, 0.055450),
        ("glass", 6.31, 0.078651),
        ("ceiling_board", 1.48, 0.013074),
        ("marble", 7.074, 0.046405),
        ("vacuum", 1.0, 0.0),
        ("metal", 1.0, 1e7),
    ] {
        let (e, s) = library.get(name).unwrap().at(10e9).unwrap();
        assert!((e - eps_r).abs() < 1e-12 && (s - sigma).abs() < 1e-6, "{name}: {e} {s}");
    }
    let (e, _) = library.get("wet_ground").unwrap().at(10e9).unwrap();
    assert!((e - 30.0 * 10f64.powf(-0.4)).abs() < 1e-12);
}

#[test]
fn where_ranges_overlap_the_first_counts() {
    let library = MaterialLibrary::shipped();
    let glass = library.get("glass").unwrap();
    assert_eq!(glass.at(100e9).unwrap().0, 6.31);
    assert_eq!(glass.at(150e9).unwrap().0, 6.5767);
    assert_eq!(glass.at(300e9).unwrap().0, 5.79);
    let message = library.get("floorboard").unwrap().at(10e9).unwrap_err().to_string();
    assert!(message.contains("50-100 GHz") && message.contains("400-450 GHz"), "{message}");
}

#[test]
fn files_and_directories_of_the_user_are_added() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/materials");
    let mut library = MaterialLibrary::empty();
    library.add_path(folder.as_ref()).unwrap();
    assert_eq!(library, MaterialLibrary::shipped(), "the embedded files are the folder");
    library.add_path(folder.as_ref()).expect("the same again is no conflict");
    library.add_toml_str("[material.mine]\neps_r = 4\nsigma = 0\n", "mine.toml").unwrap();
    assert_eq!(library.get("mine").unwrap().at(3e9).unwrap(), (4.0, 0.0));
    let error = library.add_toml_str("[material.glass]\neps_r = 4\nsigma = 0\n", "mine.toml").unwrap_err();
    assert!(error.to_string().contains("material.glass"), "{error}");
    assert!(matches!(library.add_path("no/such".as_ref()), Err(SceneError::Read { .. })));
}

#[test]
fn refusals_name_line_and_expectation() {
    for (toml, parts) in [
        ("[material.a]\neps_r = 4\n", vec!["f.toml:1", "material.a", "`eps_r` and `sigma`"]),
        ("[material.a]\neps_r = 4\nsigma = 1\nranges = []", vec!["f.toml:1", "either"]),
        ("[material.a]\nranges = []", vec!["f.toml:1", "0 ranges", "1 to 1000"]),
        ("\n[material.a]\nsigma = 0\neps_r = nan\n", vec!["f.toml:4", "NaN", "positive"]),
        ("[material.a]\nsigma = -1\neps_r = 3\n", vec!["f.toml:3", "-1", "zero or more"]),
        ("[material.a]\nsigma = 1\neps_r = 3\nmin_ghz = 3\nmax_ghz = 2", vec!["min_ghz <= max_ghz"]),
        ("[material.\"a b\"]\nsigma = 1\neps_r = 3\n", vec!["material.a b", "letters"]),
        ("[material.a]\nsigma = 1\neps = 3\n", vec!["f.toml:3", "unknown field `eps`"]),
        ("[materials.a]\n", vec!["f.toml:1", "unknown field `materials`", "`material`"]),
    ] {
        let message = MaterialLibrary::empty().add_toml_str(toml, "f.toml").unwrap_err().to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{toml}: {message}");
    }
}
