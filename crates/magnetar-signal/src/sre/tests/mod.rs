//! Laws of the estimator on observations made by a separate, plain f64 synthesis. Seeds are fixed; the margins of the
//! statistical laws are stated with their error levels, as if the draws were new.

mod angle;
mod bound;
mod bounds;
mod detection;
mod hostile;
mod inactive;
mod resolution;
mod synthesis;

use super::{Sre, SreOptions};
use crate::{Band, RxArray};

fn sre(options: SreOptions) -> Sre {
    Sre::new(&Band::default(), &RxArray::default(), &options).unwrap()
}
