//! Where the next component is: the highest residual energy over all delays.
//!
//! The energy is computed at every other grid point, two a resolution cell, and its peaks are then followed between
//! them: the kernels cost a division a point and component, which is much of what the estimator does.

use super::estimate::wrap_steps;
use super::spectrum::Atom;
use super::{MAX_PATHS, Sre, Workspace};

/// At least this part of a peak's energy is seen at the nearest point: a peak is a quarter of a cell from two of them at
/// most, where its energy is `sinc(1/4)^2 = 0.81` of the peak's.
const SCALLOP: f64 = 0.77;

impl Sre {
    /// The highest residual energy over all delays, if it is above the threshold: grid point, offset and energy.
    #[inline(always)]
    pub(super) fn detect(&self, threshold: f64, workspace: &mut Workspace) -> Option<(usize, f64, f64)> {
        self.residual_energy(workspace);
        let Workspace { fit, spectrum, .. } = workspace;
        let bins = self.active.count as f64;
        let points = self.model.grid.len / 2;
        loop {
            let (h, coarse) = highest(&spectrum.energy)?;
            if f64::from(coarse) / bins < SCALLOP * threshold {
                return None;
            }
            let start = 2.0 * parabola(&spectrum.energy, h, points);
            let (t, energy) = fit.peak(&self.model, spectrum, 2 * h, start);
            if energy / bins >= threshold {
                return Some((2 * h, t, energy / bins));
            }
            // The same peak must not be met again through its other points.
            for d in [0, 1, points - 1] {
                spectrum.energy[(h + d) % points] = 0.0;
            }
        }
    }

    /// The highest residual energy on the grid: grid point and energy.
    #[inline(always)]
    pub(super) fn detect_on_grid(&self, workspace: &mut Workspace) -> Option<(usize, f64)> {
        self.residual_energy(workspace);
        let Workspace { fit, spectrum, .. } = workspace;
        let (h, _) = highest(&spectrum.energy)?;
        let len = self.model.grid.len;
        let around = [0, 1, len - 1].map(|d| (2 * h + d) % len);
        let energies = around.map(|q| (q, fit.residual_energy(&self.model, spectrum, q) / self.active.count as f64));
        energies.into_iter().reduce(|best, next| if next.1 > best.1 { next } else { best })
    }

    /// Residual energy at every other grid point, zero where a component already stands.
    #[inline(always)]
    fn residual_energy(&self, workspace: &mut Workspace) {
        let Workspace { fit, spectrum, .. } = workspace;
        let mut atoms = [Atom::default(); MAX_PATHS];
        for (i, atom) in atoms.iter_mut().enumerate().take(fit.count) {
            *atom = fit.atom(i);
        }
        let len = self.model.grid.len;
        for atom in &mut atoms[..fit.count] {
            for m in 0..2 {
                self.model.grid.normalise(&mut atom.delay[m], &mut atom.gain[m]);
            }
        }
        self.model.grid.residual_energy(&atoms[..fit.count], spectrum);
        let reach = self.options.min_separation_cells * self.options.oversampling as f64;
        for atom in &atoms[..fit.count] {
            let middle = atom.delay[0] + 0.5 * wrap_steps(atom.delay[1] - atom.delay[0], len as f64);
            let (from, to) = ((0.5 * (middle - reach)).ceil() as i64, (0.5 * (middle + reach)).floor() as i64);
            for h in from..=to {
                spectrum.energy[h.rem_euclid(len as i64 / 2) as usize] = 0.0;
            }
        }
    }
}

/// The highest value and its place; `None` if none is above zero.
#[inline(always)]
fn highest(energy: &[f32]) -> Option<(usize, f32)> {
    const LANES: usize = 16;
    let mut top = [0.0_f32; LANES];
    for chunk in energy.chunks_exact(LANES) {
        for (t, &e) in top.iter_mut().zip(chunk) {
            *t = if e > *t { e } else { *t };
        }
    }
    let top = top.into_iter().fold(0.0, f32::max);
    if top <= 0.0 {
        return None;
    }
    // Chunk by chunk first: a search for one number does not run in vectors.
    let chunk = energy.chunks(LANES).position(|chunk| chunk.iter().fold(false, |found, &e| found | (e == top)))?;
    let place = energy[chunk * LANES..].iter().position(|&e| e == top)?;
    Some((chunk * LANES + place, top))
}

/// Where the peak of the parabola through a point and its neighbours is, in points from it.
fn parabola(energy: &[f32], h: usize, points: usize) -> f64 {
    let [a, b, c] = [energy[(h + points - 1) % points], energy[h], energy[(h + 1) % points]].map(f64::from);
    let bend = a - 2.0 * b + c;
    if bend < 0.0 { (0.5 * (a - c) / bend).clamp(-0.5, 0.5) } else { 0.0 }
}
