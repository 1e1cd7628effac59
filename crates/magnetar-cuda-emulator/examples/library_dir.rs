//! Prints the folder of the stand-in `libcuda.so`, for scripts that run the real binary with it.

fn main() {
    println!("{}", magnetar_cuda_emulator::library_dir().display());
}
