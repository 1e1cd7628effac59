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

/// One kernel: a file of `kernels/` with an entry point of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// CUDA C++.
    pub source: &'static str,
    /// PTX for compute_70, made from `source` by `kernels/check.sh`.
    pub ptx: &'static str,
}

/// A kernel's file and its PTX.
macro_rules! program {
    ($name:literal) => {
        Program {
            name: $name,
            source: include_str!(concat!("../kernels/", $name, ".cu")),
            ptx: include_str!(concat!("../kernels/ptx/", $name, ".ptx")),
        }
    };
}

impl Program {
    /// Bulk path summation.
    pub const SUM_PATHS: Self = program!("sum_paths");
    /// The first step of candidate scoring: the paths of every position.
    pub const TRACE_CANDIDATES: Self = program!("trace_candidates");
    /// The second: the likelihood of every position and heading.
    pub const SCORE_CANDIDATES: Self = program!("score_candidates");
    /// The third: the evidence of every candidate.
    pub const GATHER_EVIDENCE: Self = program!("gather_evidence");

    /// All of them.
    pub const ALL: [Self; 4] = [Self::SUM_PATHS, Self::TRACE_CANDIDATES, Self::SCORE_CANDIDATES, Self::GATHER_EVIDENCE];

    /// What the sources include, by name.
    pub const HEADERS: [(&'static str, &'static str); 2] = [
        ("candidate.cuh", include_str!("../kernels/candidate.cuh")),
        ("geometry.cuh", include_str!("../kernels/geometry.cuh")),
    ];

    /// The flags NVRTC gets for an architecture such as `compute_70`.
    #[must_use]
    pub fn nvrtc_options(architecture: &str) -> Vec<String> {
        let shared = include_str!("../kernels/nvrtc_options").split_whitespace().map(str::to_owned);
        std::iter::once(format!("--gpu-architecture={architecture}")).chain(shared).collect()
    }
}
