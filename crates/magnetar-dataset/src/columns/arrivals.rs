//! The estimated arrivals: `aoa`, `snr_db`, `raw_snr_db`, `delay_s`, `phase_rad`, `valid`, K values each.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray};
use arrow::datatypes::{DataType, Field, FieldRef};
use arrow::error::ArrowError;

use super::arrays::{fixed_lists, floats, push_all, with_room};
use super::describe::{field, fixed_list};
use super::{ColumnError, ColumnGroup, GroupReader, GroupWriter, NamedColumns, ValueError};
use crate::record::{Arrival, Record};
use crate::schema::Shape;

const NUMBERS: [&str; 5] = ["aoa", "snr_db", "raw_snr_db", "delay_s", "phase_rad"];

/// Every dataset has them.
pub(super) struct ArrivalColumns;

struct Writer {
    keep: usize,
    numbers: [Vec<f64>; NUMBERS.len()],
    valid: Vec<bool>,
}

struct Reader<'a> {
    keep: usize,
    numbers: [&'a [f64]; NUMBERS.len()],
    valid: &'a BooleanArray,
}

impl ColumnGroup for ArrivalColumns {
    fn fields(&self, shape: &Shape) -> Vec<Field> {
        let [aoa, snr, raw_snr, delay, phase] = NUMBERS;
        let number =
            |name, unit, frame, what| field(name, fixed_list(DataType::Float64, shape.keep), unit, frame, what);
        let valid = fixed_list(DataType::Boolean, shape.keep);
        vec![
            number(aoa, "rad", "RX-local", "estimated AoA, strongest arrival first"),
            number(snr, "dB", "", "processed SNR"),
            number(raw_snr, "dB", "", "per-bin SNR, mean over channels"),
            number(delay, "s", "", "estimated delay, the link's unknown timing offset included"),
            number(phase, "rad", "", "inter-element phase at band centre, element 1 minus element 0"),
            field("valid", valid, "", "", "whether there is an arrival of this rank"),
        ]
    }

    fn writer(&self, shape: &Shape, rows: usize) -> Box<dyn GroupWriter> {
        let keep = shape.keep;
        Box::new(Writer { keep, numbers: with_room(keep * rows), valid: Vec::with_capacity(keep * rows) })
    }

    fn reader<'a>(&self, columns: &NamedColumns<'a>) -> Result<Option<Box<dyn GroupReader + 'a>>, ColumnError> {
        let (valid, keep) = columns.fixed_booleans("valid")?;
        let mut numbers = [&[][..]; NUMBERS.len()];
        for (slot, name) in numbers.iter_mut().zip(NUMBERS) {
            *slot = columns.floats_of_length(name, keep)?;
        }
        Ok(Some(Box::new(Reader { keep, numbers, valid })))
    }
}

impl GroupWriter for Writer {
    fn push(&mut self, record: &Record) {
        for rank in 0..self.keep {
            let arrival = record.arrivals.get(rank).copied().unwrap_or_default();
            push_all(
                &mut self.numbers,
                [arrival.aoa, arrival.snr_db, arrival.raw_snr_db, arrival.delay_s, arrival.phase_rad],
            );
            self.valid.push(arrival.valid);
        }
    }

    fn finish(self: Box<Self>, fields: &[FieldRef]) -> Result<Vec<ArrayRef>, ArrowError> {
        let valid: ArrayRef = Arc::new(BooleanArray::from(self.valid));
        let items = self.numbers.map(floats).into_iter().chain([valid]);
        fields.iter().zip(items).map(|(field, items)| fixed_lists(field, items)).collect()
    }
}

impl GroupReader for Reader<'_> {
    fn read(&self, row: usize, record: &mut Record) -> Result<(), ValueError> {
        let arrival = |i: usize| {
            let [aoa, snr_db, raw_snr_db, delay_s, phase_rad] = self.numbers.map(|column| column[i]);
            Arrival { aoa, snr_db, raw_snr_db, delay_s, phase_rad, valid: self.valid.value(i) }
        };
        record.arrivals.clear();
        record.arrivals.extend((row * self.keep..(row + 1) * self.keep).map(arrival));
        Ok(())
    }
}
