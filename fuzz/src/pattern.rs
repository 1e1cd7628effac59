//! Laws of a pattern that was read.

use magnetar_scene::AntennaPattern;

/// Gains are numbers in every direction, and the grid is written and read back.
///
/// # Panics
/// If not.
pub fn check(pattern: &AntennaPattern) {
    for (azimuth, elevation) in [(0.0, 0.0), (3.1, 1.5), (-3.2, -1.6), (1e9, 0.3)] {
        let gain_db = pattern.gain_db(azimuth, elevation);
        assert!(!gain_db.is_nan(), "gain at {azimuth}, {elevation}");
    }
    assert!(!pattern.mean_gain_db().is_nan());
    // A grid as large as files may have is written for seconds; a small one shows the same.
    let (azimuths, elevations) = pattern.grid_size();
    if azimuths * elevations <= 1000 {
        let again = AntennaPattern::from_csv_str(&pattern.to_csv(), "again.csv");
        assert!(again.is_ok(), "written and read back: {again:?}");
    }
}
