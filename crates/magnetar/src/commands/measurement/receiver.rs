//! The receiver of measured data: what is done to an observation before the estimator sees it.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use magnetar_files::npy::NpyReader;
use magnetar_signal::sre::SreOptions;
use magnetar_signal::{Band, ReceiverCalibration, noise_floor};
use num_complex::{Complex32, Complex64};

/// Most bins a band may have, and so the most that a list of bins may name.
const MAX_BINS: usize = Band::BINS.max;

/// Flags of the receiver that took the observations.
#[derive(clap::Args)]
pub struct ReceiverArgs {
    /// The two channels of a file with more, element 0 first.
    #[arg(long, value_name = "I,J", value_parser = parse_channels)]
    channels: Option<[usize; 2]>,
    /// Complex factors that the receiver's chains apply (cable or chamber measurement): .npy of shape [bins, 2], or [2] for
    /// all bins alike. Observations are divided by them first.
    #[arg(long, value_name = "FILE.npy")]
    calibration: Option<PathBuf>,
    /// Noise variance per bin after calibration: one number, one per channel (V0,V1), or `auto` to estimate it from the
    /// delays without paths [default: 1].
    #[arg(long, value_name = "V", value_parser = parse_noise, conflicts_with = "inactive_bins")]
    noise_variance: Option<Noise>,
    /// Bins without signal, which the noise variance is estimated from: numbers and ranges, such as 0-15,496-511.
    #[arg(long, value_name = "BINS", value_parser = parse_bins)]
    inactive_bins: Option<BinList>,
    /// Bins that are not looked at whatever they hold (DC, pilots, guards, not-a-number): as --inactive-bins.
    #[arg(long, value_name = "BINS", value_parser = parse_bins)]
    exclude_bins: Option<BinList>,
    /// Inter-channel phase of the receiver (channel 1 minus channel 0), degrees, subtracted from the phase.
    #[arg(long, value_name = "DEG", allow_hyphen_values = true)]
    phase_offset_deg: Option<f64>,
}

/// Where the noise variance comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Noise {
    Known([f64; 2]),
    Auto,
}

/// Bin numbers given on the command line.
#[derive(Debug, Clone)]
struct BinList(Vec<usize>);

/// What is done to every observation.
pub struct Preparation {
    calibration: Option<ReceiverCalibration>,
    auto: bool,
    skipped: Vec<usize>,
    assumed: bool,
}

impl ReceiverArgs {
    /// The two channels asked for.
    pub fn channels(&self) -> Option<[usize; 2]> {
        self.channels
    }

    /// The estimator's options for what [`Preparation`] gives.
    pub fn options(&self, options: SreOptions) -> SreOptions {
        let list = |bins: &Option<BinList>, otherwise: Vec<usize>| bins.clone().map_or(otherwise, |list| list.0);
        SreOptions {
            noise_variance: if self.noise_variance.is_some() { 1.0 } else { options.noise_variance },
            inactive_bins: list(&self.inactive_bins, options.inactive_bins),
            excluded_bins: list(&self.exclude_bins, options.excluded_bins),
            phase_offset_deg: self.phase_offset_deg.unwrap_or(options.phase_offset_deg),
            ..options
        }
    }

    /// Reads the calibration. `options` are those of [`Self::options`].
    pub fn preparation(&self, options: &SreOptions) -> anyhow::Result<Preparation> {
        let mut calibration = self.calibration.as_deref().map(read_calibration).transpose()?;
        if let Some(Noise::Known(variances)) = self.noise_variance {
            calibration = Some(calibration.unwrap_or_default().scaled(variances.map(f64::sqrt)));
        }
        Ok(Preparation {
            calibration,
            auto: self.noise_variance == Some(Noise::Auto),
            skipped: options.excluded_bins.clone(),
            assumed: self.noise_variance.is_none() && options.inactive_bins.is_empty(),
        })
    }
}

