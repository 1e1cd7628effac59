//! What the likelihood is computed with: widths and rates made from the parameters, and the arrivals.

/// Arrivals that the likelihood uses.
pub(crate) const USED: usize = super::MAX_ARRIVALS;

/// Numbers the inner loop needs, made from the parameters once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Widths {
    /// Variance of the RF chain's phase error, rad^2.
    pub(crate) phase_variance: f32,
    /// Multiplies the Cramer-Rao variance of a phase.
    pub(crate) noise_scale2: f32,
    /// SNR variance by class (direct, reflected), dB^2.
    pub(crate) los_variance: f32,
    pub(crate) reflection_variance: f32,
    /// Merging: half point and softness, metres of path difference.
    pub(crate) merge_m: f32,
    pub(crate) merge_softness_m: f32,
    pub(crate) fading: f32,
    pub(crate) rank_variance: f32,
    pub(crate) outlier_first: f32,
    pub(crate) outlier_second: f32,
    /// Half-range of the level prior, dB.
    pub(crate) offset_max: f32,
    /// Variance of the RX heading that was reported, rad^2.
    pub(crate) heading_variance: f32,
    /// Variance of the reported RX position per axis, m^2.
    pub(crate) position_variance: f32,
    /// Variance of a reported surface along its normal, m^2.
    pub(crate) map_variance: f32,
    /// Density of an arrival that no path explains, per radian and dB.
    pub(crate) stray: f32,
    /// Whether paths above the cut that were not retained count against a candidate.
    pub(crate) ranking: bool,
    /// Whether both arrivals have one power offset.
    pub(crate) shared_offset: bool,
}

/// The observation as the inner loop wants it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Observed {
    /// How many arrivals are used, 0 to 2.
    pub(crate) count: usize,
    pub(crate) phase: [f32; USED],
    pub(crate) snr_db: [f32; USED],
    /// Phase variance of each arrival: RF chain and thermal noise, rad^2.
    pub(crate) phase_variance: [f32; USED],
    /// A path that was not retained must be below this, dB.
    pub(crate) cut_db: f32,
}

impl Widths {
    /// Variance to add to a path's where nothing tells the level: that of the level prior.
    #[inline(always)]
    pub(super) fn blind_variance(&self) -> f32 {
        self.rank_variance + self.offset_max * self.offset_max / 3.0
    }
}

/// How likely it is that every arrival is a stray, whatever else is there.
pub(crate) fn stray_likelihood(seen: &Observed, widths: &Widths) -> f32 {
    match seen.count {
        0 => 1e-3,
        1 => widths.outlier_first * widths.stray,
        _ => widths.outlier_first * widths.outlier_second * widths.stray * widths.stray,
    }
}
