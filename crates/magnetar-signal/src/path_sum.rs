//! The sum over paths: `H_m(f_k) = sum gain exp(-j 2 pi f_k tau_m)`.

use wide::f32x8;

use crate::Observation;
use crate::observation::GROUP;
use crate::phasor::{self, Fine, Pair};
use crate::reduced_path::ReducedPath;

/// Sums reduced paths into a block. Its tables are kept between calls, so that a used one does not allocate.
#[derive(Debug, Clone, Default)]
pub struct PathSum {
    /// Fine phasors of both elements, by path.
    fine: Vec<[Fine; 2]>,
    /// Coarse phasors of both elements with the gain, by group and then path.
    coarse: Vec<[[f32; 2]; 2]>,
}

impl PathSum {
    /// Overwrites `block` with the sum over `paths`, whose phases were reduced for a band of `block.bins()` bins.
    pub fn sum(&mut self, paths: &[ReducedPath], block: &mut Observation) {
        let groups = block.bins().div_ceil(GROUP);
        self.fill_tables(paths, groups);
        let (coarse, fine) = (&self.coarse, &self.fine);
        for element in 0..2 {
            let re = block.re[element].as_chunks_mut::<GROUP>().0;
            let im = block.im[element].as_chunks_mut::<GROUP>().0;
            for (group, (re, im)) in re.iter_mut().zip(im).enumerate() {
                let coarse = &coarse[group * paths.len()..][..paths.len()];
                let mut sum = [f32x8::ZERO; 4];
                for (coarse, fine) in coarse.iter().zip(fine) {
                    let [a, b] = coarse[element].map(f32x8::splat);
                    let fine = &fine[element];
                    for half in 0..2 {
                        let x = lanes(&fine.re, half);
                        let y = lanes(&fine.im, half);
                        sum[half] += a * x - b * y;
                        sum[2 + half] += a * y + b * x;
                    }
                }
                for half in 0..2 {
                    store(re, half, sum[half]);
                    store(im, half, sum[2 + half]);
                }
            }
        }
        block.clear_padding();
    }

    fn fill_tables(&mut self, paths: &[ReducedPath], groups: usize) {
        const EMPTY: Fine = Fine { re: [0.0; GROUP], im: [0.0; GROUP] };
        self.fine.resize(paths.len(), [EMPTY; 2]);
        self.coarse.resize(paths.len() * groups, [[0.0; 2]; 2]);
        for (p, (path, fine)) in paths.iter().zip(&mut self.fine).enumerate() {
            let gain = Pair { re: path.gain_re.map(f64::from).into(), im: path.gain_im.map(f64::from).into() };
            let start = Pair::from_turns(path.start_turns).times(gain);
            let coarse = &mut self.coarse;
            phasor::fill(start, path.step_turns, groups, fine, |group, z| coarse[group * paths.len() + p] = z);
        }
    }
}

/// Eight of a group's sixteen bins.
pub(crate) fn lanes(group: &[f32; GROUP], half: usize) -> f32x8 {
    let group: &[[f32; 8]; 2] = bytemuck::cast_ref(group);
    f32x8::from(group[half])
}

/// Sets eight of a group's sixteen bins.
pub(crate) fn store(group: &mut [f32; GROUP], half: usize, lanes: f32x8) {
    let group: &mut [[f32; 8]; 2] = bytemuck::cast_mut(group);
    group[half] = lanes.to_array();
}
