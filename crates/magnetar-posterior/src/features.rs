//! The candidate feature fields of the paper: a spatial field and a heading query, 12 + 6K channels together.
//!
//! All relative: positions enter as displacements from the RX, angles as differences. The scales are ours.

use std::f64::consts::PI;

use magnetar_scene::Pose;
use magnetar_signal::{Arrival, Arrivals};

use crate::{Layout, Support};

/// Unit of the displacement and spacing channels, metres: about half the nominal room's length.
pub const DISPLACEMENT_SCALE_M: f64 = 5.0;

/// Unit of the SNR channel, dB: processed SNR divided by this is of order one.
pub const SNR_SCALE_DB: f64 = 40.0;

/// Ranges shorter than this are reported as this in the log-range channel, metres.
pub const RANGE_FLOOR_M: f64 = 0.05;

/// The two factored fields. Channel c of the spatial field is `spatial[c H W ..]`; channel c of the heading query is
/// `query[c D H W ..]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// (8 + 4K) x H x W.
    pub spatial: Vec<f32>,
    /// (4 + 2K) x D x H x W.
    pub query: Vec<f32>,
    /// K.
    pub keep: usize,
}

/// 8 + 4K channels of the spatial field.
#[must_use]
pub fn spatial_channels(keep: usize) -> usize {
    8 + 4 * keep
}

/// 2 + 2K channels of the part of the heading query that depends on the heading alone.
#[must_use]
pub fn heading_channels(keep: usize) -> usize {
    2 + 2 * keep
}

/// 4 + 2K channels of the heading query.
#[must_use]
pub fn query_channels(keep: usize) -> usize {
    4 + 2 * keep
}

/// The spatial field alone, (8 + 4K) x H x W, into memory that holds it; of absent arrivals only zeros are written.
///
/// # Panics
/// If the memory is of another length.
pub fn write_spatial(support: &Support, layout: &Layout, rx: &Pose, arrivals: &Arrivals, spatial: &mut [f32]) {
    let size = support.size();
    let plane = size.rows * size.columns;
    let keep = arrivals.keep;
    assert_eq!(spatial.len(), spatial_channels(keep) * plane, "a field of another support");
    let [dx, dy] = support.spacing();
    for (i, y) in support.ys().iter().enumerate() {
        for (j, x) in support.xs().iter().enumerate() {
            let cell = i * size.columns + j;
            let (ex, ey) = (x - rx.position.x, y - rx.position.y);
            let local = libm::atan2(ey, ex) - rx.heading;
            let mut put = |channel: usize, value: f64| spatial[channel * plane + cell] = value as f32;
            put(0, ex / DISPLACEMENT_SCALE_M);
            put(1, ey / DISPLACEMENT_SCALE_M);
            put(2, libm::log((ex * ex + ey * ey).sqrt().max(RANGE_FLOOR_M)));
            put(3, libm::cos(local));
            put(4, libm::sin(local));
            let clear = layout.planar_los([*x, *y], [rx.position.x, rx.position.y]);
            put(5, if clear { 1.0 } else { 0.0 });
            put(6, dx / DISPLACEMENT_SCALE_M);
            put(7, dy / DISPLACEMENT_SCALE_M);
            for (k, arrival) in arrivals.found.iter().take(keep).enumerate() {
                let mismatch = arrival.aoa_rad - local;
                put(8 + 4 * k, arrival.snr_db / SNR_SCALE_DB);
                put(9 + 4 * k, libm::cos(mismatch));
                put(10 + 4 * k, libm::sin(mismatch));
                put(11 + 4 * k, 1.0);
            }
        }
    }
    let found = arrivals.found.len().min(keep);
    spatial[(8 + 4 * found) * plane..].fill(0.0);
}

/// What of the heading query depends on the heading alone, (2 + 2K) x D: cos and sin of the candidate heading against the
/// RX heading and against each arrival's propagation. The two channels left out follow from it and from channels 3 and 4 of
/// the spatial field: with `a` the first angle and `l` the local bearing, `-cos(a - l)` and `-sin(a - l)`.
///
/// # Panics
/// If the memory is of another length.
pub fn write_heading(support: &Support, rx: &Pose, arrivals: &Arrivals, heading: &mut [f32]) {
    let (count, keep) = (support.size().headings, arrivals.keep);
    assert_eq!(heading.len(), heading_channels(keep) * count, "a field of another support");
    heading.fill(0.0);
    for d in 0..count {
        let mut put = |channel: usize, angle: f64| {
            heading[channel * count + d] = libm::cos(angle) as f32;
            heading[(channel + 1) * count + d] = libm::sin(angle) as f32;
        };
        put(0, support.heading(d) - rx.heading);
        for (k, arrival) in arrivals.found.iter().take(keep).enumerate() {
            put(2 + 2 * k, support.heading(d) - against(arrival, rx));
        }
    }
}

