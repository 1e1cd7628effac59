//! Antenna pattern CSV, grids and cuts.
#![no_main]

use magnetar_scene::AntennaPattern;

magnetar_fuzz::target!(|data| {
    if let Ok(text) = std::str::from_utf8(data) {
        match AntennaPattern::from_csv_str(text, "fuzz.csv") {
            Ok(pattern) => magnetar_fuzz::pattern::check(&pattern),
            Err(error) => drop(error.to_string()),
        }
    }
});
