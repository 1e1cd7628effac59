//! What tests of this crate share: one observation.

use magnetar_posterior::{Layout, ScoreRow, Support, SupportSize};
use magnetar_scene::{Pose, Room};
use magnetar_signal::{Arrival, Arrivals};

/// A row of two arrivals on a small support.
pub(crate) fn row<T>(f: impl FnOnce(&ScoreRow<'_>) -> T) -> T {
    row_on(SupportSize { headings: 6, rows: 7, columns: 9 }, 2, f)
}

/// A row of some arrivals, of two that are kept, on a support of a size.
pub(crate) fn row_on<T>(size: SupportSize, found: usize, f: impl FnOnce(&ScoreRow<'_>) -> T) -> T {
    let room = Room::from_bounds([-1.4, 4.3, -6.0, 3.0, 0.0, 3.0]).unwrap();
    let layout = Layout { room, boxes: vec![] };
    let rx = Pose::new(1.0, -1.0, 1.08, 0.7);
    let arrival =
        |snr_db: f64, aoa_rad: f64| Arrival { snr_db, aoa_rad, raw_snr_db: snr_db - 18.89, ..Arrival::default() };
    let all = [arrival(42.0, 0.3), arrival(30.0, -0.5)];
    let arrivals = Arrivals { keep: 2, found: all[..found].to_vec() };
    let support = Support::centred(&layout.room, size).unwrap();
    f(&ScoreRow { number: None, layout: &layout, rx: &rx, arrivals: &arrivals, observation: None, support: &support })
}
