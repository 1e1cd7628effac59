//! Progress on standard error, and sizes and times for people.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use serde_json::json;

use crate::console::{self, ProgressMode};

/// Time between two lines of JSON.
const JSON_INTERVAL: Duration = Duration::from_secs(1);
/// Time between two drawings of a bar.
const TICK: Duration = Duration::from_millis(200);

/// How far a command has come: a bar on a terminal, lines of JSON for machines, or nothing.
pub struct Progress {
    bar: ProgressBar,
    so_far: Arc<SoFar>,
    json: bool,
}

/// What is known about the speed.
struct SoFar {
    what: String,
    started: Instant,
    /// Done before this run, by one that was stopped: it says nothing about the speed.
    begun_at: u64,
    done: AtomicU64,
    /// None where nobody knows.
    total: Option<u64>,
    /// When something was last done.
    moved: Mutex<Duration>,
    printed: Mutex<Instant>,
}

/// Progress over `total` things.
pub fn bar(total: u64, what: &str) -> Progress {
    Progress::new(Some(total), 0, what)
}

/// Progress over `total` things, so many of which an earlier run did.
pub fn resumed_bar(total: u64, begun_at: u64, what: &str) -> Progress {
    Progress::new(Some(total), begun_at, what)
}

/// Progress over things that nobody has counted.
pub fn counter(what: &str) -> Progress {
    Progress::new(None, 0, what)
}

/// A part of a command that takes a while and has no steps; it ends when this is dropped.
pub struct Phase {
    spinner: ProgressBar,
    what: String,
    started: Instant,
    json: bool,
}

/// Shows that something is being done, until the result is dropped.
pub fn phase(what: &str) -> Phase {
    console::listen_for_interruptions();
    let spinner = if is_shown() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
    spinner.set_message(what.to_owned());
    spinner.set_style(style("{spinner} {msg}, {elapsed}"));
    tick(&spinner);
    let phase = Phase {
        spinner,
        what: what.to_owned(),
        started: Instant::now(),
        json: console::progress() == ProgressMode::Json,
    };
    phase.print(false);
    phase
}

impl Phase {
    fn print(&self, done: bool) {
        if self.json {
            let seconds = self.started.elapsed().as_secs_f64();
            eprintln!("{}", json!({ "phase": self.what, "seconds": seconds, "done": done }));
        }
    }
}

impl Drop for Phase {
    fn drop(&mut self) {
        self.spinner.finish_and_clear();
        self.print(true);
    }
}

fn is_shown() -> bool {
    console::progress() == ProgressMode::Auto && std::io::stderr().is_terminal()
}

