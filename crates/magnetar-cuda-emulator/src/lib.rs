//! A test tool: our CUDA kernels, compiled for the CPU from the files that NVRTC compiles for the GPU, behind a
//! stand-in for `libcuda.so`.
//!
//! With it the real host code of `magnetar-cuda` runs end to end on machines that have no GPU. Nothing here is part of
//! the program: the library lies in the build directory, no search path leads to it, and only tests open it. It cannot
//! show GPU rounding, shared-memory limits, memory order or speed, and executes no PTX.

mod counts;

pub use counts::{BusBytes, KernelCounts, Operations};

use std::ffi::{CString, c_char};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;

use libloading::Library;

/// Set in a process that runs under the address sanitizer.
const UNDER_SANITIZER: &str = "STANDIN_UNDER_SANITIZER";

/// The folder that holds the stand-in `libcuda.so`: put it in the library path of a process to give it a "GPU".
#[must_use]
pub fn library_dir() -> &'static Path {
    Path::new(if sanitized() { env!("STANDIN_SANITIZED") } else { env!("STANDIN_PLAIN") })
}

/// True in a process that [`run_sanitized`] started.
#[must_use]
pub fn sanitized() -> bool {
    std::env::var_os(UNDER_SANITIZER).is_some()
}

/// Runs one test of the running test binary again, in a process with the address sanitizer.
///
/// # Panics
/// When the test binary cannot be started.
#[must_use]
pub fn run_sanitized(test: &str) -> Output {
    let binary = std::env::current_exe().expect("a test knows its binary");
    Command::new(binary)
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(UNDER_SANITIZER, "1")
        .env("LD_PRELOAD", env!("STANDIN_ASAN_RUNTIME"))
        // The Rust test harness keeps memory until the process ends; leaks are counted by the stand-in itself.
        .env("ASAN_OPTIONS", "detect_leaks=0")
        .output()
        .expect("the test binary starts")
}

/// Runs one test of the running test binary again, in a process with the address sanitizer; nothing in such a process.
///
/// # Panics
/// When that test fails, with what it printed.
pub fn assert_passes_sanitized(test: &str) {
    if !sanitized() {
        let output = run_sanitized(test);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// What a test can set, here or (by its [`variable`](Self::variable)) in a process it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// Number of devices.
    Devices,
    /// Memory of the device, bytes.
    MemoryBytes,
    /// Its compute capability, times ten: 70 for 7.0. It loads no PTX for a later one, as a GPU.
    ComputeCapability,
    /// Whether it has memory pools (asynchronous allocation): 0 or 1.
    MemoryPools,
    /// The number of the device allocation, from now on, that fails; 0 for none.
    FailAlloc,
    /// The same for allocations of pinned host memory.
    FailPinned,
    /// The same for launches.
    FailLaunch,
    /// The same for launches that are accepted and fail when they run; the context is lost, as on a GPU.
    FailAsync,
    /// The same for loading a module.
    FailLoad,
}

impl Setting {
    /// The environment variable of this setting.
    #[must_use]
    pub fn variable(self) -> &'static str {
        match self {
            Self::Devices => "STANDIN_DEVICES",
            Self::MemoryBytes => "STANDIN_MEMORY_BYTES",
            Self::ComputeCapability => "STANDIN_COMPUTE_CAPABILITY",
            Self::MemoryPools => "STANDIN_MEMORY_POOLS",
            Self::FailAlloc => "STANDIN_FAIL_ALLOC",
            Self::FailPinned => "STANDIN_FAIL_PINNED",
            Self::FailLaunch => "STANDIN_FAIL_LAUNCH",
            Self::FailAsync => "STANDIN_FAIL_ASYNC",
            Self::FailLoad => "STANDIN_FAIL_LOAD",
        }
    }
}

/// The loaded stand-in driver of this process.
pub struct StandIn {
    library: Library,
}

