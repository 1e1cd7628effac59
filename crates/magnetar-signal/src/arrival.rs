//! What an estimator reports of one observation: ranked arrivals.

/// One estimated arrival.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Arrival {
    /// Mean delay over the elements, the link's unknown timing offset included, seconds.
    pub delay_s: f64,
    /// Inter-element phase at the carrier (element 1 minus element 0), radians in [-pi, pi).
    pub phase_rad: f64,
    /// AoA in the RX's own frame, towards the source, radians: 0 is boresight, positive towards element 1.
    pub aoa_rad: f64,
    /// Raw SNR: power per bin over the noise variance, mean over the elements, dB.
    pub raw_snr_db: f64,
    /// Processed SNR: raw SNR plus the processing gain, dB.
    pub snr_db: f64,
}

/// The K strongest arrivals, strongest first; fewer where the estimator found fewer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Arrivals {
    /// K: how many the estimator was asked to keep (`sre.keep`).
    pub keep: usize,
    /// Those it found, strongest first; at most `keep`.
    pub found: Vec<Arrival>,
}
