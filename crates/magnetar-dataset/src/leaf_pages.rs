//! The column chunks of a shard but for its observations: each leaf of the schema grows in memory as plain values and becomes
//! a page every few thousand rows.
//!
//! Leaves side by side in one list have the same levels, which are worked out once for all of them, and one compressor serves
//! all leaves. Smallest and largest value are recorded of integers (a row's number, say): those of positions and noise tell
//! nothing.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Field, Float64Type, UInt32Type, UInt64Type};
use indexmap::IndexSet;
use parquet::basic::Encoding;
use parquet::errors::ParquetError;
use parquet::file::statistics::Statistics;
use parquet::schema::types::SchemaDescriptor;

use crate::column_chunk::{ChunkAbout, DataPages, Page, WrittenChunk};
use crate::frame::Frame;
use crate::levels::{Levels, Slots};
use crate::page_encoding::{bits_for, booleans, differences, runs, split_planes};

/// Rows of a page.
pub(crate) const LEAF_PAGE_ROWS: usize = 4096;

/// Bytes of a float.
const FLOAT: usize = size_of::<f64>();

/// The values of a leaf that are on no page yet; those of a dictionary stay.
enum Values {
    Floats(Vec<f64>),
    Integers { four_bytes: bool, values: Vec<u64>, range: Option<(u64, u64)> },
    Booleans(Vec<bool>),
    Texts { entries: IndexSet<Box<str>>, numbers: Vec<u32> },
}

struct Leaf {
    values: Values,
    /// Which levels it has.
    levels: Option<usize>,
    pages: DataPages,
}

/// The leaves of a shard while it grows.
pub(crate) struct LeafPages {
    leaves: Vec<Leaf>,
    levels: Vec<Levels>,
    /// Rows on no page yet.
    rows: usize,
    /// In byte planes, or number by number.
    split: bool,
    frame: Option<Frame>,
    /// A page before compression; kept for its room.
    page: Vec<u8>,
}

impl LeafPages {
    /// Without rows; floats in byte planes or not, compressed with zstd at a level or not.
    ///
    /// # Errors
    /// If zstd does not have the level.
    pub(crate) fn new(split: bool, level: Option<i32>) -> std::io::Result<Self> {
        let frame = level.map(Frame::new).transpose()?;
        Ok(Self { leaves: Vec::new(), levels: Vec::new(), rows: 0, split, frame, page: Vec::new() })
    }

    /// Adds the rows of some columns, the same ones at every call.
    ///
    /// # Errors
    /// If a column is of a type that no column of ours has, or zstd fails.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), ParquetError> {
        let mut from = 0;
        loop {
            let count = (LEAF_PAGE_ROWS - self.rows).min(batch.num_rows() - from);
            let mut walk = Walk { leaves: &mut self.leaves, levels: &mut self.levels, leaf: 0, level: 0 };
            let slots = Slots::rows(count);
            for (field, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
                walk.descend(field, &array.slice(from, count), &slots)?;
            }
            from += count;
            self.rows += count;
            if self.rows == LEAF_PAGE_ROWS {
                self.flush()?;
            }
            if from == batch.num_rows() {
                return Ok(());
            }
        }
    }

    /// Whether no columns have been seen yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// Makes a page of each leaf.
    fn flush(&mut self) -> Result<(), ParquetError> {
        let Self { leaves, levels, rows, split, frame, page } = self;
        let encoded: Vec<Vec<u8>> = levels
            .iter()
            .map(|levels| {
                let mut bytes = Vec::new();
                levels.encode(&mut bytes);
                bytes
            })
            .collect();
        for leaf in leaves.iter_mut().filter(|_| *rows > 0) {
            page.clear();
            page.extend_from_slice(leaf.levels.map_or(&[][..], |number| &encoded[number]));
            let count = leaf.levels.map_or(*rows, |number| levels[number].len());
            let head = page.len();
            let plane = leaf.values.encode(*split, page);
            let made = Page { bytes: page, planes: plane.map(|plane| (head, plane)) };
            leaf.pages.add(&made, frame.as_mut(), (*rows, count), leaf.values.encoding(*split))?;
        }
        levels.iter_mut().for_each(Levels::clear);
        *rows = 0;
        Ok(())
    }

    /// The chunks in the order of the schema's leaves.
    ///
    /// # Errors
    /// If zstd fails, or the schema has other leaves than the rows.
    pub(crate) fn close(mut self, schema: &SchemaDescriptor) -> Result<Vec<WrittenChunk>, ParquetError> {
        self.flush()?;
        let (split, mut frame) = (self.split, self.frame);
        let chunk = |(number, leaf): (usize, Leaf)| {
            let dictionary = leaf.values.dictionary();
            let about = ChunkAbout {
                column: schema.column(number),
                encodings: leaf.values.encodings(split),
                // Below a list or a column that may be null, nobody counts the nulls.
                statistics: leaf.values.statistics(leaf.levels.is_none().then_some(0)),
                dictionary: dictionary.as_ref().map(|(entries, bytes)| (*entries, bytes.as_slice())),
                frame: frame.as_mut(),
            };
            leaf.pages.close(about)
        };
        self.leaves.into_iter().enumerate().map(chunk).collect()
    }
}

