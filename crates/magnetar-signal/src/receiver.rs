//! A real receiver: what is done to its observations before arrivals are estimated, and the estimator for its array.

use num_complex::Complex32;

use crate::sre::{Component, LineSre, LineWorkspace, Sre, SreError, SreOptions, Workspace};
use crate::{
    Arrival, Arrivals, Band, CalibrationError, ConfigError, LineArray, PhaseTable, ReceiverCalibration, RxArray,
    TurnedBins, noise_floor,
};

/// Where the noise variance of a receiver's observations comes from.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum NoiseSource {
    /// The estimator's options: of each channel that of the inactive bins if there are any, else the variance stated.
    #[default]
    Options,
    /// Known, after calibration: one variance per channel, or one for all.
    Known(Vec<f64>),
    /// Each observation's own floor ([`noise_floor`]).
    Floor,
}

/// What is known about a receiver.
#[derive(Debug, Clone, Default)]
pub struct ReceiverSettings {
    /// What its chains do.
    pub calibration: Option<ReceiverCalibration>,
    /// Where the noise variance comes from.
    pub noise: NoiseSource,
    /// Its phase by angle; two elements only.
    pub phase_table: Option<PhaseTable>,
}

/// A receiver with its estimator. Immutable; each thread brings its own [`ReceiverWorkspace`].
pub struct Receiver {
    calibration: Option<ReceiverCalibration>,
    noise: NoiseSource,
    /// Bins left out of the floor.
    skipped: Vec<usize>,
    inactive: Vec<usize>,
    assumed: bool,
    phase_table: Option<(PhaseTable, RxArray)>,
    band: Band,
    channels: usize,
    keep: usize,
    /// Whether channel 1 is on the left of channel 0.
    leftwards: bool,
    estimator: Estimator,
}

enum Estimator {
    Two(Box<Sre>),
    Line(Box<LineSre>),
}

/// Room for one observation at a time.
pub enum ReceiverWorkspace {
    /// Of two elements.
    Two(Box<Workspace>),
    /// Of more.
    Line(Box<LineWorkspace>),
}

/// Why an observation cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ReceiverError {
    /// The calibration does not fit it.
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
    /// The estimator refuses it.
    #[error(transparent)]
    Estimator(#[from] SreError),
    /// A channel hears nothing at all beside one that does.
    #[error("channel {channel} of those taken holds nothing but zeros; is its chain connected? leave it out")]
    SilentChannel {
        /// The channel.
        channel: usize,
    },
    /// Its floor cannot be found.
    #[error(
        "its noise cannot be estimated: too few bins, too few of them equally far apart, or values that are not finite \
             (exclude those bins); give the noise variance"
    )]
    NoFloor,
    /// Its floor is zero.
    #[error("there is no noise between its paths, or in its inactive bins; give the noise variance")]
    NoNoise,
}

impl Receiver {
    /// Plans the receiver: two elements get the two-element estimator; more, or bins with many gaps, the one for lines.
    ///
    /// # Errors
    /// Names the setting that is wrong.
    pub fn new(
        band: &Band,
        array: &LineArray,
        options: &SreOptions,
        settings: ReceiverSettings,
    ) -> Result<Self, ConfigError> {
        let channels = array.elements();
        if let Some(found) = settings.calibration.as_ref().map(ReceiverCalibration::channels) {
            let (key, expected) = ("calibration", format!("factors of {channels} channels"));
            ConfigError::require(found == channels, key, format!("factors of {found} channels"), expected)?;
        }
        let mut options = options.clone();
        if let NoiseSource::Known(variances) = &settings.noise {
            let fits = variances.len() == 1 || variances.len() == channels;
            let (key, found) = (SreOptions::NOISE_VARIANCE.key, format!("{} variances", variances.len()));
            ConfigError::require(fits, key, found, format!("one variance, or one for each of {channels} channels"))?;
            variances.iter().try_for_each(|variance| SreOptions::NOISE_VARIANCE.check(*variance))?;
        }
        options.check(band)?;
        let assumed = settings.noise == NoiseSource::Options && options.inactive_bins.is_empty();
        let inactive = options.inactive_bins.clone();
        if settings.noise != NoiseSource::Options {
            options.noise_variance = 1.0;
            options.excluded_bins.append(&mut options.inactive_bins);
        }
        let skipped = options.excluded_bins.clone();
        let spacing = array.spacing_m().map(|spacing_m| RxArray { spacing_m });
        let phase_table = match (settings.phase_table, spacing) {
            (None, _) => None,
            (Some(table), Some(pair)) if channels == 2 => Some((table, pair)),
            (Some(_), _) => {
                return Err(ConfigError {
                    key: "phase_table",
                    value: format!("{channels} elements"),
                    expected: "two elements in the order of their places".to_owned(),
                });
            }
        };
        let dense = Sre::suits(band, &options)?;
        let estimator = match spacing.filter(|_| channels == 2 && dense) {
            Some(pair) => Estimator::Two(Box::new(Sre::new(band, &pair, &options)?)),
            None => Estimator::Line(Box::new(LineSre::new(band, array, &options)?)),
        };
        let (calibration, noise) = (settings.calibration, settings.noise);
        let (band, keep) = (*band, options.keep);
        let leftwards = array.pair_spacing_m() > 0.0;
        Ok(Self {
            calibration,
            noise,
            skipped,
            inactive,
            assumed,
            phase_table,
            band,
            channels,
            keep,
            leftwards,
            estimator,
        })
    }

