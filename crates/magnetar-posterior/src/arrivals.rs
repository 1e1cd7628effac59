//! What the estimator tells the receiver: ranked arrivals.

/// One retained component.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arrival {
    /// Inter-element phase at band centre (element 1 minus element 0), radians in [-pi, pi).
    pub phase_rad: f64,
    /// RX-local angle of arrival, radians: the principal branch of the phase, 0 at boresight, towards the source.
    pub aoa_rad: f64,
    /// Raw SNR: mean over the channels of per-bin power over noise variance, dB.
    pub raw_snr_db: f64,
    /// Processed SNR (raw plus the recipe's output adjustment), dB.
    pub snr_db: f64,
}

/// The K strongest components, strongest first; fewer when the estimator found fewer.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrivals {
    /// K: how many the estimator was asked to retain.
    pub retained: usize,
    /// Those it found, strongest first; at most `retained`.
    pub found: Vec<Arrival>,
}
