//! SM1 to SM4 and SA1 to SA4: a density over the TX's pose about the RX, whose parameters a conditioner reads from the
//! arrivals.

use std::f64::consts::{PI, TAU};

use magnetar_posterior::DISPLACEMENT_SCALE_M;

use super::pointwise::HEADS;
use crate::inputs::ARRIVAL_CHANNELS;
use crate::layers::{Attention, Mlp};
use crate::parameters::{Net, ParameterPlans};
use crate::{Design, Engine, Inputs, Widths};

/// Images of a wrapped coordinate on either side: -2 to 2.
const IMAGES: i32 = 2;

/// Numbers that a Gaussian has: its mean (3), the diagonal (3) and what is left of it (3) of the inverse of its Cholesky
/// factor.
const PER_GAUSSIAN: usize = 9;

/// Logarithms of the diagonal are held within this of where they begin.
const LOG_RANGE: f32 = 3.0;

/// The LOS adjustment is within plus or minus this, nat.
const MOST_ADJUSTMENT: f32 = 3.0;

/// Hidden width of the LOS adjustment.
const ADJUSTMENT_WIDTH: usize = 32;

/// L of the area-polar coordinates, metres.
const AREA_POLAR_M: f64 = 1.0;

/// Coordinates that a Gaussian is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coordinates {
    /// x and y in metres and heading in radians, in the RX's frame.
    Cartesian,
    /// Half the square of the range in units of L, bearing and heading in radians, in the RX's frame.
    AreaPolar,
}

impl Coordinates {
    /// Where means begin, and the unit they are learned in.
    fn mean(self) -> [(f32, f32); 3] {
        match self {
            Self::Cartesian => [(0.0, 3.0), (0.0, 3.0), (0.0, 2.0)],
            Self::AreaPolar => [(6.0, 6.0), (0.0, 2.0), (0.0, 2.0)],
        }
    }

    /// Standard deviations that Gaussians begin with.
    fn deviations(self) -> [f32; 3] {
        match self {
            Self::Cartesian => [2.5, 2.5, 1.5],
            Self::AreaPolar => [6.0, 1.2, 1.5],
        }
    }

    /// Turns that the images of a point are away, in the second and the third coordinate.
    fn images(self) -> Vec<[f64; 2]> {
        let turns = || -IMAGES..=IMAGES;
        let bearings = if self == Self::AreaPolar { turns() } else { 0..=0 };
        bearings.flat_map(|b| turns().map(move |h| [f64::from(b), f64::from(h)])).collect()
    }

    /// A pose about the RX: x and y in metres, heading in radians.
    fn point(self, [x, y]: [f64; 2], heading: f64) -> [f64; 3] {
        match self {
            Self::Cartesian => [x, y, heading],
            Self::AreaPolar => [(x * x + y * y) / (2.0 * AREA_POLAR_M * AREA_POLAR_M), libm::atan2(y, x), heading],
        }
    }

    /// Logarithm of what turns a density in these coordinates into one per square metre and radian.
    fn log_jacobian(self) -> f64 {
        match self {
            Self::Cartesian => 0.0,
            Self::AreaPolar => -2.0 * libm::log(AREA_POLAR_M),
        }
    }
}

#[derive(Debug, Clone)]
enum Conditioner {
    Mlp(Mlp),
    Attention(Attention, Mlp),
}

/// A mixture of Gaussians conditioned on the arrivals, and a bounded adjustment where the planar line of sight is free.
#[derive(Debug, Clone)]
pub(super) struct Structured {
    conditioner: Conditioner,
    adjustment: Mlp,
    coordinates: Coordinates,
    components: usize,
    keep: usize,
}

