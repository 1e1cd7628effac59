//! A bound on live memory, exact to the byte: libFuzzer's own looks once a second and only at touched pages.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most that all live allocations of a target may take together, bytes.
pub const LIMIT_BYTES: usize = 512 << 20;

static LIVE_BYTES: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator with a bound; beyond it the process aborts, which libFuzzer reports as a crash.
pub struct Bounded;

impl Bounded {
    fn take(bytes: usize) {
        let live = LIVE_BYTES.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if live > LIMIT_BYTES {
            // A message needs memory too.
            LIVE_BYTES.store(0, Ordering::Relaxed);
            eprintln!("memory: {live} bytes are live, more than {LIMIT_BYTES}; the last allocation is of {bytes}");
            std::process::abort();
        }
    }
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::take(layout.size());
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::take(layout.size());
        // SAFETY: the caller keeps `alloc_zeroed`'s contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        Self::take(new_size);
        LIVE_BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps `realloc`'s contract.
        unsafe { System.realloc(old, layout, new_size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        LIVE_BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps `dealloc`'s contract.
        unsafe { System.dealloc(old, layout) }
    }
}
