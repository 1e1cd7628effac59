//! SigMF recordings of IQ samples: known waveform or OFDM symbols to bins.
//!
//! Of every snapshot, `bins` samples are taken and transformed, and divided by the reference: the spectrum of the waveform
//! that was sent over and over, or the values on an OFDM symbol's subcarriers. Bin `k` then is at
//! `carrier + (k - bins / 2) * sample rate / bins`. Where the reference has next to no power there is nothing to divide by:
//! those bins are zero, and left out by the estimator.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use magnetar_files::npy::{NpyError, NpyReader};
use magnetar_files::{open_file, read_text};
use magnetar_signal::{LineArray, fourier_transform};
use num_complex::{Complex32, Complex64};
use serde::Deserialize;

use crate::error::DatasetError;

/// A larger description is a mistake.
const MAX_META_BYTES: u64 = 64 << 20;
/// Bins of a reference below this part of its strongest hold nothing.
const EMPTY: f64 = 1e-3;

/// How samples become bins.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IqReference {
    /// `.npy` of complex numbers, `[bins]`: the waveform's samples, or the symbol's subcarriers in the order of our bins.
    pub reference: PathBuf,
    /// Which of the two it is.
    pub domain: Domain,
    /// Where the first snapshot begins, samples.
    #[serde(default)]
    pub first_sample: u64,
    /// From one snapshot to the next, samples; `bins` and the prefix if left out.
    pub samples_per_snapshot: Option<u64>,
    /// Samples at the beginning of a snapshot that are left out: an OFDM symbol's cyclic prefix.
    #[serde(default)]
    pub cyclic_prefix: u64,
}

/// What a reference is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Domain {
    /// Samples.
    Time,
    /// Subcarriers.
    Frequency,
}

/// What a recording's `.sigmf-meta` says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SigMfMeta {
    /// How a number is stored.
    pub datatype: Datatype,
    /// Samples a second, Hz.
    pub sample_rate_hz: f64,
    /// Channels, sample by sample.
    pub channels: usize,
}

/// Complex numbers that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Datatype {
    /// `cf32_le`.
    Float32,
    /// `ci16_le`.
    Int16,
}

impl SigMfMeta {
    /// From the text of a `.sigmf-meta` file.
    ///
    /// # Errors
    /// Says which key is missing or of a kind that is not read.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let meta: serde_json::Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let global = |key: &str| &meta["global"][key];
        let datatype = match global("core:datatype").as_str() {
            Some("cf32_le" | "cf32") => Datatype::Float32,
            Some("ci16_le" | "ci16") => Datatype::Int16,
            other => return Err(format!("core:datatype is {other:?}; expected cf32_le or ci16_le")),
        };
        let rate = global("core:sample_rate").as_f64().filter(|rate| (1.0..=1e12).contains(rate));
        let sample_rate_hz = rate.ok_or("no core:sample_rate, or one that is no positive number")?;
        let channels = match global("core:num_channels") {
            serde_json::Value::Null => Some(1),
            value => value.as_u64().and_then(|n| usize::try_from(n).ok()),
        };
        let most = LineArray::MAX_ELEMENTS;
        let channels = channels.filter(|n| (LineArray::MIN_ELEMENTS..=most).contains(n));
        let channels =
            channels.ok_or_else(|| format!("core:num_channels: expected 2 to {most} channels in one recording"))?;
        Ok(Self { datatype, sample_rate_hz, channels })
    }

    /// Bytes of one sample of all channels.
    #[must_use]
    pub fn sample_bytes(&self) -> u64 {
        let number = match self.datatype {
            Datatype::Float32 => 8,
            Datatype::Int16 => 4,
        };
        number * self.channels as u64
    }
}

/// A recording, opened.
pub struct IqRecording {
    meta: SigMfMeta,
    data: File,
    path: PathBuf,
    bins: usize,
    rows: u64,
    iq: IqReference,
    /// What a bin is multiplied by; zero where the reference is empty.
    factors: Vec<Complex64>,
}

impl IqRecording {
    /// Opens a recording by its `.sigmf-meta` file; `reference` is the path of the reference.
    ///
    /// # Errors
    /// A file cannot be read, or they do not fit each other or the band.
    pub fn open(
        meta_path: &Path,
        iq: &IqReference,
        reference: &Path,
        bins: usize,
        rate_hz: f64,
    ) -> Result<Self, DatasetError> {
        let text = read_text(meta_path, MAX_META_BYTES).map_err(|e| DatasetError::invalid(meta_path, e))?;
        let meta = SigMfMeta::from_json(&text).map_err(|problem| DatasetError::invalid(meta_path, problem))?;
        if (meta.sample_rate_hz / rate_hz - 1.0).abs() > 1e-6 {
            let problem = format!(
                "core:sample_rate is {}; the recipe's band has {rate_hz} Hz: resample, or give a recipe with this band",
                meta.sample_rate_hz
            );
            return Err(DatasetError::invalid(meta_path, problem));
        }
        let path = meta_path.with_extension("sigmf-data");
        let data = open_file(&path).map_err(DatasetError::io(&path))?;
        let samples = data.metadata().map_err(DatasetError::io(&path))?.len() / meta.sample_bytes();
        let length = iq.cyclic_prefix.saturating_add(bins as u64);
        let stride = iq.samples_per_snapshot.unwrap_or(length);
        if stride < length {
            let problem = format!("iq.samples_per_snapshot = {stride}; a snapshot has {length} samples");
            return Err(DatasetError::invalid(meta_path, problem));
        }
        let left = samples.saturating_sub(iq.first_sample);
        let rows = if left < length { 0 } else { (left - length) / stride + 1 };
        let factors = factors(reference, iq.domain, bins)?;
        let iq = IqReference { samples_per_snapshot: Some(stride), ..iq.clone() };
        Ok(Self { meta, data, path, bins, rows, iq, factors })
    }

