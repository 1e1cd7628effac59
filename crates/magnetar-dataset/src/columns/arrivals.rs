//! The estimated arrivals: `aoa`, `snr_db`, `raw_snr_db`, `delay_s`, `phase_rad`, `valid`, K values each.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray};
use arrow::datatypes::{DataType, Field, FieldRef};
use arrow::error::ArrowError;
use magnetar_signal::Arrival;

use super::arrays::{fixed_lists, floats, push_all, with_room};
use super::describe::{field, fixed_list};
use super::{ColumnError, ColumnGroup, GroupReader, GroupWriter, NamedColumns, ValueError};
use crate::record::Record;
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
            let found = record.arrivals.found.get(rank);
            let numbers = found.map(|a| [a.aoa_rad, a.snr_db, a.raw_snr_db, a.delay_s, a.phase_rad]);
            push_all(&mut self.numbers, numbers.unwrap_or_default());
            self.valid.push(found.is_some());
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
        let arrivals = &mut record.arrivals;
        arrivals.keep = self.keep;
        arrivals.found.clear();
        for rank in 0..self.keep {
            let i = row * self.keep + rank;
            let numbers = self.numbers.map(|column| column[i]);
            if self.valid.value(i) {
                if arrivals.found.len() < rank {
                    return Err(ValueError::new("valid", "an arrival follows a rank that has none"));
                }
                let [aoa_rad, snr_db, raw_snr_db, delay_s, phase_rad] = numbers;
                arrivals.found.push(Arrival { delay_s, phase_rad, aoa_rad, raw_snr_db, snr_db });
            } else if numbers != [0.0; NUMBERS.len()] {
                return Err(ValueError::new("valid", "a missing arrival is not zero"));
            }
        }
        Ok(())
    }
}
