//! What can be wrong with columns.

/// Why rows cannot be read from a table's columns.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ColumnError {
    /// A column that every dataset has is not there.
    #[error("column {column} is missing")]
    Missing {
        /// The column, its struct's name before it.
        column: String,
    },
    /// A column is of another type.
    #[error("column {column} holds {found}, expected {expected}")]
    Type {
        /// The column, its struct's name before it.
        column: String,
        /// What it holds.
        found: String,
        /// What it should hold.
        expected: String,
    },
    /// A column has nulls where there must be none.
    #[error("column {column} holds nulls")]
    Null {
        /// The column, its struct's name before it.
        column: String,
    },
    /// A value that no row can have.
    #[error("row {row}: column {column}: {problem}")]
    Value {
        /// The row's number within its split.
        row: u64,
        /// The column.
        column: &'static str,
        /// What is wrong with it.
        problem: String,
    },
}

/// A value that no row can have.
#[derive(Debug)]
pub(crate) struct ValueError {
    /// The column.
    pub(crate) column: &'static str,
    /// What is wrong with it.
    pub(crate) problem: String,
}

impl ValueError {
    /// In a column, with the reason.
    pub(crate) fn new(column: &'static str, problem: impl Into<String>) -> Self {
        Self { column, problem: problem.into() }
    }

    /// The same, with the row it is in.
    pub(crate) fn in_row(self, row: u64) -> ColumnError {
        ColumnError::Value { row, column: self.column, problem: self.problem }
    }
}
