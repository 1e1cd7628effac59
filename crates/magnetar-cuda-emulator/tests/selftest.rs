//! The emulator finds what it is there to find.

use magnetar_cuda_emulator::{StandIn, assert_passes_sanitized, run_sanitized, sanitized};

const ORDERS: [u32; 4] = [0, 1, 7, 1009];

fn input() -> [i32; 128] {
    std::array::from_fn(|i| 1000 + i as i32)
}

#[test]
fn threads_races_barriers_and_shuffles() {
    let standin = StandIn::load();
    let reversed: Vec<i32> = input().into_iter().rev().collect();
    let warp_sums: Vec<i32> =
        input().chunks(32).flat_map(|warp| std::iter::repeat_n(warp.iter().sum::<i32>(), 32)).collect();
    let mut raced = false;
    for order in ORDERS {
        standin.set_order(order);
        assert_eq!(standin.selftest("selftest_reverse", &input()).unwrap(), reversed, "order {order}");
        assert_eq!(standin.selftest("selftest_shuffle", &input()).unwrap(), warp_sums, "order {order}");
        assert_eq!(standin.selftest("selftest_divergent", &input()), None, "order {order}");
        raced |= standin.selftest("selftest_race", &input()).unwrap() != reversed;
    }
    assert!(raced, "no order showed the race");
}

/// Only meaningful in the process that [`an_overrun_is_found`] starts.
#[test]
fn overrun() {
    if sanitized() {
        let _ = StandIn::load().selftest("selftest_overrun", &input());
    }
}

#[test]
fn an_overrun_is_found() {
    assert_passes_sanitized("threads_races_barriers_and_shuffles");
    if sanitized() {
        return;
    }
    let overrun = run_sanitized("overrun");
    let stderr = String::from_utf8_lossy(&overrun.stderr);
    assert!(!overrun.status.success() && stderr.contains("heap-buffer-overflow"), "{stderr}");
}
