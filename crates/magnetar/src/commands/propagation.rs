//! Flags on which paths are looked for.

use magnetar_trace::{MAX_ORDER, TraceOptions};

/// Flags of commands that trace links.
#[derive(Clone, Copy, clap::Args)]
pub struct PropagationArgs {
    /// The most reflections of a path.
    #[arg(long, value_name = "N", default_value_t = TraceOptions::default().max_order as u8,
        value_parser = clap::value_parser!(u8).range(0..=MAX_ORDER as i64))]
    max_order: u8,
    /// Let waves through boxes, in at one face and out at the opposite one.
    #[arg(long)]
    transmission: bool,
}

impl PropagationArgs {
    /// As the tracer wants them.
    pub fn options(&self) -> TraceOptions {
        TraceOptions { max_order: self.max_order.into(), transmission: self.transmission }
    }
}
