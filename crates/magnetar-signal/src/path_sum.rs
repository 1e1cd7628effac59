//! The sum over paths: `H_m(f_k) = sum gain exp(-j 2 pi f_k tau_m)`.

#![allow(clippy::needless_range_loop, reason = "lanes read best by their indices")]

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
        self.add_up(paths.len(), block);
        block.clear_padding();
    }

    fn add_up(&self, paths: usize, block: &mut Observation) {
        crate::with_avx2!(self.add_up_avx2(paths, block), self.add_up_in_order(paths, block));
    }

    /// [`Self::add_up_in_order`] compiled for wider vectors; the same operations, so the same bits.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn add_up_avx2(&self, paths: usize, block: &mut Observation) {
        self.add_up_in_order(paths, block);
    }

    #[inline(always)]
    fn add_up_in_order(&self, paths: usize, block: &mut Observation) {
        for element in 0..2 {
            let re = block.re[element].as_chunks_mut::<GROUP>().0;
            let im = block.im[element].as_chunks_mut::<GROUP>().0;
            for (group, (re, im)) in re.iter_mut().zip(im).enumerate() {
                let (mut sum_re, mut sum_im) = ([0.0; GROUP], [0.0; GROUP]);
                for (coarse, fine) in self.coarse[group * paths..][..paths].iter().zip(&self.fine) {
                    let ([a, b], fine) = (coarse[element], &fine[element]);
                    for j in 0..GROUP {
                        let (x, y) = (fine.re[j], fine.im[j]);
                        sum_re[j] += a * x - b * y;
                        sum_im[j] += a * y + b * x;
                    }
                }
                *re = sum_re;
                *im = sum_im;
            }
        }
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
