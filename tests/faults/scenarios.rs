//! The commands that write, each with what was there before, and what must hold after a fault. `replay` writes as `generate`
//! does, and far more rows.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::start;
use crate::folder::files;
use crate::from_map::draw_map;

/// The files of a folder with their bytes.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Whether what a fault left is whole, given the files before and after an undisturbed run.
pub type Whole = fn(&Path, &Files, &Files) -> Result<(), String>;

/// A command that writes.
pub struct Scenario {
    /// Its name in the table of counts.
    pub name: &'static str,
    /// What is run first, each in the scenario's folder.
    pub before: Vec<String>,
    /// The command that is struck.
    pub command: String,
    /// What must hold after a fault.
    pub whole: Whole,
}

/// Of a dataset `out`: it verifies as far as it goes, and no row that was there is gone.
fn dataset(folder: &Path, before: &Files, _: &Files) -> Result<(), String> {
    if !folder.join("out/manifest.json").exists() {
        return if before.contains_key("out/manifest.json") { Err("the manifest is gone".into()) } else { Ok(()) };
    }
    let output = start(folder, "verify out --partial --json --sample 3 --seed 1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        return Err(text + &String::from_utf8_lossy(&output.stderr));
    }
    let rows = |manifest: &[u8]| -> u64 {
        let manifest: serde_json::Value = serde_json::from_slice(manifest).unwrap();
        let splits = manifest["splits"].as_object().unwrap().values();
        let shards = splits.flat_map(|split| split["shards"].as_array().unwrap());
        shards.map(|shard| shard["rows"].as_u64().unwrap()).sum()
    };
    let had = before.get("out/manifest.json").map_or(0, |manifest| rows(manifest));
    let has = rows(&fs::read(folder.join("out/manifest.json")).unwrap());
    if has < had { Err(format!("{has} rows of {had}")) } else { Ok(()) }
}

/// Of a sweep: if it was finished before, it verifies.
fn sweep(folder: &Path, before: &Files, _: &Files) -> Result<(), String> {
    if !before.contains_key("out/sweep.json") {
        return Ok(());
    }
    let output = start(folder, "verify out --json --sample 3 --seed 1").output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&said).into_owned()) }
}

/// What a fault left but for unfinished files, which the next run removes.
fn finished(folder: &Path) -> Files {
    let mut found = files(folder);
    found.retain(|name, _| !name.contains(".magnetar-"));
    found
}

/// Of files that are replaced together: all are the older or all the newer ones.
fn old_or_new(folder: &Path, before: &Files, after: &Files) -> Result<(), String> {
    let found = finished(folder);
    if found == *before || found == *after { Ok(()) } else { Err(format!("torn: {:?}", found.keys())) }
}

/// Of files that stand for themselves: each is the older or the newer one.
fn each_old_or_new(folder: &Path, before: &Files, after: &Files) -> Result<(), String> {
    let found = finished(folder);
    let known = |name: &String| found.get(name) == before.get(name) || found.get(name) == after.get(name);
    match before.keys().chain(after.keys()).chain(found.keys()).find(|name| !known(name)) {
        None => Ok(()),
        Some(name) => Err(format!("torn: {name}")),
    }
}

/// Of a fit: the parameters are the older or the newer ones; the state of the search may lie beside them for the next run,
/// which removes it.
fn fitted(folder: &Path, before: &Files, after: &Files) -> Result<(), String> {
    let mut found = finished(folder);
    found.remove("fit.toml.checkpoint");
    if found == *before || found == *after { Ok(()) } else { Err(format!("torn: {:?}", found.keys())) }
}

/// All scenarios; `size` times as much is written where more means more operations. What they read is put into `folder`.
pub fn scenarios(folder: &Path, size: u64) -> Vec<Scenario> {
    let sweep_file = |points: u64| {
        let values: Vec<String> = (0..points).map(|n| (30 + n).to_string()).collect();
        format!(
            "name = \"snr\"\ndescription = \"\"\nsplit = \"test\"\nrows = 6\n[[axis]]\nkey = \"link.reference_snr_db\"\n\
             values = [{}]\n",
            values.join(", ")
        )
    };
    fs::write(folder.join("short.toml"), sweep_file(1)).unwrap();
    fs::write(folder.join("long.toml"), sweep_file(1 + size)).unwrap();
    draw_map(folder, 0.35);
    let mut all = of_datasets(size);
    all.extend(of_files());
    all
}

