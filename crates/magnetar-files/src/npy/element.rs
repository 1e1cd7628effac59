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
    /// `b1`
    Bool,
    /// `u1`
    UInt8,
    /// `i4`
    Int32,
    /// `u4`
    UInt32,
    /// `i8`
    Int64,
    /// `u8`
    UInt64,
}

impl Dtype {
    /// From NumPy's code without the byte order, such as `c8`.
    pub(super) fn from_code(code: &str) -> Option<Self> {
        Some(match code {
            "f4" => Self::Float32,
            "f8" => Self::Float64,
            "c8" => Self::Complex64,
            "c16" => Self::Complex128,
            "b1" => Self::Bool,
            "u1" => Self::UInt8,
            "i4" => Self::Int32,
            "u4" => Self::UInt32,
            "i8" => Self::Int64,
            "u8" => Self::UInt64,
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
            Self::Bool => "bool",
            Self::UInt8 => "uint8",
            Self::Int32 => "int32",
            Self::UInt32 => "uint32",
            Self::Int64 => "int64",
            Self::UInt64 => "uint64",
        }
    }

    /// Bytes of one element.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Self::Bool | Self::UInt8 => 1,
            Self::Float32 | Self::Int32 | Self::UInt32 => 4,
            Self::Float64 | Self::Complex64 | Self::Int64 | Self::UInt64 => 8,
            Self::Complex128 => 16,
        }
    }

    /// Whether elements are whole numbers or yes and no.
    #[must_use]
    pub fn is_integer(self) -> bool {
        !matches!(self, Self::Float32 | Self::Float64) && !self.is_complex()
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
