//! Fifty wrong inputs and more, one per flag or kind of file: every message names the thing, the place, what was expected and
//! what to do.

use std::fs;
use std::path::Path;

use crate::cli;

/// A command that is wrong in one place, and what its message must say.
struct Wrong {
    /// The arguments, as in a shell.
    command: &'static str,
    /// What is wrong: the value, or the name.
    thing: &'static str,
    /// Where: the flag, or the file with line, row or key.
    place: &'static str,
    /// What was expected there.
    expected: &'static str,
    /// What to do.
    remedy: &'static str,
}

const fn wrong(
    command: &'static str,
    thing: &'static str,
    place: &'static str,
    expected: &'static str,
    remedy: &'static str,
) -> Wrong {
    Wrong { command, thing, place, expected, remedy }
}

/// Flags: thing, place, expected, remedy.
const FLAGS: &[Wrong] = &[
    wrong(
        "trace lab_midle --tx 0,0 --rx 1,1",
        "lab_midle",
        "unknown scene",
        "known are lab",
        "did you mean lab_middle?",
    ),
    wrong("trace lab --tx 1,x --rx 1,1", "`x`", "--tx", "not a number", "for example 0.98,2.28"),
    wrong("trace lab --tx 0,0 --rx 1e300,1", "X is 1e300", "--rx", "out of range", "expected X,Y"),
    wrong("trace lab --tx 0,0 --rx 99,1", "99", "RX", "not inside the room", "move it inside"),
    wrong("trace lab --tx 0,0 --rx 1,1 --max-order 9", "'9'", "--max-order", "0..=3", "--help"),
    wrong("trace lab --tx 0,0 --rx 1,1 --carrier-ghz 0", "'0'", "--carrier-ghz", "0.001 to 1000", "--help"),
    wrong(
        "trace lab --tx 0,0 --rx 1,1 --materials gone.toml",
        "gone.toml",
        "cannot read",
        "gone.toml",
        "check that it exists",
    ),
    wrong("trace lab --tx 0,0", "--rx", "required", "X,Y[,Z[,YAW_DEG]]", "--help"),
    wrong("scene show lab --carrier-ghz 400", "concrete", "400 GHz", "its ranges are", "choose a frequency"),
    wrong("material show glas", "glas", "unknown material", "known are", "did you mean glass?"),
    wrong("pattern show isotropc", "isotropc", "unknown antenna pattern", "known are", "did you mean isotropic?"),
    wrong("recipe show papr", "papr", "No such file", "shipped recipe", "did you mean paper?"),
    wrong("sweep bord --dry-run", "bord", "No such file", "shipped sweep", "did you mean board?"),
    wrong("sweep show bord", "bord", "no shipped sweep", "board", "did you mean board?"),
    wrong("scorer show twinn", "twinn", "no scorer", "there are twin", "did you mean twin?"),
    wrong("train np11 --out x.safetensors", "np11", "<DESIGN>", "there are np1", "--help"),
    wrong("train np1 --preset big --out x.safetensors", "big", "--preset", "paper", "--help"),
    wrong(
        "generate --set link.reference_snr=3 --dry-run",
        "link.reference_snr",
        "setting",
        "unknown key",
        "did you mean link.reference_snr_db?",
    ),
    wrong(
        "generate --set link.reference_snr_db=loud --dry-run",
        "loud",
        "link.reference_snr_db",
        "is not a number",
        "from -100 to 100",
    ),
    wrong("generate --set store.shard_rows=0 --dry-run", "0", "store.shard_rows", "from 1", "1000000"),
    wrong("generate --split tets --dry-run", "tets", "no split", "it has train", "did you mean test?"),
    wrong("generate --limit 0 --dry-run", "limit of 0", "limit", "nothing to generate", "give at least 1"),
    wrong("generate --part 5/4 --dry-run", "5/4", "--part", "I from 1 to N", "such as 2/4"),
    wrong("generate --shards 3..3 --dry-run", "3..3", "--shards", "A below B", "such as 0..10"),
    wrong("generate --shards 900..901 --dry-run", "900..901", "split train", "has shards 0..80", "0..80 of 1000 rows"),
    wrong("generate --threads 9999 --dry-run", "9999", "--threads", "0 (one per core)", "1024"),
    wrong("generate --csi f64 --dry-run", "f64", "store.csi", "f32", "none"),
    wrong("generate --backend gpu --dry-run", "gpu", "--backend", "cpu", "cuda"),
    wrong(
        "generate --out data --seed 9 --split test --limit 8",
        "seed",
        "data",
        "holds another dataset",
        "choose another folder",
    ),
    wrong(
        "observe lab --tx 0,0 --rx 1,1 --out x.txt",
        "x.txt",
        "--out",
        "ends in .npy",
        "the ending says what is written",
    ),
    wrong("observe lab --tx 0,0 --rx 1,1 --bins 3 --out x.npy", "3", "--bins", "expected", "from 8 to 65536"),
    wrong("observe lab --tx 0,0 --rx 1,1 --count 0 --out x.npy", "'0'", "--count", "1..=", "--help"),
    wrong(
        "observe lab --tx 0,0 --rx 1,1 --tx-power-offset-db 900 --out x.npy",
        "900",
        "--tx-power-offset-db",
        "from -100 to 100",
        "--help",
    ),
    wrong("estimate obs.npy --p-fa 2", "2", "--p-fa", "expected a number", "to 0.5"),
    wrong("estimate obs.npy --out est.txt", "est.txt", "est.txt", "ends in .parquet", ".jsonl or .csv"),
    wrong("estimate obs.npy --channels 0,7", "7", "--channels", "the channels are", "0 to 1"),
    wrong("estimate obs.npy --inactive-bins 5-900", "512", "--inactive-bins", "expected bins of the band", "512 bins"),
    wrong("estimate obs.npy --noise-variance loud", "loud", "--noise-variance", "auto", "--help"),
    wrong("locate lab obs.npy --rx 50,50", "50", "snapshot 0", "outside the room", "bounds are"),
    wrong("locate lab obs.npy --rx 1,-1 --rx 1,-2", "2", "--rx", "1", "snapshot"),
    wrong("locate lab obs.npy --rx 1,-1 --plot x.gif", "x.gif", "x.gif", "ends in .svg or .png", "expected"),
    wrong(
        "locate lab obs.npy --rx 1,-1 --parameters papr",
        "papr",
        "--parameters",
        "expected paper, field",
        "a file of `magnetar fit`",
    ),
    wrong("verify nowhere", "nowhere", "nowhere", "no manifest.json", "give the folder of a dataset"),
    wrong("stats data --split tets", "tets", "split", "test", "did you mean test?"),
    wrong("evaluate data --scorer twni", "twni", "--scorer", "there are twin", "did you mean twin?"),
    wrong("evaluate data --limit 0", "test", "--limit", "no row to score", "give a larger --limit"),
    wrong("posterior data --row 4000", "4000", "split test", "has no row", "its rows are 0 to 7"),
    wrong("posterior data --row 1 --out p.parquet", "p.parquet", "--out", ".npy", "use --all"),
    wrong("posterior data --row 1 --headings 0", "'0'", "--headings", "expected a whole number", "from 1"),
    wrong("fit data --split test --out f.toml", "test", "--split", "held out", "fit on train"),
    wrong("fit data --out f.txt", "f.txt", "--out", "ends in .toml", "the ending says what is written"),
    wrong("report data --out page.txt", "page.txt", "--out", "ends in .html", "the ending says what is written"),
    wrong("plot room lab --out room.gif", "room.gif", "room.gif", "ends in .svg or .png", "expected"),
    wrong("plot room lab --tx 0,0 --out room.svg", "--tx", "--rx", "required", "X,Y[,Z[,YAW_DEG]]"),
    wrong("plot marginal data --row 4000 -o x.svg", "4000", "split test", "has no row", "its rows are 0 to 7"),
    wrong("replay trak --out r", "trak", "<PROTOCOL>", "track", "similar"),
    wrong("completions basch", "basch", "<SHELL>", "possible values", "bash"),
    wrong("doctor --dir /nowhere/at/all", "/nowhere/at/all", "--dir", "written", "give another --dir"),
    wrong("frobnicate", "frobnicate", "subcommand", "Usage", "--help"),
];

