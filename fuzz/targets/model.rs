//! Model files: what is read is written and read back, weight by weight.
#![no_main]

use magnetar_neural::Model;

magnetar_fuzz::target!(|data| {
    match Model::from_bytes(data, "fuzz.safetensors") {
        Ok(model) => {
            let bytes = model.to_bytes().expect("a record that was read can be written");
            let again = Model::from_bytes(&bytes, "again.safetensors").expect("what was written can be read");
            assert!(again.identity() == model.identity() && again.record() == model.record());
        }
        Err(error) => drop(error.to_string()),
    }
});
