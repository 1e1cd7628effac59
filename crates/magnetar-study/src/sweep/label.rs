//! Values of an axis in few characters.

use toml::Value;

/// A number as it is if that is short, else to four digits.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
fn short(x: f64) -> String {
    let exact = x.to_string();
    if exact.len() <= 7 {
        return exact;
    }
    if !(1e-4..1e6).contains(&x.abs()) {
        let exact = format!("{x:e}");
        return if exact.len() <= 7 { exact } else { format!("{x:.3e}") };
    }
    let rounded = format!("{x:.*}", (3.0 - libm::log10(x.abs()).floor()).clamp(0.0, 8.0) as usize);
    match rounded.split_once('.') {
        Some(_) => rounded.trim_end_matches('0').trim_end_matches('.').to_owned(),
        None => rounded,
    }
}

/// A value in few characters.
pub(super) fn label(value: &Value) -> String {
    match value {
        Value::Float(x) => short(*x),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(label).collect::<Vec<_>>().join(", "),
        Value::Table(table) => table.values().map(label).collect::<Vec<_>>().join("/"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_labelled_as_people_write_them() {
        for (x, said) in [
            (0.0, "0"),
            (30.0, "30"),
            (0.0265, "0.0265"),
            (-2.5, "-2.5"),
            (1.286_471_3, "1.286"),
            (0.347_352_1, "0.3474"),
            (0.000_987_654, "0.0009877"),
            (2.000_000_1, "2"),
            (123_456.789, "123457"),
            (1.5e-9, "1.5e-9"),
            (1.234_567e-7, "1.235e-7"),
            (9.87e12, "9.87e12"),
        ] {
            assert_eq!(short(x), said);
        }
    }
}
