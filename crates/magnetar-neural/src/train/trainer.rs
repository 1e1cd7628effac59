//! The run: steps, stages, the choice among them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::Exposure;
use super::adam::{Moments, rate};
use super::checkpoint::{Checkpoint, RunState};
use super::loss::loss;
use super::plan::TrainingPlan;
use super::rows::{TrainingRow, TrainingRows};
use super::tape::Tape;
use super::validation::{calibrate, density_nll};
use crate::model::hash_of;
use crate::record::{MODEL_SCHEMA, ModelRecord, StageRecord, TrainingRecord};
use crate::{Array, Calibration, Model, Net, Network, NeuralError, Parameters};

/// A run is stopped when a step's mean loss is above this, nat: the uniform posterior's is 0.
const DIVERGED: f64 = 50.0;

/// Rows are drawn so many steps ahead.
const STEPS_AHEAD: u64 = 32;

/// Time between checkpoints.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(60);

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainingProgress {
    /// Steps made.
    pub step: u64,
    /// Of how many.
    pub steps: u64,
    /// Loss of the last step, nat.
    pub loss: f64,
    /// Its learning rate.
    pub rate: f64,
    /// Number of the stage, from 0 on.
    pub stage: usize,
}

/// A training run.
pub struct Trainer<'a> {
    plan: TrainingPlan,
    rows: &'a TrainingRows,
    network: Network,
    at: Checkpoint,
    begun: Instant,
}

impl<'a> Trainer<'a> {
    /// A run from its beginning, or from a checkpoint of the same run if there is one.
    ///
    /// # Errors
    /// If the plan makes no run, or the checkpoint is that of another.
    pub fn new(plan: TrainingPlan, rows: &'a TrainingRows, checkpoint: Option<&Path>) -> Result<Self, NeuralError> {
        let keep = rows.recipe().sre.keep;
        plan.check()?;
        let network = Network::new(plan.design, &plan.widths, keep)?;
        let parameters = network.plans().draw(plan.seed);
        let run = run_hash(&plan, rows);
        let kept = checkpoint.map(|path| Checkpoint::read(path, &run, &parameters)).transpose()?.flatten();
        let at = kept.unwrap_or_else(|| {
            let moments = |(name, array): (&String, &Array)| (name.clone(), Moments::zero(array.values().len()));
            let state = RunState { run, step: 0, tail: (0.0, 0), stages: Vec::new(), best_stage: None, seconds: 0.0 };
            Checkpoint { state, moments: parameters.0.iter().map(moments).collect(), parameters, best: None }
        });
        Ok(Self { plan, rows, network, at, begun: Instant::now() })
    }

    /// How many numbers are learned.
    #[must_use]
    pub fn parameter_count(&self) -> usize {
        self.at.parameters.count()
    }

    /// Steps that were made, by this run or the one it goes on from.
    #[must_use]
    pub fn step(&self) -> u64 {
        self.at.state.step
    }

    /// Makes all steps that are left and chooses among the stages. `command` goes into the model's record.
    ///
    /// # Errors
    /// If a row cannot be made, the loss is no number or grows beyond bounds, or a checkpoint cannot be written.
    pub fn run(
        &mut self,
        command: &str,
        checkpoint: Option<&Path>,
        progress: &dyn Fn(&TrainingProgress),
    ) -> Result<Model, NeuralError> {
        self.advance(self.plan.steps(), checkpoint, progress)?;
        self.finish(command)
    }

    /// Makes steps up to `step` only, and keeps the state in a file: a run that is stopped.
    #[cfg(test)]
    pub(crate) fn run_until(&mut self, step: u64, checkpoint: &Path) -> Result<(), NeuralError> {
        self.advance(step, None, &|_| {})?;
        self.write_checkpoint(checkpoint)
    }

