//! Gradients of layers that look at a cell and its neighbours.

use super::{Tape, Taped};
use crate::plain::{Kernel, mean_and_inverse_deviation, sum_in_lanes};
use crate::{Engine, PlainEngine};

/// See [`Engine::convolve`].
pub(super) fn convolve(tape: &Tape, x: &Taped, weight: &Taped, bias: &Taped, stride: usize) -> Taped {
    let kernel = Kernel::new(&x.value, &weight.value, stride);
    let value = PlainEngine.convolve(&x.value, &weight.value, &bias.value, stride);
    let (to_x, to_weight, to_bias) = (x.clone(), weight.clone(), bias.clone());
    tape.record(value, &[x, weight, bias], move |g, all| {
        all.add_with(&to_bias, || kernel.bias_gradient(g));
        all.add_with(&to_weight, || kernel.weight_gradient(&to_x.value, g));
        all.add_with(&to_x, || kernel.image_gradient(&to_weight.value, g));
    })
}

/// See [`Engine::group_norm`].
pub(super) fn group_norm(tape: &Tape, x: &Taped, groups: usize, scale: &Taped, shift: &Taped) -> Taped {
    let value = PlainEngine.group_norm(&x.value, groups, &scale.value, &shift.value);
    let [_, channels, rows, columns] = *x.value.shape() else { panic!("[b, c, h, w] is expected") };
    let (plane, per_group) = (rows * columns, channels / groups);
    let (to_x, to_scale, to_shift) = (x.clone(), scale.clone(), shift.clone());
    tape.record(value, &[x, scale, shift], move |g, all| {
        let together = per_group * plane;
        let mut by_x = Vec::with_capacity(g.len());
        let (mut by_scale, mut by_shift) = (vec![0f32; channels], vec![0f32; channels]);
        let scales = to_scale.value.values();
        for (group, (g, x)) in g.chunks_exact(together).zip(to_x.value.values().chunks_exact(together)).enumerate() {
            let first = group % groups * per_group;
            let count = together as f32;
            let (mean, inverse) = mean_and_inverse_deviation(x);
            // Sums over the group of the gradient by the normalised values, alone and times these values.
            let (mut alone, mut with_value) = (0f32, 0f32);
            for (c, (g, x)) in g.chunks_exact(plane).zip(x.chunks_exact(plane)).enumerate() {
                let sum = sum_in_lanes(g, |_, g| g);
                let product = sum_in_lanes(g, |n, g| g * (x[n] - mean) * inverse);
                by_shift[first + c] += sum;
                by_scale[first + c] += product;
                alone += scales[first + c] * sum;
                with_value += scales[first + c] * product;
            }
            for (c, (g, x)) in g.chunks_exact(plane).zip(x.chunks_exact(plane)).enumerate() {
                let scale = scales[first + c];
                let (alone, with_value) = (alone / count, with_value / count);
                by_x.extend(g.iter().zip(x).map(|(g, v)| {
                    let normal = (v - mean) * inverse;
                    inverse * (g * scale - alone - normal * with_value)
                }));
            }
        }
        all.add(&to_x, by_x);
        all.add(&to_scale, by_scale);
        all.add(&to_shift, by_shift);
    })
}

/// See [`Engine::enlarge`].
pub(super) fn enlarge(tape: &Tape, x: &Taped, rows: usize, columns: usize) -> Taped {
    let value = PlainEngine.enlarge(&x.value, rows, columns);
    let [_, _, h, w] = *x.value.shape() else { panic!("[b, c, h, w] is expected") };
    let to = x.clone();
    tape.record(value, &[x], move |g, all| {
        let mut gradient = vec![0.0; to.value.values().len()];
        for (small, g) in gradient.chunks_exact_mut(h * w).zip(g.chunks_exact(rows * columns)) {
            for (n, g) in g.iter().enumerate() {
                small[n / columns * h / rows * w + n % columns * w / columns] += g;
            }
        }
        all.add(&to, gradient);
    })
}