impl StandIn {
    /// Loads the library; from then on `dlopen("libcuda.so")` finds it by its soname.
    ///
    /// # Panics
    /// When the library cannot be opened: the build made it a moment ago.
    #[must_use]
    pub fn load() -> &'static Self {
        Self::load_from(library_dir())
    }

    /// Loads the build that counts operations; slower, and otherwise the same. A process that has loaded one build keeps
    /// it.
    ///
    /// # Panics
    /// When the library cannot be opened.
    #[must_use]
    pub fn load_counting() -> &'static Self {
        Self::load_from(Path::new(env!("STANDIN_COUNTING")))
    }

    #[allow(unsafe_code, reason = "opens the library")]
    fn load_from(dir: &Path) -> &'static Self {
        static LOADED: OnceLock<StandIn> = OnceLock::new();
        LOADED.get_or_init(|| {
            let path = dir.join("libcuda.so");
            // SAFETY: our own library, whose initialisers only construct containers.
            let library = unsafe { Library::new(&path) }.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            Self { library }
        })
    }

    /// The order of a block's threads: 0 forward, 1 backward, any other number the seed of a shuffle.
    pub fn set_order(&self, order: u32) {
        self.symbol::<extern "C" fn(u32)>(b"standin_order")(order);
    }

    /// Changes a setting of this process.
    ///
    /// # Panics
    /// Never: the names hold no zero byte.
    pub fn set(&self, setting: Setting, value: u64) {
        let name = CString::new(setting.variable()).expect("no zero byte");
        self.symbol::<extern "C" fn(*const c_char, u64)>(b"standin_set")(name.as_ptr(), value);
    }

    /// Forgets the failure of an earlier [`Setting::FailAsync`], as a new process would.
    pub fn recover(&self) {
        self.symbol::<extern "C" fn()>(b"standin_recover")();
    }

    /// Kernels run so far.
    #[must_use]
    pub fn launches(&self) -> u64 {
        self.number(b"standin_launches")
    }

    /// What a kernel did since the last [`forget_counts`](Self::forget_counts).
    ///
    /// # Panics
    /// When `kernel` holds a zero byte.
    #[must_use]
    pub fn counts(&self, kernel: &str) -> KernelCounts {
        let name = CString::new(kernel).expect("no zero byte");
        let mut counts = KernelCounts::default();
        self.symbol::<extern "C" fn(*const c_char, *mut KernelCounts)>(b"standin_counts")(
            name.as_ptr(),
            &raw mut counts,
        );
        counts
    }

    /// What crossed the bus since then.
    #[must_use]
    pub fn bus_bytes(&self) -> BusBytes {
        let (mut up, mut down) = (0, 0);
        self.symbol::<extern "C" fn(*mut u64, *mut u64)>(b"standin_bus_bytes")(&raw mut up, &raw mut down);
        BusBytes { up, down }
    }

    /// Starts all counts at zero.
    pub fn forget_counts(&self) {
        self.symbol::<extern "C" fn()>(b"standin_forget_counts")();
    }

    /// Live handles: allocations of both kinds, streams, events, modules, contexts.
    #[must_use]
    pub fn live(&self) -> u64 {
        self.number(b"standin_live")
    }

    /// Most device memory in use at once since the last call, bytes.
    #[must_use]
    pub fn take_peak_bytes(&self) -> u64 {
        self.number(b"standin_take_peak_bytes")
    }

    fn number(&self, name: &[u8]) -> u64 {
        self.symbol::<extern "C" fn() -> u64>(name)()
    }

    /// Runs one of the emulator's own test kernels on a block of 128 threads; `None` when the emulator refused it.
    ///
    /// # Panics
    /// When `name` holds a zero byte.
    #[must_use]
    pub fn selftest(&self, name: &str, input: &[i32; 128]) -> Option<Vec<i32>> {
        let name = CString::new(name).expect("no zero byte");
        let mut output = [0; 128];
        let run = self.symbol::<extern "C" fn(*const c_char, *const i32, *mut i32) -> i32>(b"standin_selftest");
        (run(name.as_ptr(), input.as_ptr(), output.as_mut_ptr()) == 0).then(|| output.to_vec())
    }

    #[allow(unsafe_code, reason = "looks up a function of the library")]
    fn symbol<T>(&self, name: &[u8]) -> libloading::Symbol<'_, T> {
        // SAFETY: the types given above are those of cpp/driver.cpp, and the pointers passed live through the call.
        unsafe { self.library.get(name) }.expect("the library of this crate exports it")
    }
}
