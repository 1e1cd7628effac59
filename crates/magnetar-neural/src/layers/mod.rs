//! Parts that designs are made of. Each lists its parameters and applies itself with any engine.

mod attention;
mod dense;
mod image;
mod unet;

pub(crate) use attention::Attention;
pub(crate) use dense::{Dense, Mlp};
pub(crate) use image::Convolution;
pub(crate) use unet::UNet;
