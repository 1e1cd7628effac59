//! Two principal cuts, combined to a full pattern.
//!
//! The azimuth cut `H` goes all the way round the horizontal plane. The elevation cut `V` goes through boresight (0) and
//! zenith (90), either all the way round over the back (180), or from -90 to 90 only.
//!
//! The usual summing method adds the two attenuations, `G = V(el) + H(az) - H(0)`, which leaves a different gain at the
//! poles for each azimuth. So the azimuth's part fades towards the poles, with the cosine of the elevation:
//!
//! - front half only: `G = V(el) + (H(az) - H(0)) cos(el)`;
//! - all the way round: the vertical cuts of front and back are blended over azimuth, `w = (1 - cos(az)) / 2`, and the
//!   azimuth cut adds what that blend lacks in the horizontal plane:
//!   `G = (1-w) V(el) + w V(180-el) + (H(az) - (1-w) H(0) - w H(180)) cos(el)`.
//!
//! Both reproduce the elevation cut, and the azimuth cut as far as the two agree where they cross. All in dB, on a grid
//! of one degree.

use super::grid::{self, FullTurn, Row};
use super::{AntennaPattern, PatternInfo};
use crate::error::{Place, SceneError};

/// How far apart the two cuts of a CSV may be at boresight, dB.
const CROSSING_DB: f64 = 0.5;

/// A cut: gain in dB over an angle in degrees, linear between its points.
pub(super) struct Cut {
    angles: Vec<f64>,
    gains: Vec<f64>,
    is_full: bool,
}

impl Cut {
    /// A cut all the way round, from sorted rows.
    pub(super) fn full(rows: &[Row], name: &str, origin: &str) -> Result<Self, SceneError> {
        let place = ascending(rows, name, origin)?;
        let given: Vec<f64> = rows.iter().map(|row| row.angles[0]).collect();
        let FullTurn { angles, order, repeats_first } = grid::full_turn(&given, name, place)?;
        if repeats_first {
            grid::check_same(&rows[0], &rows[rows.len() - 1], origin)?;
        }
        Ok(Self { angles, gains: order.iter().map(|&i| rows[i].gain).collect(), is_full: true })
    }

    /// A cut from -90 to 90, or all the way round.
    fn full_or_front(rows: &[Row], name: &str, origin: &str) -> Result<Self, SceneError> {
        let place = ascending(rows, name, origin)?;
        let angles: Vec<f64> = rows.iter().map(|row| row.angles[0]).collect();
        if angles[0] != -90.0 || angles[angles.len() - 1] != 90.0 {
            return Self::full(rows, name, origin);
        }
        grid::check_steps(&angles, name, place)?;
        Ok(Self { angles, gains: rows.iter().map(|row| row.gain).collect(), is_full: false })
    }

    /// The middle of the angles of the highest gain next to each other, degrees.
    fn peak_angle(&self) -> f64 {
        let highest = self.gains.iter().copied().fold(f64::MIN, f64::max);
        let first = self.gains.iter().position(|gain| *gain == highest).unwrap_or(0);
        let run = self.gains[first..].iter().take_while(|gain| **gain == highest).count().max(1);
        f64::midpoint(self.angles[first], self.angles[first + run - 1])
    }

    /// Gain in dB at an angle in degrees.
    fn at(&self, angle: f64) -> f64 {
        let first = self.angles[0];
        let angle = if self.is_full { first + (angle - first).rem_euclid(360.0) } else { angle };
        let above = self.angles.partition_point(|&knot| knot <= angle).clamp(1, self.angles.len() - 1);
        let (a, b) = (self.angles[above - 1], self.angles[above]);
        let fraction = ((angle - a) / (b - a)).clamp(0.0, 1.0);
        self.gains[above - 1] + fraction * (self.gains[above] - self.gains[above - 1])
    }
}

