//! The uniform-referenced loss over what was picked of an exposure.

use super::ScoredCandidates;
use crate::Engine;

/// `L_U = ln sum exp(logit + ln weight) - sum target logit - ln N_V`: with all candidates picked, the paper's loss; with
/// some, the sum over the others is estimated by those that stand for them.
pub(crate) fn loss<E: Engine>(engine: &E, logits: &E::Tensor, scored: &ScoredCandidates) -> E::Tensor {
    let ScoredCandidates { log_weights, targets, valid, .. } = scored;
    let count = log_weights.len();
    let weights = engine.constant(&[1, count], log_weights.clone());
    let row = engine.reshape(logits, &[1, count]);
    let total = engine.log_sum_exp(&engine.add(&row, &weights));
    let targets = engine.constant(&[1, count], targets.clone());
    let expected = engine.sum_of_columns(&engine.multiply(&row, &targets));
    let reference = engine.constant(&[1], vec![-(libm::log(*valid as f64) as f32)]);
    engine.add(&engine.add(&total, &engine.scale(&expected, -1.0)), &reference)
}
