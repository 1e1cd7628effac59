//! npy arrays of every element type, read as every element type, with and without a known length.
#![no_main]

use std::io::Cursor;

use magnetar_files::npy::{NpyElement, NpyReader};
use num_complex::{Complex32, Complex64};

magnetar_fuzz::target!(|data| {
    read::<f32>(data);
    read::<f64>(data);
    read::<Complex32>(data);
    read::<Complex64>(data);
});

fn read<T: NpyElement>(data: &[u8]) {
    for length in [Some(data.len() as u64), None] {
        match NpyReader::new(Cursor::new(data), "fuzz.npy".to_owned(), length) {
            Ok(mut reader) => {
                let mut out = vec![T::from_parts(0.0, 0.0); reader.remaining().min(64)];
                while reader.remaining() > 0 && reader.read_into(&mut out).is_ok() {
                    let left = reader.remaining().min(out.len());
                    out.truncate(left);
                }
            }
            Err(error) => drop(error.to_string()),
        }
    }
}
