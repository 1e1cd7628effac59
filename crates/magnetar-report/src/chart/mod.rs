//! Charts: frames with axes, and what is drawn in them.

mod contour;
mod frame;
mod heatmap;
mod histogram;
mod marker;
mod polar;
mod series;

pub use contour::contours;
pub use frame::{ChartAxis, Frame, LegendKey, empty, legend};
pub use heatmap::{ColourBar, Grid, heatmap};
pub use histogram::{ChartHistogram, histogram};
pub use marker::{Marker, arrow, marker};
pub use polar::{PolarCurve, polar};
pub use series::{line, scatter, stems};
