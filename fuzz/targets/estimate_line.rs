//! Observations of any numbers by three elements and any few bins, as `estimate` gives them to the SRE for lines.
#![no_main]

use std::cell::RefCell;

use magnetar_signal::sre::{LineSre, LineWorkspace, SreOptions};
use magnetar_signal::{Band, LineArray};
use num_complex::Complex32;

/// Channels.
const ELEMENTS: usize = 3;
/// Bytes of one bin: three channels of complex64.
const BIN_BYTES: usize = 8 * ELEMENTS;
/// Most bins that are tried: the time grows with them, the code does not.
const MOST_BINS: usize = 24;

thread_local! {
    /// An estimator for each number of bins: what it prepares takes longer than one estimate.
    static ESTIMATORS: RefCell<Vec<Option<(LineSre, LineWorkspace)>>> =
        RefCell::new((0..=MOST_BINS).map(estimator).collect());
}

magnetar_fuzz::target!(|data| {
    let number = |x: &[u8]| f32::from_le_bytes([x[0], x[1], x[2], x[3]]);
    let bins = (data.len() / BIN_BYTES).min(MOST_BINS);
    let values = data[..bins * BIN_BYTES].chunks_exact(8).map(|x| Complex32::new(number(&x[..4]), number(&x[4..])));
    let block: Vec<Complex32> = values.collect();
    ESTIMATORS.with_borrow_mut(|estimators| {
        if let Some((sre, workspace)) = &mut estimators[bins] {
            match sre.estimate(&block, workspace) {
                Ok(estimate) => {
                    assert!(
                        estimate
                            .components()
                            .iter()
                            .all(|c| c.arrival.delay_s.is_finite() && c.arrival.aoa_rad.is_finite())
                    );
                }
                Err(error) => drop(error.to_string()),
            }
        }
    });
});

fn estimator(bins: usize) -> Option<(LineSre, LineWorkspace)> {
    let band = Band { bins, ..Band::default() };
    let array = LineArray::uniform(ELEMENTS, 0.026).ok()?;
    let sre = LineSre::new(&band, &array, &SreOptions::default()).ok()?;
    let workspace = sre.workspace();
    Some((sre, workspace))
}
