//! Every command of the tutorials is run, page by page, in the order a reader would.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The shell blocks of a page, one after the other.
fn script(page: &str) -> String {
    let mut script = String::new();
    let mut shell = false;
    for line in page.lines() {
        match line {
            "```sh" => shell = true,
            "```" => shell = false,
            _ if shell => script.extend([line, "\n"]),
            _ => {}
        }
    }
    script
}

fn follow(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorials").join(name);
    let script = script(&fs::read_to_string(&path).unwrap());
    assert!(script.matches("magnetar ").count() > 5, "{name}: hardly a command was found");
    let folder = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_magnetar")).parent().unwrap();
    let found = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &script])
        .env("PATH", format!("{}:{found}", program.display()))
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_tutorial_on_training_data_runs() {
    follow("training_data.md");
}

#[test]
fn the_tutorial_on_a_room_of_ones_own_runs() {
    follow("own_room.md");
}

#[test]
fn the_tutorial_on_a_robots_measurement_runs() {
    follow("robot.md");
}

#[test]
fn the_script_that_makes_figures_has_all_it_lists() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reproduce/run.sh");
    let text = fs::read_to_string(&script).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let run = |word: &str| {
        let output = Command::new("bash")
            .args([script.as_os_str(), word.as_ref()])
            .env("OUT", folder.path())
            .env("MAGNETAR", env!("CARGO_BIN_EXE_magnetar"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{word}: {}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stdout).unwrap()
    };
    let listed = run("--list");
    assert!(listed.lines().count() > 15, "{listed}");
    for name in listed.lines().filter_map(|line| line.split(' ').next()) {
        assert!(text.contains(&format!("\nmake_{name}() {{")), "{name} is listed and not made");
    }
    assert!(run("validate").contains("made"));
    assert!(fs::read_to_string(folder.path().join("validate.txt")).unwrap().contains("376 paths"));
    assert!(fs::read_to_string(folder.path().join("times.txt")).unwrap().contains("validate"));
}
