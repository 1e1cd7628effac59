//! `magnetar trace`.

use serde_json::Value;

use crate::cli;

fn trace_json(args: &[&str]) -> Value {
    serde_json::from_str(&cli::succeed(&[&["trace"], args, &["--json"]].concat())).unwrap()
}

#[test]
fn the_board_hides_the_direct_path() {
    let link = ["--tx", "0.98,2.28,1.08", "--rx", "1,-1,1.08"];
    let table = cli::succeed(&[&["trace", "lab_middle"], &link[..]].concat());
    assert!(table.contains("ceiling") && !table.contains("LOS"), "{table}");
    let table = cli::succeed(&[&["trace", "lab"], &link[..]].concat());
    assert!(table.contains("7 paths") && table.lines().nth(2).unwrap().starts_with("LOS"), "{table}");
}

#[test]
fn higher_orders_and_passages_are_named_by_what_they_meet() {
    let link = ["lab_middle", "--tx", "0.98,2.28,1.08", "--rx", "1,-1,1.08"];
    let table = cli::succeed(&[&["trace"], &link[..], &["--max-order", "2", "--transmission"]].concat());
    assert!(table.contains("through:box0") && table.contains("ceiling floor"), "{table}");
    let report = trace_json(&[&link[..], &["--max-order", "3"]].concat());
    let paths = report["paths"].as_array().unwrap();
    for path in paths {
        assert_eq!(path["interactions"].as_array().unwrap().len() as u64, path["order"].as_u64().unwrap());
    }
    assert!(paths.iter().any(|path| path["order"] == 3) && paths.iter().all(|path| path["order"] != 4));
    assert_eq!(report["left_out"]["too_long"], 0);
    let refused = cli::fail(&[&["trace"], &link[..], &["--max-order", "4"]].concat());
    assert!(refused.contains("0..=3"), "{refused}");
}

#[test]
fn json_holds_what_the_table_shows() {
    let report = trace_json(&["lab", "--tx", "0,0,1", "--rx", "3,0,1,170"]);
    let los = &report["paths"][0];
    assert_eq!((&los["kind"], &los["surface"]), (&"LOS".into(), &"LOS".into()));
    assert!(los["vertex_m"].is_null());
    let near = |value: &Value, expected: f64| (value.as_f64().unwrap() - expected).abs() < 1e-9;
    assert!(near(&los["length_m"], 3.0));
    assert!(near(&los["delay_s"], 3.0 / 299_792_458.0));
    let free_space: f64 = 0.029_979_245_8 / (4.0 * std::f64::consts::PI * 3.0);
    assert!(near(&los["gain_db"], 20.0 * free_space.log10()));
    // The source is due west of the RX, which faces 170 degrees.
    assert!(near(&los["aoa"]["azimuth_deg"], -180.0));
    assert!(near(&los["aoa"]["local_azimuth_deg"], 10.0));
    assert!(near(&los["aod"]["local_azimuth_deg"], 0.0));
    let delays: Vec<f64> =
        report["paths"].as_array().unwrap()[1..].iter().map(|p| p["delay_s"].as_f64().unwrap()).collect();
    assert!(delays.is_sorted() && delays.len() == 6);
}

#[test]
fn a_reflection_names_its_box_and_turning_the_devices_turns_the_local_angles_alone() {
    let report = trace_json(&["lab_left", "--tx", "-0.8,-1,1.08", "--rx", "1.2,-1,1.08"]);
    let turned = trace_json(&["lab_left", "--tx", "-0.8,-1,1.08,30", "--rx", "1.2,-1,1.08,-50"]);
    let board = |report: &Value| {
        report["paths"].as_array().unwrap().iter().find(|path| path["surface"] == "box0:-y").unwrap().clone()
    };
    let (plain, turned) = (board(&report), board(&turned));
    assert_eq!(plain["box"], "board");
    assert!((plain["vertex_m"][1].as_f64().unwrap() - (1.0 - 0.033 / 2.0)).abs() < 1e-12);
    for (end, heading) in [("aod", 30.0), ("aoa", -50.0)] {
        let angle = |path: &Value, key: &str| path[end][key].as_f64().unwrap();
        assert_eq!(angle(&plain, "azimuth_deg"), angle(&turned, "azimuth_deg"));
        let local = angle(&turned, "local_azimuth_deg");
        assert!(((local - angle(&plain, "azimuth_deg") + heading + 540.0).rem_euclid(360.0) - 180.0).abs() < 1e-9);
    }
}

