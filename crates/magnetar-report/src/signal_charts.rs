//! Charts of one observation: channel magnitude and delay profile.

use magnetar_signal::{Band, ELEMENTS, Observation};

use crate::chart::{ChartAxis, Frame, LegendKey, Marker, legend, line, marker, stems};
use crate::delay_profile::DelayProfile;
use crate::palette::{Ink, Theme};
use crate::svg::{Canvas, Stroke};
use crate::ticks;

/// Width of the charts, pixels.
const WIDTH: f64 = 360.0;

/// Height of the charts, pixels.
const HEIGHT: f64 = 244.0;

/// An arrival in a delay profile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProfileMark {
    /// Delay on the profile's scale, seconds.
    pub delay_s: f64,
    /// Per-bin SNR, dB.
    pub raw_snr_db: f64,
}

/// Magnitude over frequency of both channels.
#[must_use]
pub fn channel_chart(observation: &Observation, band: &Band, theme: Theme) -> String {
    titled_channel_chart(observation, band, "Channel magnitude", theme)
}

/// The same under another title, where several stand side by side.
#[must_use]
pub fn titled_channel_chart(observation: &Observation, band: &Band, title: &str, theme: Theme) -> String {
    let described = format!("{title} over frequency, both RX channels");
    let mut canvas = Canvas::new(WIDTH, HEIGHT, theme, &described);
    let magnitude = |channel: usize| {
        // A page shows no more points than it has pixels.
        let step = (observation.bins() / 1024).max(1);
        (0..observation.bins()).step_by(step).map(move |k| {
            let db = 20.0 * f64::from(observation.get(k, channel).norm()).max(1e-6).log10();
            [(band.carrier_hz + band.offset_hz(k)) / 1e9, db]
        })
    };
    let all: Vec<f64> = (0..ELEMENTS).flat_map(&magnitude).map(|[_, db]| db).collect();
    let (low, high) = (quantile(&all, 0.01), quantile(&all, 1.0));
    let half = band.bandwidth_hz / 2e9;
    let x = ChartAxis::new("frequency / GHz", band.carrier_hz / 1e9 - half, band.carrier_hz / 1e9 + half);
    let y = ChartAxis::new("magnitude over noise / dB", low.min(-6.0), high + 4.0);
    let frame = Frame::within([0.0, 0.0, WIDTH, HEIGHT - 18.0], x, y);
    frame.draw(&mut canvas, title);
    let noise = [[frame.x.min, 0.0], [frame.x.max, 0.0]];
    line(&mut canvas, &frame, noise, Stroke::new(Ink::Muted, 1.2).dash("3 3"));
    line(&mut canvas, &frame, magnitude(0), Stroke::new(Ink::Channel0, 1.4));
    line(&mut canvas, &frame, magnitude(1), Stroke::new(Ink::Channel1, 1.4).dash("5 1.5"));
    let keys = [
        LegendKey { ink: Ink::Channel0, dash: "", name: "channel 0" },
        LegendKey { ink: Ink::Channel1, dash: "5 1.5", name: "channel 1" },
        LegendKey { ink: Ink::Muted, dash: "3 3", name: "noise (rms)" },
    ];
    finish(canvas, &keys)
}

/// Delay profile with the true paths (called `truth_name`: of a measurement they are only predicted) and the estimated
/// arrivals.
#[must_use]
pub fn delay_chart(
    profile: &DelayProfile,
    bins: usize,
    (truth, truth_name): (&[ProfileMark], &str),
    found: &[ProfileMark],
    theme: Theme,
) -> String {
    let described = format!("Delay profile with every {truth_name} path and the estimated arrivals");
    let mut canvas = Canvas::new(WIDTH, HEIGHT, theme, &described);
    let truth_key = format!("{truth_name} path \u{d7}");
    let (first, last) = delay_window(profile, truth, found);
    let gain = 10.0 * (2.0 * bins.max(1) as f64).log10();
    let shown = truth.iter().chain(found).map(|m| m.raw_snr_db + gain);
    let peak = profile.energy_db.iter().copied().chain(shown).fold(20.0, f64::max);
    let zero = if profile.clock_offset_s == 0.0 {
        "receiver's clock".to_owned()
    } else {
        format!("clock offset of {} ns taken off", ticks::number(profile.clock_offset_s * 1e9, 1))
    };
    let x = ChartAxis::new(&format!("delay / ns ({zero})"), first * 1e9, last * 1e9);
    let frame =
        Frame::within([0.0, 0.0, WIDTH, HEIGHT - 18.0], x, ChartAxis::new("energy over noise / dB", -8.0, peak + 6.0));
    frame.draw(&mut canvas, "Delay profile");
    let count = ((last - first) / profile.step_s).ceil().max(0.0) as usize;
    let curve = (0..=count).map(|n| first + n as f64 * profile.step_s).map(|t| [t * 1e9, profile.at(t)]);
    line(&mut canvas, &frame, curve, Stroke::new(Ink::Channel0, 1.5));
    let place = |m: &ProfileMark| [unwrap(m.delay_s, first, profile.range_s()) * 1e9, m.raw_snr_db + gain];
    let marked = [("path", truth, Marker::Cross, 4.0), ("arrival", found, Marker::Ring, 6.0)];
    for (kind, marks, shape, radius) in marked {
        for (n, at) in marks.iter().map(place).enumerate() {
            // A page lights up what belongs together.
            canvas.begin(&format!("data-{kind}=\"{n}\""));
            if shape == Marker::Cross {
                stems(&mut canvas, &frame, &[at], Stroke::new(Ink::Truth, 1.2).dash("2 2"));
            }
            if at[0] <= frame.x.max && at[1] >= frame.y.min {
                marker(&mut canvas, frame.at(at), shape, radius);
            }
            canvas.end();
        }
    }
    let keys = [
        LegendKey { ink: Ink::Channel0, dash: "", name: "matched filter" },
        LegendKey { ink: Ink::Truth, dash: "2 2", name: &truth_key },
        LegendKey { ink: Ink::Estimate, dash: "", name: "SRE (ring)" },
    ];
    finish(canvas, &keys)
}

/// The chart with the names of its lines below.
fn finish(mut canvas: Canvas, keys: &[LegendKey]) -> String {
    legend(&mut canvas, [20.0, HEIGHT - 8.0], WIDTH - 20.0, keys);
    canvas.finish()
}

/// The stretch of delay worth looking at, seconds.
pub(crate) fn delay_window(profile: &DelayProfile, truth: &[ProfileMark], found: &[ProfileMark]) -> (f64, f64) {
    let anchor = profile.strongest_s();
    let (mut first, mut last) = (anchor, anchor);
    for mark in truth.iter().chain(found) {
        // Around the strongest sample, so that arrivals on both sides of the wrap stay together.
        let range = profile.range_s();
        let delay = unwrap(mark.delay_s, anchor - range / 2.0, range);
        (first, last) = (first.min(delay), last.max(delay));
    }
    (first - 25e-9, last + 45e-9)
}

/// A delay moved by whole ranges to lie in the range that starts at `from`.
fn unwrap(delay_s: f64, from: f64, range_s: f64) -> f64 {
    from + (delay_s - from).rem_euclid(range_s)
}

fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let n = (q * sorted.len().saturating_sub(1) as f64).round() as usize;
    sorted.get(n).copied().unwrap_or(0.0)
}
