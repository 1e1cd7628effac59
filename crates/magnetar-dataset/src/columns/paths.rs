//! The true paths: `los`, `paths`.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, StringArray};
use arrow::datatypes::{DataType, Field, FieldRef, Fields};
use arrow::error::ArrowError;
use magnetar_trace::PathKind;

use super::arrays::{floats, lists_of_structs, push_all, text};
use super::describe::{field, list};
use super::interactions::{InteractionsReader, InteractionsWriter, interactions_field};
use super::members::{WAVE, number, wave, wave_fields, wave_numbers};
use super::{ColumnError, ColumnGroup, GroupReader, GroupWriter, NamedColumns, ValueError};
use crate::record::{Record, RecordPath, surface_from_name, surface_name};
use crate::schema::{Shape, WITH_INTERACTIONS};
use crate::wave::DeviceDirection;

const DEPARTURE: [&str; 2] = ["aod_azimuth", "aod_elevation"];

/// Every dataset has them.
pub(super) struct PathColumns;

struct Writer {
    los: Vec<bool>,
    /// Where the list of each row ends among the paths; 0 first.
    ends: Vec<i32>,
    kind: Vec<&'static str>,
    surface: Vec<Cow<'static, str>>,
    wave: [Vec<f64>; WAVE.len()],
    departure: [Vec<f64>; DEPARTURE.len()],
    interactions: Option<InteractionsWriter>,
}

struct Reader<'a> {
    los: &'a BooleanArray,
    ends: &'a [i32],
    surface: &'a StringArray,
    wave: [&'a [f64]; WAVE.len()],
    departure: [&'a [f64]; DEPARTURE.len()],
    interactions: Option<InteractionsReader<'a>>,
}

fn members(shape: &Shape) -> Fields {
    let mut members = vec![
        field("kind", DataType::Utf8, "name", "", "LOS, specular or transmitted"),
        field(
            "surface",
            DataType::Utf8,
            "name",
            "",
            "first surface met: LOS, wall:-x .. wall:+y, floor, ceiling, board:-x .. board:+z, box0:-x ..",
        ),
    ];
    members.extend(wave_fields("propagation delay to the array's centre"));
    members.extend(DEPARTURE.map(|name| number(name, "rad", "TX-local", "direction of departure")));
    if shape.version >= WITH_INTERACTIONS {
        members.push(interactions_field());
    }
    Fields::from(members)
}

impl ColumnGroup for PathColumns {
    fn fields(&self, shape: &Shape) -> Vec<Field> {
        let what = "true paths: line of sight first, then by delay";
        vec![
            field("los", DataType::Boolean, "", "", "whether the direct path is free"),
            field("paths", list(DataType::Struct(members(shape))), "", "", what),
        ]
    }

    fn writer(&self, shape: &Shape, rows: usize) -> Box<dyn GroupWriter> {
        let mut ends = Vec::with_capacity(rows + 1);
        ends.push(0);
        Box::new(Writer {
            los: Vec::with_capacity(rows),
            ends,
            kind: Vec::new(),
            surface: Vec::new(),
            wave: Default::default(),
            departure: Default::default(),
            interactions: (shape.version >= WITH_INTERACTIONS).then(InteractionsWriter::new),
        })
    }

    fn reader<'a>(&self, columns: &NamedColumns<'a>) -> Result<Option<Box<dyn GroupReader + 'a>>, ColumnError> {
        let (ends, members) = columns.lists_of_structs("paths")?;
        Ok(Some(Box::new(Reader {
            los: columns.booleans("los")?,
            ends,
            surface: members.text("surface")?,
            wave: members.floats(WAVE)?,
            departure: members.floats(DEPARTURE)?,
            interactions: InteractionsReader::new(&members)?,
        })))
    }
}

impl GroupWriter for Writer {
    fn push(&mut self, record: &Record) {
        self.los.push(record.los);
        for path in &record.paths {
            self.kind.push(match path.kind() {
                PathKind::Los => "LOS",
                PathKind::Specular => "specular",
                PathKind::Transmitted => "transmitted",
            });
            self.surface.push(surface_name(path.surface, record.layout.boxes.len()));
            push_all(&mut self.wave, wave_numbers(&path.wave));
            push_all(&mut self.departure, [path.aod.azimuth, path.aod.elevation]);
            if let Some(writer) = &mut self.interactions {
                writer.push(path.interactions.as_deref().unwrap_or_default(), record.layout.boxes.len());
            }
        }
        self.ends.push(i32::try_from(self.kind.len()).unwrap_or(i32::MAX));
    }

    fn finish(self: Box<Self>, fields: &[FieldRef]) -> Result<Vec<ArrayRef>, ArrowError> {
        let mut members = vec![text(self.kind), text(self.surface)];
        members.extend(self.wave.map(floats));
        members.extend(self.departure.map(floats));
        if let Some(writer) = self.interactions {
            members.push(writer.finish(&interactions_field())?);
        }
        Ok(vec![Arc::new(BooleanArray::from(self.los)), lists_of_structs(&fields[1], self.ends, members)?])
    }
}

impl GroupReader for Reader<'_> {
    fn read(&self, row: usize, record: &mut Record) -> Result<(), ValueError> {
        record.los = self.los.value(row);
        let place = |i: i32| usize::try_from(i).unwrap_or(0);
        let boxes = record.layout.boxes.len();
        record.paths.clear();
        for i in place(self.ends[row])..place(self.ends[row + 1]) {
            let name = self.surface.value(i);
            let surface = surface_from_name(name, boxes)
                .ok_or_else(|| ValueError::new("paths", format!("surface {name:?} is unknown")))?;
            let [azimuth, elevation] = self.departure.map(|column| column[i]);
            record.paths.push(RecordPath {
                surface,
                interactions: self.interactions.as_ref().map(|reader| reader.read(i, boxes)).transpose()?,
                wave: wave(self.wave.map(|column| column[i])),
                aod: DeviceDirection { azimuth, elevation },
            });
        }
        Ok(())
    }
}
