//! Material TOML: what parses has finite values where it is defined, or says why not.
#![no_main]

use magnetar_scene::MaterialLibrary;

magnetar_fuzz::target!(|data| {
    if let Ok(text) = std::str::from_utf8(data) {
        let mut library = MaterialLibrary::empty();
        match library.add_toml_str(text, "fuzz.toml") {
            Ok(()) => {
                for material in library.iter() {
                    drop(material.ranges_label());
                    for frequency_hz in [1e6, 10e9, 100e9] {
                        if let Ok((permittivity, conductivity)) = material.at(frequency_hz) {
                            assert!(!permittivity.is_nan() && !conductivity.is_nan(), "{material:?}");
                        }
                    }
                }
            }
            Err(error) => drop(error.to_string()),
        }
    }
});
