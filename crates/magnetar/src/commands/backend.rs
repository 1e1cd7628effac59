//! `--backend`, wherever bulk work is done.

use std::sync::Arc;

use anyhow::Context as _;
use magnetar_cuda::{CudaError, Options};
use magnetar_posterior::{CpuScoring, ScoringBackend};
use magnetar_signal::{Band, SynthesisBackend};

/// What does the bulk work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum BackendChoice {
    /// The CPU: the reference, the same to the bit everywhere.
    Cpu,
    /// The GPU; an error if there is none.
    Cuda,
    /// The GPU if there is one, else the CPU.
    Auto,
}

impl BackendChoice {
    /// What sums the paths over a band; `None` for the CPU.
    pub fn synthesis(self, band: Band) -> anyhow::Result<Option<Arc<dyn SynthesisBackend>>> {
        let opened = self.open(|| magnetar_cuda::open_synthesis(&Options::default(), band))?;
        if let Some(backend) = &opened {
            note!("backend: {}", backend.description());
        }
        Ok(opened.map(Arc::from))
    }

    /// What scores candidates.
    pub fn scoring(self) -> anyhow::Result<Arc<dyn ScoringBackend>> {
        let opened = self.open(|| magnetar_cuda::open_scoring(&Options::default()))?;
        if let Some(backend) = &opened {
            note!("backend: {}", backend.description());
        }
        Ok(opened.map_or_else(|| Arc::new(CpuScoring) as Arc<dyn ScoringBackend>, Arc::from))
    }

    /// Opens the GPU if it was asked for; `None` for the CPU, which `auto` falls back to and says why.
    fn open<T>(self, open: impl FnOnce() -> Result<T, CudaError>) -> anyhow::Result<Option<T>> {
        match self {
            Self::Cpu => Ok(None),
            Self::Cuda => Ok(Some(open().context("--backend cuda (--backend cpu does the same work)")?)),
            Self::Auto => Ok(open().inspect_err(|error| note!("backend: cpu: {error}")).ok()),
        }
    }
}
