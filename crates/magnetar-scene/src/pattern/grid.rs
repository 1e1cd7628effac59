//! Full grids: rows of (azimuth, elevation, gain), sorted, every direction once.

use super::{AntennaPattern, PatternInfo};
use crate::error::{Place, SceneError};

/// Neighbouring angles nearer than this are taken for a mistake, degrees.
pub(super) const MIN_STEP_DEG: f64 = 0.01;

/// Neighbouring angles farther apart than this leave a hole, degrees.
pub(super) const MAX_STEP_DEG: f64 = 90.0;

/// Angles that differ by less are the same, degrees.
pub(super) const SAME_DEG: f64 = 1e-6;

/// Gains given twice for one direction (azimuth -180 and 180) may differ by this, dB.
pub(super) const SAME_DB: f64 = 0.01;

/// One row: a direction in degrees and a gain in dBi, or a cut's angle and gain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) line: usize,
    pub(super) angles: [f64; 2],
    pub(super) gain: f64,
}

const AXIS_NAMES: [&str; 2] = ["azimuth", "elevation"];

/// The pattern of a full grid, sorted with either angle running fastest.
pub(super) fn pattern(info: PatternInfo, rows: &[Row], origin: &str) -> Result<AntennaPattern, SceneError> {
    let place = |row: &Row| Place::new(origin).at_line(row.line);
    let [Some(first), Some(second), Some(last)] = [rows.first(), rows.get(1), rows.last()] else {
        let problem = format!("{} directions", rows.len());
        return Err(SceneError::malformed(Place::new(origin), problem, "a full grid of directions"));
    };
    // The inner angle is the one that changes from the first row to the second.
    let inner = usize::from(first.angles[0] == second.angles[0]);
    let outer = 1 - inner;
    let block = rows.iter().take_while(|row| row.angles[outer] == first.angles[outer]).count();
    let inner_angles: Vec<f64> = rows[..block].iter().map(|row| row.angles[inner]).collect();
    for pair in rows[..block].windows(2) {
        check_ascending(pair[0].angles[inner], pair[1].angles[inner], AXIS_NAMES[inner], place(&pair[1]))?;
    }
    for (i, pair) in rows.windows(2).enumerate().skip(block - 1) {
        let (before, row) = (&pair[0], &pair[1]);
        let at = (i + 1) % block;
        if at == 0 {
            if row.angles[outer] == before.angles[outer] {
                let known = inner_angles.contains(&row.angles[inner]);
                let problem = if known { "direction given twice" } else { "one direction too many" };
                let expected = format!("{block} values at each {}, as at the first", AXIS_NAMES[outer]);
                return Err(SceneError::malformed(place(row), problem, expected));
            }
            check_ascending(before.angles[outer], row.angles[outer], AXIS_NAMES[outer], place(row))?;
        }
        let mut expected = rows[at].angles;
        expected[outer] = if at == 0 { row.angles[outer] } else { before.angles[outer] };
        if row.angles != expected {
            let [az, el] = row.angles;
            let problem = format!("azimuth {az}, elevation {el}: direction missing, given twice or not in order");
            let expected = format!("azimuth {}, elevation {} here", expected[0], expected[1]);
            return Err(SceneError::malformed(place(row), problem, expected));
        }
    }
    if !rows.len().is_multiple_of(block) {
        let problem = format!("the grid ends after {} of {block} values", rows.len() % block);
        let expected = format!("a value at every {}", AXIS_NAMES[inner]);
        return Err(SceneError::malformed(place(last), problem, expected));
    }
    let outer_angles: Vec<f64> = rows.iter().step_by(block).map(|row| row.angles[outer]).collect();
    let (azimuths, elevations) = if inner == 0 { (inner_angles, outer_angles) } else { (outer_angles, inner_angles) };
    let index = |az: usize, el: usize| if inner == 0 { el * block + az } else { az * block + el };

    if elevations[0] != -90.0 || elevations[elevations.len() - 1] != 90.0 {
        let problem = format!("elevations from {} to {} deg", elevations[0], elevations[elevations.len() - 1]);
        return Err(SceneError::malformed(place(last), problem, "a full grid from elevation -90 to 90"));
    }
    check_steps(&elevations, "elevation", place(last))?;
    let turn = full_turn(&azimuths, "azimuth", place(last))?;
    if turn.repeats_first {
        for el in 0..elevations.len() {
            let (a, b) = (&rows[index(0, el)], &rows[index(azimuths.len() - 1, el)]);
            check_same(a, b, origin)?;
        }
    }
    let mut gains = Vec::with_capacity(elevations.len() * turn.angles.len());
    for el in 0..elevations.len() {
        gains.extend(turn.order.iter().map(|&az| rows[index(az, el)].gain));
    }
    Ok(AntennaPattern::from_grid(info, &turn.angles, &elevations, gains))
}

