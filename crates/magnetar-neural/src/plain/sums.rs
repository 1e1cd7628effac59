//! Sums of many numbers in an order that vectors can keep.

/// Numbers that are summed side by side.
const LANES: usize = 16;

/// The sum of `f(place, value)`: every sixteenth together, then these in order. The order is the same on every processor.
#[inline(always)]
pub(crate) fn sum_in_lanes(values: &[f32], f: impl Fn(usize, f32) -> f32) -> f32 {
    let (whole, rest) = values.as_chunks::<LANES>();
    let mut sums = [0f32; LANES];
    for (n, chunk) in whole.iter().enumerate() {
        for (lane, (sum, value)) in sums.iter_mut().zip(chunk).enumerate() {
            *sum += f(n * LANES + lane, *value);
        }
    }
    for (n, value) in rest.iter().enumerate() {
        sums[n] += f(whole.len() * LANES + n, *value);
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_summed_whatever_their_number() {
        for count in [0, 1, 15, 16, 17, 100] {
            let values: Vec<f32> = (0..count).map(|n| n as f32).collect();
            assert_eq!(sum_in_lanes(&values, |n, v| v + n as f32), (count * count) as f32 - count as f32);
        }
    }
}