/// The way through the columns of a batch, always in the same order.
struct Walk<'a> {
    leaves: &'a mut Vec<Leaf>,
    levels: &'a mut Vec<Levels>,
    /// Number of the next leaf, and of the next levels.
    leaf: usize,
    level: usize,
}

impl Walk<'_> {
    fn descend(&mut self, field: &Field, array: &dyn Array, slots: &Slots) -> Result<(), ParquetError> {
        if field.is_nullable() {
            let present = self.record(slots.present(array.nulls()));
            return self.inside(field, array, &present);
        }
        self.inside(field, array, slots)
    }

    fn inside(&mut self, field: &Field, array: &dyn Array, slots: &Slots) -> Result<(), ParquetError> {
        match array.data_type() {
            DataType::Struct(fields) => {
                let mut members = fields.iter().zip(array.as_struct().columns());
                members.try_for_each(|(field, member)| self.descend(field, member, slots))
            }
            DataType::List(item) => {
                let list = array.as_list::<i32>();
                let place = |i: i32| usize::try_from(i).unwrap_or(0);
                let range = |row: usize| place(list.value_offsets()[row])..place(list.value_offsets()[row + 1]);
                let listed = self.record(slots.listed(list.values().len(), range));
                self.descend(item, list.values(), &listed)
            }
            DataType::FixedSizeList(item, length) => {
                let list = array.as_fixed_size_list();
                let length = usize::try_from(*length).unwrap_or(0);
                let range = |row: usize| row * length..(row + 1) * length;
                let listed = self.record(slots.listed(list.values().len(), range));
                self.descend(item, list.values(), &listed)
            }
            _ => self.add(field, array, slots),
        }
    }

    /// Notes the levels of new places.
    fn record(&mut self, mut slots: Slots) -> Slots {
        if self.level == self.levels.len() {
            self.levels.push(Levels::default());
        }
        self.levels[self.level].add(&slots);
        slots.levels = Some(self.level);
        self.level += 1;
        slots
    }

    fn add(&mut self, field: &Field, array: &dyn Array, slots: &Slots) -> Result<(), ParquetError> {
        if self.leaf == self.leaves.len() {
            let values = Values::new(array.data_type()).ok_or_else(|| {
                ParquetError::General(format!("column {} cannot be of type {}", field.name(), array.data_type()))
            })?;
            self.leaves.push(Leaf { values, levels: slots.levels, pages: DataPages::new(Vec::new()) });
        }
        self.leaves[self.leaf].values.add(array, slots);
        self.leaf += 1;
        Ok(())
    }
}

/// Appends the items that stand at places: all of the array's, or some.
fn take<T: Copy>(values: &[T], slots: &Slots, to: &mut Vec<T>) {
    match slots.chosen() {
        None => to.extend_from_slice(values),
        Some(chosen) => to.extend(chosen.map(|item| values[item])),
    }
}

impl Values {
    /// None yet, of a type that a column of ours has.
    fn new(of: &DataType) -> Option<Self> {
        Some(match of {
            DataType::Float64 => Self::Floats(Vec::new()),
            DataType::UInt32 => Self::Integers { four_bytes: true, values: Vec::new(), range: None },
            DataType::UInt64 => Self::Integers { four_bytes: false, values: Vec::new(), range: None },
            DataType::Boolean => Self::Booleans(Vec::new()),
            DataType::Utf8 => Self::Texts { entries: IndexSet::new(), numbers: Vec::new() },
            _ => return None,
        })
    }

