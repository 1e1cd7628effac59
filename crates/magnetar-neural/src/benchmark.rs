//! The paper's table: what designs reach on rows nobody learned from, on replays, and how long a row takes.

use std::sync::Arc;
use std::time::Instant;

use magnetar_dataset::{Generator, Recipe, Record};
use magnetar_posterior::{BalancedMetrics, DesignMetrics, Scorer, SupportSize, post_index};
use magnetar_study::{Evaluation, ReceiverView, StudyError, evaluate};
use serde::Serialize;

use crate::NeuralError;

/// One line of the table: the models of one design, one per seed, or a scorer that is not trained.
pub struct Contestant {
    /// Its name in the table.
    pub name: String,
    /// One scorer per training seed.
    pub scorers: Vec<Arc<dyn Scorer>>,
    /// Rows that each was shown in training; `None` if it was not trained.
    pub exposures: Option<u64>,
}

/// The rows a table is over.
pub struct Benchmark {
    /// The recipe whose `test` split is scored.
    pub recipe: Arc<Recipe>,
    /// Rows of that split, from the first on.
    pub rows: u64,
    /// The recipe whose splits are replays, and how many rows of each, spread over its protocol.
    pub replay: Option<(Arc<Recipe>, u64)>,
    /// Seed of all rows.
    pub seed: u64,
    /// Rows that are timed, one at a time, on one thread.
    pub timed_rows: u64,
}

/// A number over the seeds of training.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OverSeeds {
    /// Mean.
    pub mean: f64,
    /// Sample deviation; `None` of a single seed.
    pub deviation: Option<f64>,
}

impl OverSeeds {
    fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        Self { mean, deviation: (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt()) }
    }
}

/// The paper's columns.
#[derive(Debug, Clone, Serialize)]
pub struct BenchmarkColumns {
    /// Rows that were scored.
    pub rows: u64,
    /// Joint NLL, nat.
    pub nll: OverSeeds,
    /// Standard error of the NLL of the first seed's model over the rows, nat.
    pub nll_stderr: f64,
    /// HPD gap, percentage points.
    pub hpd_gap_pp: OverSeeds,
    /// V@40 %, %.
    pub v40_percent: OverSeeds,
    /// Joint-MAP XY error, metres.
    pub map_xy_m: OverSeeds,
    /// Joint-MAP heading error, degrees.
    pub map_yaw_deg: OverSeeds,
    /// Joint hits, %.
    pub joint_hit_percent: OverSeeds,
}

impl BenchmarkColumns {
    fn of(metrics: &[BalancedMetrics]) -> Option<Self> {
        let first = metrics.first()?;
        let over = |of: fn(&BalancedMetrics) -> f64| OverSeeds::of(&metrics.iter().map(of).collect::<Vec<_>>());
        Some(Self {
            rows: first.samples,
            nll: over(|m| m.nll),
            nll_stderr: first.nll_stderr,
            hpd_gap_pp: over(|m| m.hpd_gap_pp),
            v40_percent: over(|m| m.v40_percent),
            map_xy_m: over(|m| m.map_xy_m),
            map_yaw_deg: over(|m| m.map_yaw_deg),
            joint_hit_percent: over(|m| m.joint_hit_percent),
        })
    }

    fn ranked(&self) -> DesignMetrics {
        DesignMetrics {
            nll: self.nll.mean,
            map_xy_m: self.map_xy_m.mean,
            map_yaw_deg: self.map_yaw_deg.mean,
            hpd_gap_pp: self.hpd_gap_pp.mean,
            v40_percent: self.v40_percent.mean,
        }
    }
}

/// Columns of all rows, balanced, and of no-board and board rows apart.
#[derive(Debug, Clone, Serialize)]
pub struct ByBoard {
    /// Both, weighed equally.
    pub balanced: BenchmarkColumns,
    /// Rows without a board.
    pub no_board: Option<BenchmarkColumns>,
    /// Rows with one.
    pub board: Option<BenchmarkColumns>,
}

impl ByBoard {
    fn of(evaluations: &[Evaluation]) -> Option<Self> {
        let columns = |of: &dyn Fn(&Evaluation) -> Option<BalancedMetrics>| {
            BenchmarkColumns::of(&evaluations.iter().map(of).collect::<Option<Vec<_>>>()?)
        };
        Some(Self {
            balanced: columns(&|e| e.scores.metrics())?,
            no_board: columns(&|e| e.scores.metrics_by_board(false)),
            board: columns(&|e| e.scores.metrics_by_board(true)),
        })
    }
}

