//! What a row owes to its outing and to what no model has: `outing`, `level_offset_db`, `unmodelled`.

use std::sync::Arc;

use arrow::array::{ArrayRef, UInt64Array};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Float64Type, UInt64Type};
use arrow::error::ArrowError;

use super::arrays::{floats, lists_of_structs, push_all};
use super::describe::{field, list};
use super::members::{WAVE, wave, wave_fields, wave_numbers};
use super::{ColumnError, ColumnGroup, GroupReader, GroupWriter, NamedColumns, ValueError};
use crate::record::{OutingRow, Record};
use crate::schema::Shape;

/// Datasets with model errors have them.
pub(super) struct OutingColumns;

struct Writer {
    outing: Vec<u64>,
    level: Vec<f64>,
    /// Where the list of each row ends among the arrivals; 0 first.
    ends: Vec<i32>,
    numbers: [Vec<f64>; WAVE.len()],
}

struct Reader<'a> {
    outing: &'a [u64],
    level: &'a [f64],
    ends: &'a [i32],
    numbers: [&'a [f64]; WAVE.len()],
}

impl ColumnGroup for OutingColumns {
    fn fields(&self, shape: &Shape) -> Vec<Field> {
        if !shape.outings {
            return Vec::new();
        }
        let members = Fields::from(wave_fields("delay to the array's centre"));
        let what = "number of the outing within the split: its rows share one state of the receiver";
        vec![
            field("outing", DataType::UInt64, "outing", "", what),
            field("level_offset_db", DataType::Float64, "dB", "", "level of the outing beyond the TX-power offset"),
            field("unmodelled", list(DataType::Struct(members)), "", "", "arrivals that no traced path explains"),
        ]
    }

    fn writer(&self, _: &Shape, rows: usize) -> Box<dyn GroupWriter> {
        let mut ends = Vec::with_capacity(rows + 1);
        ends.push(0);
        Box::new(Writer { outing: Vec::new(), level: Vec::new(), ends, numbers: Default::default() })
    }

    fn reader<'a>(&self, columns: &NamedColumns<'a>) -> Result<Option<Box<dyn GroupReader + 'a>>, ColumnError> {
        if columns.find("unmodelled").is_none() {
            return Ok(None);
        }
        let (ends, members) = columns.lists_of_structs("unmodelled")?;
        Ok(Some(Box::new(Reader {
            outing: columns.numbers::<UInt64Type>("outing")?,
            level: columns.numbers::<Float64Type>("level_offset_db")?,
            ends,
            numbers: members.floats(WAVE)?,
        })))
    }
}

impl GroupWriter for Writer {
    fn push(&mut self, record: &Record) {
        let row = record.outing.as_ref();
        self.outing.push(row.map_or(0, |row| row.outing));
        self.level.push(row.map_or(0.0, |row| row.level_offset_db));
        for arrival in row.map_or(&[][..], |row| &row.unmodelled) {
            push_all(&mut self.numbers, wave_numbers(arrival));
        }
        self.ends.push(i32::try_from(self.numbers[0].len()).unwrap_or(i32::MAX));
    }

    fn finish(self: Box<Self>, fields: &[FieldRef]) -> Result<Vec<ArrayRef>, ArrowError> {
        let outing = Arc::new(UInt64Array::from(self.outing));
        let unmodelled = lists_of_structs(&fields[2], self.ends, self.numbers.map(floats).into())?;
        Ok(vec![outing, floats(self.level), unmodelled])
    }
}

impl GroupReader for Reader<'_> {
    fn read(&self, row: usize, record: &mut Record) -> Result<(), ValueError> {
        let place = |i: i32| usize::try_from(i).unwrap_or(0);
        let arrivals = place(self.ends[row])..place(self.ends[row + 1]);
        let unmodelled = arrivals.map(|i| wave(self.numbers.map(|column| column[i]))).collect();
        record.outing = Some(OutingRow { outing: self.outing[row], level_offset_db: self.level[row], unmodelled });
        Ok(())
    }
}
