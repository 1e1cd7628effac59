//! The stand-in device, one test at a time.

use std::sync::{Mutex, MutexGuard, PoisonError};

use magnetar_cuda_emulator::StandIn;

/// Forward, backward and two shuffles of a block's threads.
pub const ORDERS: [u32; 4] = [0, 1, 7, 1009];

/// The stand-in is one for the whole process: a test holds it from its start to its end.
pub struct Gpu {
    pub standin: &'static StandIn,
    _alone: MutexGuard<'static, ()>,
}

impl Gpu {
    pub fn take() -> Self {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        Self { standin: StandIn::load(), _alone: alone }
    }
}
