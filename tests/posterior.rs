//! `magnetar evaluate`, `posterior`, `fuse`, `features`, `fit` and `ablation`.

use std::path::Path;

use serde_json::Value;

use crate::cli;

fn dataset(folder: &Path) -> String {
    let out = folder.join("d").to_str().unwrap().to_owned();
    cli::succeed(&["generate", "--limit", "30", "--csi", "none", "--seed", "5", "--out", &out]);
    out
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_posterior_commands_agree_on_one_dataset() {
    let folder = tempfile::tempdir().unwrap();
    let d = dataset(folder.path());
    let result = json(&cli::succeed(&["evaluate", &d, "--split", "test", "--limit", "20", "--json"]));
    for scorer in ["twin", "uniform"] {
        for key in [
            "samples",
            "nll",
            "nll_stderr",
            "hpd_gap_pp",
            "v40_percent",
            "map_xy_m",
            "map_yaw_deg",
            "joint_hit_percent",
            "p1m_percent",
        ] {
            assert!(result[scorer][key].is_number(), "{scorer} {key}");
            assert!(result[scorer]["board"][key].is_number(), "{scorer} board {key}");
        }
        assert_eq!(result[scorer]["reliability"].as_array().unwrap().len(), 9);
        assert_eq!(result[scorer]["samples"], 20);
    }
    assert!((result["uniform"]["nll"].as_f64().unwrap() - 19_602f64.ln()).abs() < 1e-4);
    assert!(result["twin"]["nll"].as_f64().unwrap() < 8.5);
    assert!(cli::succeed(&["evaluate", &d, "--limit", "4"]).contains("twin"));

    let volume = folder.path().join("p.npy");
    let volume = volume.to_str().unwrap();
    let posterior = json(&cli::succeed(&["posterior", &d, "--row", "3", "--json", "--out", volume]));
    let sum: f64 = posterior["heading_marginal"].as_array().unwrap().iter().map(|m| m.as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-6);
    assert_eq!(std::fs::metadata(volume).unwrap().len(), 128 + 4 * 19_602);
    assert!(cli::succeed(&["posterior", &d, "--row", "3"]).contains("HPD 50 %"));
    let all = folder.path().join("all.npy");
    cli::succeed(&["posterior", &d, "--all", "--limit", "3", "--out", all.to_str().unwrap()]);
    assert_eq!(std::fs::metadata(&all).unwrap().len(), 128 + 3 * 4 * 19_602);

    let table = folder.path().join("all.parquet");
    cli::succeed(&["posterior", &d, "--all", "--limit", "3", "--out", table.to_str().unwrap()]);
    let bytes = std::fs::read(&table).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));

    // What was written can be judged like any scorer, and is the twin again.
    let (table, all) = (table.to_str().unwrap(), all.to_str().unwrap());
    let scorers = ["--scorer", "twin", "--scorer", table, "--scorer", all];
    let compared = json(&cli::succeed(&[&["evaluate", &d, "--limit", "3", "--json"], &scorers[..]].concat()));
    for file in ["all.parquet", "all.npy"] {
        let difference = &compared[file]["minus_first"]["differences"]["nll"]["mean"];
        assert!(difference.as_f64().unwrap().abs() < 1e-5, "{difference}");
        assert!(compared[file]["i_post"].is_number());
    }
    assert!(compared["twin"]["scorer"]["knowledge"]["materials"]["one_of"].is_array());
    let text = cli::succeed(&["evaluate", &d, "--limit", "3", "--scorer", "uniform"]);
    assert!(text.contains("uniform: no material used") && text.contains("I_post") && !text.contains("twin"), "{text}");
    let err = cli::fail(&["evaluate", &d, "--limit", "4", "--scorer", table]);
    assert!(err.contains("no volume for row 3 of split test"), "{err}");
    assert!(cli::fail(&["evaluate", &d, "--split", "val", "--limit", "3", "--scorer", table]).contains("split test"));
    assert!(cli::fail(&["evaluate", &d, "--scorer", "oracle"]).contains("twin, uniform"));
    assert!(cli::fail(&["fuse", &d, "--scorer", "twin", "--scorer", "uniform"]).contains("one --scorer"));
    assert!(cli::fail(&["ablation", &d, "--scorer", "uniform"]).contains("only the twin"));
    let one = json(&cli::succeed(&["posterior", &d, "--row", "2", "--json", "--scorer", table]));
    assert_eq!(one["scorer"]["name"], "all.parquet");
    assert!(cli::succeed(&["fuse", &d, "--limit", "2", "--scorer", "uniform"]).contains("uniform:"));

    let fused = json(&cli::succeed(&["fuse", &d, "--limit", "4", "--json"]));
    assert_eq!(fused["sets"], 4);
    assert!(fused["late_p1m_percent"].as_f64().unwrap() > fused["single_p1m_percent"].as_f64().unwrap());

    let features = folder.path().join("f");
    let features = features.to_str().unwrap();
    cli::succeed(&[
        "features",
        &d,
        "--limit",
        "2",
        "--training",
        "--dense",
        "--rows",
        "25",
        "--columns",
        "25",
        "--out",
        features,
    ]);
    assert_eq!(
        std::fs::metadata(Path::new(features).join("dense.npy")).unwrap().len(),
        128 + 2 * 4 * 24 * 18 * 25 * 25
    );

    let toml = folder.path().join("twin.toml");
    let toml = toml.to_str().unwrap();
    let small = ["--headings", "8", "--rows", "9", "--columns", "7"];
    let fit = ["fit", &d, "--limit", "4", "--passes", "1", "--cells", "5", "--out", toml];
    cli::succeed(&fit);
    let first = std::fs::read_to_string(toml).unwrap();
    // A finished fit leaves no state behind, and is the same again.
    let kept = format!("{toml}.checkpoint");
    assert!(!Path::new(&kept).exists());
    cli::succeed(&fit);
    assert_eq!(std::fs::read_to_string(toml).unwrap(), first);
    std::fs::write(&kept, "passes = 3").unwrap();
    assert!(cli::fail(&fit).contains("no checkpoint of this fit"));
    std::fs::remove_file(&kept).unwrap();
    assert_eq!(std::fs::read_to_string(toml).unwrap(), first);
    cli::succeed(&["evaluate", &d, "--limit", "2", "--parameters", toml]);
    let table = cli::succeed(&[&["ablation", &d, "--limit", "2"], &small[..]].concat());
    assert!(table.contains("full likelihood") && table.contains("without merging and fading"));
    assert!(cli::fail(&["fit", &d, "--split", "test", "--out", toml]).contains("held out"));
    assert!(cli::fail(&["fit", &d, "--held-back", "test", "--out", toml]).contains("held out"));
    assert!(cli::fail(&["fit", &d, "--split", "fusion", "--out", toml]).contains("held out"));
    assert!(cli::fail(&["evaluate", &d, "--rows", "0"]).contains("support"));
    assert!(cli::fail(&["posterior", &d, "--row", "999999"]).contains("999999"));
    let err = cli::fail(&["posterior", &d, "--row", "-1"]);
    assert!(err.contains("'-1'") && err.contains("--row") && err.contains("0 or larger"), "{err}");
}