    /// Makes steps until there are so many, judging each stage at its end.
    fn advance(
        &mut self,
        until: u64,
        checkpoint: Option<&Path>,
        progress: &dyn Fn(&TrainingProgress),
    ) -> Result<(), NeuralError> {
        let mut saved = Instant::now();
        let mut ahead: (u64, Vec<TrainingRow>) = (0, Vec::new());
        while self.at.state.step < until {
            let made = self.step_once(&mut ahead)?;
            progress(&made);
            let step = self.at.state.step;
            let ended = step == self.plan.steps() || self.plan.stage(step) != made.stage;
            if ended {
                self.end_stage(made.stage)?;
            }
            if let Some(path) = checkpoint.filter(|_| ended || saved.elapsed() > CHECKPOINT_EVERY) {
                self.write_checkpoint(path)?;
                saved = Instant::now();
            }
        }
        Ok(())
    }

    fn write_checkpoint(&mut self, path: &Path) -> Result<(), NeuralError> {
        self.at.state.seconds += self.begun.elapsed().as_secs_f64();
        self.begun = Instant::now();
        self.at.write(path)
    }

    /// One step: a batch of exposures, their mean gradient, Adam. Exposures are computed on all threads and summed in
    /// order.
    fn step_once(&mut self, ahead: &mut (u64, Vec<TrainingRow>)) -> Result<TrainingProgress, NeuralError> {
        let (step, steps, batch) = (self.at.state.step, self.plan.steps(), self.plan.batch);
        let first = step * batch;
        if first + batch > ahead.0 + ahead.1.len() as u64 || first < ahead.0 {
            let end = (first + batch * STEPS_AHEAD).min(steps * batch);
            *ahead = (first, self.rows.take(first..end)?);
        }
        let stage = self.plan.stage(step);
        let cells = self.plan.stages[stage];
        let offset = usize::try_from(first - ahead.0).unwrap_or(0);
        let rows = &ahead.1[offset..offset + usize::try_from(batch).unwrap_or(0)];
        let of = |(n, row): (usize, &TrainingRow)| {
            let exposure = Exposure::draw(&self.plan, self.rows, row, cells, first + n as u64)?;
            gradients(&self.network, &self.at.parameters, &exposure)
        };
        let each = rows.par_iter().enumerate().map(of).collect::<Result<Vec<_>, NeuralError>>()?;
        let mean = each.iter().map(|(loss, _)| f64::from(*loss)).sum::<f64>() / batch as f64;
        self.check_loss(mean, &each)?;
        let rate = rate(step, steps, self.plan.peak_rate);
        for (name, array) in &mut self.at.parameters.0 {
            let mut sum = vec![0f32; array.values().len()];
            for (_, gradients) in &each {
                sum.iter_mut().zip(&gradients[name]).for_each(|(sum, g)| *sum += g);
            }
            sum.iter_mut().for_each(|g| *g /= batch as f32);
            let moments = self.at.moments.get_mut(name).expect("every parameter has moments");
            moments.step(array.values_mut(), &sum, rate, step + 1);
        }
        self.at.state.step += 1;
        let last_of_stage = ((stage as u64 + 1) * steps).div_ceil(self.plan.stages.len() as u64);
        if last_of_stage - step <= (steps / self.plan.stages.len() as u64).div_ceil(10) {
            self.at.state.tail.0 += mean;
            self.at.state.tail.1 += 1;
        }
        Ok(TrainingProgress { step: step + 1, steps, loss: mean, rate, stage })
    }

    /// Early signs of trouble end a run.
    fn check_loss(&self, loss: f64, each: &[(f32, BTreeMap<String, Vec<f32>>)]) -> Result<(), NeuralError> {
        let trouble = |problem: String| {
            Err(NeuralError::Trouble { step: self.at.state.step + 1, steps: self.plan.steps(), problem })
        };
        if !loss.is_finite() || loss > DIVERGED {
            return trouble(format!("the loss is {loss}: it has diverged; give a smaller --rate or a larger --batch"));
        }
        let finite = |values: &Vec<f32>| values.iter().all(|v| v.is_finite());
        for (_, gradients) in each {
            if let Some((name, _)) = gradients.iter().find(|(_, values)| !finite(values)) {
                return trouble(format!("a gradient of {name} is no number; give a smaller --rate"));
            }
        }
        Ok(())
    }

