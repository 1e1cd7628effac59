//! `magnetar scene from-map` on maps drawn here.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli;

/// Draws a 6 x 4 m room, turned, with a desk inside and a door in one wall, as a binary PGM and its YAML.
pub fn draw_map(dir: &Path, yaw: f64) -> PathBuf {
    let (side, resolution) = (220usize, 0.05);
    let mut pixels = Vec::with_capacity(side * side);
    for row in (0..side).rev() {
        for column in 0..side {
            let (u, v) = (column as f64 * resolution - 5.5, row as f64 * resolution - 5.5);
            let (x, y) = (yaw.cos() * u + yaw.sin() * v, yaw.cos() * v - yaw.sin() * u);
            let (dx, dy) = (x.abs() - 3.0, y.abs() - 2.0);
            let desk = (0.5..1.5).contains(&x) && (-1.0..-0.4).contains(&y);
            let door = (-2.0..-1.1).contains(&x) && y > 0.0;
            pixels.push(match (dx.max(dy), desk) {
                (d, false) if d < 0.0 => 254u8,
                (d, _) if d < 0.1 && !(door && d >= 0.0) => 0,
                (d, _) if d < 1.0 && door => 254,
                _ => 205,
            });
        }
    }
    let mut pgm = format!("P5\n{side} {side}\n255\n").into_bytes();
    pgm.extend(pixels);
    fs::write(dir.join("map.pgm"), pgm).unwrap();
    let yaml = dir.join("map.yaml");
    fs::write(
        &yaml,
        "image: map.pgm\nresolution: 0.05\norigin: [-5.5, -5.5, 0.0]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\n",
    )
    .unwrap();
    yaml
}

#[test]
fn a_drawn_room_becomes_a_scene() {
    let dir = tempfile::tempdir().unwrap();
    let yaml = draw_map(dir.path(), 0.35);
    let out = dir.path().join("room.toml");
    let (yaml, out) = (yaml.to_str().unwrap(), out.to_str().unwrap());
    let report: serde_json::Value =
        serde_json::from_str(&cli::succeed(&["scene", "from-map", yaml, "--out", out, "--wall", "brick", "--json"]))
            .unwrap();
    assert!((report["yaw_deg"].as_f64().unwrap() - 0.35f64.to_degrees()).abs() < 0.5, "{report}");
    for (key, truth) in [("x_min_m", -3.0), ("x_max_m", 3.0), ("y_min_m", -2.0), ("y_max_m", 2.0)] {
        assert!((report["room"][key].as_f64().unwrap() - truth).abs() < 0.06, "{report}");
    }
    assert!(report["residual_m"].as_f64().unwrap() < 0.05);
    assert!(fs::metadata(dir.path().join("room.png")).unwrap().len() > 500);
    // What was written is a scene like any other.
    cli::succeed(&["scene", "check", out]);
    cli::succeed(&["trace", out, "--tx", "-1,0,1", "--rx", "2,1,1"]);
}