/// Files: thing, place, expected, remedy.
const FILES: &[Wrong] = &[
    wrong("scene check material.toml", "`glas`", "material.toml:20", "known are", "did you mean glass?"),
    wrong("trace material.toml --tx 0,0 --rx 1,1", "`glas`", "material.toml:20", "known are", "did you mean glass?"),
    wrong("scene check key.toml", "`thicknes_m`", "key.toml:21", "expected one of", "did you mean thickness_m?"),
    wrong("scene check syntax.toml", "literal string", "syntax.toml:6", "expected", "quoted"),
    wrong(
        "scene check size.toml",
        "-1",
        "size.toml:18: box[0].size_m",
        "expected [width, thickness, height]",
        "each positive",
    ),
    wrong("scene check nowhere.toml", "nowhere.toml", "cannot read", "No such file", "check that it exists"),
    wrong("material check law.toml", "`rangs`", "law.toml:3", "expected", "did you mean ranges?"),
    wrong("pattern check gain.csv", "loud", "gain.csv:3", "number", "expected"),
    wrong("pattern check gap.csv", "azimuth 90", "gap.csv:4", "missing", "expected azimuth 90, elevation -90"),
    wrong(
        "recipe check key_recipe.toml",
        "link.reference_snr_bd",
        "key_recipe.toml:3",
        "unknown key",
        "did you mean link.reference_snr_db?",
    ),
    wrong("recipe check value_recipe.toml", "900", "value_recipe.toml:3", "is not a number", "from -100 to 100 (dB)"),
    wrong("recipe check material_recipe.toml", "\"glas\"", "material_recipe.toml:3", "there is", "did you mean glass?"),
    wrong("recipe check pattern_recipe.toml", "vivldi.csv", "pattern_recipe.toml:3", "shipped pattern", "give a file"),
    wrong("sweep check sweep.toml", "`row`", "sweep.toml:2", "expected one of", "did you mean rows?"),
    wrong(
        "sweep check axis.toml",
        "link.reference_snr",
        "axis.toml",
        "unknown key",
        "did you mean link.reference_snr_db?",
    ),
    wrong("estimate nowhere.npy", "nowhere.npy", "nowhere.npy", "No such file", "check the path"),
    wrong("estimate text.npy", "text.npy", "text.npy", "npy", "expected"),
    wrong("estimate flat.npy", "flat.npy", "[4]", "expected", "bins"),
    wrong("estimate text.parquet", "text.parquet", "text.parquet", "not a readable Parquet file", "check the path"),
    wrong("estimate obs.npy --calibration text.npy", "text.npy", "text.npy", "npy", "expected"),
    wrong("locate lab obs.npy --poses poses.csv", "loud", "poses.csv:2", "number", "heading_deg"),
    wrong("evaluate data --scorer text.npy", "text.npy", "--scorer", "npy", "expected"),
    wrong("evaluate data --scorer text.safetensors", "text.safetensors", "--scorer", "safetensors", "magnetar train"),
    wrong("evaluate data --parameters text.toml", "text.toml", "text.toml", "expected", "="),
    wrong("evaluate damaged", "manifest.json", "manifest.json", "expected the manifest", "make the dataset again"),
    wrong("stats torn --split test", "part-00000.parquet", "torn/test", "damaged", "makes this file anew"),
    wrong("merge data other --out merged", "other", "seed", "part of another dataset", "differ in"),
    wrong("validate text.json", "text.json", "text.json", "JSON", "line 1"),
    wrong("validate schema.json", "sionna-box-v9", "schema.json", "sionna-box-v1", "schema"),
    wrong("scene from-map map.yaml --out r.toml", "gone.pgm", "map.yaml", "image", "check the path"),
    wrong("scene from-map text.toml --out r.toml", "text.toml", "text.toml", "image", "resolution"),
    wrong(
        "import campaign.toml --out c",
        "`observation`",
        "campaign.toml: line 4",
        "expected",
        "did you mean observations?",
    ),
    wrong("import rows.toml --out c", "loud", "rows.csv: line 2", "not a number", "x is"),
    wrong("view text.toml --export x.html", "text.toml", "text.toml:1", "expected", "="),
];

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
    write(
        "campaign.toml",
        "name = \"c\"\nscene = \"lab\"\n[[recording]]\nobservation = \"obs.npy\"\nrows = \"rows.csv\"\n",
    );
    write(
        "rows.toml",
        "name = \"c\"\nscene = \"lab\"\n[[recording]]\nobservations = \"obs.npy\"\nrows = \"rows.csv\"\n",
    );
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
    let mut poor = Vec::new();
    for Wrong { command, thing, place, expected, remedy } in FLAGS.iter().chain(FILES) {
        let args = shlex::split(command).unwrap();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = cli::magnetar(&args).current_dir(folder.path()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let missing: Vec<&str> =
            [thing, place, expected, remedy].into_iter().filter(|said| !stderr.contains(**said)).copied().collect();
        if !matches!(output.status.code(), Some(1 | 2)) || stderr.contains("panicked") || !missing.is_empty() {
            poor.push(format!(
                "magnetar {command}\n    {:?} lacks {missing:?}: {}",
                output.status.code(),
                stderr.trim()
            ));
        }
    }
    assert!(FLAGS.len() + FILES.len() >= 50);
    assert!(poor.is_empty(), "{} of {} messages:\n{}", poor.len(), FLAGS.len() + FILES.len(), poor.join("\n"));
}
