//! Simulators that are kept between requests, one for each choice of paths and each request at a time.

use std::sync::{Mutex, PoisonError};

use magnetar_trace::TraceOptions;

use crate::error::ReportError;
use crate::simulator::{LinkSettings, Simulator};

/// Most simulators kept for later.
const KEPT: usize = 8;

/// Lends simulators of one radio.
pub(super) struct Simulators {
    settings: LinkSettings,
    idle: Mutex<Vec<Simulator>>,
}

impl Simulators {
    /// With a first one.
    pub(super) fn new(first: Simulator) -> Self {
        Self { settings: first.settings().clone(), idle: Mutex::new(vec![first]) }
    }

    /// The settings to begin with.
    pub(super) fn settings(&self) -> &LinkSettings {
        &self.settings
    }

    /// Runs something with a simulator that looks for these paths. One that was in use when something panicked is not
    /// used again.
    pub(super) fn with<T>(
        &self,
        propagation: TraceOptions,
        run: impl FnOnce(&mut Simulator) -> Result<T, ReportError>,
    ) -> Result<T, ReportError> {
        let mut simulator = match self.take(propagation) {
            Some(kept) => kept,
            None => Simulator::new(LinkSettings { propagation, ..self.settings.clone() })?,
        };
        let result = run(&mut simulator);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() >= KEPT {
            idle.remove(0);
        }
        idle.push(simulator);
        result
    }

    fn take(&self, propagation: TraceOptions) -> Option<Simulator> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let at = idle.iter().position(|kept| kept.settings().propagation == propagation)?;
        Some(idle.remove(at))
    }
}
