//! Kernels compiled by the machine's own NVRTC.

use std::ffi::{CString, c_char, c_int};

use cudarc::nvrtc::{Ptx, result, sys};

use crate::edge::nvrtc_present;
use crate::{CudaError, Program};

/// Compiles a kernel for an architecture such as `compute_70`.
pub(crate) fn compile(program: &Program, architecture: &str) -> Result<Ptx, CudaError> {
    if !nvrtc_present() {
        return Err(CudaError::NoNvrtc);
    }
    let failed = |log: String| CudaError::Compile { program: program.name, architecture: architecture.to_owned(), log };
    let unit = Unit::new(program).map_err(failed)?;
    unit.compile(&Program::nvrtc_options(architecture)).map_err(failed)
}

/// A compilation of NVRTC. The safe bindings know no headers; this hands it ours by name, so that no file is needed.
struct Unit {
    handle: sys::nvrtcProgram,
    /// What NVRTC may refer to until the handle is destroyed.
    _texts: Vec<CString>,
}

impl Unit {
    fn new(program: &Program) -> Result<Self, String> {
        let (names, headers): (Vec<&str>, Vec<&str>) = Program::HEADERS.into_iter().unzip();
        let name = format!("{}.cu", program.name);
        let all = [program.source, &name].into_iter().chain(names).chain(headers);
        let texts = all.map(CString::new).collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
        let pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
        let (names, headers) = pointers[2..].split_at(Program::HEADERS.len());
        let mut handle = std::ptr::null_mut();
        #[allow(unsafe_code, reason = "the bindings have no safe form of it")]
        // SAFETY: the texts end with zero and outlive the handle; both lists have the length given.
        unsafe {
            sys::nvrtcCreateProgram(
                &raw mut handle,
                pointers[0],
                pointers[1],
                headers.len() as c_int,
                headers.as_ptr(),
                names.as_ptr(),
            )
        }
        .result()
        .map_err(|error| error.to_string())?;
        Ok(Self { handle, _texts: texts })
    }

    #[allow(unsafe_code, reason = "the bindings have no safe form of it")]
    fn compile(&self, options: &[String]) -> Result<Ptx, String> {
        // SAFETY: the handle came from `nvrtcCreateProgram` and is destroyed only by `drop`.
        let compiled = unsafe { result::compile_program(self.handle, options) };
        compiled.map_err(|error| {
            // SAFETY: as above.
            let log = unsafe { result::get_program_log(self.handle) };
            log.map_or_else(|_| error.to_string(), |log| string(&log).trim_end().to_owned())
        })?;
        // SAFETY: as above, and it is compiled.
        let ptx = unsafe { result::get_ptx(self.handle) }.map_err(|error| error.to_string())?;
        Ok(Ptx::from_src(string(&ptx)))
    }
}

impl Drop for Unit {
    #[allow(unsafe_code, reason = "the bindings have no safe form of it")]
    fn drop(&mut self) {
        // SAFETY: the handle came from `nvrtcCreateProgram` and is not used again. A failure would only leak memory.
        let _ = unsafe { result::destroy_program(self.handle) };
    }
}

/// The text before the first zero.
fn string(bytes: &[c_char]) -> String {
    let bytes: Vec<u8> = bytes.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