    fn add(&mut self, array: &dyn Array, slots: &Slots) {
        let all = || 0..array.len();
        let chosen = || match slots.chosen() {
            None => all().collect::<Vec<_>>(),
            Some(chosen) => chosen.collect(),
        };
        match self {
            Self::Floats(values) => take(array.as_primitive::<Float64Type>().values(), slots, values),
            Self::Integers { four_bytes: false, values, .. } => {
                take(array.as_primitive::<UInt64Type>().values(), slots, values);
            }
            Self::Integers { values, .. } => {
                let found = array.as_primitive::<UInt32Type>().values();
                values.extend(chosen().into_iter().map(|item| u64::from(found[item])));
            }
            Self::Booleans(values) => {
                let found = array.as_boolean();
                values.extend(chosen().into_iter().map(|item| found.value(item)));
            }
            Self::Texts { entries, numbers } => {
                let found = array.as_string::<i32>();
                numbers.extend(chosen().into_iter().map(|item| number_of(found.value(item), entries)));
            }
        }
    }

    /// Writes the waiting values and forgets them; the length of a byte plane, if they are in planes.
    fn encode(&mut self, split: bool, to: &mut Vec<u8>) -> Option<usize> {
        match self {
            Self::Floats(values) if split => {
                let (start, count) = (to.len(), values.len());
                to.resize(start + FLOAT * count, 0);
                split_planes(FLOAT, bytemuck::cast_slice(values), &mut to[start..], count, 0);
                values.clear();
                return Some(count);
            }
            Self::Floats(values) => {
                to.extend_from_slice(bytemuck::cast_slice(values));
                values.clear();
            }
            Self::Integers { four_bytes, values, range } => {
                for value in values.iter() {
                    let (least, most) = range.unwrap_or((*value, *value));
                    *range = Some((least.min(*value), most.max(*value)));
                }
                differences(values, *four_bytes, to);
                values.clear();
            }
            Self::Booleans(values) => {
                booleans(values, to);
                values.clear();
            }
            Self::Texts { entries, numbers } => {
                let bits = bits_for(entries.len().saturating_sub(1) as u64).max(1);
                to.push(bits as u8);
                runs(numbers, bits, to);
                numbers.clear();
            }
        }
        None
    }

    fn encoding(&self, split: bool) -> Encoding {
        match self {
            Self::Floats(_) if split => Encoding::BYTE_STREAM_SPLIT,
            Self::Floats(_) | Self::Booleans(_) => Encoding::PLAIN,
            Self::Integers { .. } => Encoding::DELTA_BINARY_PACKED,
            Self::Texts { .. } => Encoding::RLE_DICTIONARY,
        }
    }

    /// All encodings of a chunk: of values, levels and dictionary.
    fn encodings(&self, split: bool) -> Vec<Encoding> {
        let mut encodings = vec![self.encoding(split), Encoding::RLE];
        if matches!(self, Self::Texts { .. }) {
            encodings.push(Encoding::PLAIN);
        }
        encodings
    }

    /// Number of entries of the dictionary and the entries, each behind its length.
    fn dictionary(&self) -> Option<(usize, Vec<u8>)> {
        let Self::Texts { entries, .. } = self else { return None };
        let written = |text: &str| [&(text.len() as u32).to_le_bytes(), text.as_bytes()].concat();
        // Where every value is null there is an entry, too: a page without content is more than some readers know.
        let unused = entries.is_empty().then_some("");
        let texts = || entries.iter().map(|text| &**text).chain(unused);
        Some((texts().count(), texts().flat_map(written).collect()))
    }

    /// Smallest and largest value of integers, with the number of nulls where it is known.
    fn statistics(&self, nulls: Option<u64>) -> Option<Statistics> {
        let Self::Integers { four_bytes, range, .. } = self else { return None };
        let (least, most) = (*range)?;
        Some(if *four_bytes {
            let stored = |value: u64| Some((value as u32).cast_signed());
            Statistics::int32(stored(least), stored(most), None, nulls, false)
        } else {
            Statistics::int64(Some(least.cast_signed()), Some(most.cast_signed()), None, nulls, false)
        })
    }
}

/// The number of a text among the entries, which it becomes one of.
fn number_of(text: &str, entries: &mut IndexSet<Box<str>>) -> u32 {
    let number = entries.get_index_of(text).unwrap_or_else(|| entries.insert_full(text.into()).0);
    u32::try_from(number).unwrap_or(u32::MAX)
}