#[test]
fn the_carrier_can_be_chosen_where_the_materials_allow() {
    let link = ["lab", "--tx", "0,0,1", "--rx", "3,0,1"];
    let report = trace_json(&[&link[..], &["--carrier-ghz", "28"]].concat());
    assert_eq!(report["frequency_hz"], 28e9);
    let err = cli::fail(&[&["trace"], &link[..], &["--carrier-ghz", "900"]].concat());
    assert!(err.contains("concrete") && err.contains("330"), "{err}");
}

#[test]
fn without_a_height_devices_are_where_the_scene_says() {
    let short = trace_json(&["lab", "--tx", "0.98,2.28", "--rx", "1,-1,,90"]);
    let long = trace_json(&["lab", "--tx", "0.98,2.28,1.08,0", "--rx", "1,-1,1.08,90"]);
    assert_eq!(short, long);
}

#[test]
fn materials_of_the_user_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let [scene, materials] = ["room.toml", "materials.toml"].map(|name| folder.path().join(name));
    let text = cli::succeed(&["scene", "show", "lab", "--toml"]);
    assert!(text.contains("\"marble\""), "{text}");
    std::fs::write(&scene, text.replace("\"marble\"", "\"my_floor\"")).unwrap();
    std::fs::write(&materials, "[material.my_floor]\neps_r = 1.0\nsigma = 0.0\n").unwrap();
    let [scene, materials] = [&scene, &materials].map(|path| path.to_str().unwrap());
    let link = ["--tx", "0,0,1", "--rx", "3,0,1"];
    assert!(cli::fail(&[&["trace", scene], &link[..]].concat()).contains("my_floor"));
    let floor = |scene: &str, more: &[&str]| {
        let report = trace_json(&[&[scene], &link[..], more].concat());
        let path = report["paths"].as_array().unwrap().iter().find(|path| path["surface"] == "floor").cloned();
        path.map_or(0.0, |path| {
            path["coefficient"][0].as_f64().unwrap().hypot(path["coefficient"][1].as_f64().unwrap())
        })
    };
    // What is as empty as air reflects nothing.
    assert!(floor("lab", &[]) > 1e-5);
    assert!(floor(scene, &["--materials", materials]) < 1e-12);
    let npy = folder.path().join("mine.npy");
    let plan = folder.path().join("mine.svg");
    let [npy, plan] = [&npy, &plan].map(|path| path.to_str().unwrap());
    let more = ["--materials", materials];
    cli::succeed(&[&["observe", scene, "--out", npy], &link[..], &more].concat());
    cli::succeed(&[&["plot", "room", scene, "-o", plan], &link[..], &more].concat());
    let page = folder.path().join("mine.html");
    cli::succeed(&[&["view", scene, "--export", page.to_str().unwrap()], &link[..], &more].concat());
}

#[test]
fn mistakes_are_told() {
    for (tx, reason) in [
        ("1", "expected X,Y"),
        ("1,2,nan", "out of range"),
        ("1,2,x", "not a number"),
        ("99,0,1", "not inside the room"),
        ("1,-1,1.08", "same point"),
        ("1,1,1", "inside box"),
    ] {
        let err = cli::fail(&["trace", "lab_middle", "--tx", tx, "--rx", "1,-1,1.08"]);
        assert!(err.contains(reason), "{tx}: {err}");
    }
    assert!(cli::fail(&["trace", "nowhere", "--tx", "0,0,1", "--rx", "1,1,1"]).contains("lab_middle"));
    let err = cli::fail(&["trace", "lab", "--tx", "0,0,1", "--rx", "1,1,1", "--carrier-ghz", "-3"]);
    assert!(err.contains("GHz"), "{err}");
}
