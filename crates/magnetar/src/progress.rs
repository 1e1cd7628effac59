//! Progress on standard error, and sizes and times for people.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use serde_json::json;

use crate::console::{self, ProgressMode};

/// Time between two lines of JSON.
const JSON_INTERVAL: Duration = Duration::from_secs(1);

/// How far a command has come: a bar on a terminal, lines of JSON for machines, or nothing.
pub struct Progress {
    bar: ProgressBar,
    json: Option<JsonProgress>,
}

struct JsonProgress {
    what: String,
    started: Instant,
    done: AtomicU64,
    total: u64,
    printed: Mutex<Instant>,
}

/// Progress over `total` things.
pub fn bar(total: u64, what: &str) -> Progress {
    let mode = console::progress();
    let shown = mode == ProgressMode::Auto && std::io::stderr().is_terminal();
    let bar = if shown { ProgressBar::new(total) } else { ProgressBar::hidden() };
    bar.set_length(total);
    let named = what.to_owned();
    let template = format!("{{prefix}}{{wide_bar}} {{pos}}/{{len}} {what}, {{speed}}, {{left}}");
    let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(
        style
            .with_key("speed", move |state: &ProgressState, out: &mut dyn Write| {
                let _ = out.write_str(&rate(mean_rate(state.pos(), state.elapsed()), &named));
            })
            .with_key("left", |state: &ProgressState, out: &mut dyn Write| {
                let left = time_left(state.pos(), state.len().unwrap_or(0), state.elapsed());
                let _ = out.write_str(&left.map_or_else(String::new, |left| format!("{} left", duration(left))));
            }),
    );
    let json = (mode == ProgressMode::Json).then(|| JsonProgress {
        what: what.to_owned(),
        started: Instant::now(),
        done: AtomicU64::new(0),
        total,
        printed: Mutex::new(Instant::now()),
    });
    Progress { bar, json }
}

impl Progress {
    /// So many more are done.
    pub fn inc(&self, done: u64) {
        self.bar.inc(done);
        if let Some(json) = &self.json {
            json.done.fetch_add(done, Ordering::Relaxed);
            json.print_now_and_then();
        }
    }

    /// How many are done in all.
    pub fn set_position(&self, done: u64) {
        self.bar.set_position(done);
        if let Some(json) = &self.json {
            json.done.store(done, Ordering::Relaxed);
            json.print_now_and_then();
        }
    }

    /// What stands before the bar.
    pub fn set_prefix(&self, prefix: String) {
        self.bar.set_prefix(prefix);
    }

    /// The end: the bar disappears, JSON has its last line.
    pub fn finish_and_clear(&self) {
        self.bar.finish_and_clear();
        if let Some(json) = &self.json {
            json.print();
        }
    }
}

impl JsonProgress {
    fn print_now_and_then(&self) {
        // Whoever comes while another thread prints has nothing to add.
        let Ok(mut printed) = self.printed.try_lock() else { return };
        if printed.elapsed() >= JSON_INTERVAL {
            *printed = Instant::now();
            self.print();
        }
    }

    fn print(&self) {
        let (done, total) = (self.done.load(Ordering::Relaxed), self.total);
        let elapsed = self.started.elapsed();
        let line = json!({
            "done": done, "total": total, "unit": self.what, "per_second": mean_rate(done, elapsed),
            "seconds": elapsed.as_secs_f64(),
            "seconds_left": time_left(done, total, elapsed).map(|left| left.as_secs_f64()),
        });
        eprintln!("{line}");
    }
}

/// Things per second since the start: it settles, where a rate of the last moment jumps.
#[allow(clippy::cast_precision_loss, reason = "for display")]
fn mean_rate(done: u64, elapsed: Duration) -> f64 {
    done as f64 / elapsed.as_secs_f64().max(1e-3)
}

/// What the rest takes at that rate, once anything is done.
#[allow(clippy::cast_precision_loss, reason = "for display")]
fn time_left(done: u64, total: u64, elapsed: Duration) -> Option<Duration> {
    (done > 0).then(|| elapsed.mul_f64(total.saturating_sub(done) as f64 / done as f64))
}

/// A rate with two digits at least: `4.5 rows/s`, `18,200 rows/s`, below one a minute's: `14 points/min`.
fn rate(per_second: f64, what: &str) -> String {
    match per_second {
        r if r >= 1000.0 => format!("{} {what}/s", thousands(r)),
        r if r >= 10.0 => format!("{r:.0} {what}/s"),
        r if r >= 1.0 => format!("{r:.1} {what}/s"),
        r => format!("{:.1} {what}/min", r * 60.0),
    }
}

/// A whole number with a comma after every third digit.
fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_the_digits_that_people_read() {
        for (per_second, text) in [
            (18_234.0, "18,234 rows/s"),
            (1_234_567.0, "1,234,567 rows/s"),
            (120.4, "120 rows/s"),
            (4.52, "4.5 rows/s"),
            (0.2262, "13.6 rows/min"),
            (0.0, "0.0 rows/min"),
        ] {
            assert_eq!(rate(per_second, "rows"), text);
        }
    }

    #[test]
    fn time_left_is_that_of_the_mean_rate() {
        let second = Duration::from_secs(1);
        assert_eq!(time_left(0, 100, second), None);
        assert_eq!(time_left(25, 100, second), Some(3 * second));
        assert_eq!(time_left(120, 100, second), Some(Duration::ZERO));
    }
}
