//! Gradients of linear layers and of joined arrays.

use super::{Tape, Taped};
use crate::plain::{Operand, product};
use crate::{Engine, PlainEngine};

/// See [`Engine::linear`].
pub(super) fn linear(tape: &Tape, x: &Taped, weight: &Taped, bias: Option<&Taped>) -> Taped {
    let value = PlainEngine.linear(&x.value, &weight.value, bias.map(|bias| &*bias.value));
    let (rows, inputs, outputs) = (x.value.shape()[0], x.value.shape()[1], weight.value.shape()[0]);
    let (to_x, to_weight, to_bias) = (x.clone(), weight.clone(), bias.cloned());
    let all_inputs: Vec<&Taped> = [x, weight].into_iter().chain(bias).collect();
    tape.record(value, &all_inputs, move |g, all| {
        all.add_with(&to_x, || {
            let mut gradient = vec![0.0; rows * inputs];
            let weights = Operand::rows(to_weight.value.values(), inputs);
            product(rows, outputs, inputs, Operand::rows(g, outputs), weights, &mut gradient);
            gradient
        });
        all.add_with(&to_weight, || {
            let mut gradient = vec![0.0; outputs * inputs];
            let x = Operand::rows(to_x.value.values(), inputs);
            product(outputs, rows, inputs, Operand::rows(g, outputs).turned(), x, &mut gradient);
            gradient
        });
        if let Some(bias) = &to_bias {
            all.add_with(bias, || {
                let mut gradient = vec![0.0; outputs];
                for row in g.chunks_exact(outputs) {
                    gradient.iter_mut().zip(row).for_each(|(sum, g)| *sum += g);
                }
                gradient
            });
        }
    })
}

/// See [`Engine::join`].
pub(super) fn join(tape: &Tape, parts: &[Taped], axis: usize) -> Taped {
    let values: Vec<crate::Array> = parts.iter().map(|part| (*part.value).clone()).collect();
    let value = PlainEngine.join(&values, axis);
    let outer: usize = value.shape()[..axis].iter().product();
    let to = parts.to_vec();
    tape.record(value, &parts.iter().collect::<Vec<_>>(), move |g, all| {
        let lengths: Vec<usize> = to.iter().map(|part| part.value.values().len() / outer).collect();
        let stride: usize = lengths.iter().sum();
        let mut first = 0;
        for (part, length) in to.iter().zip(lengths) {
            all.add_with(part, || {
                let mut gradient = Vec::with_capacity(outer * length);
                g.chunks_exact(stride).for_each(|row| gradient.extend_from_slice(&row[first..first + length]));
                gradient
            });
            first += length;
        }
    })
}
