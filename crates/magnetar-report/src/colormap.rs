//! Colour scales: viridis for amounts, orange to blue for a contrast.

/// A colour, 8 bits per channel, sRGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// `#rrggbb`.
    #[must_use]
    pub fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// Eleven stops of viridis (van der Walt and Smith, 2015; public domain): its lightness grows steadily, so it reads in
/// grey, and it reads with any colour vision.
const VIRIDIS: [[u8; 3]; 11] = [
    [68, 1, 84],
    [72, 36, 117],
    [65, 68, 135],
    [53, 95, 141],
    [42, 120, 142],
    [33, 145, 140],
    [34, 168, 132],
    [68, 191, 112],
    [122, 209, 81],
    [189, 223, 38],
    [253, 231, 37],
];

/// Orange (-1) over a near-white middle to blue (+1).
const CONTRAST: [[u8; 3]; 5] = [[179, 88, 6], [241, 163, 64], [245, 245, 245], [103, 169, 207], [5, 82, 140]];

/// Viridis at `t` in [0, 1]; outside values are clamped, NaN is the low end.
#[must_use]
pub fn viridis(t: f64) -> Rgb {
    blend(&VIRIDIS, t)
}

/// The contrast scale at `t` in [-1, 1]: orange, white, blue.
#[must_use]
pub fn contrast(t: f64) -> Rgb {
    blend(&CONTRAST, (t + 1.0) / 2.0)
}

fn blend(stops: &[[u8; 3]], t: f64) -> Rgb {
    let t = if t.is_nan() { 0.0 } else { t.clamp(0.0, 1.0) } * (stops.len() - 1) as f64;
    let low = (t as usize).min(stops.len() - 2);
    let part = t - low as f64;
    let mix = |c: usize| {
        let (a, b) = (f64::from(stops[low][c]), f64::from(stops[low + 1][c]));
        (a + part * (b - a)).round() as u8
    };
    Rgb(mix(0), mix(1), mix(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn viridis_grows_lighter_all_the_way() {
        let grey = |c: Rgb| 0.299 * f64::from(c.0) + 0.587 * f64::from(c.1) + 0.114 * f64::from(c.2);
        let shades: Vec<f64> = (0..=50).map(|n| grey(viridis(f64::from(n) / 50.0))).collect();
        assert!(shades.windows(2).all(|w| w[1] > w[0]), "{shades:?}");
        assert_eq!(viridis(f64::NAN), viridis(0.0));
        assert_eq!(contrast(0.0), Rgb(245, 245, 245));
        assert_eq!(contrast(9.0), Rgb(5, 82, 140));
    }
}