    /// Number of channels.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// The band.
    #[must_use]
    pub fn band(&self) -> &Band {
        &self.band
    }

    /// Room for one observation at a time.
    #[must_use]
    pub fn workspace(&self) -> ReceiverWorkspace {
        match &self.estimator {
            Estimator::Two(sre) => ReceiverWorkspace::Two(Box::new(sre.workspace())),
            Estimator::Line(sre) => ReceiverWorkspace::Line(Box::new(sre.workspace())),
        }
    }

    /// Calibrates an observation (all channels of bin 0 first) and scales each channel to unit noise variance where its
    /// noise is known or found; a variance stated in the estimator's options is left to the estimator.
    ///
    /// # Errors
    /// A channel is dead, the calibration does not fit it, or its noise cannot be found.
    pub fn prepare(&self, block: &mut [Complex32]) -> Result<(), ReceiverError> {
        let dead = |channel: &usize| block.iter().skip(*channel).step_by(self.channels).all(|z| z.norm_sqr() == 0.0);
        if let Some(channel) = (0..self.channels).find(dead).filter(|_| !(0..self.channels).all(|c| dead(&c))) {
            return Err(ReceiverError::SilentChannel { channel });
        }
        if let Some(calibration) = &self.calibration {
            calibration.apply(block)?;
        }
        let variances = match &self.noise {
            NoiseSource::Known(variances) => variances.iter().copied().cycle().take(self.channels).collect(),
            NoiseSource::Floor => {
                let floors = noise_floor(block, self.channels, &self.skipped).ok_or(ReceiverError::NoFloor)?;
                self.alike(block, floors)
            }
            NoiseSource::Options if self.inactive.is_empty() || block.iter().all(|z| z.norm_sqr() == 0.0) => {
                return Ok(());
            }
            NoiseSource::Options => (0..self.channels).map(|channel| self.reference_noise(block, channel)).collect(),
        };
        if !variances.iter().all(|variance: &f64| *variance > 0.0) {
            return Err(ReceiverError::NoNoise);
        }
        let scales: Vec<f64> = variances.iter().map(|variance| variance.sqrt()).collect();
        Ok(ReceiverCalibration::of_scales(&scales)?.apply(block)?)
    }

    /// Floors by which channels may be divided. On a line of elements every one is expected to hear a wave equally strongly:
    /// where dividing each by its own floor leaves the channels' powers less alike than they were, the floors do not
    /// follow the chains' gains, and all channels have their mean.
    fn alike(&self, block: &[Complex32], floors: Vec<f64>) -> Vec<f64> {
        if matches!(self.estimator, Estimator::Two(_)) {
            return floors;
        }
        let mut powers = vec![0.0; self.channels];
        for (bin, values) in block.chunks_exact(self.channels).enumerate() {
            if !self.skipped.contains(&bin) {
                powers.iter_mut().zip(values).for_each(|(power, z)| *power += f64::from(z.norm_sqr()));
            }
        }
        let spread = |levels: &[f64]| {
            let (low, high) = levels.iter().fold((f64::MAX, 0.0_f64), |(low, high), x| (low.min(*x), high.max(*x)));
            high / low
        };
        let divided: Vec<f64> = powers.iter().zip(&floors).map(|(power, floor)| power / floor).collect();
        if spread(&powers) < spread(&divided) {
            return vec![floors.iter().sum::<f64>() / self.channels as f64; self.channels];
        }
        floors
    }