impl Structured {
    pub(super) fn new(design: Design, widths: &Widths, keep: usize) -> Self {
        let (coordinates, components) = match design {
            Design::Sm2 | Design::Sa2 => (Coordinates::AreaPolar, 1),
            Design::Sm3 | Design::Sa3 => (Coordinates::Cartesian, 2),
            Design::Sm4 | Design::Sa4 => (Coordinates::Cartesian, 3),
            _ => (Coordinates::Cartesian, 1),
        };
        let outputs = components * (PER_GAUSSIAN + 1);
        let through = |inputs: usize| -> Vec<usize> {
            [inputs].into_iter().chain(widths.hidden.iter().copied()).chain([outputs]).collect()
        };
        let attends = matches!(design, Design::Sa1 | Design::Sa2 | Design::Sa3 | Design::Sa4);
        let conditioner = if attends {
            let attention = Attention::new("attention", 2, ARRIVAL_CHANNELS, widths.attention, HEADS);
            Conditioner::Attention(attention, Mlp::new("conditioner", &through(2 * widths.attention), false))
        } else {
            Conditioner::Mlp(Mlp::new("conditioner", &through(keep * (ARRIVAL_CHANNELS + 1) + 2), false))
        };
        let adjustment = Mlp::new("adjustment", &[5, ADJUSTMENT_WIDTH, 1], true);
        Self { conditioner, adjustment, coordinates, components, keep }
    }

    pub(super) fn list(&self, plans: &mut ParameterPlans) {
        match &self.conditioner {
            Conditioner::Mlp(mlp) => mlp.list(plans),
            Conditioner::Attention(attention, mlp) => {
                attention.list(plans);
                mlp.list(plans);
            }
        }
        self.adjustment.list(plans);
    }

    /// `[1, outputs]`: what the conditioner says of an observation.
    fn condition<E: Engine>(&self, net: &Net<'_, E>, inputs: &Inputs) -> E::Tensor {
        let spacing = inputs.spacing.map(|metres| (metres / DISPLACEMENT_SCALE_M) as f32);
        let arrivals = inputs.arrivals.chunks_exact(ARRIVAL_CHANNELS);
        match &self.conditioner {
            Conditioner::Mlp(mlp) => {
                let mut x = Vec::with_capacity(self.keep * (ARRIVAL_CHANNELS + 1) + 2);
                arrivals.for_each(|arrival| x.extend(arrival.iter().copied().chain([1.0])));
                // Missing arrivals are zero, their validity included.
                x.resize(self.keep * (ARRIVAL_CHANNELS + 1), 0.0);
                x.extend(spacing);
                mlp.apply(net, &net.engine.constant(&[1, x.len()], x))
            }
            Conditioner::Attention(attention, mlp) => {
                let query = net.engine.constant(&[1, 2], spacing.to_vec());
                let row = |arrival: &[f32]| net.engine.constant(&[1, ARRIVAL_CHANNELS], arrival.to_vec());
                let arrivals: Vec<E::Tensor> = arrivals.map(row).collect();
                mlp.apply(net, &attention.apply(net, &query, &arrivals))
            }
        }
    }

    pub(super) fn logits<E: Engine>(&self, net: &Net<'_, E>, inputs: &Inputs, picked: &[usize]) -> E::Tensor {
        let engine = net.engine;
        let density = self.log_density(net, inputs, picked);
        let [dx, dy] = inputs.spacing;
        let log_volume = libm::log(dx * dy * TAU / inputs.size.headings as f64) as f32;
        let volume = engine.constant(&[picked.len()], vec![log_volume; picked.len()]);
        engine.add(&engine.add(&density, &volume), &self.los_adjustment(net, inputs, picked))
    }

    /// `b_LOS eta`: a bounded function of displacement, log range and bearing where the planar line of sight is free.
    fn los_adjustment<E: Engine>(&self, net: &Net<'_, E>, inputs: &Inputs, picked: &[usize]) -> E::Tensor {
        let engine = net.engine;
        let x = engine.constant(&[picked.len(), 5], inputs.matrix(picked, &[0, 1, 2, 3, 4]));
        let bounded = engine.scale(&engine.tanh(&self.adjustment.apply(net, &x)), MOST_ADJUSTMENT);
        let free = engine.constant(&[picked.len()], inputs.matrix(picked, &[5]));
        engine.multiply(&engine.reshape(&bounded, &[picked.len()]), &free)
    }

