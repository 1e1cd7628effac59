//! The element types of an `.npy` array.

use num_complex::{Complex32, Complex64};

/// An element type as named by the header's `descr`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dtype {
    /// `f4`
    Float32,
    /// `f8`
    Float64,
    /// `c8`
    Complex64,
    /// `c16`
    Complex128,
}

impl Dtype {
    /// From NumPy's code without the byte order, such as `c8`.
    pub(super) fn from_code(code: &str) -> Option<Self> {
        Some(match code {
            "f4" => Self::Float32,
            "f8" => Self::Float64,
            "c8" => Self::Complex64,
            "c16" => Self::Complex128,
            _ => return None,
        })
    }

    /// NumPy's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Float32 => "float32",
            Self::Float64 => "float64",
            Self::Complex64 => "complex64",
            Self::Complex128 => "complex128",
        }
    }

    /// Bytes of one element.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Self::Float32 => 4,
            Self::Float64 | Self::Complex64 => 8,
            Self::Complex128 => 16,
        }
    }

    /// Whether elements have an imaginary part.
    #[must_use]
    pub fn is_complex(self) -> bool {
        matches!(self, Self::Complex64 | Self::Complex128)
    }
}

/// A Rust type that can be written to and read from `.npy`.
pub trait NpyElement: bytemuck::Pod {
    /// The type as the file names it.
    const DTYPE: Dtype;
    /// The header's `descr` (little-endian).
    const DESCR: &'static str;
    /// From a real and an imaginary part (which is zero for real files, and dropped by real types).
    fn from_parts(re: f64, im: f64) -> Self;
}

impl NpyElement for f32 {
    const DTYPE: Dtype = Dtype::Float32;
    const DESCR: &'static str = "<f4";
    fn from_parts(re: f64, _im: f64) -> Self {
        re as Self
    }
}

impl NpyElement for f64 {
    const DTYPE: Dtype = Dtype::Float64;
    const DESCR: &'static str = "<f8";
    fn from_parts(re: f64, _im: f64) -> Self {
        re
    }
}

impl NpyElement for Complex32 {
    const DTYPE: Dtype = Dtype::Complex64;
    const DESCR: &'static str = "<c8";
    fn from_parts(re: f64, im: f64) -> Self {
        Self::new(re as f32, im as f32)
    }
}

impl NpyElement for Complex64 {
    const DTYPE: Dtype = Dtype::Complex128;
    const DESCR: &'static str = "<c16";
    fn from_parts(re: f64, im: f64) -> Self {
        Self::new(re, im)
    }
}
