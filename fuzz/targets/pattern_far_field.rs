//! Far-field exports of HFSS, FEKO and CST, in any 8-bit code.
#![no_main]

use magnetar_scene::AntennaPattern;

magnetar_fuzz::target!(|data| {
    match AntennaPattern::from_far_field_str(&String::from_utf8_lossy(data), "fuzz.ffd") {
        Ok(pattern) => magnetar_fuzz::pattern::check(&pattern),
        Err(error) => drop(error.to_string()),
    }
});