/// What one contestant reached.
#[derive(Debug, Clone, Serialize)]
pub struct BenchmarkLine {
    /// Its name.
    pub name: String,
    /// Hashes of all that decides its scores, seed by seed.
    pub identities: Vec<String>,
    /// Rows that each model was shown in training.
    pub exposures: Option<u64>,
    /// How many seeds were trained.
    pub seeds: usize,
    /// On the `test` split.
    pub sim: ByBoard,
    /// On the replays, which are simulated.
    pub replay: Option<ByBoard>,
    /// Time from a row to its posterior, one row at a time on one thread, milliseconds; deviation over rows and seeds.
    pub time_ms: OverSeeds,
    /// I_post over all contestants on the replays, or without them on the `test` split.
    pub post_index: f64,
}

/// What a benchmark has just done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BenchmarkStep {
    /// So many rows were scored by all contestants.
    Scored(u64),
    /// One row was timed with one scorer.
    Timed,
}

/// Records of a split, each made when it is needed.
fn records(
    generator: &Generator,
    indices: impl Iterator<Item = u64>,
) -> impl Iterator<Item = Result<Record, magnetar_dataset::DatasetError>> {
    let mut rows = generator.rows();
    indices.map(move |index| rows.row(index))
}

impl Benchmark {
    /// Rows that will be scored: of the `test` split, and of the replays.
    ///
    /// # Errors
    /// If the recipe has no `test` split.
    pub fn rows_to_score(&self) -> Result<u64, NeuralError> {
        let replayed: usize = self.replayed().iter().map(|(_, rows)| rows.len()).sum();
        Ok(self.test_rows()? + replayed as u64)
    }

    /// How often a row will be timed, one row and scorer at a time.
    #[must_use]
    pub fn rows_to_time(&self, contestants: &[Contestant]) -> u64 {
        self.timed_rows.max(1) * contestants.iter().map(|contestant| contestant.scorers.len() as u64).sum::<u64>()
    }

    fn test_rows(&self) -> Result<u64, NeuralError> {
        let test = self.recipe.splits.get("test").ok_or_else(|| NeuralError::Request {
            problem: format!(
                "recipe {}: no split test, which the table is over; give a recipe that has one, as paper and field do",
                self.recipe.name
            ),
        })?;
        Ok(test.rows().min(self.rows))
    }

    /// The splits of the replays, and their rows that are scored.
    fn replayed(&self) -> Vec<(&str, Vec<u64>)> {
        let Some((recipe, most)) = &self.replay else { return Vec::new() };
        let spread = |rows: u64| (0..rows).step_by(usize::try_from(rows.div_ceil(*most)).unwrap_or(1).max(1));
        recipe.splits.iter().map(|(name, split)| (name.as_str(), spread(split.rows()).collect())).collect()
    }

    /// Scores everything with every contestant.
    ///
    /// # Errors
    /// If a row cannot be made or scored.
    pub fn run(
        &self,
        contestants: &[Contestant],
        progress: &dyn Fn(BenchmarkStep),
    ) -> Result<Vec<BenchmarkLine>, NeuralError> {
        let scorers: Vec<Arc<dyn Scorer>> = contestants.iter().flat_map(|c| c.scorers.iter().cloned()).collect();
        let scored = |rows| progress(BenchmarkStep::Scored(rows));
        let test = [("test", (0..self.test_rows()?).collect())];
        let sim = self.evaluate(&self.recipe, &test, &scorers, &scored)?;
        let replay = self.replay.as_ref().map(|(recipe, _)| self.evaluate(recipe, &self.replayed(), &scorers, &scored));
        let replay = replay.transpose()?;
        let mut lines = Vec::with_capacity(contestants.len());
        let mut first = 0;
        for contestant in contestants {
            let own = first..first + contestant.scorers.len();
            first = own.end;
            let nothing = || NeuralError::Request { problem: "no row to score".into() };
            lines.push(BenchmarkLine {
                name: contestant.name.clone(),
                identities: contestant.scorers.iter().map(|scorer| scorer.identity()).collect(),
                exposures: contestant.exposures,
                seeds: contestant.scorers.len(),
                sim: ByBoard::of(&sim[own.clone()]).ok_or_else(nothing)?,
                replay: replay.as_ref().map(|all| ByBoard::of(&all[own]).ok_or_else(nothing)).transpose()?,
                time_ms: self.time(&contestant.scorers, progress)?,
                post_index: f64::NAN,
            });
        }
        let ranked: Vec<DesignMetrics> =
            lines.iter().map(|line| line.replay.as_ref().unwrap_or(&line.sim).balanced.ranked()).collect();
        lines.iter_mut().zip(post_index(&ranked)).for_each(|(line, index)| line.post_index = index);
        Ok(lines)
    }

