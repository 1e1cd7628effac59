//! The receiver of measured data: what is done to an observation before the estimator sees it.

use std::path::PathBuf;

use anyhow::ensure;
use magnetar_dataset::{Recipe, bin_list, read_calibration, read_phase_table};
use magnetar_signal::sre::SreOptions;
use magnetar_signal::{Band, BinGrid, ConfigError, LineArray, NoiseSource, Receiver, ReceiverSettings, TurnedBins};
use num_complex::Complex32;

use super::subcarriers::SubcarrierArgs;
use crate::commands::recipe::load_recipe;

/// So many observations, from the first, are asked whether their noise is what was assumed, and whether bins are turned.
pub const DOUBTS: usize = 16;

/// Flags of the radio that took snapshots.
#[derive(clap::Args)]
pub struct SnapshotArgs {
    /// Recipe whose radio took the snapshots: a shipped name or a file (`paper` if left out).
    #[arg(long, value_name = "NAME|FILE")]
    recipe: Option<String>,
    /// Which subcarriers of its band they hold.
    #[command(flatten)]
    pub subcarriers: SubcarrierArgs,
    /// What is done to them before they are estimated.
    #[command(flatten)]
    pub receiver: ReceiverArgs,
}

impl SnapshotArgs {
    /// The recipe, if one was named, with the band of the subcarriers.
    pub fn recipe(&self) -> anyhow::Result<Option<Recipe>> {
        let Some(name) = self.recipe.as_deref() else {
            let advice = "give a --recipe with its band.carrier_hz";
            ensure!(!self.subcarriers.given(), "--subcarrier-khz: at which carrier? {advice}");
            return Ok(None);
        };
        let mut recipe = load_recipe(name, &[])?;
        recipe.band = self.subcarriers.band_of(&recipe.band);
        Ok(Some(recipe))
    }
}

/// Flags of the receiver that took the observations.
#[derive(clap::Args)]
pub struct ReceiverArgs {
    /// The channels to take, element 0 first, such as 0,2; all of them if left out.
    #[arg(long, value_name = "I,J,...", value_parser = parse_channels)]
    channels: Option<ChannelList>,
    /// Places of the elements on the array's line, millimetres, one per channel taken, instead of one spacing for all.
    #[arg(long, value_name = "Y0,Y1,...", value_parser = parse_places, allow_hyphen_values = true)]
    positions_mm: Option<Places>,
    /// Complex factors that the receiver's chains apply (cable or chamber measurement): .npy of shape `[bins, channels]`, or
    /// `[channels]` for all bins alike; of the channels taken, or of all. Observations are divided by them first.
    #[arg(long, value_name = "FILE.npy")]
    calibration: Option<PathBuf>,
    /// Noise variance per bin after calibration: one number, one per channel (V0,V1,...), or `auto` to estimate it from the
    /// delays without paths [default: that of the inactive bins, or 1]. With it, inactive bins are merely left out.
    #[arg(long, value_name = "V", value_parser = parse_noise)]
    noise_variance: Option<Noise>,
    /// Bins without signal, which each channel's noise variance is estimated from: numbers and ranges, such as
    /// 0-15,496-511.
    #[arg(long, value_name = "BINS", value_parser = parse_bins)]
    inactive_bins: Option<BinList>,
    /// Bins that are not looked at whatever they hold (DC, pilots, guards, not-a-number): as --inactive-bins.
    #[arg(long, value_name = "BINS", value_parser = parse_bins)]
    exclude_bins: Option<BinList>,
    /// Inter-channel phase of a two-channel receiver (channel 1 minus channel 0), degrees, subtracted from the phase.
    #[arg(long, value_name = "DEG", allow_hyphen_values = true)]
    phase_offset_deg: Option<f64>,
    /// The same by angle of arrival: .csv with the header aoa_deg,phase_deg, angles rising.
    #[arg(long, value_name = "FILE.csv")]
    phase_table: Option<PathBuf>,
}

/// Where the noise variance comes from.
#[derive(Debug, Clone, PartialEq)]
enum Noise {
    Known(Vec<f64>),
    Auto,
}

/// Bin numbers given on the command line.
#[derive(Debug, Clone)]
struct BinList(Vec<usize>);

/// Channels given on the command line.
#[derive(Debug, Clone, PartialEq)]
struct ChannelList(Vec<usize>);

/// Places given on the command line, millimetres.
#[derive(Debug, Clone, PartialEq)]
struct Places(Vec<f64>);

impl ReceiverArgs {
    /// The channels asked for.
    pub fn channels(&self) -> Option<&[usize]> {
        self.channels.as_ref().map(|list| &list.0[..])
    }

    /// The estimator's options of the flags.
    pub fn options(&self, options: SreOptions) -> SreOptions {
        let list = |bins: &Option<BinList>, otherwise: Vec<usize>| bins.clone().map_or(otherwise, |list| list.0);
        SreOptions {
            inactive_bins: list(&self.inactive_bins, options.inactive_bins),
            excluded_bins: list(&self.exclude_bins, options.excluded_bins),
            phase_offset_deg: self.phase_offset_deg.unwrap_or(options.phase_offset_deg),
            ..options
        }
    }

    /// Distance of the first two elements where their places are given, metres: the pair whose phase scorers see.
    pub fn pair_spacing_m(&self) -> Option<f64> {
        let Places(places) = self.positions_mm.as_ref()?;
        // Places that make no array are refused with the receiver.
        LineArray::at_mm(places).ok().map(|array| array.pair_spacing_m().abs())
    }

