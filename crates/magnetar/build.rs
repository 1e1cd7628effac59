//! Notes the commit and the features that are built, for `--version`.

use std::process::Command;

fn git(args: &[&str]) -> Option<String> {
    let out = Command::new("git").args(args).output().ok().filter(|out| out.status.success())?;
    Some(String::from_utf8(out.stdout).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The features that are on, besides `default`.
fn features() -> Vec<String> {
    let names = std::env::vars().filter_map(|(name, _)| name.strip_prefix("CARGO_FEATURE_").map(str::to_owned));
    let mut names: Vec<String> = names.map(|name| name.to_lowercase().replace('_', "-")).collect();
    names.retain(|name| name != "default");
    names.sort();
    names
}

fn main() {
    // Outside a checkout, as in a package, there is no commit to name.
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=MAGNETAR_COMMIT={commit}");
    let features = features();
    let features = if features.is_empty() { "none".to_owned() } else { features.join(", ") };
    println!("cargo::rustc-env=MAGNETAR_FEATURES={features}");
    println!("cargo::rerun-if-changed=build.rs");
    let head = git(&["symbolic-ref", "-q", "HEAD"]);
    for name in ["HEAD"].into_iter().chain(head.as_deref()) {
        if let Some(path) = git(&["rev-parse", "--git-path", name]) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}