    /// The turn of some bins against the others that a prepared observation looks as if it had.
    #[must_use]
    pub fn turned_bins(&self, block: &[Complex32]) -> Option<TurnedBins> {
        TurnedBins::of(block, self.channels, &self.skipped)
    }

    /// Mean power of the inactive bins; 1 where a value is not finite, which the estimator will name.
    fn reference_noise(&self, block: &[Complex32], channel: usize) -> f64 {
        let power = |bin: &usize| {
            let z = block.get(bin * self.channels + channel).copied().unwrap_or_default();
            f64::from(z.re).powi(2) + f64::from(z.im).powi(2)
        };
        let mean = self.inactive.iter().map(power).sum::<f64>() / self.inactive.len() as f64;
        if mean.is_finite() { mean } else { 1.0 }
    }

    /// All components of a prepared observation, strongest first.
    ///
    /// # Errors
    /// The estimator refuses it.
    pub fn components(
        &self,
        block: &[Complex32],
        workspace: &mut ReceiverWorkspace,
    ) -> Result<Vec<Component>, ReceiverError> {
        let mut found = match (&self.estimator, workspace) {
            (Estimator::Two(sre), ReceiverWorkspace::Two(workspace)) => {
                sre.estimate(block.as_chunks().0, workspace)?.components().to_vec()
            }
            (Estimator::Line(sre), ReceiverWorkspace::Line(workspace)) => {
                sre.estimate(block, workspace)?.components().to_vec()
            }
            // A workspace of another receiver.
            (_, other) => {
                *other = self.workspace();
                return self.components(block, other);
            }
        };
        if let Some((table, pair)) = &self.phase_table {
            found.iter_mut().for_each(|component| table.correct(&self.band, pair, &mut component.arrival));
        }
        Ok(found)
    }

    /// The arrivals kept of a prepared observation, as scorers take them: phases are those of an element on the left against
    /// one on the right ([`crate::RxArray`]), whatever the order of the channels.
    ///
    /// # Errors
    /// The estimator refuses it.
    pub fn arrivals(&self, block: &[Complex32], workspace: &mut ReceiverWorkspace) -> Result<Arrivals, ReceiverError> {
        let found = self.components(block, workspace)?;
        let sign = if self.leftwards { 1.0 } else { -1.0 };
        let seen = |Component { arrival, .. }: &Component| Arrival { phase_rad: sign * arrival.phase_rad, ..*arrival };
        Ok(Arrivals { keep: self.keep, found: found.iter().take(self.keep).map(seen).collect() })
    }

    /// The floor of an observation whose noise was only assumed to be of unit variance, mean over the channels, if it is
    /// far from that.
    #[must_use]
    pub fn doubtful_noise(&self, block: &[Complex32]) -> Option<f64> {
        let floor = noise_floor(block, self.channels, &self.skipped).filter(|_| self.assumed)?;
        let mean = floor.iter().sum::<f64>() / floor.len() as f64;
        (mean > 0.0 && !(0.1..=10.0).contains(&mean)).then_some(mean)
    }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex64;

    use super::*;

    fn tones(channels: usize, bins: usize) -> Vec<Complex32> {
        let mut noise = 1u32;
        let mut values = Vec::new();
        for k in 0..bins {
            for m in 0..channels {
                // A cheap noise of about unit variance.
                let mut draw = || {
                    noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    f64::from(noise >> 8) / f64::from(1 << 24) * 2.4 - 1.2
                };
                let path = Complex64::from_polar(10.0, -0.3 * k as f64 + 0.5 * m as f64);
                let active = if (4..bins - 4).contains(&k) { 1.0 } else { 0.0 };
                let z = path * active + Complex64::new(draw(), draw());
                values.push(Complex32::new(z.re as f32, z.im as f32));
            }
        }
        values
    }