/// Angles over one full turn.
pub(super) struct FullTurn {
    /// Ascending, degrees, the first in [-180, 180), the last one turn after the first.
    pub(super) angles: Vec<f64>,
    /// Which of the given angles each is.
    pub(super) order: Vec<usize>,
    /// Whether the last given angle is the first again.
    pub(super) repeats_first: bool,
}

/// Checks that ascending angles in degrees go all the way round, and turns them to start in [-180, 180).
pub(super) fn full_turn(angles: &[f64], name: &str, place: Place) -> Result<FullTurn, SceneError> {
    let (first, last) = (angles[0], angles[angles.len() - 1]);
    if first < -360.0 || last > 360.0 || last - first > 360.0 + SAME_DEG {
        let problem = format!("{name} from {first} to {last} deg");
        return Err(SceneError::malformed(place, problem, "angles of one full turn, within -360 to 360"));
    }
    check_steps(angles, name, place.clone())?;
    let repeats_first = last - first > 360.0 - SAME_DEG;
    let count = angles.len() - usize::from(repeats_first);
    let widest = angles.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
    let seam = first + 360.0 - angles[count - 1];
    if !repeats_first && (seam > widest + SAME_DEG || count < 2) {
        let problem = format!("{name} from {first} to {last} deg leaves a gap of {seam} deg");
        return Err(SceneError::malformed(place, problem, "angles all the way round"));
    }
    if !repeats_first && seam < MIN_STEP_DEG {
        let problem = format!("{name} {first} and {last} deg are too near each other");
        return Err(SceneError::malformed(place, problem, format!("steps of at least {MIN_STEP_DEG} deg")));
    }
    let wrapped: Vec<f64> = angles[..count].iter().map(|angle| (angle + 180.0).rem_euclid(360.0) - 180.0).collect();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| wrapped[a].total_cmp(&wrapped[b]));
    let mut angles: Vec<f64> = order.iter().map(|&i| wrapped[i]).collect();
    angles.push(angles[0] + 360.0);
    order.push(order[0]);
    Ok(FullTurn { angles, order, repeats_first })
}

/// Two rows of one direction must agree.
pub(super) fn check_same(a: &Row, b: &Row, origin: &str) -> Result<(), SceneError> {
    if (a.gain - b.gain).abs() <= SAME_DB {
        return Ok(());
    }
    let problem = format!("{} dB, but line {} gives the same direction {} dB", b.gain, a.line, a.gain);
    Err(SceneError::malformed(Place::new(origin).at_line(b.line), problem, "one gain for one direction"))
}

/// Angles in a file ascend.
pub(super) fn check_ascending(before: f64, angle: f64, name: &str, place: Place) -> Result<(), SceneError> {
    if angle == before {
        return Err(SceneError::malformed(place, format!("{name} {angle} given twice"), "each angle once"));
    }
    if angle < before {
        let problem = format!("{name} {angle} after {before}: not sorted");
        return Err(SceneError::malformed(place, problem, "ascending angles: sort the rows"));
    }
    Ok(())
}

/// Steps between ascending angles are neither tiny nor holes.
pub(super) fn check_steps(angles: &[f64], name: &str, place: Place) -> Result<(), SceneError> {
    let bad = angles.windows(2).find(|pair| !(MIN_STEP_DEG..=MAX_STEP_DEG).contains(&(pair[1] - pair[0])));
    bad.map_or(Ok(()), |pair| {
        let problem = format!("step from {name} {} to {}", pair[0], pair[1]);
        Err(SceneError::malformed(place, problem, format!("steps of {MIN_STEP_DEG} to {MAX_STEP_DEG} deg")))
    })
}
