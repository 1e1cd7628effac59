//! Snapshots of files, made ready for the estimator of a radio's receiver.

use std::path::PathBuf;

use anyhow::{Context, ensure};
use magnetar_dataset::ObservationSource;
use magnetar_signal::sre::SreOptions;
use magnetar_signal::{Observation, Radio, Receiver};
use num_complex::Complex32;

use super::receiver::SnapshotArgs;

/// Most snapshots of one TX that are read.
const MAX_SNAPSHOTS: usize = 4096;

/// Prepared snapshots and the receiver that took them.
pub struct Snapshots {
    /// The receiver.
    pub receiver: Receiver,
    /// The snapshots, all channels of bin 0 first.
    pub blocks: Vec<Vec<Complex32>>,
}

impl Snapshots {
    /// Reads all snapshots of files that a radio's receiver took; `options` are the recipe's.
    pub fn read(files: &[PathBuf], args: &SnapshotArgs, radio: &Radio, options: SreOptions) -> anyhow::Result<Self> {
        let (args, subcarriers) = (&args.receiver, &args.subcarriers);
        let mut sources = Vec::new();
        for path in files {
            sources.push((path.display().to_string(), ObservationSource::open(path, args.channels())?));
        }
        let channels = sources.first().map_or(2, |(_, source)| source.channels());
        let bins = subcarriers.file_bins(radio.band());
        for (file, source) in &sources {
            subcarriers.check(source.bins()).with_context(|| file.clone())?;
            ensure!(
                source.bins() == bins,
                "{file}: {} bins; the recipe's band has {bins}. Give a --recipe with the band of the measurement, or \
                 --subcarriers and --subcarrier-khz",
                source.bins()
            );
            ensure!(
                source.channels() == channels,
                "{file}: {} channels, and {channels} in the first file; choose --channels that all files have",
                source.channels()
            );
            ensure!(source.rows() > 0, "{file}: there are no observations in it");
        }
        let spacing_m = radio.config().array.spacing_m;
        let options = subcarriers.options(args.options(options))?;
        let receiver = args.receiver(radio.band(), channels, spacing_m, &options, subcarriers.grid())?;
        let mut blocks = Vec::new();
        let mut chunk = Vec::new();
        for (file, mut source) in sources {
            ensure!(
                source.rows() <= (MAX_SNAPSHOTS - blocks.len()) as u64,
                "{file}: more than {MAX_SNAPSHOTS} snapshots in all; take one transmitter at a time"
            );
            loop {
                source.next_chunk(&mut chunk)?;
                if chunk.is_empty() {
                    break;
                }
                if let Some(grid) = subcarriers.grid() {
                    chunk = grid.spread(&chunk, channels);
                }
                for block in chunk.chunks_mut(radio.band().bins * channels) {
                    receiver.prepare(block).with_context(|| format!("{file}: observation {}", blocks.len()))?;
                    blocks.push(block.to_vec());
                }
            }
        }
        Ok(Self { receiver, blocks })
    }

    /// One of them as pictures and scorers take it: its first two channels.
    pub fn observation(&self, number: usize) -> Option<Observation> {
        let block = self.blocks.get(number)?;
        let pairs: Vec<Complex32> =
            block.chunks_exact(self.receiver.channels()).flat_map(|bin| [bin[0], bin[1]]).collect();
        Some(Observation::from_interleaved(&pairs))
    }
}
