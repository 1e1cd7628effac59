//! Ratios measured in one run: the contestants take turns, so that a noisy machine disturbs all of them alike.
//!
//! A fixed reference takes its turn with them, a two-channel transform of 2,048 points, and every time is printed as a
//! multiple of it, too: numbers of different machines compare by these. What is written is compared with a plain copy and
//! SHA-256 of as many bytes.

#![allow(dead_code, reason = "each benchmark uses its part")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use num_complex::Complex32;
use rustfft::FftPlanner;
use sha2::{Digest, Sha256};

/// Counts allocations, to show that a hot loop makes none.
struct CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

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

/// The reference's time in the last comparison, the bits of its seconds.
static REFERENCE: AtomicU64 = AtomicU64::new(0);

/// Points and channels of the reference transform, and transforms in one turn.
const POINTS: usize = 2048;
const CHANNELS: usize = 2;
const TRANSFORMS: usize = 8;

/// The reference: in-place transforms of two channels in single precision.
fn reference() -> Contestant<'static> {
    let fft = FftPlanner::<f32>::new().plan_fft_inverse(POINTS);
    let zero = Complex32::new(0.0, 0.0);
    let mut buffer = vec![zero; CHANNELS * POINTS];
    let mut scratch = vec![zero; fft.get_inplace_scratch_len()];
    Contestant::new("two-channel 2048-point FFT", TRANSFORMS as f64, move || {
        for _ in 0..TRANSFORMS {
            // From the same numbers each time: repeated transforms would leave the range of normal floats.
            for (n, x) in buffer.iter_mut().enumerate() {
                *x = Complex32::new((n % 7) as f32 - 3.0, (n % 5) as f32 - 2.0);
            }
            fft.process_with_scratch(&mut buffer, &mut scratch);
            black_box(&buffer);
        }
    })
}

/// Seconds of a plain copy and SHA-256 of so many bytes: the least that storing them costs.
pub fn copy_and_hash(bytes: usize) -> f64 {
    let from: Vec<u8> = (0..bytes).map(|n| (n * 31 % 251) as u8).collect();
    let mut to = vec![0; bytes];
    let mut contestant = [Contestant::new("copy and SHA-256", 1.0, move || {
        to.copy_from_slice(black_box(&from));
        black_box(Sha256::digest(&to));
    })];
    compare(&mut contestant, 101)[0]
}

/// Median seconds per item of each contestant, over `rounds` interleaved rounds after one warm-up round.
pub fn compare(contestants: &mut [Contestant<'_>], rounds: usize) -> Vec<f64> {
    let mut reference = reference();
    for c in contestants.iter_mut().chain([&mut reference]) {
        (c.call)();
    }
    let mut seconds = vec![Vec::with_capacity(rounds); contestants.len() + 1];
    for _ in 0..rounds {
        for (c, s) in contestants.iter_mut().chain([&mut reference]).zip(&mut seconds) {
            let start = Instant::now();
            (c.call)();
            s.push(start.elapsed().as_secs_f64() / c.items);
        }
    }
    let median = |mut s: Vec<f64>| {
        s.sort_by(f64::total_cmp);
        s[s.len() / 2]
    };
    let mut medians: Vec<f64> = seconds.into_iter().map(median).collect();
    REFERENCE.store(medians.pop().unwrap_or(f64::NAN).to_bits(), Ordering::Relaxed);
    medians
}

/// A time as a multiple of the reference's in the last comparison.
pub fn ffts(seconds: f64) -> f64 {
    seconds / f64::from_bits(REFERENCE.load(Ordering::Relaxed))
}

/// A duration in the unit that suits it, and as a multiple of the reference in the last comparison.
pub fn human(seconds: f64) -> String {
    format!("{} = {:.3} FFT", with_unit(seconds), ffts(seconds))
}

fn with_unit(seconds: f64) -> String {
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