/// The direction an arrival travels in, radians: its AoA points towards the source, so the wave goes the other way.
fn against(arrival: &Arrival, rx: &Pose) -> f64 {
    arrival.aoa_rad + rx.heading + PI
}

impl Features {
    /// Builds both fields.
    #[must_use]
    pub fn new(support: &Support, layout: &Layout, rx: &Pose, arrivals: &Arrivals) -> Self {
        let size = support.size();
        let keep = arrivals.keep;
        let mut spatial = vec![0f32; spatial_channels(keep) * size.rows * size.columns];
        write_spatial(support, layout, rx, arrivals, &mut spatial);
        let mut query = vec![0f32; query_channels(keep) * size.len()];
        for (i, y) in support.ys().iter().enumerate() {
            for (j, x) in support.xs().iter().enumerate() {
                let bearing = libm::atan2(y - rx.position.y, x - rx.position.x);
                for d in 0..size.headings {
                    let heading = support.heading(d);
                    let voxel = support.index(d, i, j);
                    let mut put = |channel: usize, angle: f64| {
                        query[channel * size.len() + voxel] = libm::cos(angle) as f32;
                        query[(channel + 1) * size.len() + voxel] = libm::sin(angle) as f32;
                    };
                    put(0, heading - rx.heading);
                    // From the candidate to the RX: the bearing reversed.
                    put(2, heading - (bearing + PI));
                    for (k, arrival) in arrivals.found.iter().take(keep).enumerate() {
                        put(4 + 2 * k, heading - against(arrival, rx));
                    }
                }
            }
        }
        Self { spatial, query, keep }
    }

    /// The dense (12 + 6K) x D x H x W block: the spatial field repeated for every heading, then the query.
    #[must_use]
    pub fn dense(&self, support: &Support) -> Vec<f32> {
        let size = support.size();
        let plane = size.rows * size.columns;
        let mut block = Vec::with_capacity((spatial_channels(self.keep) * size.headings * plane) + self.query.len());
        for channel in self.spatial.chunks_exact(plane) {
            for _ in 0..size.headings {
                block.extend_from_slice(channel);
            }
        }
        block.extend_from_slice(&self.query);
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::small_support;
    use magnetar_signal::Arrival;
    use std::f64::consts::FRAC_PI_2;

    fn features() -> (Support, Features) {
        let support = small_support();
        let layout =
            Layout { room: magnetar_scene::Room::from_bounds([0.0, 4.0, 0.0, 3.0, 0.0, 3.0]).unwrap(), boxes: vec![] };
        // The RX looks along +y from (0.5, 0.5): the candidate (0.5, 2.5) is on boresight, 2 m away.
        let rx = Pose::new(0.5, 0.5, 1.0, FRAC_PI_2);
        let found = vec![Arrival { raw_snr_db: 1.11, snr_db: 20.0, ..Arrival::default() }];
        let f = Features::new(&support, &layout, &rx, &Arrivals { keep: 2, found });
        (support, f)
    }

    #[test]
    fn the_dense_block_has_24_channels_for_two_arrivals() {
        let (support, f) = features();
        assert_eq!(f.dense(&support).len(), 24 * support.size().len());
        assert_eq!(f.spatial.len(), 16 * 12);
        assert_eq!(f.query.len(), 8 * 96);
    }

    #[test]
    fn channels_worked_by_hand() {
        let (support, f) = features();
        let cell = 2 * 4; // row 2 (y = 2.5), column 0 (x = 0.5)
        let spatial = |c: usize| f.spatial[c * 12 + cell];
        let close = |a: f32, b: f64| assert!((f64::from(a) - b).abs() < 1e-6, "{a} {b}");
        close(spatial(0), 0.0);
        close(spatial(1), 2.0 / DISPLACEMENT_SCALE_M);
        close(spatial(2), 2f64.ln());
        close(spatial(3), 1.0);
        close(spatial(4), 0.0);
        close(spatial(5), 1.0);
        close(spatial(6), 1.0 / DISPLACEMENT_SCALE_M);
        close(spatial(8), 0.5);
        close(spatial(9), 1.0);
        close(spatial(10), 0.0);
        close(spatial(11), 1.0);
        // The second arrival is missing: zeros and no validity.
        assert!((12..16).all(|c| spatial(c) == 0.0));
        // Heading bin 6 of 8 looks along -y: towards the RX, along the wave's travel, opposite the RX's heading.
        let n = support.size().len();
        let voxel = support.index(6, 2, 0);
        close(f.query[voxel], -1.0);
        close(f.query[2 * n + voxel], 1.0);
        close(f.query[3 * n + voxel], 0.0);
        close(f.query[4 * n + voxel], 1.0);
        assert_eq!(f.query[6 * n + voxel], 0.0);
    }
}
