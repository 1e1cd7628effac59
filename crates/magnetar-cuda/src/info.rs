//! A GPU as `magnetar devices` shows it.

/// One GPU of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Its number.
    pub ordinal: usize,
    /// The maker's name for it.
    pub name: String,
    /// Compute capability, major and minor.
    pub compute_capability: (u32, u32),
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Memory, bytes.
    pub total_bytes: usize,
    /// Memory that is free now, bytes.
    pub free_bytes: usize,
    /// The newest CUDA version its driver knows, major and minor.
    pub driver: (u32, u32),
    /// Every kernel by name, with the reason if it does not load.
    pub kernels: Vec<(&'static str, Option<String>)>,
}
