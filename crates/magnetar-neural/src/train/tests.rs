//! Laws of training: engines agree, gradients are slopes, runs repeat, losses fall.

use std::collections::BTreeMap;
use std::sync::Arc;

use magnetar_dataset::Recipe;
use magnetar_posterior::{Mask, TwinFile, TwinScorer, uniform_referenced_loss};
use magnetar_study::twin_model;

use super::adam::Moments;
use super::loss::loss;
use super::trainer::gradients;
use super::*;
use crate::{Array, Design, Engine, Net, Network, Parameters, PlainEngine, Widths};

fn small(design: Design) -> TrainingPlan {
    TrainingPlan {
        widths: Widths { hidden: vec![16], attention: 8, levels: vec![8, 12], blocks: 1 },
        exposures: 64,
        batch: 4,
        peak_rate: 1e-2,
        headings: 6,
        stages: vec![7, 9],
        validation_rows: 2,
        ..TrainingPlan::preset(Preset::Cpu, design, 3)
    }
}

fn rows(design: Design) -> TrainingRows {
    let recipe = Arc::new(Recipe::paper());
    let rows = TrainingRows::from_recipe(&recipe, 3, 2).unwrap();
    if !design.uses_twin() {
        return rows;
    }
    let model = twin_model(&recipe).unwrap();
    rows.with_twin(TwinScorer::new(model, TwinFile::shipped().unwrap().parameters).unwrap())
}

/// An exposure and weights that are silent nowhere.
fn prepared(design: Design, sampling: Option<Sampling>) -> (Network, Parameters<Array>, Exposure) {
    let mut plan = small(design);
    plan.sampling = sampling.unwrap_or(plan.sampling);
    let rows = rows(design);
    let row = rows.take(0..1).unwrap().remove(0);
    let exposure = Exposure::draw(&plan, &rows, &row, 7, 0).unwrap();
    let network = Network::new(design, &plan.widths, 2).unwrap();
    let mut parameters = network.plans().draw(5);
    for (n, value) in parameters.0.values_mut().flat_map(|array| array.values_mut()).enumerate() {
        *value += 0.05 * libm::sinf(n as f32);
    }
    (network, parameters, exposure)
}

fn plain_loss(network: &Network, parameters: &Parameters<Array>, exposure: &Exposure) -> f32 {
    let net = Net { engine: &PlainEngine, parameters };
    let logits = network.logits(&net, &exposure.inputs, &exposure.scored.picked).unwrap();
    loss(&PlainEngine, &logits, &exposure.scored).values()[0]
}

#[test]
fn both_engines_give_the_same_loss_for_every_design() {
    for design in Design::ALL {
        let (network, parameters, exposure) = prepared(design, None);
        let (taped, _) = gradients(&network, &parameters, &exposure).unwrap();
        assert_eq!(taped, plain_loss(&network, &parameters, &exposure), "{design}");
    }
}

#[test]
fn gradients_are_slopes_for_every_design() {
    for design in Design::ALL {
        let (network, parameters, exposure) = prepared(design, None);
        let (_, gradients) = gradients(&network, &parameters, &exposure).unwrap();
        // Along each parameter array's own gradient: the slope is the gradient's length.
        for (name, gradient) in &gradients {
            let length = gradient.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
            if length < 1e-3 {
                continue;
            }
            let step = 2e-3 / length.max(0.2);
            let moved = |sign: f64| {
                let mut parameters = parameters.clone();
                let values = parameters.0.get_mut(name).unwrap().values_mut();
                let along = |g: &f32| (sign * step * f64::from(*g) / length) as f32;
                values.iter_mut().zip(gradient).for_each(|(v, g)| *v += along(g));
                f64::from(plain_loss(&network, &parameters, &exposure))
            };
            let slope = (moved(1.0) - moved(-1.0)) / (2.0 * step);
            assert!((slope - length).abs() < 0.02 * length + 2e-3, "{design} {name}: slope {slope}, gradient {length}");
        }
        assert!(gradients.values().flatten().any(|g| g.abs() > 1e-3), "{design} has no gradient");
    }
}

#[test]
fn the_loss_over_all_candidates_is_the_papers() {
    let (network, parameters, exposure) = prepared(Design::Np1, Some(Sampling::All));
    let net = Net { engine: &PlainEngine, parameters: &parameters };
    let logits = network.logits(&net, &exposure.inputs, &exposure.scored.picked).unwrap();
    let scores: Vec<f64> = logits.values().iter().map(|v| f64::from(*v)).collect();
    let mask: Mask = rows(Design::Np1)
        .take(0..1)
        .unwrap()
        .remove(0)
        .view
        .support(exposure.inputs.size())
        .unwrap()
        .mask(&magnetar_scene::Pose::new(1e3, 1e3, 0.0, 0.0));
    assert_eq!(mask.count(), exposure.scored.valid);
    let exact = uniform_referenced_loss(exposure.inputs.size(), &mask, &scores, &exposure.target).unwrap();
    let mine = f64::from(loss(&PlainEngine, &logits, &exposure.scored).values()[0]);
    assert!((mine - exact).abs() < 1e-5, "{mine} {exact}");
    let flat = PlainEngine.constant(&[scores.len()], vec![3.0; scores.len()]);
    assert!(loss(&PlainEngine, &flat, &exposure.scored).values()[0].abs() < 1e-5);
}