    /// Snapshots in it.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Channels of a snapshot.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.meta.channels
    }

    /// Bins in which the reference holds nothing.
    #[must_use]
    pub fn empty_bins(&self) -> Vec<usize> {
        (0..self.bins).filter(|bin| self.factors[*bin].norm_sqr() == 0.0).collect()
    }

    /// One snapshot, all channels of bin 0 first.
    ///
    /// # Errors
    /// The recording cannot be read.
    pub fn read(&mut self, row: u64, block: &mut Vec<Complex32>) -> Result<(), DatasetError> {
        let stride = self.iq.samples_per_snapshot.unwrap_or(self.bins as u64);
        let first = self.iq.first_sample + row * stride + self.iq.cyclic_prefix;
        let channels = self.meta.channels;
        let mut bytes = vec![0; self.bins * self.meta.sample_bytes() as usize];
        self.data.seek(SeekFrom::Start(first * self.meta.sample_bytes())).map_err(DatasetError::io(&self.path))?;
        self.data.read_exact(&mut bytes).map_err(DatasetError::io(&self.path))?;
        let samples: Vec<Complex64> = match self.meta.datatype {
            Datatype::Float32 => {
                let number = |x: &[u8]| f64::from(f32::from_le_bytes([x[0], x[1], x[2], x[3]]));
                bytes.chunks_exact(8).map(|x| Complex64::new(number(&x[..4]), number(&x[4..]))).collect()
            }
            Datatype::Int16 => {
                let number = |x: &[u8]| f64::from(i16::from_le_bytes([x[0], x[1]]));
                bytes.chunks_exact(4).map(|x| Complex64::new(number(&x[..2]), number(&x[2..]))).collect()
            }
        };
        block.clear();
        block.resize(self.bins * channels, Complex32::default());
        for channel in 0..channels {
            let mut spectrum: Vec<Complex64> = samples.iter().skip(channel).step_by(channels).copied().collect();
            fourier_transform(&mut spectrum);
            for (bin, factor) in self.factors.iter().enumerate() {
                let z = spectrum[unshifted(bin, self.bins)] * factor;
                block[bin * channels + channel] = Complex32::new(z.re as f32, z.im as f32);
            }
        }
        Ok(())
    }
}

/// Where our bin stands in a transform that begins with the carrier.
fn unshifted(bin: usize, bins: usize) -> usize {
    (bin + bins - bins / 2) % bins
}

/// What each bin of a transform is multiplied by: the inverse of the reference's value there, scaled so that white noise of
/// unit variance per sample keeps it, on average over the bins that hold something.
fn factors(path: &Path, domain: Domain, bins: usize) -> Result<Vec<Complex64>, DatasetError> {
    let npy = |e: NpyError| DatasetError::invalid(path, e);
    let mut reader = NpyReader::open(path).map_err(npy)?;
    let header = reader.header();
    if header.shape != [bins] || !header.dtype.is_complex() {
        let problem = format!(
            "{} of shape {:?}; expected complex numbers of shape [{bins}], as the recipe's band has bins",
            header.dtype.name(),
            header.shape
        );
        return Err(DatasetError::invalid(path, problem));
    }
    let mut values = vec![Complex64::default(); bins];
    reader.read_into(&mut values).map_err(npy)?;
    if domain == Domain::Time {
        fourier_transform(&mut values);
        values = (0..bins).map(|bin| values[unshifted(bin, bins)]).collect();
    }
    let strongest = values.iter().map(Complex64::norm_sqr).fold(0.0, f64::max);
    if !(strongest.is_finite() && strongest > 0.0) {
        return Err(DatasetError::invalid(path, "holds no power, or numbers that are not finite"));
    }
    let inverse: Vec<Complex64> = (values.iter())
        .map(|z| if z.norm_sqr() < EMPTY * EMPTY * strongest { Complex64::default() } else { z.inv() })
        .collect();
    let filled = inverse.iter().filter(|z| z.norm_sqr() > 0.0).count() as f64;
    let mean = inverse.iter().map(Complex64::norm_sqr).sum::<f64>() / filled;
    let scale = (mean * bins as f64).sqrt().recip();
    Ok(inverse.iter().map(|z| z * scale).collect())
}
