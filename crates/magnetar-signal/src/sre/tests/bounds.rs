//! The step under its bounds is the best of all steps that keep them.

use num_complex::Complex;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::sre;
use crate::sre::fit::ComponentFit;
use crate::sre::linear::at;
use crate::sre::{MAX_PATHS, SreOptions};

/// Moves of all delays, channel by channel.
type Moves = [[f64; MAX_PATHS]; 2];

fn step(fit: &ComponentFit) -> Moves {
    [0, 1].map(|m| fit.step.map(|x| x.to_array()[m]))
}

/// `x^T H x`, both channels: the factor holds the reciprocals on its diagonal.
fn curvature(fit: &ComponentFit, x: &Moves) -> f64 {
    let mut sum = 0.0;
    for (m, x) in x.iter().enumerate() {
        for j in 0..fit.count {
            let entry = |i: usize| fit.information[at(i, j)].to_array()[m];
            let below: f64 = (j + 1..fit.count).map(|i| entry(i) * x[i]).sum();
            sum += (x[j] / entry(j) + below).powi(2);
        }
    }
    sum
}

#[test]
fn no_step_within_the_bounds_promises_more() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let mut bounded = sre(SreOptions::default());
    bounded.model.max_step = 1e9;
    let mut free = sre(SreOptions::default());
    (free.model.max_step, free.model.max_difference, free.model.min_separation) = (1e9, 1e9, -1e9);
    let (limit, apart) = (bounded.model.max_difference, bounded.model.min_separation);
    let mut workspace = bounded.workspace();
    let mut bent = 0;
    for trial in 0..300 {
        // Noise with a few components too close to each other: their free steps pass many bounds.
        let count = 2 + trial % 5;
        let mut uniform = |low: f64, high: f64| low + (high - low) * rng.random::<f64>();
        let block: Vec<[Complex<f32>; 2]> = (0..512)
            .map(|k| {
                let turn = Complex::from_polar(3.0, -0.31 * k as f32);
                [0, 1].map(|_| turn + Complex::new(uniform(-1.0, 1.0) as f32, uniform(-1.0, 1.0) as f32))
            })
            .collect();
        bounded.model.grid.transform(&block, &mut workspace.spectrum);
        let fit = &mut workspace.fit;
        fit.clear();
        for i in 0..count {
            fit.push(&bounded.model, &workspace.spectrum, 100 + 3 * i, uniform(-0.4, 0.4));
        }
        assert!(fit.evaluate(&bounded.model));

        let most = fit.direction(&free.model);
        let wanted = step(fit);
        let promise = fit.direction(&bounded.model);
        let best = step(fit);
        let promise_of = |x: &Moves| {
            let mut off = *x;
            for (off, wanted) in off.iter_mut().flatten().zip(wanted.iter().flatten()) {
                *off -= wanted;
            }
            most - curvature(fit, &off)
        };
        let delays: Vec<[f64; 2]> = (0..count).map(|i| [fit.delay(i, 0), fit.delay(i, 1)]).collect();
        let keeps = |x: &Moves, slack: f64| {
            let at = |i: usize, m: usize| delays[i][m] + x[m][i];
            (0..count).all(|i| {
                (at(i, 1) - at(i, 0)).abs() <= limit + slack
                    && (0..i).all(|j| {
                        [0, 1].iter().all(|&m| {
                            let side = (delays[i][m] - delays[j][m]).signum();
                            side * (at(i, m) - at(j, m)) >= apart - slack
                        })
                    })
            })
        };
        assert!(keeps(&best, 1e-9), "trial {trial}: {best:?}");
        let scale = 1e-9 * most.abs().max(1.0);
        assert!((promise_of(&best) - promise).abs() < 1e3 * scale, "trial {trial}: {promise} is not what it brings");
        assert!(promise >= -scale && promise <= most + scale, "trial {trial}: {promise} of {most}");
        bent += usize::from(promise < most - scale);
        // Steps from the best one towards random ones, as far as the bounds allow.
        for _ in 0..40 {
            let mut other = best;
            for x in other.iter_mut().flat_map(|moves| &mut moves[..count]) {
                *x += uniform(-1.0, 1.0) * 10f64.powf(uniform(-4.0, 0.0));
            }
            if keeps(&other, 0.0) {
                assert!(promise_of(&other) <= promise + scale, "trial {trial}: {other:?} promises more than {promise}");
            }
        }
    }
    assert!(bent > 200, "only {bent} steps met a bound");
}