    /// Judges the model at the end of a stage, and keeps it if it is the best so far.
    fn end_stage(&mut self, stage: usize) -> Result<(), NeuralError> {
        let model = self.model(&self.at.parameters, self.record(String::new(), Calibration::NONE))?;
        let density_nll = density_nll(&model, self.rows, self.plan.headings, &self.plan.stages)?;
        let (sum, count) = std::mem::take(&mut self.at.state.tail);
        let loss = sum / count.max(1) as f64;
        let better = self.at.state.stages.iter().all(|other| density_nll < other.density_nll);
        self.at.state.stages.push(StageRecord { cells: self.plan.stages[stage], loss, density_nll });
        if better {
            self.at.state.best_stage = Some(stage);
            self.at.best = Some(self.at.parameters.clone());
        }
        Ok(())
    }

    fn finish(&mut self, command: &str) -> Result<Model, NeuralError> {
        self.at.state.seconds += self.begun.elapsed().as_secs_f64();
        self.begun = Instant::now();
        let best = self.at.best.clone().unwrap_or_else(|| self.at.parameters.clone());
        let plain = self.model(&best, self.record(command.to_owned(), Calibration::NONE))?;
        let calibration = calibrate(&plain, self.rows)?;
        self.model(&best, self.record(command.to_owned(), calibration))
    }

    fn model(&self, parameters: &Parameters<Array>, record: ModelRecord) -> Result<Model, NeuralError> {
        Model::new(record, parameters.clone())
    }

    fn record(&self, command: String, calibration: Calibration) -> ModelRecord {
        let (plan, recipe, state) = (&self.plan, self.rows.recipe(), &self.at.state);
        ModelRecord {
            schema: MODEL_SCHEMA,
            design: plan.design,
            widths: plan.widths.clone(),
            keep: self.network.keep(),
            recipe: recipe.name.clone(),
            recipe_hash: recipe.hash(),
            twin: self.rows.twin().map(|twin| *twin.parameters()).filter(|_| plan.design.uses_twin()),
            calibration,
            training: TrainingRecord {
                command,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                reduced: plan.is_reduced(),
                rows: self.rows.described().to_owned(),
                seed: plan.seed,
                exposures: plan.steps() * plan.batch,
                real: self.rows.real_record(),
                batch: plan.batch,
                peak_rate: plan.peak_rate,
                sampled: plan.sampling.described(),
                truth_inserted: plan.truth_inserted,
                stages: state.stages.clone(),
                chosen_stage: state.best_stage.unwrap_or(0),
                validation_rows: self.rows.validation().len() as u64,
                seconds: state.seconds,
            },
        }
    }
}

/// The loss of an exposure and its gradient by every parameter.
pub(super) fn gradients(
    network: &Network,
    parameters: &Parameters<Array>,
    exposure: &Exposure,
) -> Result<(f32, BTreeMap<String, Vec<f32>>), NeuralError> {
    let tape = Tape::default();
    let tracked = tape.parameters(parameters);
    let Exposure { inputs, scored, .. } = exposure;
    let logits = network.logits(&Net { engine: &tape, parameters: &tracked }, inputs, &scored.picked)?;
    let loss = loss(&tape, &logits, scored);
    Ok(tape.gradients(&loss, &tracked))
}

/// Hash of all that decides a run.
fn run_hash(plan: &TrainingPlan, rows: &TrainingRows) -> String {
    let twin = rows.twin().map(|twin| *twin.parameters());
    let text = format!("training v1 {plan:?} {} {} {twin:?}", rows.described(), rows.recipe().hash());
    hash_of(&[&text])
}