    fn evaluate(
        &self,
        recipe: &Arc<Recipe>,
        splits: &[(&str, Vec<u64>)],
        scorers: &[Arc<dyn Scorer>],
        progress: &dyn Fn(u64),
    ) -> Result<Vec<Evaluation>, NeuralError> {
        let open = |(split, _): &(&str, Vec<u64>)| Generator::new(recipe, self.seed, split);
        let generators = splits.iter().map(open).collect::<Result<Vec<_>, _>>().map_err(StudyError::from)?;
        let all = splits.iter().zip(&generators);
        let all = all.map(|((split, indices), generator)| (*split, records(generator, indices.iter().copied())));
        Ok(evaluate(all, scorers, SupportSize::EVALUATION, progress)?)
    }

    /// Time from a row to its posterior, one row at a time on one thread.
    fn time(&self, scorers: &[Arc<dyn Scorer>], progress: &dyn Fn(BenchmarkStep)) -> Result<OverSeeds, NeuralError> {
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let one = one.map_err(|error| NeuralError::Request { problem: format!("cannot start a thread: {error}") })?;
        let mut times = Vec::new();
        let generator = Generator::new(&self.recipe, self.seed, "test").map_err(StudyError::from)?;
        for record in records(&generator, 0..self.timed_rows.max(1)) {
            let view = ReceiverView::of(&record.map_err(StudyError::from)?);
            let support = view.support(SupportSize::EVALUATION)?;
            for scorer in scorers {
                let begun = Instant::now();
                one.install(|| scorer.score(&[view.on(&support)]))?;
                times.push(1e3 * begun.elapsed().as_secs_f64());
                progress(BenchmarkStep::Timed);
            }
        }
        Ok(OverSeeds::of(&times))
    }
}

#[cfg(test)]
mod tests {
    use magnetar_posterior::UniformScorer;

    use super::*;
    use crate::train::{Preset, Trainer, TrainingPlan, TrainingRows};
    use crate::{Design, LearnedScorer};

    #[test]
    fn lines_hold_every_seed_and_the_uniform_posterior_is_known() {
        let recipe = Arc::new(Recipe::paper());
        let rows = TrainingRows::from_recipe(&recipe, 3, 2).unwrap();
        let trained = |seed: u64| -> Arc<dyn Scorer> {
            let mut plan = TrainingPlan::preset(Preset::Cpu, Design::Sm1, seed);
            plan.exposures = 32;
            plan.stages = vec![7];
            let model = Trainer::new(plan, &rows, None).unwrap().run("", None, &|_| {}).unwrap();
            Arc::new(LearnedScorer::new("sm1", model, None).unwrap())
        };
        let contestants = [
            Contestant { name: "uniform".into(), scorers: vec![Arc::new(UniformScorer)], exposures: None },
            Contestant { name: "sm1".into(), scorers: vec![trained(1), trained(2)], exposures: Some(32) },
        ];
        let replay = Some((Arc::new(Recipe::load("replay", &[]).unwrap()), 6));
        let benchmark = Benchmark { recipe, rows: 8, replay, seed: 77, timed_rows: 2 };
        let (scored, timed) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
        let step = |step| match step {
            BenchmarkStep::Scored(n) => scored.set(scored.get() + n),
            BenchmarkStep::Timed => timed.set(timed.get() + 1),
        };
        let lines = benchmark.run(&contestants, &step).unwrap();
        assert!(scored.get() > 8);
        assert_eq!(scored.get(), benchmark.rows_to_score().unwrap());
        assert_eq!(timed.get(), benchmark.rows_to_time(&contestants));
        let [uniform, sm1] = &lines[..] else { panic!("two lines are expected") };
        // Every candidate of 18 x 33 x 33 is as likely as any other, but for those too near the RX.
        let all = libm::log(18.0 * 33.0 * 33.0);
        let nll = uniform.sim.balanced.nll;
        assert!((nll.mean - all).abs() < 0.1 && nll.deviation.is_none(), "{nll:?} {all}");
        assert_eq!((sm1.seeds, sm1.exposures), (2, Some(32)));
        assert!(sm1.sim.balanced.nll.deviation.unwrap() > 0.0);
        assert_ne!(sm1.identities[0], sm1.identities[1]);
        assert!(sm1.time_ms.mean > 0.0 && lines.iter().all(|line| line.post_index >= 1.0));
        assert!(lines.iter().all(|line| line.replay.as_ref().is_some_and(|replay| replay.no_board.is_some())));
    }
}
