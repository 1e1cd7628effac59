//! Where the marks of an axis stand and how they read.

/// Round values that cover a range: steps of 1, 2 or 5 times a power of ten.
#[must_use]
pub fn nice(min: f64, max: f64, wanted: usize) -> Vec<f64> {
    let span = max - min;
    if !(span.is_finite() && span > 0.0) {
        return if min.is_finite() { vec![min] } else { Vec::new() };
    }
    let raw = span / wanted.max(1) as f64;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= raw * 0.999).unwrap_or(raw);
    every(min, max, step)
}

/// Multiples of `step` within a range, at most 1000.
#[must_use]
pub fn every(min: f64, max: f64, step: f64) -> Vec<f64> {
    let slack = step * 1e-6;
    let first = ((min - slack) / step).ceil();
    let count = ((max + slack) / step).floor() - first + 1.0;
    if !(count.is_finite() && count >= 1.0) {
        return Vec::new();
    }
    (0..count.min(1000.0) as usize).map(|n| (first + n as f64) * step).map(|v| if v == 0.0 { 0.0 } else { v }).collect()
}

/// Ticks of a logarithmic axis from its bounds (base-10 logarithms): 1, 2 and 5 times powers of ten, over many decades the
/// powers alone. Each is the logarithm and how the value reads.
#[must_use]
pub fn decades(min: f64, max: f64) -> Vec<(f64, String)> {
    if !(min.is_finite() && max.is_finite() && (-300.0..300.0).contains(&min) && (-300.0..300.0).contains(&max)) {
        return Vec::new();
    }
    let steps: &[f64] = match max - min {
        span if span < 0.6 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
        span if span < 2.5 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let every = ((max - min) / 10.0).ceil().max(1.0) as i32;
    let powers = (min.floor() as i32..=max.ceil() as i32).filter(|power| power % every == 0);
    let value = |power: i32, step: &f64| {
        let value = step * 10f64.powi(power);
        let decimals = usize::try_from(-power).unwrap_or(0) + usize::from(step.fract() > 0.0);
        let label = if power.abs() > 4 { format!("{step}e{power}") } else { format!("{value:.decimals$}") };
        (value.log10(), minus(label.strip_suffix(".0").unwrap_or(&label)))
    };
    let all = powers.flat_map(|power| steps.iter().map(move |step| value(power, step)));
    all.filter(|(at, _)| (min..=max).contains(at)).collect()
}

/// Labels of evenly spaced ticks with just enough decimals, with a true minus sign.
#[must_use]
pub fn labels(ticks: &[f64]) -> Vec<String> {
    let step = ticks.windows(2).map(|w| (w[1] - w[0]).abs()).fold(f64::INFINITY, f64::min);
    let largest = ticks.iter().fold(0.0f64, |m, t| m.max(t.abs()));
    if largest >= 1e6 || (largest > 0.0 && largest < 1e-4) {
        return ticks.iter().map(|t| minus(&format!("{t:.2e}"))).collect();
    }
    let decimals = if step.is_finite() && step > 0.0 {
        (0..=8).find(|d| (step * 10f64.powi(*d)).fract().abs() < 1e-6 || (step * 10f64.powi(*d)).fract() > 1.0 - 1e-6)
    } else {
        None
    };
    let decimals = decimals.unwrap_or(3) as usize;
    ticks.iter().map(|t| minus(&format!("{t:.decimals$}"))).collect()
}

/// A number for people: the given decimals and a true minus sign; `n/a` if it is not finite.
#[must_use]
pub fn number(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "n/a".into();
    }
    let text = format!("{value:.decimals$}");
    // "-0.00" is nothing but a zero.
    let zero = text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.'));
    minus(if zero { text.trim_start_matches('-') } else { &text })
}

/// A whole number with a comma before every third digit from the right.
#[must_use]
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (n, c) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

fn minus(text: &str) -> String {
    text.replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ticks_read_well() {
        assert_eq!(labels(&nice(-1.403, 4.27, 6)), ["\u{2212}1", "0", "1", "2", "3", "4"]);
        assert_eq!(labels(&nice(0.0, 0.1, 5)), ["0.00", "0.02", "0.04", "0.06", "0.08", "0.10"]);
        assert_eq!(labels(&every(-180.0, 180.0, 90.0)), ["\u{2212}180", "\u{2212}90", "0", "90", "180"]);
        assert_eq!(
            (number(-0.001, 2), number(f64::NAN, 1), count(1_234_567)),
            ("0.00".into(), "n/a".into(), "1,234,567".into())
        );
        assert_eq!(nice(2.0, 2.0, 5), [2.0]);
        assert!(nice(f64::NAN, 1.0, 5).is_empty());
    }

    #[test]
    fn decades_show_the_values_themselves() {
        let read =
            |min: f64, max: f64| decades(min.log10(), max.log10()).into_iter().map(|(_, s)| s).collect::<Vec<_>>();
        assert_eq!(read(0.25, 2.5), ["0.5", "1", "2"]);
        assert_eq!(read(0.001, 100.0), ["0.001", "0.01", "0.1", "1", "10", "100"]);
        assert_eq!(read(12.0, 31.0), ["15", "20", "30"]);
        assert_eq!(read(1.2e-7, 3e-6), ["2e\u{2212}7", "5e\u{2212}7", "1e\u{2212}6", "2e\u{2212}6"]);
        assert!(decades(f64::NEG_INFINITY, 1.0).is_empty());
        assert!(decades(-299.0, 299.0).len() < 20);
    }

    proptest! {
        #[test]
        fn ticks_lie_inside_and_are_few(min in -1e6f64..1e6, span in 1e-6f64..1e6, wanted in 2usize..12) {
            let ticks = nice(min, min + span, wanted);
            prop_assert!(ticks.len() <= 2 * wanted + 2);
            prop_assert!(ticks.iter().all(|t| *t >= min - span * 1e-3 && *t <= min + span * 1.001));
        }
    }
}
