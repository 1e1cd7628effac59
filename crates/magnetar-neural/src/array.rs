//! Dense arrays of single-precision numbers.

/// Numbers in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    shape: Vec<usize>,
    values: Vec<f32>,
}

impl Array {
    /// An array of a shape. The number of values must be that of the shape.
    ///
    /// # Panics
    /// If it is not, which is a fault of the caller.
    #[must_use]
    pub fn new(shape: &[usize], values: Vec<f32>) -> Self {
        assert_eq!(shape.iter().product::<usize>(), values.len(), "values do not fill {shape:?}");
        Self { shape: shape.to_vec(), values }
    }

    /// Lengths of the axes, outermost first.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// All values.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All values, to be changed in place.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// All values, taken out.
    #[must_use]
    pub fn into_values(self) -> Vec<f32> {
        self.values
    }
}
