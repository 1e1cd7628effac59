//! Evaluations as JSON: what `evaluate --json` prints and what the Python package gives.

use magnetar_posterior::{BalancedScores, REPLAY_LEVELS};
use serde_json::{Map, Value, json};

use crate::{Evaluation, post_indices};

/// The balanced metrics of all rows, of those without and with a board, and of a replay's groups; `None` without rows.
#[must_use]
pub fn scores_json(scores: &BalancedScores) -> Option<Value> {
    let mut all = json!(scores.metrics()?);
    for (key, board) in [("no_board", false), ("board", true)] {
        all[key] = json!(scores.metrics_by_board(board));
    }
    for (name, level) in REPLAY_LEVELS {
        let groups = scores.groups(level);
        if !groups.is_empty() {
            let of = |group: &&str| ((*group).to_owned(), json!(scores.metrics_by_group(level, group)));
            all[name] = Value::Object(groups.iter().map(of).collect());
        }
    }
    Some(all)
}

/// Every scorer's metrics, what it was given, I_post, and its differences from the first; `None` without rows.
#[must_use]
pub fn evaluation_json(evaluations: &[Evaluation]) -> Option<Map<String, Value>> {
    let indices = post_indices(evaluations)?;
    let mut out = Map::new();
    for (n, (evaluation, index)) in evaluations.iter().zip(&indices).enumerate() {
        let mut of_scorer = scores_json(&evaluation.scores)?;
        of_scorer["scorer"] = json!({
            "identity": evaluation.identity,
            "device": evaluation.device,
            "knowledge": evaluation.knowledge,
            "rows_of_known_materials": evaluation.rows_of_known_materials,
        });
        of_scorer["i_post"] = json!(index);
        if n > 0 {
            let differences = evaluation.against_first.differences();
            of_scorer["minus_first"] = json!({ "first": evaluations[0].name, "differences": differences });
        }
        out.insert(evaluation.name.clone(), of_scorer);
    }
    Some(out)
}
