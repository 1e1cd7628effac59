//! A campaign's files: its TOML, tables of rows, descriptions of samples, tables of phases, lists of bins.
#![no_main]

use magnetar_dataset::{Campaign, SigMfMeta, bin_list, campaign_rows, phase_table};

magnetar_fuzz::target!(|data| {
    let text = String::from_utf8_lossy(data);
    if let Ok(campaign) = Campaign::from_toml(&text) {
        assert!(!campaign.recording.is_empty());
    }
    if let Ok(rows) = campaign_rows(&text) {
        assert!(rows.iter().all(|row| row.x.is_finite() && row.heading_deg.is_finite()));
    }
    if let Ok(meta) = SigMfMeta::from_json(&text) {
        assert!(meta.sample_bytes() > 0);
    }
    if let Ok(table) = phase_table(&text) {
        assert!(table.at(0.3).is_finite());
    }
    if let Ok(bins) = bin_list(&text) {
        assert!(bins.is_sorted());
    }
});
