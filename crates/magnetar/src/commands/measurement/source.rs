//! Files of observations: npy, or Parquet with a column `csi`.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{bail, ensure};
use magnetar_dataset::CsiReader;
use magnetar_files::npy::NpyReader;
use magnetar_signal::Band;
use num_complex::Complex32;

/// Observations read at a time.
pub const CHUNK: usize = 2048;

/// Most bins a band may have.
const MAX_BINS: usize = Band::BINS.max;
/// Most channels of a file.
const MAX_CHANNELS: usize = 64;

/// Where observations come from.
pub enum ObservationSource {
    /// Complex numbers `[n, bins, channels]`, of which two channels are taken.
    Npy {
        /// The file.
        reader: NpyReader<BufReader<File>>,
        /// Bins of an observation.
        bins: usize,
        /// Observations.
        rows: u64,
        /// Channels in the file.
        channels: usize,
        /// The two that are taken, element 0 first.
        taken: [usize; 2],
        /// All channels of a chunk, or one bin of one channel.
        all: Vec<Complex32>,
        /// The next observation of a file in Fortran order.
        next: usize,
    },
    /// Our own shards.
    Parquet(CsiReader),
}

impl ObservationSource {
    /// Opens a file by its ending. `channels` are the two to be taken of a file with more.
    pub fn open(path: &Path, channels: Option<[usize; 2]>) -> anyhow::Result<Self> {
        let file = path.display();
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
        match ending.as_str() {
            "parquet" => {
                let swapped = channels.is_some_and(|taken| taken != [0, 1]);
                ensure!(!swapped, "{file}: a Parquet file has the channels 0 and 1 only; leave --channels out");
                Ok(Self::Parquet(CsiReader::open(path, CHUNK)?))
            }
            "npy" => {
                let reader = NpyReader::open_any_order(path)?;
                let header = reader.header();
                let (rows, bins, count) = match header.shape[..] {
                    [bins, channels @ 2..=MAX_CHANNELS] => (1, bins, channels),
                    [rows, bins, channels @ 2..=MAX_CHANNELS] => (rows as u64, bins, channels),
                    _ => bail!(
                        "{file}: the shape is {:?}; expected [n, bins, channels] or [bins, channels], with 2 to \
                         {MAX_CHANNELS} channels last",
                        header.shape
                    ),
                };
                ensure!(
                    header.dtype.is_complex(),
                    "{file}: the elements are {}; expected complex64 or complex128",
                    header.dtype.name()
                );
                // These bound what one chunk takes whatever the header says.
                ensure!(bins <= MAX_BINS, "{file}: {bins} bins; at most {MAX_BINS} are read");
                let taken = match channels {
                    Some(taken) => taken,
                    None if count == 2 => [0, 1],
                    None => bail!("{file}: there are {count} channels; choose two of them, such as --channels 0,1"),
                };
                ensure!(
                    taken.iter().all(|channel| *channel < count),
                    "{file}: --channels {},{}: the channels are 0 to {}",
                    taken[0],
                    taken[1],
                    count - 1
                );
                Ok(Self::Npy { reader, bins, rows, channels: count, taken, all: Vec::new(), next: 0 })
            }
            _ => bail!("{file}: expected a name that ends in .npy or .parquet"),
        }
    }

    /// Bins of an observation.
    pub fn bins(&self) -> usize {
        match self {
            Self::Npy { bins, .. } => *bins,
            Self::Parquet(reader) => reader.bins(),
        }
    }

    /// How many observations there are.
    pub fn rows(&self) -> u64 {
        match self {
            Self::Npy { rows, .. } => *rows,
            Self::Parquet(reader) => reader.rows(),
        }
    }

    /// The next observations, one after the other; none at the end.
    pub fn next_chunk(&mut self, blocks: &mut Vec<[Complex32; 2]>) -> anyhow::Result<()> {
        match self {
            Self::Parquet(reader) => {
                reader.next_batch(blocks)?;
            }
            Self::Npy { reader, bins, rows, channels, taken, all, next } => {
                blocks.clear();
                if reader.header().fortran_order {
                    let rows = usize::try_from(*rows)?;
                    let count = CHUNK.min(rows - *next);
                    blocks.resize(count * *bins, [Complex32::new(0.0, 0.0); 2]);
                    all.resize(count, Complex32::new(0.0, 0.0));
                    // The observations of one bin and channel lie together.
                    for (m, channel) in taken.iter().enumerate().filter(|_| count > 0) {
                        for bin in 0..*bins {
                            reader.go_to((*channel * *bins + bin) * rows + *next)?;
                            reader.read_into(all)?;
                            all.iter().enumerate().for_each(|(n, z)| blocks[n * *bins + bin][m] = *z);
                        }
                    }
                    *next += count;
                } else {
                    // Many channels make chunks of fewer observations, not larger ones.
                    let most = (2 * CHUNK / *channels).max(1) * *bins * *channels;
                    let elements = reader.remaining().min(most);
                    all.clear();
                    all.resize(elements, Complex32::new(0.0, 0.0));
                    reader.read_into(all)?;
                    blocks.extend(all.chunks_exact(*channels).map(|bin| taken.map(|channel| bin[channel])));
                }
            }
        }
        Ok(())
    }
}
