//! What was commanded in a replayed measurement campaign: `protocol`, `placement`, `site`, `command`.

use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray, UInt32Array};
use arrow::datatypes::{DataType, Field, FieldRef, Float64Type, UInt32Type};
use arrow::error::ArrowError;

use super::arrays::{floats, text};
use super::describe::field;
use super::{ColumnError, ColumnGroup, GroupReader, GroupWriter, NamedColumns, ValueError};
use crate::record::Record;
use crate::replay::{Protocol, Replayed};
use crate::schema::Shape;

/// Replays have them.
pub(super) struct ReplayColumns;

#[derive(Default)]
struct Writer {
    protocol: Vec<&'static str>,
    placement: Vec<Arc<str>>,
    site: Vec<u32>,
    command: Vec<f64>,
}

struct Reader<'a> {
    protocol: &'a StringArray,
    placement: &'a StringArray,
    site: &'a [u32],
    command: &'a [f64],
}

impl ColumnGroup for ReplayColumns {
    fn fields(&self, shape: &Shape) -> Vec<Field> {
        if !shape.replay {
            return Vec::new();
        }
        let name = |name, what| field(name, DataType::Utf8, "name", "", what);
        vec![
            name(
                "protocol",
                "measurement protocol: full-rotation or track, replayed (a simulated stand-in) or measured; random elsewhere",
            ),
            name("placement", "board placement: none, or its name"),
            field("site", DataType::UInt32, "site", "", "number of the RX site within its protocol"),
            field("command", DataType::Float64, "rad", "global", "commanded RX heading, in [0, 2 pi)"),
        ]
    }

    fn writer(&self, _: &Shape, _: usize) -> Box<dyn GroupWriter> {
        Box::new(Writer::default())
    }

    fn reader<'a>(&self, columns: &NamedColumns<'a>) -> Result<Option<Box<dyn GroupReader + 'a>>, ColumnError> {
        if columns.find("protocol").is_none() {
            return Ok(None);
        }
        Ok(Some(Box::new(Reader {
            protocol: columns.text("protocol")?,
            placement: columns.text("placement")?,
            site: columns.numbers::<UInt32Type>("site")?,
            command: columns.numbers::<Float64Type>("command")?,
        })))
    }
}

impl GroupWriter for Writer {
    fn push(&mut self, record: &Record) {
        if let Some(replayed) = &record.replayed {
            self.protocol.push(replayed.protocol.label());
            self.placement.push(Arc::clone(&replayed.placement));
            self.site.push(replayed.site);
            self.command.push(replayed.command);
        }
    }

    fn finish(self: Box<Self>, _: &[FieldRef]) -> Result<Vec<ArrayRef>, ArrowError> {
        let site = Arc::new(UInt32Array::from(self.site));
        Ok(vec![text(self.protocol), text(self.placement), site, floats(self.command)])
    }
}

impl GroupReader for Reader<'_> {
    fn read(&self, row: usize, record: &mut Record) -> Result<(), ValueError> {
        let label = self.protocol.value(row);
        let protocol = Protocol::from_label(label)
            .ok_or_else(|| ValueError::new("protocol", format!("{label:?} is no protocol of ours")))?;
        record.replayed = Some(Replayed {
            protocol,
            placement: self.placement.value(row).into(),
            site: self.site[row],
            command: self.command[row],
        });
        Ok(())
    }
}
