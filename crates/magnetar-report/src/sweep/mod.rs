//! The page of a sweep: a table of its points, main effects of its axes, and what moves a metric most.

mod effects;
mod page;
mod tornado;
mod words;

pub use effects::effect_chart;
pub use page::sweep_page;
pub use tornado::sensitivity_chart;
