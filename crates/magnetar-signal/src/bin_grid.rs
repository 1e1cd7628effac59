//! Bins at uneven distances, such as the subcarriers that a Wi-Fi chip reports.

use num_complex::{Complex32, Complex64};

use crate::sre::{SreError, SreOptions, greatest_common_divisor};
use crate::{Band, CalibrationError, ReceiverCalibration, ReceiverError};

/// The place of each bin of a receiver on the even grid that holds them all. The grid's other bins are empty: they are
/// left out of everything ([`crate::sre::SreOptions::excluded_bins`]).
#[derive(Debug, Clone, PartialEq)]
pub struct BinGrid {
    /// Bin of the grid of each bin of the receiver, rising.
    places: Vec<usize>,
    bins: usize,
    /// Subcarrier spacings from one bin of the grid to the next.
    step: usize,
    /// Subcarrier that the grid's middle bin stands for; others than 0 lie between subcarriers that are a step apart.
    middle: i64,
}

/// Why numbers of subcarriers make no grid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BinGridError {
    /// Too few of them.
    #[error("{found} subcarriers; expected at least {}", Band::BINS.min)]
    Few {
        /// How many there are.
        found: usize,
    },
    /// Not in rising order.
    #[error("subcarrier {next} follows {last}; expected rising numbers, each once, in the order of the file's bins")]
    Order {
        /// The number before.
        last: i64,
        /// The number that is not above it.
        next: i64,
    },
    /// Too far from each other or from the carrier.
    #[error("subcarriers from {first} to {last}; expected all within {} spacings of the carrier, number 0", Band::BINS.max / 2)]
    Wide {
        /// The lowest.
        first: i64,
        /// The highest.
        last: i64,
    },
    /// A bin that the receiver has not.
    #[error("bin {bin}: expected bins of the file, 0 to {last}")]
    Beyond {
        /// The bin.
        bin: usize,
        /// The receiver's last one.
        last: usize,
    },
}

