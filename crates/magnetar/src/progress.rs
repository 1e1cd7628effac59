//! Progress on standard error, and sizes and times for people.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar of `total` things; hidden where there is no terminal.
pub fn bar(total: u64, what: &str) -> ProgressBar {
    let style = format!("{{prefix}}{{wide_bar}} {{pos}}/{{len}} {what} {{per_sec}} {{eta}}");
    let bar = ProgressBar::new(total);
    bar.set_style(ProgressStyle::with_template(&style).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

/// A number of bytes in the unit that suits it.
#[allow(clippy::cast_precision_loss, reason = "for display")]
pub fn bytes(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.2} GB", bytes as f64 / 1e9),
    }
}

/// A duration in the unit that suits it.
pub fn duration(duration: Duration) -> String {
    match duration.as_secs() {
        0..100 => format!("{:.1} s", duration.as_secs_f64()),
        100..6_000 => format!("{:.0} min", duration.as_secs_f64() / 60.0),
        _ => format!("{:.1} h", duration.as_secs_f64() / 3600.0),
    }
}