#[test]
fn parameters_of_another_recipe_warn() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("d");
    let out = out.to_str().unwrap();
    let change = "link.reference_snr_db=40";
    cli::succeed(&["generate", "--limit", "2", "--csi", "none", "--split", "test", "--set", change, "--out", out]);
    let run = cli::run(&["evaluate", out, "--limit", "2"]);
    assert!(run.status.success());
    assert!(String::from_utf8_lossy(&run.stderr).contains("warning: the parameters were fitted to recipe"));
}

#[test]
fn an_audit_finds_link_relative_boards_and_no_free_ones() {
    let folder = tempfile::tempdir().unwrap();
    let audit = |name: &str, settings: &[&str]| {
        let out = folder.path().join(name).to_str().unwrap().to_owned();
        let mut args = vec!["generate", "--limit", "1500", "--csi", "none", "--seed", "3", "--out", &out];
        args.extend(["--split", "train", "--split", "val"]);
        settings.iter().for_each(|set| args.extend(["--set", set]));
        cli::succeed(&args);
        assert!(cli::succeed(&["audit", &out, "--limit", "100"]).contains("layout alone"));
        // The card has the figures, and is still the card of this dataset; an edited one is not.
        let card = Path::new(&out).join("README.md");
        let text = std::fs::read_to_string(&card).unwrap();
        assert!(
            text.contains("## Audit") && text.contains("| board (") && text.contains("direct path alone"),
            "{text}"
        );
        cli::succeed(&["verify", &out, "--partial"]);
        std::fs::write(&card, text.replace("| all (1000) |", "| all (1001) |")).unwrap();
        let edited = cli::run(&["verify", &out, "--partial"]);
        let said = [edited.stdout, edited.stderr].concat();
        assert!(!edited.status.success() && String::from_utf8_lossy(&said).contains("not the card"));
        std::fs::write(&card, text).unwrap();
        json(&cli::succeed(&["audit", &out, "--json"]))
    };
    let (link, free) = (audit("link", &[]), audit("free", &["board.placement=free"]));
    let nat = |found: &Value, condition: &str, key: &str| {
        let found = if condition == "all" { found } else { &found[condition] };
        (found[key].as_f64().unwrap(), found[format!("{key}_stderr")].as_f64().unwrap())
    };
    let (told, error) = nat(&link, "board", "layout_only_nat");
    assert!(told > 0.5 && error < 0.2, "{told} {error}");
    for condition in ["all", "no_board", "board"] {
        let (told, _) = nat(&free, condition, "layout_only_nat");
        assert!(told < 0.1, "{condition} {told}");
        let (direct, _) = nat(&link, condition, "direct_path_nat");
        assert!(direct > 0.5, "{condition} {direct}");
    }
    for key in ["arrivals_per_row", "los_percent", "first_is_los_percent"] {
        assert!(link[key].is_number() && link["board"][key].is_number(), "{key}");
    }
}
