//! What kind of pattern file a text is, by its content: endings are wrong too often.

/// Lines that are looked at; what tells a kind comes early.
const LINES: usize = 400;

/// The kinds of files that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Our CSV: a grid or two cuts.
    Csv,
    /// MSI Planet.
    Msi,
    /// A far-field export of HFSS, FEKO or CST.
    FarField,
}

impl Kind {
    /// The kind of a text; `None` if nothing tells it.
    pub(super) fn of(text: &str) -> Option<Self> {
        let mut lines = text.trim_start_matches('\u{feff}').lines().map(str::trim).filter(|line| !line.is_empty());
        let mut first = lines.clone();
        if let Some(header) = first.find(|line| !line.starts_with('#')) {
            let header = header.to_ascii_lowercase();
            if header.contains("gain_db") || header.contains("azimuth_deg") || header.contains("angle_deg") {
                return Some(Self::Csv);
            }
        }
        lines.by_ref().take(LINES).find_map(|line| {
            let lower = line.to_ascii_lowercase();
            let word = lower.split_whitespace().next().unwrap_or_default();
            let far_field = lower.contains("theta") && lower.contains("phi") || word == "frequencies";
            match word {
                "horizontal" | "vertical" | "gain" => Some(Self::Msi),
                _ if far_field => Some(Self::FarField),
                _ => None,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_tells_the_kind() {
        assert_eq!(Kind::of("# a\n\nazimuth_deg,elevation_deg,gain_db\n0,0,1"), Some(Kind::Csv));
        assert_eq!(Kind::of("cut,angle_deg,gain_db"), Some(Kind::Csv));
        assert_eq!(Kind::of("my antenna\nGAIN 12,5 (dBd)\nHorizontal 360"), Some(Kind::Msi));
        assert_eq!(Kind::of("0 180 181\n-180 180 361\nFrequencies 1\n"), Some(Kind::FarField));
        assert_eq!(Kind::of("##File Type: Far field\n# \"Theta\" \"Phi\" \"Gain(Total)\""), Some(Kind::FarField));
        assert_eq!(Kind::of("Theta [deg.]  Phi   [deg.]  Abs(Dir.)[dBi   ]"), Some(Kind::FarField));
        for other in ["", "hello", "\u{0}\u{1}", "1,2,3\n4,5,6"] {
            assert_eq!(Kind::of(other), None, "{other:?}");
        }
    }
}
