//! Bins at uneven distances, as flags.

use anyhow::ensure;
use magnetar_signal::sre::{SreError, SreOptions};
use magnetar_signal::{Band, BinGrid, ReceiverError};

/// Flags of bins that are subcarriers.
#[derive(clap::Args)]
pub struct SubcarrierArgs {
    /// Subcarrier of each bin of the file, 0 at the carrier, where they are not all neighbours: numbers and ranges with or
    /// without a step, such as -28..-2:2,-1..27:2,28.
    #[arg(long, value_name = "LIST", value_parser = parse_list, requires = "subcarrier_khz", allow_hyphen_values = true)]
    subcarriers: Option<SubcarrierList>,
    /// Distance of neighbouring subcarriers, kHz, instead of the bandwidth.
    #[arg(long, value_name = "KHZ", conflicts_with = "bandwidth_mhz")]
    subcarrier_khz: Option<f64>,
}

/// Subcarriers given on the command line, with the grid they make.
#[derive(Debug, Clone, PartialEq)]
struct SubcarrierList(BinGrid);

impl SubcarrierArgs {
    /// The grid of the bins, if they are not all neighbours.
    pub fn grid(&self) -> Option<&BinGrid> {
        self.subcarriers.as_ref().map(|list| &list.0)
    }

    /// The band that so many bins of a file span, if the flags say.
    pub fn band(&self, carrier_hz: f64, bins: usize) -> anyhow::Result<Option<Band>> {
        let Some(subcarrier_hz) = self.subcarrier_khz.map(|khz| khz * 1e3) else { return Ok(None) };
        let Some(grid) = self.grid() else {
            return Ok(Some(Band { carrier_hz, bandwidth_hz: subcarrier_hz * bins as f64, bins }));
        };
        ensure!(
            grid.bins() == bins,
            "--subcarriers lists {}, the file has {bins} bins; give one for each",
            grid.bins()
        );
        Ok(Some(grid.band(carrier_hz, subcarrier_hz)))
    }

    /// The options, which are about the file's bins, for the grid.
    pub fn options(&self, options: SreOptions) -> anyhow::Result<SreOptions> {
        let Some(grid) = self.grid() else { return Ok(options) };
        let both = || options.inactive_bins.iter().chain(&options.excluded_bins);
        if let Some(bin) = both().find(|bin| **bin >= grid.bins()) {
            anyhow::bail!(
                "--inactive-bins and --exclude-bins: {bin}: expected bins of the file, 0 to {}",
                grid.bins() - 1
            );
        }
        let mut excluded_bins = grid.places_of(&options.excluded_bins);
        excluded_bins.extend(grid.empty());
        Ok(SreOptions { inactive_bins: grid.places_of(&options.inactive_bins), excluded_bins, ..options })
    }

    /// An error about a bin with that bin's number in the file.
    pub fn in_the_file(&self, error: ReceiverError) -> ReceiverError {
        match (self.grid(), error) {
            (Some(grid), ReceiverError::Estimator(SreError::NotFinite { bin, channel })) => {
                SreError::NotFinite { bin: grid.bin_at(bin).unwrap_or(bin), channel }.into()
            }
            (_, error) => error,
        }
    }
}

fn parse_list(text: &str) -> Result<SubcarrierList, String> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let bad = || format!("{part:?} is no subcarrier or range such as -28..-2 or -28..-2:2");
        let number = |x: &str| x.trim().parse::<i32>().map_err(|_| bad());
        let (range, step) = part.split_once(':').unwrap_or((part, "1"));
        let (first, last) = range.split_once("..").unwrap_or((range, range));
        let (first, last, step) = (number(first)?, number(last)?, number(step)?);
        if first > last || step < 1 || numbers.len() > Band::BINS.max {
            return Err(bad());
        }
        numbers.extend((i64::from(first)..=i64::from(last)).step_by(step as usize).take(Band::BINS.max + 1));
    }
    BinGrid::new(&numbers).map(SubcarrierList).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_numbers_and_ranges() {
        let listed: Vec<i64> = (-28..=-2).step_by(2).chain((-1..=27).step_by(2)).chain([28]).collect();
        assert_eq!(parse_list("-28..-2:2, -1..27:2,28"), Ok(SubcarrierList(BinGrid::new(&listed).unwrap())));
        assert_eq!(parse_list("-4..4"), Ok(SubcarrierList(BinGrid::new(&(-4..=4).collect::<Vec<_>>()).unwrap())));
        for (bad, place) in [
            ("", "\"\""),
            ("1,x", "\"x\""),
            ("3..1", "\"3..1\""),
            ("1..9:0", "\"1..9:0\""),
            ("1..12,3", "3 follows 12"),
            ("1..4", "4 subcarriers"),
            ("-2147483648..2147483647", "from -2147483648"),
        ] {
            assert!(parse_list(bad).unwrap_err().contains(place), "{bad}: {}", parse_list(bad).unwrap_err());
        }
    }
}
