//! GPUs: what there is, and one that is open.

use std::sync::Arc;

use cudarc::driver::sys::{self, CUdevice_attribute};
use cudarc::driver::{CudaContext, CudaFunction, result};
use cudarc::nvrtc::Ptx;

use crate::edge::{Doing, guard};
use crate::nvrtc::compile;
use crate::{CudaError, DeviceInfo, KernelSource, Program};

/// Share of the free memory that lanes may take together, the rest being left to others.
const MEMORY_SHARE: f64 = 0.8;

/// Lists the GPUs and tries every kernel on each.
pub(crate) fn devices(kernels: KernelSource) -> Result<Vec<DeviceInfo>, CudaError> {
    guard(|| (0..count()?).map(|ordinal| describe(ordinal, kernels)).collect())
}

fn count() -> Result<usize, CudaError> {
    let count = result::init().and_then(|()| result::device::get_count());
    match count {
        Ok(count) if count > 0 => Ok(usize::try_from(count).unwrap_or(0)),
        Ok(_) => Err(CudaError::NoDevice("it counts none".to_owned())),
        Err(error) => Err(CudaError::NoDevice(format!("{:?}", error.0))),
    }
}

fn describe(ordinal: usize, source: KernelSource) -> Result<DeviceInfo, CudaError> {
    let context = CudaContext::new(ordinal).doing("open the GPU")?;
    let (free, total) = context.mem_get_info().doing("ask for free memory")?;
    let (major, minor) = context.compute_capability().doing("ask for the compute capability")?;
    let multiprocessors = context
        .attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
        .doing("ask for the multiprocessors")?;
    let kernels = Program::ALL.map(|program| {
        let loaded = load(&context, &program, source).map(drop);
        (program.name, loaded.err().map(|error| error.to_string()))
    });
    Ok(DeviceInfo {
        ordinal,
        name: context.name().doing("ask for the name")?,
        compute_capability: (major.unsigned_abs(), minor.unsigned_abs()),
        multiprocessors: multiprocessors.unsigned_abs(),
        total_bytes: total,
        free_bytes: free,
        driver: driver_version()?,
        kernels: kernels.to_vec(),
    })
}

/// The newest CUDA version the driver knows, major and minor.
fn driver_version() -> Result<(u32, u32), CudaError> {
    let mut version = 0;
    #[allow(unsafe_code, reason = "the bindings have no safe form of it")]
    // SAFETY: the driver writes one integer to the pointer.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }.result().doing("ask for its version")?;
    let version = version.unsigned_abs();
    Ok((version / 1000, version % 1000 / 10))
}

/// Loads one kernel.
fn load(context: &Arc<CudaContext>, program: &Program, source: KernelSource) -> Result<CudaFunction, CudaError> {
    let ptx = match source {
        KernelSource::Embedded => Ptx::from_src(program.ptx),
        KernelSource::Nvrtc => {
            let (major, minor) = context.compute_capability().doing("ask for the compute capability")?;
            compile(program, &format!("compute_{major}{minor}"))?
        }
    };
    let module = context.load_module(ptx).doing("load a kernel")?;
    module.load_function(program.name).doing("find a kernel's entry point")
}

/// What a manifest calls this backend.
pub(crate) const NAME: &str = "cuda";

/// One open GPU.
pub(crate) struct Device {
    pub context: Arc<CudaContext>,
    name: String,
}

impl Device {
    /// Opens GPU number `ordinal`.
    pub fn open(ordinal: usize) -> Result<Self, CudaError> {
        let count = count()?;
        if ordinal >= count {
            return Err(CudaError::NoSuchDevice { ordinal, count });
        }
        let context = CudaContext::new(ordinal).doing("open the GPU")?;
        #[allow(unsafe_code, reason = "our streams share no memory")]
        // SAFETY: a lane's buffers are only ever used on the lane's own stream (see `Lane`), so there is nothing to
        // track between streams.
        unsafe {
            context.disable_event_tracking();
        }
        let name = context.name().doing("ask for the name")?;
        Ok(Self { context, name })
    }

    /// Loads a kernel.
    pub fn load(&self, program: &Program, source: KernelSource) -> Result<CudaFunction, CudaError> {
        load(&self.context, program, source)
    }

    /// The backend and the device's name, for people.
    pub fn description(&self) -> String {
        format!("{NAME} ({})", self.name)
    }

    /// Bytes of memory that each of `lanes` lanes may take.
    pub fn lane_bytes(&self, lanes: usize) -> Result<usize, CudaError> {
        let (free, _) = self.context.mem_get_info().doing("ask for free memory")?;
        Ok((free as f64 * MEMORY_SHARE) as usize / lanes)
    }
}
