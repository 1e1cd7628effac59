//! The shell blocks of the README and of the book are run, page by page in a folder of its own, in the order a reader would.
//!
//! A fence says what its block is: `sh` is run, `sh long` is too heavy for that (whole corpora, training, servers, clusters, GPUs, the
//! network) and only parsed, by the tests of the command line; `toml FILE` is a file that the page's commands find beside them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use magnetar_files::npy::write_npy;
use num_complex::Complex32;

use crate::cli::{self, text};
use crate::from_map::draw_map;
use crate::measurement::{CHAINS, measured, pose_table, rows_in_lab, wifi};

/// So many blocks are marked as too heavy. One more needs a reason that a reviewer believes.
const LONG_BLOCKS: usize = 19;

/// A block between fences.
struct Block {
    /// What follows the opening fence.
    info: String,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn blocks(page: &str) -> Vec<Block> {
    let (mut blocks, mut open) = (Vec::new(), None::<Block>);
    for line in page.lines() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(_), Some(block)) => blocks.push(block),
            (Some(info), None) => open = Some(Block { info: info.to_owned(), text: String::new() }),
            (None, Some(mut block)) => {
                block.text.extend([line, "\n"]);
                open = Some(block);
            }
            (None, None) => assert!(!line.starts_with("    magnetar "), "in a fence it would be run: {line}"),
        }
    }
    assert!(open.is_none(), "a fence is left open");
    blocks
}

/// The README, the book and the page on reproduction: path from the top, and blocks.
fn pages() -> Vec<(String, Vec<Block>)> {
    let folders = ["docs", "docs/tutorials", "reproduce"];
    let listed = folders.iter().flat_map(|folder| fs::read_dir(root().join(folder)).unwrap());
    let mut paths: Vec<PathBuf> = listed.map(|entry| entry.unwrap().path()).collect();
    paths.push(root().join("README.md"));
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    paths.sort();
    let name = |path: &Path| path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
    paths.iter().map(|path| (name(path), blocks(&fs::read_to_string(path).unwrap()))).collect()
}

/// The files that a page takes its reader to have: recordings, maps, exports.
fn bring_files(page: &str, folder: &Path) {
    let file = |name: &str| folder.join(name);
    let scene = |name: &str| fs::write(file(name), cli::succeed(&["scene", "show", "lab", "--toml"])).unwrap();
    match page {
        "docs/measured.md" => {
            let paths = [(40.0, -20.0, 22.0), (52.0, 35.0, 24.0)];
            write_npy(&file("csi.npy"), &[4, 114, 3], &wifi(114, &[0.0, 0.026, 0.052], &paths, 4)).unwrap();
            let uneven = wifi(30, &[0.0, 0.026, 0.052], &paths[..1], 2);
            write_npy(&file("intel5300.npy"), &[2, 30, 3], &uneven).unwrap();
            scene("office.toml");
            scene("my_room.toml");
            write_npy(&file("cables.npy"), &[2], &CHAINS).unwrap();
            let rows = rows_in_lab(folder, "60");
            let heard: Vec<Complex32> = rows.iter().flat_map(measured).collect();
            write_npy(&file("drive1.npy"), &[rows.len(), 512, 2], &heard).unwrap();
            // Every second row is one with a board, as rows without one are set apart to learn from.
            let table = pose_table(&rows, true);
            let placed = table
                .lines()
                .enumerate()
                .map(|(n, row)| if n % 2 == 0 { row.replace("none", "left") } else { row.to_owned() });
            fs::write(file("drive1.csv"), placed.collect::<Vec<_>>().join("\n")).unwrap();
            let snapshot = ["observe", "lab", "--tx", "0.98,2.28", "--rx", "1.0,-1.0,,90", "--out"];
            cli::succeed(&[&snapshot[..], &[text(&file("snapshot.npy"))]].concat());
            cli::succeed(&[&snapshot[..], &[text(&file("drive.npy")), "--count", "2"]].concat());
            fs::write(file("drive.csv"), "x,y,heading_deg\n1.0,-1.0,90\n1.0,-1.0,90\n").unwrap();
        }
        "docs/pictures.md" => scene("my_room.toml"),
        "docs/scenes.md" => {
            fs::rename(draw_map(folder, 0.0), file("lab_map.yaml")).unwrap();
            fs::write(file("my_materials.toml"), "[material.plaster]\nsource = \"ours\"\neps_r = 2.7\nsigma = 0.1\n")
                .unwrap();
        }
        "docs/sionna.md" => {
            fs::copy(root().join("tests/data/sionna_public_cases.json.gz"), file("cases.json.gz")).unwrap();
        }
        _ => {}
    }
}

/// Runs a page's commands; what went wrong, if anything.
fn follow(page: &str, blocks: &[Block]) -> Option<String> {
    let script: String = blocks.iter().filter(|block| block.info == "sh").map(|block| block.text.as_str()).collect();
    if script.is_empty() {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    bring_files(page, folder.path());
    for (name, block) in blocks.iter().filter_map(|block| Some((block.info.strip_prefix("toml ")?, block))) {
        fs::write(folder.path().join(name), &block.text).unwrap();
    }
    let program = Path::new(env!("CARGO_BIN_EXE_magnetar")).parent().unwrap();
    let found = std::env::var("PATH").unwrap_or_default();
    let began = std::time::Instant::now();
    let output = Command::new("bash")
        .args(["-euxo", "pipefail", "-c", &script])
        .env("PATH", format!("{}:{found}", program.display()))
        .current_dir(folder.path())
        .output()
        .unwrap();
    println!("{page}: {:.1} s", began.elapsed().as_secs_f64());
    (!output.status.success()).then(|| format!("{page}:\n{}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn every_shell_block_runs() {
    let wrong: Vec<String> = pages().iter().filter_map(|(page, blocks)| follow(page, blocks)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn few_shell_blocks_are_too_heavy_and_all_others_are_run() {
    let infos: Vec<(String, String)> = pages()
        .into_iter()
        .flat_map(|(page, blocks)| blocks.into_iter().map(move |block| (page.clone(), block.info)))
        .collect();
    for (page, info) in infos.iter().filter(|(_, info)| !matches!(info.as_str(), "sh" | "sh long")) {
        let word = info.split(' ').next().unwrap_or_default();
        assert!(["text", "toml", "rust", "python", "json"].contains(&word), "{page}: a block of `{info}`");
    }
    let count = |info: &str| infos.iter().filter(|(_, word)| word == info).count();
    assert_eq!(count("sh long"), LONG_BLOCKS);
    assert!(count("sh") > LONG_BLOCKS, "hardly a block is run");
}

#[test]
fn the_script_that_makes_figures_has_all_it_lists() {
    let script = root().join("reproduce/run.sh");
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