fn of_datasets(size: u64) -> Vec<Scenario> {
    let own = |name, before: Vec<String>, command: String, whole| Scenario { name, before, command, whole };
    let generate = |out: &str, rows: u64, more: &str| {
        let rows = rows * size;
        format!(
            "generate --split train --shard-size 10 --csi none --threads 1 --seed {size} --limit {rows} --out {out} {more}"
        )
    };
    let third = |out: &str, n: u64| generate(out, 45, &format!("--part {n}/3"));
    let sweep_of = |file: &str| format!("sweep {file}.toml --threads 1 --out out");
    let splits =
        format!("generate --split test,fusion --shard-size 10 --csi f16 --threads 1 --limit {} --out out", 4 * size);
    vec![
        own("generate", vec![], generate("out", 25, ""), dataset),
        own("generate, more rows", vec![generate("out", 25, "")], generate("out", 47, ""), dataset),
        own("generate, more splits", vec![generate("d", 25, "")], splits, dataset),
        own(
            "merge into a part",
            vec![third("a", 1), third("b", 2), third("c", 3), "merge a --out out".into()],
            "merge b c --out out".into(),
            dataset,
        ),
        own("merge", vec![generate("a", 25, "")], "merge a --out out".into(), dataset),
        own("sweep", vec![], sweep_of("long"), sweep),
        own("sweep, more points", vec![sweep_of("short")], sweep_of("long"), sweep),
    ]
}

fn of_files() -> Vec<Scenario> {
    let made = "generate --split train --csi f16 --threads 1 --limit 6 --out d";
    let support = "--split train --headings 6 --rows 9 --columns 9";
    // Each replaces what the same command, with another setting, wrote.
    let replaced = |name, before: &[&str], command: &str, settings: [&str; 2], whole| Scenario {
        name,
        before: before.iter().map(|line| (*line).to_owned()).chain([format!("{command} {}", settings[0])]).collect(),
        command: format!("{command} {}", settings[1]),
        whole,
    };
    let of_rows = |name, command: &str, settings, whole| replaced(name, &[made], command, settings, whole);
    let rows = ["--limit 3", "--limit 5"];
    let all = ["", "--all"];
    let observe = "observe lab --tx 0,0 --rx 1,-2 --count 4 --out obs.npy";
    let of_observations = |name, command: &str| replaced(name, &[observe], command, all, old_or_new);
    vec![
        of_rows("features, replaced", &format!("features d {support} --out out"), rows, old_or_new),
        Scenario {
            name: "features",
            before: vec![made.into()],
            command: format!("features d {support} --limit 5 --out deep/out"),
            whole: old_or_new,
        },
        of_rows("posterior, table", "posterior d --split train --all --out p.parquet", rows, old_or_new),
        of_rows("posterior, one row", "posterior d --split train --out p.npy", ["--row 1", "--row 2"], each_old_or_new),
        of_rows("fit", "fit d --held-back train --cells 5 --passes 2 --out fit.toml", rows, fitted),
        of_rows("report", "report d --no-posterior --out r.html", ["--examples 1", "--examples 2"], old_or_new),
        of_rows("view --export", "view d --split train --export v.html", ["--row 1", "--row 2"], old_or_new),
        of_rows("plot", "plot marginal d --split train -o m.svg -o m.png", ["--row 1", "--row 2"], each_old_or_new),
        of_observations("estimate, CSV", "estimate obs.npy --out est.csv"),
        of_observations("estimate, JSON", "estimate obs.npy --out est.jsonl"),
        of_observations("estimate, Parquet", "estimate obs.npy --out est.parquet"),
        replaced(
            "locate",
            &[observe],
            "locate lab obs.npy --rx 1,-2 --out joint.npy --plot where.svg --headings 6 --columns 9",
            ["--rows 7", "--rows 9"],
            each_old_or_new,
        ),
        replaced("observe", &[], observe, ["--seed 1", "--seed 2"], old_or_new),
        replaced(
            "scene from-map",
            &[],
            "scene from-map map.yaml --name room --out room.toml",
            ["--wall brick", "--wall wood"],
            each_old_or_new,
        ),
    ]
}
