//! Observations of any numbers and any few bins, as `estimate` gives them to the SRE.
#![no_main]

use std::cell::RefCell;

use magnetar_signal::sre::{Sre, SreOptions, Workspace};
use magnetar_signal::{Band, RxArray};
use num_complex::Complex32;

/// Bytes of one bin: two channels of complex64.
const BIN_BYTES: usize = 16;
/// Most bins that are tried: the time grows with them, the code does not.
const MOST_BINS: usize = 32;

thread_local! {
    /// An estimator for each number of bins: what it prepares takes longer than one estimate.
    static ESTIMATORS: RefCell<Vec<Option<(Sre, Workspace)>>> = RefCell::new((0..=MOST_BINS).map(estimator).collect());
}

magnetar_fuzz::target!(|data| {
    let block: Vec<[Complex32; 2]> = data.chunks_exact(BIN_BYTES).take(MOST_BINS).map(bin).collect();
    ESTIMATORS.with_borrow_mut(|estimators| {
        if let Some((sre, workspace)) = &mut estimators[block.len()] {
            match sre.estimate(&block, workspace) {
                Ok(estimate) => drop(estimate.components().len()),
                Err(error) => drop(error.to_string()),
            }
        }
    });
});

fn estimator(bins: usize) -> Option<(Sre, Workspace)> {
    let band = Band { bins, ..Band::default() };
    let sre = Sre::new(&band, &RxArray { spacing_m: 0.026 }, &SreOptions::default()).ok()?;
    let workspace = sre.workspace();
    Some((sre, workspace))
}

fn bin(bytes: &[u8]) -> [Complex32; 2] {
    let number = |i: usize| f32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]]);
    [Complex32::new(number(0), number(1)), Complex32::new(number(2), number(3))]
}