impl BinGrid {
    /// For the subcarrier number of each bin, rising, 0 at the carrier.
    ///
    /// # Errors
    /// Too few numbers, in another order, or beyond what a band may hold.
    pub fn new(numbers: &[i64]) -> Result<Self, BinGridError> {
        let (Some(&first), Some(&last), true) = (numbers.first(), numbers.last(), numbers.len() >= Band::BINS.min)
        else {
            return Err(BinGridError::Few { found: numbers.len() });
        };
        if let Some(pair) = numbers.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(BinGridError::Order { last: pair[0], next: pair[1] });
        }
        let widest = (Band::BINS.max / 2 - 1) as i64;
        if first < -widest || last > widest {
            return Err(BinGridError::Wide { first, last });
        }
        let from_first = |number: &i64| number.abs_diff(first) as usize;
        let step = numbers.iter().map(from_first).fold(0, greatest_common_divisor);
        // Grid bins from the first number up to the carrier, and from there to the last.
        let below = (-first + step as i64 / 2).div_euclid(step as i64);
        let above = (last - first) / step as i64 - below;
        let bins = if below > above { 2 * below } else { 2 * above + 1 };
        let places = numbers.iter().map(|n| (bins / 2 - below) as usize + from_first(n) / step).collect();
        Ok(Self { places, bins: bins as usize, step, middle: first + below * step as i64 })
    }

    /// Number of the receiver's bins.
    #[must_use]
    pub fn bins(&self) -> usize {
        self.places.len()
    }

    /// The grid as a band, for subcarriers so far apart.
    #[must_use]
    pub fn band(&self, carrier_hz: f64, subcarrier_hz: f64) -> Band {
        Band {
            carrier_hz: carrier_hz + self.middle as f64 * subcarrier_hz,
            bandwidth_hz: subcarrier_hz * (self.step * self.bins) as f64,
            bins: self.bins,
        }
    }

    /// Bins of the grid where the receiver's bins lie; numbers that are none of them are left out.
    #[must_use]
    pub fn places_of(&self, bins: &[usize]) -> Vec<usize> {
        bins.iter().filter_map(|&bin| self.places.get(bin).copied()).collect()
    }

    /// The receiver's bin at a bin of the grid.
    #[must_use]
    pub fn bin_at(&self, place: usize) -> Option<usize> {
        self.places.binary_search(&place).ok()
    }

    /// Bins of the grid that no bin of the receiver lies at.
    #[must_use]
    pub fn empty(&self) -> Vec<usize> {
        (0..self.bins).filter(|place| self.bin_at(*place).is_none()).collect()
    }

    /// Options about the receiver's bins as options about the grid's, whose empty bins are left out.
    ///
    /// # Errors
    /// If one of them is about a bin that the receiver has not.
    pub fn options(&self, options: SreOptions) -> Result<SreOptions, BinGridError> {
        let mut listed = options.inactive_bins.iter().chain(&options.excluded_bins);
        if let Some(&bin) = listed.find(|bin| **bin >= self.bins()) {
            return Err(BinGridError::Beyond { bin, last: self.bins() - 1 });
        }
        let mut excluded_bins = self.places_of(&options.excluded_bins);
        excluded_bins.extend(self.empty());
        Ok(SreOptions { inactive_bins: self.places_of(&options.inactive_bins), excluded_bins, ..options })
    }

    /// An error about a bin of the grid with the receiver's own number of that bin.
    #[must_use]
    pub fn in_the_file(&self, error: ReceiverError) -> ReceiverError {
        match error {
            ReceiverError::Estimator(SreError::NotFinite { bin, channel }) => {
                SreError::NotFinite { bin: self.bin_at(bin).unwrap_or(bin), channel }.into()
            }
            error => error,
        }
    }

    /// Observations of the receiver, one after the other and all channels of bin 0 first, on the grid.
    #[must_use]
    pub fn spread(&self, observations: &[Complex32], channels: usize) -> Vec<Complex32> {
        let mut grid = Vec::new();
        for observation in observations.chunks_exact((self.bins() * channels).max(1)) {
            let start = grid.len();
            grid.resize(start + self.bins * channels, Complex32::default());
            for (place, values) in self.places.iter().zip(observation.chunks(channels)) {
                let at = start + place * channels;
                grid[at..at + channels].copy_from_slice(values);
            }
        }
        grid
    }

    /// A calibration of the receiver's bins as one of the grid; one for all bins alike stays as it is.
    ///
    /// # Errors
    /// If it is for another number of bins.
    pub fn spread_calibration(
        &self,
        calibration: ReceiverCalibration,
    ) -> Result<ReceiverCalibration, CalibrationError> {
        let (found, channels) = (calibration.bins(), calibration.channels());
        if found == 1 {
            return Ok(calibration);
        }
        if found != self.bins() {
            return Err(CalibrationError::Bins { expected: self.bins(), found });
        }
        let mut factors = vec![Complex64::new(1.0, 0.0); self.bins * channels];
        for (place, values) in self.places.iter().zip(calibration.factors().chunks(channels)) {
            factors[place * channels..(place + 1) * channels].copy_from_slice(values);
        }
        ReceiverCalibration::new(factors, channels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every bin is at the frequency that its number says, whatever the numbers.
    #[test]
    fn bins_lie_at_their_frequencies() {
        let uneven: Vec<i64> = (-28..=-2).step_by(2).chain((-1..=27).step_by(2)).chain([28]).collect();
        let by_four: Vec<i64> = (-58..=58).step_by(4).collect();
        let beside: Vec<i64> = (5..40).chain([50, 51]).collect();
        let below: Vec<i64> = (-90..-40).collect();
        for (numbers, bins) in [(uneven, 57), (by_four, 30), (beside, 103), (below, 180), ((-32..32).collect(), 64)] {
            let grid = BinGrid::new(&numbers).unwrap();
            let band = grid.band(5.32e9, 312.5e3);
            assert_eq!(band.bins, bins, "{numbers:?}");
            for (bin, number) in numbers.iter().enumerate() {
                let place = grid.places_of(&[bin])[0];
                assert!((band.frequency_hz(place) - (5.32e9 + *number as f64 * 312.5e3)).abs() < 1.0, "{number}");
                assert_eq!(grid.bin_at(place), Some(bin));
            }
            assert_eq!(grid.empty().len(), bins - numbers.len());
        }
    }

    #[test]
    fn observations_and_their_calibration_lie_at_the_same_bins() {
        let numbers = [-9, -7, -5, -3, -1, 0, 2, 4, 6];
        let grid = BinGrid::new(&numbers).unwrap();
        let heard: Vec<Complex32> = (0..2 * 9 * 3).map(|n| Complex32::new(n as f32 + 1.0, 0.0)).collect();
        let mut spread = grid.spread(&heard, 3);
        assert_eq!(spread.len() % (2 * 3), 0);
        let factors = heard[..27].iter().map(|z| Complex64::new(f64::from(z.re), 0.0)).collect();
        let calibration = grid.spread_calibration(ReceiverCalibration::new(factors, 3).unwrap()).unwrap();
        let half = spread.len() / 2;
        calibration.apply(&mut spread[..half]).unwrap();
        let ones = spread[..half].iter().filter(|z| **z == Complex32::new(1.0, 0.0)).count();
        assert_eq!((ones, spread[..half].iter().filter(|z| z.re == 0.0).count()), (27, half - 27));
        let other = ReceiverCalibration::new(vec![Complex64::new(1.0, 0.0); 24], 3).unwrap();
        assert_eq!(grid.spread_calibration(other), Err(CalibrationError::Bins { expected: 9, found: 8 }));
    }

    #[test]
    fn numbers_that_make_no_grid_are_named() {
        assert_eq!(BinGrid::new(&[1, 2]), Err(BinGridError::Few { found: 2 }));
        assert_eq!(BinGrid::new(&[1, 2, 3, 4, 5, 6, 7, 7]), Err(BinGridError::Order { last: 7, next: 7 }));
        let wide = BinGrid::new(&[0, 1, 2, 3, 4, 5, 6, i64::MAX]);
        assert_eq!(wide, Err(BinGridError::Wide { first: 0, last: i64::MAX }));
        assert!(BinGrid::new(&[i64::MIN, -6, -5, -4, -3, -2, -1, 0]).is_err());
    }
}
