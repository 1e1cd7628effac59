//! MSI Planet antenna patterns (.msi, .pln), in any 8-bit code.
#![no_main]

use magnetar_scene::AntennaPattern;

magnetar_fuzz::target!(|data| {
    match AntennaPattern::from_msi_str(&String::from_utf8_lossy(data), "fuzz.msi") {
        Ok(pattern) => magnetar_fuzz::pattern::check(&pattern),
        Err(error) => drop(error.to_string()),
    }
});