/// Draws a bar again and again, so that times run on between two steps.
fn tick(bar: &ProgressBar) {
    if !bar.is_hidden() {
        bar.enable_steady_tick(TICK);
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Progress {
    fn new(total: Option<u64>, begun_at: u64, what: &str) -> Self {
        console::listen_for_interruptions();
        let now = Instant::now();
        let so_far = Arc::new(SoFar {
            what: what.to_owned(),
            started: now,
            begun_at,
            done: AtomicU64::new(begun_at),
            total,
            moved: Mutex::new(Duration::ZERO),
            printed: Mutex::new(now),
        });
        let bar = if is_shown() { ProgressBar::no_length() } else { ProgressBar::hidden() };
        if let Some(total) = total {
            bar.set_length(total);
        }
        bar.set_position(begun_at);
        let template = match total {
            Some(_) => format!("{{prefix}}{{wide_bar}} {{pos}}/{{len}} {what}, {{speed}}, {{left}}"),
            None => format!("{{prefix}}{{spinner}} {{pos}} {what}, {{speed}}, {{elapsed}}"),
        };
        let (speed, left) = (Arc::clone(&so_far), Arc::clone(&so_far));
        bar.set_style(
            style(&template)
                .with_key("speed", move |_: &ProgressState, out: &mut dyn Write| {
                    let _ = out.write_str(&rate(speed.per_second(), &speed.what));
                })
                .with_key("left", move |_: &ProgressState, out: &mut dyn Write| {
                    let left = left.time_left(left.started.elapsed());
                    let _ = out.write_str(&left.map_or_else(String::new, |left| format!("{} left", duration(left))));
                }),
        );
        tick(&bar);
        let progress = Self { bar, so_far, json: console::progress() == ProgressMode::Json };
        if progress.json {
            progress.so_far.print();
        }
        progress
    }

    /// So many more are done.
    pub fn inc(&self, done: u64) {
        self.so_far.done.fetch_add(done, Ordering::Relaxed);
        self.bar.inc(done);
        self.moved();
    }

    /// How many are done in all.
    pub fn set_position(&self, done: u64) {
        self.so_far.done.store(done, Ordering::Relaxed);
        self.bar.set_position(done);
        self.moved();
    }

    fn moved(&self) {
        // Whoever comes while another thread is here has nothing to add.
        if let Ok(mut moved) = self.so_far.moved.try_lock() {
            *moved = self.so_far.started.elapsed();
        }
        if self.json {
            self.so_far.print_now_and_then();
        }
    }

    /// What stands before the bar.
    pub fn set_prefix(&self, prefix: String) {
        self.bar.set_prefix(prefix);
    }

    /// The end: the bar disappears, JSON has its last line.
    pub fn finish_and_clear(&self) {
        self.bar.finish_and_clear();
        if self.json {
            self.so_far.print();
        }
    }
}

impl SoFar {
    /// Done by this run, and when the last of it was.
    fn own(&self) -> (u64, Duration) {
        let moved = self.moved.lock().map_or(Duration::ZERO, |moved| *moved);
        (self.done.load(Ordering::Relaxed).saturating_sub(self.begun_at), moved)
    }

    fn per_second(&self) -> f64 {
        let (done, moved) = self.own();
        mean_rate(done, moved)
    }

    fn time_left(&self, now: Duration) -> Option<Duration> {
        let (done, moved) = self.own();
        time_left(done, self.total?.saturating_sub(self.begun_at), moved, now)
    }

    fn print_now_and_then(&self) {
        let Ok(mut printed) = self.printed.try_lock() else { return };
        if printed.elapsed() >= JSON_INTERVAL {
            *printed = Instant::now();
            self.print();
        }
    }

    fn print(&self) {
        let elapsed = self.started.elapsed();
        let line = json!({
            "done": self.done.load(Ordering::Relaxed), "total": self.total, "unit": self.what,
            "per_second": self.per_second(), "seconds": elapsed.as_secs_f64(),
            "seconds_left": self.time_left(elapsed).map(|left| left.as_secs_f64()),
        });
        eprintln!("{line}");
    }
}

/// Things per second from the start to the last of them: it settles, where a rate of the last moment jumps.
#[allow(clippy::cast_precision_loss, reason = "for display")]
fn mean_rate(done: u64, moved: Duration) -> f64 {
    done as f64 / moved.as_secs_f64().max(1e-3)
}

/// What the rest takes at that rate, once anything is done. Between two things it runs down like a clock.
#[allow(clippy::cast_precision_loss, reason = "for display")]
fn time_left(done: u64, total: u64, moved: Duration, now: Duration) -> Option<Duration> {
    let rest = (done > 0).then(|| moved.mul_f64(total.saturating_sub(done) as f64 / done as f64))?;
    Some(rest.saturating_sub(now.saturating_sub(moved)))
}

/// A rate with two digits at least: `4.5 rows/s`, `18,200 rows/s`, below one a minute's: `14 points/min`.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "for display")]
fn rate(per_second: f64, what: &str) -> String {
    match per_second {
        r if r >= 1000.0 => format!("{} {what}/s", magnetar_report::ticks::count(r.round() as u64)),
        r if r >= 10.0 => format!("{r:.0} {what}/s"),
        r if r >= 1.0 => format!("{r:.1} {what}/s"),
        r => format!("{:.1} {what}/min", r * 60.0),
    }
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
        assert_eq!(time_left(0, 100, second, second), None);
        assert_eq!(time_left(25, 100, second, second), Some(3 * second));
        assert_eq!(time_left(25, 100, second, 2 * second), Some(2 * second), "it runs down between two steps");
        assert_eq!(time_left(25, 100, second, 60 * second), Some(Duration::ZERO));
        assert_eq!(time_left(120, 100, second, second), Some(Duration::ZERO));
    }

    #[test]
    fn what_an_earlier_run_did_says_nothing_about_the_speed() {
        let so_far = SoFar {
            what: "steps".to_owned(),
            started: Instant::now(),
            begun_at: 900,
            done: AtomicU64::new(910),
            total: Some(1000),
            moved: Mutex::new(Duration::from_secs(10)),
            printed: Mutex::new(Instant::now()),
        };
        assert_eq!(so_far.time_left(Duration::from_secs(10)), Some(Duration::from_secs(90)));
        assert!((so_far.per_second() - 1.0).abs() < 1e-12);
    }
}