/// A map's image with the name that the picture of the fit would have.
#[test]
fn the_image_of_a_map_stays_what_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let yaml = draw_map(dir.path(), 0.0);
    let (image, out) = (dir.path().join("room.png"), dir.path().join("room.toml"));
    fs::rename(dir.path().join("map.pgm"), &image).unwrap();
    fs::write(&yaml, fs::read_to_string(&yaml).unwrap().replace("map.pgm", "room.png")).unwrap();
    let before = fs::read(&image).unwrap();
    cli::succeed(&["scene", "from-map", yaml.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    assert_eq!(fs::read(&image).unwrap(), before);
    assert!(fs::metadata(dir.path().join("room.fit.png")).unwrap().len() > 500);
}

#[test]
fn a_map_becomes_a_corpus_in_two_commands() {
    let dir = tempfile::tempdir().unwrap();
    let yaml = draw_map(dir.path(), 0.0);
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (room, data) = (at("my_room.toml"), at("data"));
    cli::succeed(&[
        "scene",
        "from-map",
        yaml.to_str().unwrap(),
        "--out",
        &room,
        "--height-m",
        "2.7",
        "--wall",
        "brick",
    ]);
    // The map knows free and occupied alone: the desk is put in by hand.
    let desk = "\n[[box]]\nname = \"desk\"\ncenter_m = [1.0, -0.7, 0.6]\nsize_m = [1.0, 0.6, 1.2]\nmaterial = \"wood\"\nthickness_m = 0.03\n";
    fs::write(&room, fs::read_to_string(&room).unwrap() + desk).unwrap();
    cli::succeed(&["generate", "--set", &format!("scene={room}"), "--limit", "6", "--out", &data]);
    fs::remove_file(&room).unwrap();
    assert!(cli::succeed(&["verify", &data, "--sample", "6"]).contains("valid"));
    let (page, features) = (at("page.html"), at("features"));
    for args in [
        vec!["stats", &data],
        vec!["evaluate", &data, "--split", "test", "--limit", "4"],
        vec!["features", &data, "--split", "train", "--limit", "4", "--out", &features],
        vec!["fuse", &data, "--limit", "2"],
        vec!["report", &data, "-o", &page, "--examples", "1"],
        vec!["plot", "marginal", &data, "--row", "1", "-o", &at("marginal.svg")],
    ] {
        cli::succeed(&args);
    }
    let (view, sweep, swept) = (at("view.html"), at("sweep.toml"), at("swept"));
    cli::succeed(&["view", &data, "--split", "test", "--row", "1", "--export", &view]);
    let view = fs::read_to_string(&view).unwrap();
    assert!(view.contains("\"name\":\"desk\"") && view.contains("\"material\":\"brick\""));
    let knowledge = cli::succeed(&["evaluate", &data, "--split", "test", "--limit", "4"]);
    assert!(knowledge.contains("brick/"), "{knowledge}");
    fs::write(&sweep, "name = \"snr\"\ndescription = \"in a scene\"\nrecipe = \"mine.toml\"\nsplit = \"test\"\nrows = 10\n[[axis]]\nkey = \"link.reference_snr_db\"\nvalues = [30, 50]\n").unwrap();
    fs::write(at("mine.toml"), "extends = \"paper\"\nscene = \"lab_left\"\n").unwrap();
    cli::succeed(&["sweep", &sweep, "--out", &swept]);
    assert!(cli::succeed(&["verify", &swept]).contains("valid"));
}

#[test]
fn bad_maps_are_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let yaml = draw_map(dir.path(), 0.0);
    let out = dir.path().join("room.toml");
    let call = |yaml: &Path| cli::fail(&["scene", "from-map", yaml.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    assert!(call(&dir.path().join("absent.yaml")).contains("absent.yaml"));
    let text = fs::read_to_string(&yaml).unwrap();
    for (from, to, expected) in [
        ("0.05", "-0.05", "resolution"),
        ("origin: [-5.5, -5.5, 0.0]", "origin: [-5.5]", "bad_map.yaml"),
        ("0.65", "0.1", "occupied_thresh"),
        ("map.pgm", "map.yaml", "map.yaml: "),
    ] {
        let bad = dir.path().join("bad_map.yaml");
        fs::write(&bad, text.replacen(from, to, 1)).unwrap();
        let message = call(&bad);
        assert!(message.contains(expected), "{expected}: {message}");
    }
    // Damage the image: cut off, and a size no one has.
    fs::write(dir.path().join("map.pgm"), b"P5\n220 220\n255\nxx").unwrap();
    assert!(call(&yaml).contains("map.pgm"));
    fs::write(dir.path().join("map.pgm"), b"P5\n4000000000 4000000000\n255\n").unwrap();
    assert!(call(&yaml).contains("map.pgm"));
    // All free: no walls.
    let mut empty = b"P5\n50 50\n255\n".to_vec();
    empty.extend([254u8; 2500]);
    fs::write(dir.path().join("map.pgm"), empty).unwrap();
    let message = call(&yaml);
    assert!(message.contains("no room found") && message.contains("--inside"), "{message}");
    // Noise as large as a hall: the fit would take minutes, so it is not begun.
    let mut noise = b"P5\n4000 4000\n255\n".to_vec();
    let mut state = 1u32;
    noise.extend((0..4000 * 4000).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if state >> 30 == 0 { 0u8 } else { 254 }
    }));
    fs::write(dir.path().join("map.pgm"), noise).unwrap();
    let message = call(&yaml);
    assert!(message.contains("this is noise"), "{message}");
    assert!(!out.exists(), "a refused map leaves no scene behind");
    assert!(dir.path().join("room.png").exists(), "but a picture of what was read");
}

/// Three rooms in a row are none; the fit is drawn, and taken by who asks for it.
#[test]
fn several_rooms_are_refused_unless_accepted() {
    let dir = tempfile::tempdir().unwrap();
    let yaml = draw_map(dir.path(), 0.0);
    let image = dir.path().join("map.pgm");
    let mut pgm = fs::read(&image).unwrap();
    let start = pgm.len() - 220 * 220;
    for (row, column) in (70..150).flat_map(|row| [89, 90, 129, 130].map(|column| (row, column))) {
        pgm[start + 220 * row + column] = 0;
    }
    fs::write(&image, pgm).unwrap();
    let out = dir.path().join("room.toml");
    let args = ["scene", "from-map", yaml.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let message = cli::fail(&args);
    assert!(message.contains("several rooms") && message.contains("--inside") && !out.exists(), "{message}");
    assert!(dir.path().join("room.png").exists());
    let output = cli::run(&[&args[..], &["--accept"]].concat());
    let warning = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && warning.contains("warning") && out.exists(), "{warning}");
    let middle = cli::succeed(&[&args[..], &["--inside", "0,1"]].concat());
    assert!(middle.contains("room        1."), "{middle}");
}

/// Maps as they come: the image's path is of another machine, keys are foreign, `negate` is a word, the origin has no yaw.
#[test]
fn foreign_habits_are_read_with_a_note() {
    let dir = tempfile::tempdir().unwrap();
    let yaml = draw_map(dir.path(), 0.0);
    let odd = "image: /home/robot/maps/map.pgm\nresolution: 0.05\norigin: [-5.5, -5.5]\nnegate: false\ncost_scale: 2\n";
    fs::write(&yaml, odd).unwrap();
    let out = dir.path().join("room.toml");
    let (yaml, out) = (yaml.to_str().unwrap(), out.to_str().unwrap());
    let output = cli::run(&["scene", "from-map", yaml, "--out", out, "--boxes", "--json"]);
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && notes.contains("was taken") && notes.contains("cost_scale"), "{notes}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((report["boxes"].as_u64(), report["obstacles_left_out"].as_u64()), (Some(1), Some(0)), "{report}");
    assert!(fs::read_to_string(out).unwrap().contains("obstacle0"));
    let shown = cli::succeed(&["scene", "from-map", yaml, "--out", out, "--inside", "0,1"]);
    assert!(shown.contains("1 obstacles inside the room; --boxes"), "{shown}");
    for (args, words) in [
        (&["--inside", "50,50"][..], "no free cell"),
        (&["--crop", "50,50,60,60"], "corners"),
        (&["--crop", "1,2,3"], "4 numbers"),
        (&["--boxes", "--box-height-m", "99"], "--box-height-m"),
    ] {
        let error = cli::fail(&[&["scene", "from-map", yaml, "--out", out], args].concat());
        assert!(error.contains(words), "{args:?}: {error}");
    }
}