    /// Logarithm of the density per square metre and radian at candidates.
    fn log_density<E: Engine>(&self, net: &Net<'_, E>, inputs: &Inputs, picked: &[usize]) -> E::Tensor {
        let engine = net.engine;
        let raw = self.condition(net, inputs);
        let images = self.coordinates.images();
        let points = self.points(inputs, picked, &images);
        let points = engine.constant(&[picked.len() * images.len(), 3], points);
        let gaussians = self.components * PER_GAUSSIAN;
        let weights = engine.columns(&raw, gaussians..gaussians + self.components);
        let log_weights = self.log_softmax(engine, &weights);
        let ones = engine.constant(&[picked.len(), 1], vec![1.0; picked.len()]);
        let parts: Vec<E::Tensor> = (0..self.components)
            .map(|n| {
                let own = engine.columns(&raw, n * PER_GAUSSIAN..(n + 1) * PER_GAUSSIAN);
                let (quadratic, log_norm) = self.gaussian(engine, &own, &points);
                let quadratic = engine.reshape(&quadratic, &[picked.len(), images.len()]);
                let summed = engine.reshape(&engine.log_sum_exp(&quadratic), &[picked.len(), 1]);
                let constant = engine.add(&log_norm, &engine.columns(&log_weights, n..n + 1));
                engine.add(&summed, &engine.linear(&ones, &constant, None))
            })
            .collect();
        engine.log_sum_exp(&engine.join(&parts, 1))
    }

    /// `[n images, 3]`: candidates in the density's coordinates, image by image.
    fn points(&self, inputs: &Inputs, picked: &[usize], images: &[[f64; 2]]) -> Vec<f32> {
        let plane = inputs.plane();
        let mut points = Vec::with_capacity(3 * picked.len() * images.len());
        for candidate in picked {
            let place = inputs.local[candidate % plane];
            let [first, second, third] = self.coordinates.point(place, inputs.headings[candidate / plane]);
            for [bearings, headings] in images {
                points.extend([first, second + TAU * bearings, third + TAU * headings].map(|v| v as f32));
            }
        }
        points
    }

    /// Of one Gaussian with `own[1, 9]`: minus half the squared distance of every point, and the logarithm `[1, 1]` of its
    /// norm per square metre and radian.
    fn gaussian<E: Engine>(&self, engine: &E, own: &E::Tensor, points: &E::Tensor) -> (E::Tensor, E::Tensor) {
        let row = |values: &[f32]| engine.constant(&[1, values.len()], values.to_vec());
        let mean = self.coordinates.mean();
        let units = row(&mean.map(|(_, unit)| unit));
        let mean = engine.add(&engine.multiply(&engine.columns(own, 0..3), &units), &row(&mean.map(|(at, _)| at)));
        let held = engine.tanh(&engine.scale(&engine.columns(own, 3..6), 1.0 / LOG_RANGE));
        let begin = self.coordinates.deviations().map(|deviation| -libm::logf(deviation));
        let log_diagonal = engine.add(&engine.scale(&held, LOG_RANGE), &row(&begin));
        // The inverse of the Cholesky factor, lower triangular: diagonal, then (1, 0), (2, 0), (2, 1).
        let numbers = engine.join(&[engine.exp(&log_diagonal), engine.columns(own, 6..9)], 1);
        let inverse = engine.reshape(&engine.linear(&numbers, &triangle(engine), None), &[3, 3]);
        let offset = engine.scale(&engine.linear(&mean, &inverse, None), -1.0);
        let whitened = engine.linear(points, &inverse, Some(&engine.reshape(&offset, &[3])));
        let squares = engine.sum_of_columns(&engine.multiply(&whitened, &whitened));
        let constant = -1.5 * libm::log(2.0 * PI) + self.coordinates.log_jacobian();
        let log_norm = engine.reshape(&engine.sum_of_columns(&log_diagonal), &[1, 1]);
        (engine.scale(&squares, -0.5), engine.add(&log_norm, &engine.constant(&[1, 1], vec![constant as f32])))
    }

    /// Logarithms of the weights of the components.
    fn log_softmax<E: Engine>(&self, engine: &E, weights: &E::Tensor) -> E::Tensor {
        let total = engine.scale(&engine.reshape(&engine.log_sum_exp(weights), &[1, 1]), -1.0);
        let ones = engine.constant(&[self.components, 1], vec![1.0; self.components]);
        engine.add(weights, &engine.linear(&total, &ones, None))
    }
}

