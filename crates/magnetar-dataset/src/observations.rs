//! Files of observations: npy, or Parquet with a column `csi`.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use magnetar_files::npy::{NpyError, NpyReader};
use magnetar_signal::{Band, LineArray};
use num_complex::Complex32;

use crate::csi_reader::{CsiError, CsiReader};

/// Observations read at a time.
const CHUNK: usize = 2048;

/// Most bins a band may have.
const MAX_BINS: usize = Band::BINS.max;
/// Most channels of a file.
const MAX_CHANNELS: usize = 64;
/// Most channels that are taken.
const MAX_TAKEN: usize = LineArray::MAX_ELEMENTS;

/// What is wrong with a file of observations.
#[derive(Debug, thiserror::Error)]
pub enum ObservationError {
    /// It is not an array as NumPy writes it.
    #[error(transparent)]
    Npy(#[from] NpyError),
    /// It is not Parquet with observations.
    #[error(transparent)]
    Parquet(#[from] CsiError),
    /// It holds something else.
    #[error("{file}: {problem}")]
    Content {
        /// The file.
        file: String,
        /// What was found, and what was expected.
        problem: String,
    },
}

/// Where observations come from.
pub enum ObservationSource {
    /// Complex numbers `[n, bins, channels]`, of which some channels are taken.
    Npy {
        /// The file.
        reader: NpyReader<BufReader<File>>,
        /// Bins of an observation.
        bins: usize,
        /// Observations.
        rows: u64,
        /// Channels in the file.
        channels: usize,
        /// Those that are taken, element 0 first.
        taken: Vec<usize>,
        /// All channels of a chunk, or one bin of one channel.
        all: Vec<Complex32>,
        /// The next observation of a file in Fortran order.
        next: usize,
    },
    /// Our own shards.
    Parquet(CsiReader),
}

impl ObservationSource {
    /// Opens a file by its ending. `channels` are those to be taken, element 0 first; all of them if left out.
    ///
    /// # Errors
    /// The file cannot be read, is of another kind, or has no such channels.
    pub fn open(path: &Path, channels: Option<&[usize]>) -> Result<Self, ObservationError> {
        let fail = |problem: String| Err(ObservationError::Content { file: path.display().to_string(), problem });
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
        match ending.as_str() {
            "parquet" => {
                if channels.is_some_and(|taken| taken != [0, 1]) {
                    return fail("a Parquet file has the channels 0 and 1 only; leave --channels out".into());
                }
                Ok(Self::Parquet(CsiReader::open(path, CHUNK)?))
            }
            "npy" => {
                let reader = NpyReader::open_any_order(path)?;
                let header = reader.header();
                let (rows, bins, count) = match header.shape[..] {
                    [bins, channels @ 2..=MAX_CHANNELS] => (1, bins, channels),
                    [rows, bins, channels @ 2..=MAX_CHANNELS] => (rows as u64, bins, channels),
                    _ => {
                        return fail(format!(
                            "the shape is {:?}; expected [n, bins, channels] or [bins, channels], with 2 to \
                             {MAX_CHANNELS} channels last",
                            header.shape
                        ));
                    }
                };
                if !header.dtype.is_complex() {
                    let name = header.dtype.name();
                    return fail(format!("the elements are {name}; expected complex64 or complex128"));
                }
                // These bound what one chunk takes whatever the header says.
                if bins > MAX_BINS {
                    return fail(format!("{bins} bins; at most {MAX_BINS} are read"));
                }
                let taken = match channels {
                    Some(taken) => taken.to_vec(),
                    None if count <= MAX_TAKEN => (0..count).collect(),
                    None => {
                        return fail(format!(
                            "there are {count} channels; choose up to {MAX_TAKEN} of them, such as --channels 0,1"
                        ));
                    }
                };
                if let Some(channel) = taken.iter().find(|channel| **channel >= count) {
                    return fail(format!("--channels {channel}: the channels are 0 to {}", count - 1));
                }
                Ok(Self::Npy { reader, bins, rows, channels: count, taken, all: Vec::new(), next: 0 })
            }
            _ => fail("expected a name that ends in .npy or .parquet".into()),
        }
    }

    /// Bins of an observation.
    #[must_use]
    pub fn bins(&self) -> usize {
        match self {
            Self::Npy { bins, .. } => *bins,
            Self::Parquet(reader) => reader.bins(),
        }
    }

    /// Channels of an observation, as taken.
    #[must_use]
    pub fn channels(&self) -> usize {
        match self {
            Self::Npy { taken, .. } => taken.len(),
            Self::Parquet(_) => 2,
        }
    }

    /// How many observations there are.
    #[must_use]
    pub fn rows(&self) -> u64 {
        match self {
            Self::Npy { rows, .. } => *rows,
            Self::Parquet(reader) => reader.rows(),
        }
    }

    /// The next observations, one after the other, all channels of a bin together; none at the end.
    ///
    /// # Errors
    /// The file is damaged or ends too early.
    pub fn next_chunk(&mut self, blocks: &mut Vec<Complex32>) -> Result<(), ObservationError> {
        blocks.clear();
        match self {
            Self::Parquet(reader) => {
                let mut pairs = Vec::new();
                reader.next_batch(&mut pairs)?;
                blocks.extend_from_slice(pairs.as_flattened());
            }
            Self::Npy { reader, bins, rows, channels, taken, all, next } => {
                // Many channels make chunks of fewer observations, not larger ones.
                let most = (2 * CHUNK / *channels).max(1);
                if reader.header().fortran_order {
                    let rows = usize::try_from(*rows).unwrap_or(usize::MAX);
                    let count = most.min(rows - *next);
                    let width = taken.len();
                    blocks.resize(count * *bins * width, Complex32::new(0.0, 0.0));
                    all.resize(count, Complex32::new(0.0, 0.0));
                    // The observations of one bin and channel lie together.
                    for (m, channel) in taken.iter().enumerate().filter(|_| count > 0) {
                        for bin in 0..*bins {
                            reader.go_to((*channel * *bins + bin) * rows + *next)?;
                            reader.read_into(all)?;
                            all.iter().enumerate().for_each(|(n, z)| blocks[(n * *bins + bin) * width + m] = *z);
                        }
                    }
                    *next += count;
                } else {
                    let elements = reader.remaining().min(most * *bins * *channels);
                    all.clear();
                    all.resize(elements, Complex32::new(0.0, 0.0));
                    reader.read_into(all)?;
                    blocks.reserve(elements / *channels * taken.len());
                    for bin in all.chunks_exact(*channels) {
                        blocks.extend(taken.iter().map(|channel| bin[*channel]));
                    }
                }
            }
        }
        Ok(())
    }
}
