//! Flipped bits in a shard: every command that reads it reports file and column, or says what it says of the whole file.

use std::fs;
use std::path::Path;

use crate::cli;
use crate::folder::files;

/// All commands are tried at each of so many places; the first, `stats`, at every one.
const EVERY: usize = 20;

/// What reads dataset `D` and may write to `O`.
const READERS: [&str; 13] = [
    "stats D --json",
    "verify D --json --sample 2 --seed 1",
    "merge D --out O/merged",
    "estimate D/fusion/part-00000.parquet --out O/estimates.jsonl",
    "evaluate D --split fusion --json SUPPORT",
    "fuse D --split fusion --json SUPPORT",
    "ablation D --split fusion --limit 3 --json SUPPORT",
    "posterior D --split fusion --row 2 --json SUPPORT",
    "posterior D --split fusion --all --out O/posteriors.parquet SUPPORT",
    "features D --split fusion --out O/features SUPPORT",
    "report D --rows 4 --examples 1 --out O/report.html",
    "plot marginal D --split fusion --row 1 -o O/marginal.svg",
    "view D --split fusion --row 1 --export O/view.html",
];

/// What a command says and writes, or why it fails.
fn call(line: &str, folder: &Path) -> Result<(Vec<u8>, Vec<Vec<u8>>), String> {
    let out = folder.join("out");
    let _ = fs::remove_dir_all(&out);
    fs::create_dir(&out).unwrap();
    let line = line.replace("SUPPORT", "--headings 4 --rows 5 --columns 5");
    let place = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let words: Vec<String> = line
        .split_whitespace()
        .map(|word| match word.split_at(1) {
            ("D", rest) if rest.is_empty() || rest.starts_with('/') => place("data") + rest,
            ("O", rest) if rest.starts_with('/') => place("out") + rest,
            _ => word.to_owned(),
        })
        .collect();
    let output = cli::magnetar(&words.iter().map(String::as_str).collect::<Vec<_>>()).output().unwrap();
    if output.status.success() {
        return Ok((output.stdout, files(&out).into_values().collect()));
    }
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert_eq!(output.status.code(), Some(1), "{line}: {said}");
    assert!(!said.contains("panicked"), "{line}: {said}");
    Err(said)
}

/// Damages a shard at so many places, one after the other. `splits` are made, the shard of the first is damaged.
fn damage(splits: &str, rows: &str, readers: &[&str], places: usize) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let out = data.to_str().unwrap();
    let generate = ["generate", "--split", splits, "--limit", rows, "--csi", "f16", "--threads", "1", "--out", out];
    cli::succeed(&generate);
    let undamaged = files(&data);
    let expected: Vec<_> =
        readers.iter().map(|line| call(line, folder.path()).unwrap_or_else(|e| panic!("{line}: {e}"))).collect();
    let first = splits.split(',').next().unwrap();
    let shard = data.join(first).join("part-00000.parquet");
    let whole = fs::read(&shard).unwrap();
    let mut reported = vec![0; readers.len()];
    let mut random = 1_u64;
    for n in 0..places {
        // Knuth's generator: the same places in every run.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let place = (random >> 33) as usize % whole.len();
        let mut bytes = whole.clone();
        bytes[place] ^= 1 << (random >> 20 & 7);
        fs::write(&shard, &bytes).unwrap();
        let tried = if n % EVERY == 0 { readers.len() } else { 1 };
        for (i, line) in readers[..tried].iter().enumerate() {
            match call(line, folder.path()) {
                Ok(found) => assert!(found == expected[i], "{line}: byte {place} changes the result"),
                Err(said) => {
                    let part = ["column ", "the footer", "SHA-256"].iter().any(|part| said.contains(part));
                    assert!(said.contains("part-00000.parquet") && part, "{line}: byte {place}: {said}");
                    reported[i] += 1;
                }
            }
        }
    }
    assert!(reported[0] > places / 10, "{reported:?}");
    assert!(reported.iter().all(|count| *count > 0), "{reported:?}");
    // Made anew, as the message advises.
    cli::succeed(&generate);
    assert!(files(&data) == undamaged);
}

#[test]
fn every_reader_reports_a_flipped_bit_or_is_not_touched_by_it() {
    damage("fusion", "2", &READERS, 300);
}

/// What reads `train` and `val` by their names.
#[test]
fn audit_and_fit_report_a_flipped_bit_or_are_not_touched_by_it() {
    let fit = "fit D --limit 3 --passes 1 --cells 5 --out O/parameters.toml";
    damage("train,val", "6", &["stats D --json", "audit D --json", fit], 100);
}
