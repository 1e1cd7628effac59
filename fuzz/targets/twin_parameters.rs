//! Parameter files of the twin scorer: what parses is written and read back.
#![no_main]

use magnetar_posterior::TwinFile;

magnetar_fuzz::target!(|data| {
    if let Ok(text) = std::str::from_utf8(data) {
        match TwinFile::from_toml_str(text, "fuzz.toml") {
            Ok(file) => {
                let again = file.to_toml().and_then(|text| TwinFile::from_toml_str(&text, "again.toml"));
                assert!(again.is_ok(), "written and read back: {again:?}");
            }
            Err(error) => drop(error.to_string()),
        }
    }
});
