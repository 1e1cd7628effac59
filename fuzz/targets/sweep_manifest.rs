//! A finished sweep's folder: the input as its manifest (its hash of itself made right, too, so that what lies behind that
//! check is reached), or, of an odd number of bytes, as the result of one of its points. What opens is shown as a page.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use magnetar_fuzz::scratch::Scratch;
use magnetar_fuzz::valid_sweep;
use magnetar_report::sweep::sweep_page;
use magnetar_study::sweep::{SWEEP_MANIFEST, SweepTable};
use sha2::{Digest, Sha256};

/// A valid sweep, copied.
struct Valid {
    scratch: Scratch,
    manifest: Vec<u8>,
    /// Its points' results, by name.
    results: Vec<(String, Vec<u8>)>,
}

static VALID: LazyLock<Valid> = LazyLock::new(|| {
    let (scratch, from) = (Scratch::new("sweep"), valid_sweep());
    let manifest = std::fs::read(from.join(SWEEP_MANIFEST)).expect("the valid sweep's manifest");
    let entries = std::fs::read_dir(from.join("points")).expect("the valid sweep's points");
    let files: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file()).collect();
    let result = |path: &PathBuf| {
        let name = format!("points/{}", path.file_name()?.to_string_lossy());
        let bytes = std::fs::read(path).ok()?;
        scratch.write(&name, &bytes);
        Some((name, bytes))
    };
    let results = files.iter().filter_map(result).collect();
    Valid { scratch, manifest, results }
});

magnetar_fuzz::target!(|data| {
    let valid = &*VALID;
    if let (true, Some((name, result))) = (data.len() % 2 == 1, valid.results.first()) {
        valid.scratch.write(name, data);
        open(valid, &valid.manifest);
        valid.scratch.write(name, result);
        return;
    }
    open(valid, data);
    if let Some(text) = with_right_hash(data) {
        open(valid, text.as_bytes());
    }
});

fn open(valid: &Valid, manifest: &[u8]) {
    valid.scratch.write(SWEEP_MANIFEST, manifest);
    match SweepTable::open(valid.scratch.folder()) {
        Ok(table) => drop(sweep_page(&table)),
        Err(error) => drop(error.to_string()),
    }
}

/// The hash stands last, between the quotes that were empty when it was taken.
fn with_right_hash(data: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(data).ok()?;
    let (before, _) = text.strip_suffix("\"\n}")?.rsplit_once('"')?;
    let digest = Sha256::digest(format!("{before}\"\"\n}}"));
    let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(format!("{before}\"{hash}\"\n}}"))
}