/// Checks that the rows' angles ascend; returns the place of the last.
fn ascending(rows: &[Row], name: &str, origin: &str) -> Result<Place, SceneError> {
    let Some(last) = rows.last() else {
        return Err(SceneError::malformed(
            Place::new(origin),
            format!("no {name} cut"),
            "an azimuth and an elevation cut",
        ));
    };
    for pair in rows.windows(2) {
        let place = Place::new(origin).at_line(pair[1].line);
        grid::check_ascending(pair[0].angles[0], pair[1].angles[0], name, place)?;
    }
    Ok(Place::new(origin).at_line(last.line))
}

/// The pattern of two cuts from a CSV.
pub(super) fn pattern(
    info: PatternInfo,
    azimuth: &[Row],
    elevation: &[Row],
    origin: &str,
) -> Result<AntennaPattern, SceneError> {
    let azimuth = Cut::full(azimuth, "azimuth", origin)?;
    let elevation = Cut::full_or_front(elevation, "elevation", origin)?;
    let (h, v) = (azimuth.at(0.0), elevation.at(0.0));
    if (h - v).abs() > CROSSING_DB {
        let problem = format!("at boresight the azimuth cut has {h} dB, the elevation cut {v} dB");
        let expected = format!("cuts that agree there within {CROSSING_DB} dB");
        return Err(SceneError::malformed(Place::new(origin), problem, expected));
    }
    Ok(combine(info, &azimuth, &elevation))
}

/// The combined pattern. Where the cuts cross, the elevation cut counts.
pub(super) fn combine(info: PatternInfo, azimuth: &Cut, elevation: &Cut) -> AntennaPattern {
    AntennaPattern::from_fn(info, 1, |az, el| combined(azimuth, elevation, 0.0, az, el))
}

/// The same of two full cuts that do not say where they cross, and whose gain is never above `peak`. Where they agree on
/// boresight they cross there. Where they do not, and both reach their highest gain, each was taken through the peak: the
/// elevation cut at the azimuth of the azimuth cut's peak, the azimuth cut at the elevation of the other's.
pub(super) fn combine_under(info: PatternInfo, azimuth: &Cut, elevation: &Cut, peak: f64) -> AntennaPattern {
    let agree = |a: f64, b: f64| (a - b).abs() <= CROSSING_DB;
    let highest = |cut: &Cut| cut.gains.iter().copied().fold(f64::MIN, f64::max);
    let on_axis = agree(azimuth.at(0.0), elevation.at(0.0));
    let through_peak = !on_axis && agree(highest(azimuth), highest(elevation));
    let crossing = if through_peak { azimuth.peak_angle() } else { 0.0 };
    let highest = highest(azimuth).max(highest(elevation)).min(peak);
    AntennaPattern::from_fn(info, 1, |az, el| combined(azimuth, elevation, crossing, az, el).min(highest))
}

/// Gain of two cuts, the elevation cut at azimuth `crossing` (degrees), in a direction (radians).
fn combined(azimuth: &Cut, elevation: &Cut, crossing: f64, az: f64, el: f64) -> f64 {
    let (front, back) = (azimuth.at(crossing), azimuth.at(crossing + 180.0));
    let (az_deg, el_deg) = (whole(az), whole(el));
    let fade = if el_deg.abs() == 90.0 { 0.0 } else { libm::cos(el) };
    if !elevation.is_full {
        return elevation.at(el_deg) + (azimuth.at(az_deg) - front) * fade;
    }
    let w = (1.0 - libm::cos(az - crossing.to_radians())) / 2.0;
    let blend = |a: f64, b: f64| a + w * (b - a);
    let vertical = blend(elevation.at(el_deg), elevation.at(180.0 - el_deg));
    vertical + (azimuth.at(az_deg) - blend(front, back)) * fade
}

/// Degrees of an angle that was a whole number of degrees before.
fn whole(radians: f64) -> f64 {
    radians.to_degrees().round()
}
