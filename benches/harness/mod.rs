//! Ratios measured in one run: the contestants take turns, so that a noisy machine disturbs all of them alike.

#![allow(dead_code, reason = "each benchmark uses its part")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Counts allocations; install with `#[global_allocator]` to show that a hot loop makes none.
pub struct CountingAllocator;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on to the system allocator unchanged; only a counter is added.
#[allow(unsafe_code, reason = "GlobalAlloc is an unsafe trait")]
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Allocations made while `work` ran.
pub fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    work();
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

/// One thing to time: a name and a call that does `items` units of work.
pub struct Contestant<'a> {
    /// Shown in the table.
    pub name: &'a str,
    /// Units of work (links, rows, ...) one call does.
    pub items: f64,
    /// The work.
    pub call: Box<dyn FnMut() + 'a>,
}

impl<'a> Contestant<'a> {
    /// A contestant that does `items` units of work a call.
    pub fn new(name: &'a str, items: f64, call: impl FnMut() + 'a) -> Self {
        Self { name, items, call: Box::new(call) }
    }
}

/// Median seconds per item of each contestant, over `rounds` interleaved rounds after one warm-up round.
pub fn compare(contestants: &mut [Contestant<'_>], rounds: usize) -> Vec<f64> {
    for c in contestants.iter_mut() {
        (c.call)();
    }
    let mut seconds = vec![Vec::with_capacity(rounds); contestants.len()];
    for _ in 0..rounds {
        for (c, s) in contestants.iter_mut().zip(&mut seconds) {
            let start = Instant::now();
            (c.call)();
            s.push(start.elapsed().as_secs_f64() / c.items);
        }
    }
    seconds
        .into_iter()
        .map(|mut s| {
            s.sort_by(f64::total_cmp);
            s[s.len() / 2]
        })
        .collect()
}

/// A duration in the unit that suits it.
pub fn human(seconds: f64) -> String {
    if seconds < 1e-6 {
        format!("{:.1} ns", seconds * 1e9)
    } else if seconds < 1e-3 {
        format!("{:.2} us", seconds * 1e6)
    } else if seconds < 1.0 {
        format!("{:.2} ms", seconds * 1e3)
    } else {
        format!("{seconds:.2} s")
    }
}
