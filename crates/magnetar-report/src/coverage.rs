//! What a receiver would hear all over the floor.

use std::time::{Duration, Instant};

use magnetar_scene::{Pose, Scene};
use magnetar_trace::{TraceOptions, Tracer};
use serde::Serialize;

use crate::error::ReportError;
use crate::simulator::LinkSettings;

/// Longest time a map may take: a page should not wait for more.
const DEADLINE: Duration = Duration::from_secs(4);

/// What is heard in a cell: the best path's SNR, dB, and whether the direct path is free.
type Heard = (Option<f32>, bool);

/// Rows of cells by number.
type HeardRows = Vec<(usize, Vec<Heard>)>;

/// The RX carried over the floor at its own height and heading, cell by cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CoverageMap {
    /// Cells along x.
    pub columns: usize,
    /// Cells along y.
    pub rows: usize,
    /// `[xmin, xmax, ymin, ymax]` of the cells, metres.
    pub bounds_m: [f64; 4],
    /// Raw SNR of the best path at each cell's centre, dB, row by row from the lowest y; `None` inside a box or without a
    /// path.
    pub best_snr_db: Vec<Option<f32>>,
    /// Whether the direct path is free.
    pub line_of_sight: Vec<bool>,
}

/// A link whose RX is carried over the floor.
#[derive(Debug, Clone, Copy)]
pub struct CoverageLink<'a> {
    /// The world.
    pub scene: &'a Scene,
    /// The TX.
    pub tx: &'a Pose,
    /// The RX, whose height and heading are kept.
    pub rx: &'a Pose,
    /// TX-power offset, dB.
    pub tx_power_offset_db: f64,
    /// Which paths are looked for.
    pub propagation: TraceOptions,
}

impl CoverageMap {
    /// Traces the link to the centre of every cell of a `columns` x `rows` grid over the room, on all processors.
    ///
    /// # Errors
    /// If the scene makes no sense, the TX or the RX's height is outside the room, or it takes too long.
    pub fn new(
        link: &CoverageLink<'_>,
        settings: &LinkSettings,
        [columns, rows]: [usize; 2],
    ) -> Result<Self, ReportError> {
        let radio = &settings.radio;
        let world = link.scene.resolve(&settings.materials, radio.band().carrier_hz)?;
        let tracer = Tracer::new(world.room, &world.surfaces, &world.boxes, radio.band().carrier_hz)?
            .with_options(link.propagation)?;
        tracer.check_device(magnetar_trace::Device::Tx, &link.tx.position)?;
        let [x0, x1, y0, y1, ..] = world.room.bounds();
        let place = |n: usize| {
            let (i, j) = (n / columns, n % columns);
            let x = x0 + (j as f64 + 0.5) / columns as f64 * (x1 - x0);
            let y = y0 + (i as f64 + 0.5) / rows as f64 * (y1 - y0);
            Pose::new(x, y, link.rx.position.z, link.rx.heading)
        };
        let scale = radio.amplitude_scale(link.tx_power_offset_db);
        let end = Instant::now() + DEADLINE;
        let row = |i: usize| -> Option<Vec<Heard>> {
            let mut paths = Vec::new();
            let mut heard = Vec::with_capacity(columns);
            for n in i * columns..(i + 1) * columns {
                if Instant::now() > end {
                    return None;
                }
                let rx = place(n);
                // Inside a box nothing is heard.
                if tracer.trace_into(&link.tx.position, &rx.position, &mut paths).is_err() {
                    heard.push((None, false));
                    continue;
                }
                let at = radio.link(*link.tx, rx);
                let power = |path| {
                    let gain = at.element_path(path).gain;
                    gain.iter().map(num_complex::Complex64::norm_sqr).sum::<f64>() / gain.len() as f64
                };
                let best = paths.iter().map(power).fold(0.0, f64::max) * scale * scale;
                let direct = paths.iter().any(|path| path.interactions().is_empty());
                heard.push(((best > 0.0).then(|| 10.0 * best.log10() as f32), direct));
            }
            Some(heard)
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, 8);
        let shares: Vec<Option<HeardRows>> = std::thread::scope(|scope| {
            let row = &row;
            let spawn = |t: usize| {
                scope.spawn(move || (t..rows).step_by(threads).map(|i| Some((i, row(i)?))).collect::<Option<Vec<_>>>())
            };
            let started: Vec<_> = (0..threads).map(spawn).collect();
            started.into_iter().map(|thread| thread.join().ok().flatten()).collect()
        });
        let mut all: HeardRows = Vec::with_capacity(rows);
        for share in shares {
            all.extend(share.ok_or_else(|| {
                ReportError::State("the coverage map takes too long; choose a lower order or fewer boxes".into())
            })?);
        }
        all.sort_by_key(|(i, _)| *i);
        let (best_snr_db, line_of_sight) = all.into_iter().flat_map(|(_, heard)| heard).unzip();
        Ok(Self { columns, rows, bounds_m: [x0, x1, y0, y1], best_snr_db, line_of_sight })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Simulator;

    #[test]
    fn every_cell_hears_what_the_link_there_hears() {
        let settings = LinkSettings::shipped().unwrap();
        let scene = Scene::load("lab_middle").unwrap();
        let (tx, rx) = (Pose::new(0.98, 2.28, 1.08, -1.6), Pose::new(1.0, -1.0, 1.08, 1.4));
        for propagation in [TraceOptions::default(), TraceOptions { max_order: 2, transmission: true }] {
            let link = CoverageLink { scene: &scene, tx: &tx, rx: &rx, tx_power_offset_db: 1.5, propagation };
            let map = CoverageMap::new(&link, &settings, [7, 9]).unwrap();
            let mut simulator = Simulator::new(LinkSettings { propagation, ..settings.clone() }).unwrap();
            let [x0, x1, y0, y1] = map.bounds_m;
            let mut seen = [0, 0];
            for n in 0..63 {
                let x = x0 + ((n % 7) as f64 + 0.5) / 7.0 * (x1 - x0);
                let y = y0 + ((n / 7) as f64 + 0.5) / 9.0 * (y1 - y0);
                let here = Pose::new(x, y, 1.08, 1.4);
                let Ok(paths) = simulator.paths(&scene, &tx, &here, 1.5) else {
                    assert_eq!(map.best_snr_db[n], None);
                    continue;
                };
                let best = paths.iter().map(|p| p.raw_snr_db).fold(f64::NEG_INFINITY, f64::max);
                assert!((f64::from(map.best_snr_db[n].unwrap()) - best).abs() < 1e-4);
                let direct = paths.iter().any(|p| p.path.interactions().to_string() == "LOS");
                assert_eq!(map.line_of_sight[n], direct);
                seen[usize::from(direct)] += 1;
            }
            assert!(seen.iter().all(|count| *count > 3), "{seen:?}");
        }
    }

    #[test]
    fn a_transmitter_outside_is_an_error() {
        let settings = LinkSettings::shipped().unwrap();
        let scene = Scene::load("lab").unwrap();
        let (tx, rx) = (Pose::new(99.0, 0.0, 1.0, 0.0), Pose::new(1.0, -1.0, 1.08, 1.4));
        let propagation = TraceOptions::default();
        let link = CoverageLink { scene: &scene, tx: &tx, rx: &rx, tx_power_offset_db: 0.0, propagation };
        assert!(CoverageMap::new(&link, &settings, [10, 10]).is_err());
    }
}
