//! Fifty wrong inputs and more, one per flag or kind of file: every message names the thing, the place, what was expected and
//! what to do.

use std::fs;
use std::path::Path;

use crate::cli;

/// One wrong command per line, and four things that its message must say: what is wrong (the value, or the name), where (the flag,
/// or the file with line, row or key), what was expected there, what to do.
const TABLE: &str = include_str!("data/wrong_inputs.txt");

/// What the table's commands read.
fn prepare(folder: &Path) {
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    let run = |args: &[&str]| {
        let output = cli::magnetar(args).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let room = run(&["scene", "show", "lab_middle", "--toml"]);
    write("material.toml", &room.replace("material = \"glass\"", "material = \"glas\""));
    write("key.toml", &room.replace("thickness_m = 0.033", "thicknes_m = 0.033"));
    write("syntax.toml", &room.replace("x_m = [-1.403, 4.27]", "x_m = [-1.403 4.27]"));
    write("size.toml", &room.replace("size_m = [1.015,", "size_m = [-1,"));
    write("law.toml", "[material.mine]\nsource = \"me\"\nrangs = []\n");
    write("gain.csv", "azimuth_deg,elevation_deg,gain_db\n-180,-90,0\n-180,0,loud\n");
    write("gap.csv", "azimuth_deg,elevation_deg,gain_db\n0,-90,0\n0,90,0\n90,0,1\n");
    write("key_recipe.toml", "extends = \"paper\"\n[link]\nreference_snr_bd = 40\n");
    write("value_recipe.toml", "extends = \"paper\"\n[link]\nreference_snr_db = 900\n");
    write("material_recipe.toml", "extends = \"paper\"\n[surfaces]\nboard_material = \"glas\"\n");
    write("pattern_recipe.toml", "extends = \"paper\"\n[antennas]\ntx_pattern = \"vivldi.csv\"\n");
    write("sweep.toml", "name = \"s\"\nrow = 3\nrecipe = \"paper\"\n");
    let sweep = run(&["sweep", "show", "board"]);
    write("axis.toml", &sweep.replace("key = \"board.height_m\"", "key = \"link.reference_snr\""));
    for name in ["text.npy", "text.parquet", "text.safetensors", "text.json", "text.toml"] {
        write(name, "this is a letter, not a file of this kind\n");
    }
    write("schema.json", "{\"schema\": \"sionna-box-v9\", \"cases\": []}");
    write("poses.csv", "x,y,heading_deg\n1,-1,loud\n");
    write("map.yaml", "image: gone.pgm\nresolution: 0.05\norigin: [0, 0, 0]\n");
    let campaign = |training: &str, key: &str| {
        format!("name = \"c\"\nscene = \"lab\"\n{training}[[recording]]\n{key} = \"obs.npy\"\nrows = \"rows.csv\"\n")
    };
    write("campaign.toml", &campaign("", "observation"));
    write("rows.toml", &campaign("", "observations"));
    for (name, keys) in [
        ("training", "rows = -1"),
        ("training_key", "rows = 2\nsed = 1"),
        ("training_split", "rows = 2\nsplit = \"test\""),
    ] {
        write(&format!("{name}.toml"), &campaign(&format!("[training]\n{keys}\n"), "observations"));
    }
    write("rows.csv", "x,y,heading_deg\nloud,-1,90\n");
    let mut flat = b"\x93NUMPY\x01\x00\x46\x00{'descr': '<c8', 'fortran_order': False, 'shape': (4,), }".to_vec();
    flat.resize(10 + 0x45, b' ');
    flat.push(b'\n');
    flat.resize(flat.len() + 32, 0);
    fs::write(folder.join("flat.npy"), flat).unwrap();
    run(&["observe", "lab", "--tx", "0.98,2.28,,-90", "--rx", "1,-1,,90", "--out", "obs.npy"]);
    for (name, seed) in [("data", "1"), ("damaged", "1"), ("torn", "1"), ("other", "2")] {
        run(&["generate", "--limit", "8", "--csi", "none", "--seed", seed, "--out", name]);
    }
    write("damaged/manifest.json", "{\"recipe\": ");
    let shard = folder.join("torn/test/part-00000.parquet");
    let mut bytes = fs::read(&shard).unwrap();
    let middle = bytes.len() / 2;
    bytes.truncate(middle);
    fs::write(shard, bytes).unwrap();
}

#[test]
fn every_wrong_input_is_named_with_its_place_and_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let rows: Vec<Vec<&str>> = TABLE
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split(" | ").collect())
        .collect();
    let mut poor = Vec::new();
    for row in &rows {
        let [command, said @ ..] = &row[..] else { panic!("an empty row") };
        assert_eq!(said.len(), 4, "{command}: thing, place, expected, remedy");
        let args = shlex::split(command).unwrap();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = cli::magnetar(&args).current_dir(folder.path()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let missing: Vec<&&str> = said.iter().filter(|said| !stderr.contains(**said)).collect();
        if !matches!(output.status.code(), Some(1 | 2)) || stderr.contains("panicked") || !missing.is_empty() {
            let code = output.status.code();
            poor.push(format!("magnetar {command}\n    {code:?} lacks {missing:?}: {}", stderr.trim()));
        }
    }
    assert!(rows.len() >= 50);
    assert!(poor.is_empty(), "{} of {} messages:\n{}", poor.len(), rows.len(), poor.join("\n"));
}