    /// Channels of different level and noise come back the same whatever says what the noise is.
    #[test]
    fn every_way_to_know_the_noise_gives_one_answer() {
        for channels in [2, 3] {
            let band = Band { bins: 129, bandwidth_hz: 123.84e6, ..Band::default() };
            let array = LineArray::uniform(channels, 0.014).unwrap();
            let scales = [3.7e-4f32, 1e-3, 7e-5];
            let mut heard = tones(channels, 129);
            heard.iter_mut().enumerate().for_each(|(n, z)| *z *= scales[n % channels]);
            let edges: Vec<usize> = (0..4).chain(125..129).collect();
            let known: Vec<f64> = scales[..channels].iter().map(|s| f64::from(s * s)).collect();
            let with = |noise: NoiseSource| {
                let options = SreOptions { inactive_bins: edges.clone(), ..SreOptions::default() };
                let settings = ReceiverSettings { noise, ..ReceiverSettings::default() };
                let receiver = Receiver::new(&band, &array, &options, settings).unwrap();
                let mut block = heard.clone();
                receiver.prepare(&mut block).unwrap();
                receiver.arrivals(&block, &mut receiver.workspace()).unwrap().found[0]
            };
            for noise in [NoiseSource::Options, NoiseSource::Known(known), NoiseSource::Floor] {
                let found = with(noise.clone());
                assert!((found.raw_snr_db - 20.0).abs() < 3.0, "{channels} {noise:?}: {found:?}");
                assert!((found.phase_rad - 0.5).abs() < 0.1, "{channels} {noise:?}: {found:?}");
            }
        }
    }

    /// Elements of one level with unequal noise keep their levels, which the angle depends on.
    #[test]
    fn unequal_floors_leave_equal_levels_alone() {
        let band = Band { bins: 129, bandwidth_hz: 123.84e6, ..Band::default() };
        let array = LineArray::uniform(3, 0.014).unwrap();
        let settings = ReceiverSettings { noise: NoiseSource::Floor, ..ReceiverSettings::default() };
        let receiver = Receiver::new(&band, &array, &SreOptions::default(), settings).unwrap();
        let path = |n: usize| Complex64::from_polar(10.0, -0.3 * (n / 3) as f64 + 0.5 * (n % 3) as f64);
        let mut block = tones(3, 129);
        for (n, z) in block.iter_mut().enumerate() {
            let path = Complex32::new(path(n).re as f32, path(n).im as f32);
            let inner = (4..125).contains(&(n / 3));
            let noise = if inner { *z - path } else { *z };
            *z = path + noise * [0.1, 1.0, 1.0][n % 3];
        }
        let heard = block.clone();
        receiver.prepare(&mut block).unwrap();
        let factors: Vec<f32> = block.iter().zip(&heard).map(|(after, before)| (after / before).re).collect();
        assert!(factors.iter().all(|factor| (factor / factors[0] - 1.0).abs() < 1e-4));
        let found = receiver.arrivals(&block, &mut receiver.workspace()).unwrap().found;
        assert!((found[0].phase_rad - 0.5).abs() < 0.05, "{found:?}");
    }

    #[test]
    fn what_does_not_fit_the_array_is_named() {
        let (band, options) = (Band::default(), SreOptions::default());
        let three = LineArray::uniform(3, 0.014).unwrap();
        let key = |settings: ReceiverSettings| Receiver::new(&band, &three, &options, settings).err().unwrap().key;
        let calibration = ReceiverCalibration::of_scales(&[1.0, 2.0]).ok();
        assert_eq!(key(ReceiverSettings { calibration, ..ReceiverSettings::default() }), "calibration");
        let noise = NoiseSource::Known(vec![1.0, 2.0]);
        assert_eq!(key(ReceiverSettings { noise, ..ReceiverSettings::default() }), "sre.noise_variance");
        let phase_table = PhaseTable::new(&[(0.0, 0.0)]).ok();
        assert_eq!(key(ReceiverSettings { phase_table, ..ReceiverSettings::default() }), "phase_table");
    }
}
