//! Compiles the kernels and the stand-in driver for the CPU: plainly, with the address sanitizer, and with numbers that
//! count their operations.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const SOURCES: [&str; 6] =
    ["cpp/driver.cpp", "cpp/fibers.cpp", "cpp/kernels.cpp", "cpp/memory.cpp", "cpp/ptx.cpp", "cpp/state.cpp"];

/// The builds and the flags that each has beyond the common ones.
const BUILDS: [(&str, &[&str]); 3] = [
    ("plain", &[]),
    ("sanitized", &["-fsanitize=address", "-fno-omit-frame-pointer", "-g"]),
    ("counting", &["-DCOUNTING"]),
];

fn main() {
    let kernels = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("kernels");
    // A link to the folder that everybody shares: changes are looked for where it points.
    let kernels = fs::canonicalize(kernels).expect("the package holds the kernels");
    println!("cargo:rerun-if-changed=cpp");
    println!("cargo:rerun-if-changed={}", kernels.display());
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    for (name, flags) in BUILDS {
        let dir = out.join(name);
        fs::create_dir_all(&dir).expect("the output directory can be written");
        compile(&kernels, &dir.join("libcuda.so"), flags);
        println!("cargo:rustc-env=STANDIN_{}={}", name.to_uppercase(), dir.display());
    }
    println!("cargo:rustc-env=STANDIN_ASAN_RUNTIME={}", sanitizer_runtime());
}

/// The C++ compiler, with the flags of this target.
fn compiler() -> Command {
    cc::Build::new().cpp(true).std("c++17").opt_level(2).pic(true).warnings(true).get_compiler().to_command()
}

fn compile(kernels: &Path, library: &Path, flags: &[&str]) {
    let mut command = compiler();
    command.args(["-shared", "-fvisibility=hidden", "-Wno-unknown-pragmas", "-Wl,-soname,libcuda.so"]).args(flags);
    command.arg("-fno-strict-aliasing"); // as in CUDA: the kernels copy structs word by word
    command.arg("-I").arg(kernels).args(["-I", "cpp"]).args(SOURCES).arg("-o").arg(library);
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{command:?} ended with {status}"),
        Err(error) => panic!(
            "the tests of the CUDA kernels compile them for the CPU and need a C++ compiler (apt-get install g++, or \
             set CXX): {error}; `cargo build` of magnetar itself does not need one"
        ),
    }
}

/// The runtime that must be loaded before a program that opens the sanitized library.
fn sanitizer_runtime() -> String {
    let output = compiler().arg("-print-file-name=libasan.so").output().expect("the compiler ran before");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