impl Preparation {
    /// Calibrates an observation and scales it to unit noise where the noise is known or to be found.
    pub fn apply(&self, block: &mut [[Complex32; 2]]) -> anyhow::Result<()> {
        if let Some(calibration) = &self.calibration {
            calibration.apply(block)?;
        }
        if self.auto {
            let Some(floor) = noise_floor(block, &self.skipped) else {
                bail!(
                    "its noise cannot be estimated: too few bins, or values that are not finite (see --exclude-bins)"
                );
            };
            ensure!(
                floor.iter().all(|variance| *variance > 0.0),
                "there is no noise between its paths; give --noise-variance"
            );
            ReceiverCalibration::default().scaled(floor.map(f64::sqrt)).apply(block)?;
        }
        Ok(())
    }

    /// What to do about observations in which nothing was found, if their noise was only assumed.
    pub fn advice(&self, block: &[[Complex32; 2]]) -> Option<String> {
        let floor = noise_floor(block, &self.skipped).filter(|_| self.assumed)?;
        let mean = 0.5 * (floor[0] + floor[1]);
        (mean > 0.0 && !(0.1..=10.0).contains(&mean)).then(|| {
            format!(
                "noise of variance 1 per bin was assumed, and the data's own looks like {mean:.2e}; \
                 give --noise-variance {mean:.2e} or auto, or --inactive-bins"
            )
        })
    }
}

fn read_calibration(path: &Path) -> anyhow::Result<ReceiverCalibration> {
    let mut reader = NpyReader::open(path)?;
    let header = reader.header();
    let bins = match header.shape[..] {
        [2] => 1,
        [bins, 2] if bins <= MAX_BINS => bins,
        _ => bail!("{}: the shape is {:?}; expected [bins, 2], or [2] for all bins", path.display(), header.shape),
    };
    ensure!(
        header.dtype.is_complex(),
        "{}: the elements are {}; expected complex64 or complex128",
        path.display(),
        header.dtype.name()
    );
    let mut factors = vec![[Complex64::new(0.0, 0.0); 2]; bins];
    reader.read_into(factors.as_flattened_mut())?;
    ReceiverCalibration::new(factors).with_context(|| path.display().to_string())
}

fn parse_channels(text: &str) -> Result<[usize; 2], String> {
    let channels: Option<Vec<usize>> = text.split(',').map(|x| x.trim().parse().ok()).collect();
    match channels.as_deref() {
        Some(&[a, b]) if a != b => Ok([a, b]),
        _ => Err("expected two different channels, such as 0,1; the first is 0".to_owned()),
    }
}

fn parse_noise(text: &str) -> Result<Noise, String> {
    if text == "auto" {
        return Ok(Noise::Auto);
    }
    let range = SreOptions::NOISE_VARIANCE;
    let variance = |x: &str| x.trim().parse().ok().filter(|v| (range.min..=range.max).contains(v));
    let variances: Option<Vec<f64>> = text.split(',').map(variance).collect();
    match variances.as_deref() {
        Some(&[both]) => Ok(Noise::Known([both; 2])),
        Some(&[first, second]) => Ok(Noise::Known([first, second])),
        _ => Err(format!(
            "expected a variance from {:e} to {:e}, one per channel (V0,V1), or auto",
            range.min, range.max
        )),
    }
}

fn parse_bins(text: &str) -> Result<BinList, String> {
    let mut bins = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |x: &str| x.trim().parse::<usize>().ok().filter(|&n| n < MAX_BINS);
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => bins.extend(first..=last),
            _ => return Err(format!("{part:?} is no bin or range of bins such as 0-15")),
        }
    }
    bins.sort_unstable();
    bins.dedup();
    Ok(BinList(bins))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_one_number_two_or_found() {
        assert_eq!(parse_noise("0.5"), Ok(Noise::Known([0.5; 2])));
        assert_eq!(parse_noise("1e-7, 2e-7"), Ok(Noise::Known([1e-7, 2e-7])));
        assert_eq!(parse_noise("auto"), Ok(Noise::Auto));
        for bad in ["", "0", "-1", "nan", "1,2,3", "automatic"] {
            assert!(parse_noise(bad).unwrap_err().contains("auto"), "{bad}");
        }
        assert_eq!(parse_channels("2,0"), Ok([2, 0]));
        for bad in ["1", "1,1", "0,1,2", "-1,0", "a,b"] {
            assert!(parse_channels(bad).is_err(), "{bad}");
        }
    }
}
