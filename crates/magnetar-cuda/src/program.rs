//! The embedded kernels.

/// Where the machine code of a kernel comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KernelSource {
    /// The embedded PTX (compute_70), made by the pinned NVRTC: every driver since CUDA 12.0 loads it.
    #[default]
    Embedded,
    /// The embedded source, compiled by the machine's own NVRTC for its GPU. An NVRTC newer than the driver may emit
    /// PTX that the driver rejects.
    Nvrtc,
}

/// One kernel file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Program {
    /// Its name: the file without its ending.
    pub name: &'static str,
    /// Its kernels.
    pub entries: &'static [&'static str],
    /// CUDA C++.
    pub source: &'static str,
    /// PTX for compute_70, made from `source` by `kernels/check.sh`.
    pub ptx: &'static str,
}

impl Program {
    /// Bulk path summation.
    pub const SUM_PATHS: Self = Self {
        name: "sum_paths",
        entries: &["sum_paths"],
        source: include_str!("../../../kernels/sum_paths.cu"),
        ptx: include_str!("../../../kernels/ptx/sum_paths.ptx"),
    };

    /// Candidate scoring.
    pub const SCORE_CANDIDATES: Self = Self {
        name: "score_candidates",
        entries: &["trace_candidates", "score_candidates", "gather_evidence"],
        source: include_str!("../../../kernels/score_candidates.cu"),
        ptx: include_str!("../../../kernels/ptx/score_candidates.ptx"),
    };

    /// All of them.
    pub const ALL: [Self; 2] = [Self::SUM_PATHS, Self::SCORE_CANDIDATES];

    /// The flags NVRTC gets for an architecture such as `compute_70`.
    #[must_use]
    pub fn nvrtc_options(architecture: &str) -> Vec<String> {
        let shared = include_str!("../../../kernels/nvrtc_options").split_whitespace().map(str::to_owned);
        std::iter::once(format!("--gpu-architecture={architecture}")).chain(shared).collect()
    }
}
