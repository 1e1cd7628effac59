//! What is known about each observation of a recording: poses and conditions, one line each.

use serde::Deserialize;

use crate::replay::Protocol;

/// No coordinate of a room is larger, metres; no angle, degrees.
const LARGEST: f64 = 1e4;

/// One row of a campaign.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CampaignRow {
    /// RX, metres in the scene's frame.
    pub x: f64,
    /// RX, metres.
    pub y: f64,
    /// RX height, metres; the scene's device height if left out.
    pub z: Option<f64>,
    /// RX heading, degrees counter-clockwise from +x.
    pub heading_deg: f64,
    /// TX, if known: metres.
    pub tx_x: Option<f64>,
    /// TX, metres.
    pub tx_y: Option<f64>,
    /// TX height, metres; the scene's device height if left out.
    pub tx_z: Option<f64>,
    /// TX heading, degrees.
    pub tx_heading_deg: Option<f64>,
    /// Name of the board's placement; `none` if left out.
    pub placement: Option<String>,
    /// `random`, `full-rotation` or `track`; random if left out.
    pub protocol: Option<String>,
    /// Number of the RX site.
    pub site: Option<u32>,
}

impl CampaignRow {
    /// Whether the true TX pose is known.
    #[must_use]
    pub fn has_truth(&self) -> bool {
        self.tx_x.is_some()
    }

    fn checked(self) -> Result<Self, String> {
        let numbers = [Some(self.x), Some(self.y), self.z, Some(self.heading_deg)];
        let of_tx = [self.tx_x, self.tx_y, self.tx_z, self.tx_heading_deg];
        if numbers.iter().chain(&of_tx).flatten().any(|x| x.is_nan() || x.abs() > LARGEST) {
            return Err(format!("expected numbers within +-{LARGEST}"));
        }
        let whole = [self.tx_x, self.tx_y, self.tx_heading_deg];
        if whole.iter().any(Option::is_some) && whole.iter().any(Option::is_none) {
            return Err("expected tx_x, tx_y and tx_heading_deg together, or none of them".into());
        }
        if let Some(label) = &self.protocol
            && Protocol::from_label(label).is_none()
        {
            return Err(format!("protocol {label:?}; expected {}", Protocol::LABELS.join(", ")));
        }
        Ok(self)
    }
}

/// The rows of a table: JSON Lines if its first line begins with `{`, else CSV with a header. An error names the line.
///
/// # Errors
/// What is wrong in which line, counted from 1.
pub fn campaign_rows(text: &str) -> Result<Vec<CampaignRow>, (usize, String)> {
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    let mut lines = lines.map(|(n, line)| (n + 1, line.trim())).filter(|(_, line)| !line.is_empty()).peekable();
    let Some((place, first)) = lines.peek().copied() else { return Err((1, "there is no row in it".into())) };
    if first.starts_with('{') {
        return lines
            .map(|(n, line)| {
                let row: Result<CampaignRow, String> = serde_json::from_str(line).map_err(|e| e.to_string());
                row.and_then(CampaignRow::checked).map_err(|problem| (n, problem))
            })
            .collect();
    }
    let header: Vec<&str> = first.split(',').map(str::trim).collect();
    for needed in ["x", "y", "heading_deg"] {
        if !header.contains(&needed) {
            return Err((place, format!("no column {needed}; the header needs x, y and heading_deg")));
        }
    }
    lines.next();
    lines.map(|(n, line)| csv_row(&header, line).map_err(|problem| (n, problem))).collect()
}

fn csv_row(header: &[&str], line: &str) -> Result<CampaignRow, String> {
    let values: Vec<&str> = line.split(',').map(str::trim).collect();
    if values.len() != header.len() {
        return Err(format!("{} values for {} columns", values.len(), header.len()));
    }
    let find =
        |name: &str| header.iter().position(|column| *column == name).map(|n| values[n]).filter(|v| !v.is_empty());
    let number = |name: &str| match find(name) {
        None => Ok(None),
        Some(text) => text.parse::<f64>().map(Some).map_err(|_| format!("{name} is {text:?}, not a number")),
    };
    let needed = |name: &str| number(name)?.ok_or_else(|| format!("{name} is empty"));
    let site = find("site").map(|text| text.parse().map_err(|_| format!("site is {text:?}, not a whole number")));
    CampaignRow {
        x: needed("x")?,
        y: needed("y")?,
        z: number("z")?,
        heading_deg: needed("heading_deg")?,
        tx_x: number("tx_x")?,
        tx_y: number("tx_y")?,
        tx_z: number("tx_z")?,
        tx_heading_deg: number("tx_heading_deg")?,
        placement: find("placement").map(str::to_owned),
        protocol: find("protocol").map(str::to_owned),
        site: site.transpose()?,
    }
    .checked()
}
