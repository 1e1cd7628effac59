//! Bins at uneven distances, as flags.

use anyhow::{Context, ensure};
use magnetar_dataset::subcarrier_list;
use magnetar_signal::sre::SreOptions;
use magnetar_signal::{Band, BinGrid, ReceiverError};

/// Flags of bins that are subcarriers.
#[derive(clap::Args)]
pub struct SubcarrierArgs {
    /// Subcarrier of each bin of the file, 0 at the carrier, where they are not all neighbours: numbers and ranges with or
    /// without a step, such as -28..-2:2,-1..27:2,28.
    #[arg(long, value_name = "LIST", value_parser = subcarrier_list, requires = "subcarrier_khz", allow_hyphen_values = true)]
    subcarriers: Option<BinGrid>,
    /// Distance of neighbouring subcarriers, kHz, instead of the bandwidth.
    #[arg(long, value_name = "KHZ")]
    subcarrier_khz: Option<f64>,
}

impl SubcarrierArgs {
    /// The grid of the bins, if they are not all neighbours.
    pub fn grid(&self) -> Option<&BinGrid> {
        self.subcarriers.as_ref()
    }

    /// Whether any of the flags was given.
    pub fn given(&self) -> bool {
        self.subcarrier_khz.is_some()
    }

    /// A band with the flags in place of its bandwidth and, where they list subcarriers, of its bins.
    pub fn band_of(&self, band: &Band) -> Band {
        self.subcarrier_khz.map_or(*band, |khz| band.with_subcarriers(1e3 * khz, self.grid()))
    }

    /// The bins of a file of this band.
    pub fn file_bins(&self, band: &Band) -> usize {
        self.grid().map_or(band.bins, BinGrid::bins)
    }

    /// Refuses a file whose bins are not the ones that are listed.
    pub fn check(&self, bins: usize) -> anyhow::Result<()> {
        if let Some(listed) = self.grid().map(BinGrid::bins) {
            ensure!(listed == bins, "--subcarriers lists {listed}, the file has {bins} bins; give one for each");
        }
        Ok(())
    }

    /// The options, which are about the file's bins, for the grid.
    pub fn options(&self, options: SreOptions) -> anyhow::Result<SreOptions> {
        let Some(grid) = self.grid() else { return Ok(options) };
        grid.options(options).context("--inactive-bins and --exclude-bins")
    }

    /// An error about a bin with that bin's number in the file.
    pub fn in_the_file(&self, error: ReceiverError) -> ReceiverError {
        match self.grid() {
            Some(grid) => grid.in_the_file(error),
            None => error,
        }
    }
}