/// `[9, 6]`: where the six numbers of a lower triangular 3 x 3 matrix stand in it.
fn triangle<E: Engine>(engine: &E) -> E::Tensor {
    let mut values = vec![0.0; 9 * 6];
    for (number, place) in [0, 4, 8, 3, 6, 7].into_iter().enumerate() {
        values[place * 6 + number] = 1.0;
    }
    engine.constant(&[9, 6], values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::row;
    use crate::{Array, Network, Picked, PlainEngine};

    /// The density of a design with drawn parameters, summed over a fine grid of poses about the RX.
    fn integral(design: Design, first: [f64; 2], second: [f64; 2], seed: u64) -> f64 {
        let widths = Widths::of_paper(design);
        let network = Network::new(design, &widths, 2).unwrap();
        let parameters = network.plans().draw(seed);
        let structured = Structured::new(design, &widths, 2);
        let net = Net { engine: &PlainEngine, parameters: &parameters };
        let polar = structured.coordinates == Coordinates::AreaPolar;
        let (cells, headings) = if polar { (60, 36) } else { (120, 48) };
        let step = |[low, high]: [f64; 2]| (high - low) / f64::from(cells);
        let centre = |range: [f64; 2], n: i32| range[0] + (f64::from(n) + 0.5) * step(range);
        let mut inputs = row(|row| Inputs::new(row, None).unwrap());
        inputs.local =
            (0..cells).flat_map(|i| (0..cells).map(move |j| [centre(first, i), centre(second, j)])).collect();
        if polar {
            // The grid is in half squared range and bearing; a square metre is L^2 of it.
            let place = |[s, bearing]: [f64; 2]| {
                let range = (2.0 * s).sqrt();
                [range * libm::cos(bearing), range * libm::sin(bearing)]
            };
            inputs.local.iter_mut().for_each(|at| *at = place(*at));
        }
        inputs.size = magnetar_posterior::SupportSize { headings, rows: cells as usize, columns: cells as usize };
        inputs.headings = (0..headings).map(|d| -PI + TAU * d as f64 / headings as f64).collect();
        let all = Picked::All.candidates(inputs.size);
        let density: Array = structured.log_density(&net, &inputs, &all);
        let volume = step(first) * step(second) * TAU / headings as f64;
        density.values().iter().map(|log| libm::exp(f64::from(*log))).sum::<f64>() * volume
    }

    #[test]
    fn cartesian_densities_integrate_to_one() {
        for design in [Design::Sm1, Design::Sm3, Design::Sm4, Design::Sa1, Design::Sa3, Design::Sa4] {
            for seed in [1, 2] {
                let total = integral(design, [-16.0, 16.0], [-16.0, 16.0], seed);
                assert!((total - 1.0).abs() < 2e-3, "{design} {seed}: {total}");
            }
        }
    }

    #[test]
    fn area_polar_densities_integrate_to_one_but_for_what_lies_below_no_range() {
        for design in [Design::Sm2, Design::Sa2] {
            for seed in [1, 2, 3] {
                let total = integral(design, [0.0, 60.0], [-PI, PI], seed);
                // Means begin at 6 with a deviation of 6: about a sixth of such a Gaussian is below zero.
                assert!((0.7..1.002).contains(&total), "{design} {seed}: {total}");
            }
        }
    }

    #[test]
    fn an_area_polar_density_away_from_the_rx_integrates_to_one() {
        let design = Design::Sm2;
        let structured = Structured::new(design, &Widths::of_paper(design), 2);
        let own = Array::new(&[1, 9], vec![4.0, 0.3, -0.4, -0.2, -0.5, 0.1, 0.05, -0.02, 0.4]);
        let images = structured.coordinates.images();
        let (cells, mut total) = (40, 0.0);
        for i in 0..cells {
            for j in 0..cells {
                for k in 0..cells {
                    let at = |n: i32| (f64::from(n) + 0.5) / f64::from(cells);
                    let point = [80.0 * at(i), TAU * at(j) - PI, TAU * at(k) - PI];
                    let shifted = images.iter().flat_map(|[b, h]| [point[0], point[1] + TAU * b, point[2] + TAU * h]);
                    let shifted: Vec<f32> = shifted.map(|v| v as f32).collect();
                    let points = Array::new(&[images.len(), 3], shifted);
                    let (quadratic, norm) = structured.gaussian(&PlainEngine, &own, &points);
                    let sum: f64 = quadratic.values().iter().map(|q| libm::exp(f64::from(*q))).sum();
                    total += sum * libm::exp(f64::from(norm.values()[0]));
                }
            }
        }
        total *= 80.0 * TAU * TAU / f64::from(cells).powi(3);
        assert!((total - 1.0).abs() < 2e-3, "{total}");
    }
}