    /// The receiver of so many channels, `spacing_m` apart unless their places are given; `grid` is that of bins which are
    /// not all neighbours.
    pub fn receiver(
        &self,
        band: &Band,
        channels: usize,
        spacing_m: f64,
        options: &SreOptions,
        grid: Option<&BinGrid>,
    ) -> anyhow::Result<Receiver> {
        let array = match &self.positions_mm {
            None => LineArray::uniform(channels, spacing_m)?,
            Some(Places(places)) => {
                ensure!(
                    places.len() == channels,
                    "--positions-mm has {} places for {channels} channels; give one each, or choose --channels",
                    places.len()
                );
                LineArray::at_mm(places)?
            }
        };
        let noise = match &self.noise_variance {
            None => NoiseSource::Options,
            Some(Noise::Known(variances)) => NoiseSource::Known(variances.clone()),
            Some(Noise::Auto) => NoiseSource::Floor,
        };
        let calibration = self.calibration.as_deref().map(read_calibration).transpose()?;
        let calibration = match self.channels() {
            Some(taken) => calibration.map(|calibration| calibration.of_channels(taken)),
            None => calibration,
        };
        let calibration = match (calibration, grid) {
            (Some(calibration), Some(grid)) => Some(grid.spread_calibration(calibration)?),
            (calibration, _) => calibration,
        };
        let phase_table = self.phase_table.as_deref().map(read_phase_table).transpose()?;
        let settings = ReceiverSettings { calibration, noise, phase_table };
        Receiver::new(band, &array, options, settings).map_err(remedied)
    }
}

/// An error about a setting with the flag that mends it.
fn remedied(error: ConfigError) -> anyhow::Error {
    let flag = match error.key {
        "calibration" => " (see --calibration and --channels)",
        "sre.noise_variance" => " (see --noise-variance)",
        "sre.phase_offset_deg" => " (see --calibration)",
        "phase_table" => " (see --phase-table; more elements are calibrated with --calibration)",
        _ => "",
    };
    anyhow::anyhow!("{error}{flag}")
}

/// What to say about observations whose noise was only assumed and looks otherwise.
pub fn noise_advice(receiver: &Receiver, block: &[Complex32]) -> Option<String> {
    receiver.doubtful_noise(block).map(|mean| {
        format!(
            "noise of variance 1 per bin was assumed, and the data's own looks like {mean:.2e}; \
             give --noise-variance {mean:.2e} or auto, or --inactive-bins"
        )
    })
}

/// What to say about prepared observations of which more than half look as if some bins were turned against the others.
pub fn turn_advice(turns: &[Option<TurnedBins>]) -> Option<String> {
    TurnedBins::of_most(turns).map(|turn| format!("{} (--calibration)", turn.in_words()))
}

fn parse_channels(text: &str) -> Result<ChannelList, String> {
    let channels: Option<Vec<usize>> = text.split(',').map(|x| x.trim().parse().ok()).collect();
    let different = |list: &Vec<usize>| list.iter().enumerate().all(|(n, channel)| !list[..n].contains(channel));
    let count = LineArray::MIN_ELEMENTS..=LineArray::MAX_ELEMENTS;
    match channels.filter(|list| count.contains(&list.len()) && different(list)) {
        Some(list) => Ok(ChannelList(list)),
        None => Err(format!("expected 2 to {} different channels, such as 0,1; the first is 0", count.end())),
    }
}

fn parse_places(text: &str) -> Result<Places, String> {
    let places: Option<Vec<f64>> = text.split(',').map(|x| x.trim().parse().ok()).collect();
    places.map(Places).ok_or_else(|| "expected millimetres, such as 0,26,52".to_owned())
}

fn parse_noise(text: &str) -> Result<Noise, String> {
    if text == "auto" {
        return Ok(Noise::Auto);
    }
    let range = SreOptions::NOISE_VARIANCE;
    let variance = |x: &str| x.trim().parse().ok().filter(|v| (range.min..=range.max).contains(v));
    let variances: Option<Vec<f64>> = text.split(',').map(variance).collect();
    variances.map(Noise::Known).ok_or_else(|| {
        format!("expected a variance from {:e} to {:e}, one per channel (V0,V1), or auto", range.min, range.max)
    })
}

fn parse_bins(text: &str) -> Result<BinList, String> {
    bin_list(text).map(BinList)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_one_number_several_or_found() {
        assert_eq!(parse_noise("0.5"), Ok(Noise::Known(vec![0.5])));
        assert_eq!(parse_noise("1e-7, 2e-7"), Ok(Noise::Known(vec![1e-7, 2e-7])));
        assert_eq!(parse_noise("auto"), Ok(Noise::Auto));
        for bad in ["", "0", "-1", "nan", "automatic"] {
            assert!(parse_noise(bad).unwrap_err().contains("auto"), "{bad}");
        }
        assert_eq!(parse_channels("2,0"), Ok(ChannelList(vec![2, 0])));
        assert_eq!(parse_channels("0,1,2"), Ok(ChannelList(vec![0, 1, 2])));
        for bad in ["1", "1,1", "-1,0", "a,b", "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16"] {
            assert!(parse_channels(bad).is_err(), "{bad}");
        }
        assert!(parse_places("0,26,x").is_err());
    }
}
