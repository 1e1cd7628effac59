//! The counting build counts what a kernel of known arithmetic performs.

use magnetar_cuda_emulator::{Operations, StandIn};

#[test]
fn a_kernel_of_known_arithmetic() {
    let standin = StandIn::load_counting();
    let input = std::array::from_fn(|i| 1 + i as i32);
    let output = standin.selftest("selftest_arithmetic", &input).expect("the kernel is sound");
    let expected = |x: f32| (0.5 * f64::from(x) + f64::from(2.0 * x + 1.0 + 3.0 * x + (1.0 / x - x / 7.0))) as i32;
    // Where x = 1 its root is not above its reciprocal root.
    assert!(input.iter().zip(&output).skip(1).all(|(x, y)| *y == expected(*x as f32)), "{output:?}");
    let counts = standin.counts("selftest_arithmetic");
    let f32 = Operations {
        adds: 3 * 128,
        multiplies: 128,
        fused: 128,
        divisions: 128,
        reciprocals: 128,
        roots: 128,
        reciprocal_roots: 128,
        exponentials: 128,
        ..Operations::default()
    };
    assert_eq!(counts.f32, f32);
    assert_eq!(counts.f64, Operations { adds: 128, multiplies: 128, ..Operations::default() });
    assert_eq!(counts.f32_flops(), 128 * (3 + 1 + 2 + 11 + 6 + 7 + 1 + 11));
    assert_eq!(counts.f64_flops(), 128 * 2);
    standin.forget_counts();
    assert_eq!(standin.counts("selftest_arithmetic"), Default::default());
}
