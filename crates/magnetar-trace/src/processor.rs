//! The processor a program runs on: what it can do faster, and whether its results are those of others.

use std::sync::LazyLock;

/// Set to `baseline`, this environment variable keeps the program to the instructions that every x86-64 has. It changes
/// the speed, never a result; tests use it to show that.
pub const VECTORS_VARIABLE: &str = "MAGNETAR_VECTORS";

/// Processors of one class give the same bits, whatever vector unit they have: what a manifest records, and what a row
/// can be compared with.
///
/// Arithmetic is IEEE 754's, operation by operation in one order, and elementary functions are our own code, so that all
/// processors with little-endian memory and no excess precision are one class.
pub const PROCESSOR_CLASS: &str = if cfg!(target_endian = "big") {
    "ieee754-big-endian"
} else if cfg!(all(target_arch = "x86", not(target_feature = "sse2"))) {
    "x87"
} else {
    "ieee754"
};

/// Calls the copy of a function that was compiled for AVX2 where the processor has it, the plain one elsewhere. Both do the
/// same operations in the same order, so they give the same bits.
///
/// The first argument must be a call of a function whose only requirement is `#[target_feature(enable = "avx2")]`; it is
/// not looked at on other architectures.
#[macro_export]
macro_rules! with_avx2 {
    ($wide:expr, $plain:expr) => {{
        #[cfg(target_arch = "x86_64")]
        let result = if $crate::has_avx2() {
            #[allow(unsafe_code, clippy::macro_metavars_in_unsafe, reason = "SIMD chosen at run time")]
            // SAFETY: the processor has been found to have AVX2, all that the function asks for.
            unsafe {
                $wide
            }
        } else {
            $plain
        };
        #[cfg(not(target_arch = "x86_64"))]
        let result = $plain;
        result
    }};
}

/// The copy of a function, or of a method that takes nothing else, for [`with_avx2`]: compiled for wider vectors; the same
/// operations, so the same bits. What is copied has to be inlined always.
#[macro_export]
macro_rules! avx2_copy {
    ($copy:ident of $plain:ident(&mut self)) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        fn $copy(&mut self) {
            self.$plain();
        }
    };
    ($copy:ident of $plain:ident($($argument:ident: $type:ty),+)) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        fn $copy($($argument: $type),+) {
            $plain($($argument),+);
        }
    };
}

/// Whether copies of hot loops that were compiled for AVX2 may be called.
#[must_use]
pub fn has_avx2() -> bool {
    static FOUND: LazyLock<bool> = LazyLock::new(|| {
        #[cfg(target_arch = "x86_64")]
        let found = std::is_x86_feature_detected!("avx2");
        #[cfg(not(target_arch = "x86_64"))]
        let found = false;
        found && std::env::var_os(VECTORS_VARIABLE).is_none_or(|value| value != "baseline")
    });
    *FOUND
}
