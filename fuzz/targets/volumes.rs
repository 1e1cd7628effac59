//! Posteriors that were computed elsewhere, as `--scorer FILE` reads them: a damaged Parquet table of volumes, or, where a
//! byte follows the edits, a NumPy array.
#![no_main]

use std::sync::LazyLock;

use magnetar_fuzz::damage::{EDIT_BYTES, damaged};
use magnetar_fuzz::scratch::Scratch;
use magnetar_fuzz::valid_volumes;
use magnetar_posterior::{Layout, RowNumber, ScoreRow, Scorer, Support, SupportSize};
use magnetar_scene::{Pose, Room};
use magnetar_signal::Arrivals;
use magnetar_study::VolumeFile;

/// The size that `seeds.py` asks for.
const SIZE: SupportSize = SupportSize { headings: 2, rows: 3, columns: 3 };

struct Valid {
    scratch: Scratch,
    table: Vec<u8>,
    layout: Layout,
    support: Support,
}

static VALID: LazyLock<Valid> = LazyLock::new(|| {
    let table = std::fs::read(valid_volumes()).expect("valid volumes");
    let room = Room::from_bounds([0.0, 4.0, 0.0, 4.0, 0.0, 3.0]).expect("a room");
    let support = Support::centred(&room, SIZE).expect("a support");
    Valid { scratch: Scratch::new("volumes"), table, layout: Layout { room, boxes: Vec::new() }, support }
});

magnetar_fuzz::target!(|data| {
    let Valid { scratch, table, layout, support } = &*VALID;
    let path = if data.len().is_multiple_of(EDIT_BYTES) {
        scratch.write("fuzz.parquet", &damaged(table, data))
    } else {
        scratch.write("fuzz.npy", data)
    };
    match VolumeFile::open(&path) {
        Ok(file) => {
            let (rx, arrivals) = (Pose::new(3.9, 3.9, 1.0, 0.0), Arrivals::default());
            let row = |index| ScoreRow {
                number: Some(RowNumber { split: "test", index }),
                layout,
                rx: &rx,
                arrivals: &arrivals,
                observation: None,
                support,
            };
            drop(file.score(&[row(0), row(1)]).map_err(|error| error.to_string()));
        }
        Err(error) => drop(error.to_string()),
    }
});