#[test]
fn a_sampled_log_sum_is_right_on_average() {
    let design = Design::Np1;
    let rows = rows(design);
    let row = rows.take(0..1).unwrap().remove(0);
    let (network, parameters, _) = prepared(design, None);
    let mean = |sampling: Sampling, count: u64| {
        let mut plan = TrainingPlan { sampling, truth_inserted: false, ..small(design) };
        let total = |number: u64, plan: &mut TrainingPlan| {
            let exposure = Exposure::draw(plan, &rows, &row, 7, number).unwrap();
            f64::from(plain_loss(&network, &parameters, &exposure))
        };
        (0..count).map(|number| total(number, &mut plan)).sum::<f64>() / count as f64
    };
    let whole = mean(Sampling::All, 1);
    for sampling in [Sampling::Candidates(60), Sampling::Headings(2)] {
        let sampled = mean(sampling, 200);
        assert!((sampled - whole).abs() < 0.03, "{sampling:?}: {sampled} {whole}");
    }
}

#[test]
fn a_run_repeats_on_any_number_of_threads_and_after_a_stop() {
    for design in [Design::Np1, Design::Np4, Design::Sa3] {
        let rows = rows(design);
        let trained = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Trainer::new(small(design), &rows, None).unwrap().run("", None, &|_| {}).unwrap())
        };
        let (one, three) = (trained(1), trained(3));
        assert_eq!(one.identity(), three.identity(), "{design}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint");
        for step in [3, 8, 13] {
            Trainer::new(small(design), &rows, Some(&path)).unwrap().run_until(step, &path).unwrap();
        }
        let mut resumed = Trainer::new(small(design), &rows, Some(&path)).unwrap();
        assert_eq!(resumed.step(), 13);
        let resumed = resumed.run("", Some(&path), &|_| {}).unwrap();
        assert_eq!(resumed.identity(), one.identity(), "{design}");
        let stages = |model: &crate::Model| model.record().training.stages.clone();
        assert_eq!(stages(&resumed), stages(&one));
        let other = TrainingPlan { seed: 4, ..small(design) };
        let error = Trainer::new(other, &rows, Some(&path)).err().unwrap().to_string();
        assert!(error.contains("another plan"), "{error}");
        std::fs::write(&path, b"nonsense").unwrap();
        assert!(Trainer::new(small(design), &rows, Some(&path)).is_err());
    }
}

#[test]
fn every_design_learns_to_tell_the_truth_of_a_row() {
    for design in Design::ALL {
        let (network, mut parameters, exposure) = prepared(design, Some(Sampling::All));
        let zero = |(name, array): (&String, &Array)| (name.clone(), Moments::zero(array.values().len()));
        let mut moments: BTreeMap<String, Moments> = parameters.0.iter().map(zero).collect();
        let first = plain_loss(&network, &parameters, &exposure);
        for step in 1..=120 {
            let (_, gradients) = gradients(&network, &parameters, &exposure).unwrap();
            for (name, array) in &mut parameters.0 {
                moments.get_mut(name).unwrap().step(array.values_mut(), &gradients[name], 1e-2, step);
            }
        }
        // Whatever is the same for all candidates has a loss of 0.
        let last = plain_loss(&network, &parameters, &exposure);
        println!("{design}: {first:.3}, then {last:.3} nat");
        assert!(last < -1.0 && last < first - 0.3, "{design}: {first}, then {last}");
    }
}

#[test]
fn what_the_twin_made_of_a_row_is_kept_and_changes_nothing() {
    let design = Design::Np6;
    let trained = |kept: bool| {
        let rows = rows(design).limited_to(Some(5));
        // Without a number of distinct rows nothing is kept, though the rows are the same.
        let plan = TrainingPlan { exposures: 32, distinct_rows: kept.then_some(5), stages: vec![7], ..small(design) };
        Trainer::new(plan, &rows, None).unwrap().run("", None, &|_| {}).unwrap().identity()
    };
    assert_eq!(trained(true), trained(false));
}

#[test]
fn np6_begins_as_its_twin() {
    let (network, _, exposure) = prepared(Design::Np6, None);
    let parameters = network.plans().draw(5);
    let net = Net { engine: &PlainEngine, parameters: &parameters };
    let logits = network.logits(&net, &exposure.inputs, &exposure.scored.picked).unwrap();
    let log_twin = exposure.inputs.log_twin.as_ref().unwrap();
    let picked = exposure.scored.picked.candidates(exposure.inputs.size());
    assert!(logits.values().iter().zip(&picked).all(|(logit, n)| *logit == log_twin[*n]));
}

#[test]
fn a_run_that_diverges_is_stopped_with_advice() {
    let design = Design::Np1;
    let rows = rows(design);
    let plan = TrainingPlan { peak_rate: 1.0, exposures: 4000, batch: 1, ..small(design) };
    let outcome = Trainer::new(plan, &rows, None).unwrap().run("", None, &|_| {});
    let error = outcome.err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("--rate"), "{error}");
}

#[test]
fn plans_that_make_no_run_are_refused() {
    let refused = |plan: TrainingPlan| plan.check().unwrap_err().to_string();
    let plan = || small(Design::Np5);
    assert!(refused(TrainingPlan { batch: 0, ..plan() }).contains("--batch"));
    assert!(refused(TrainingPlan { exposures: 3, ..plan() }).contains("--exposures"));
    assert!(refused(TrainingPlan { stages: vec![], ..plan() }).contains("--stages"));
    assert!(refused(TrainingPlan { peak_rate: f64::NAN, ..plan() }).contains("--rate"));
    assert!(refused(TrainingPlan { sampling: Sampling::Candidates(9), ..plan() }).contains("whole headings"));
    assert!(refused(TrainingPlan { sampling: Sampling::Headings(0), ..plan() }).contains("truth"));
    assert!(refused(TrainingPlan { sampling: Sampling::Headings(2), ..small(Design::Np3) }).contains("all headings"));
}
