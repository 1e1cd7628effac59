//! What each path meets: the member `interactions` of `paths`.

use std::borrow::Cow;

use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::{DataType, Field, Fields};
use arrow::error::ArrowError;
use magnetar_trace::{Interaction, InteractionKind, Interactions, Surface};
use nalgebra::Point3;

use super::arrays::{floats, lists_of_structs, push_all, text};
use super::describe::{field, list};
use super::{ColumnError, NamedColumns, ValueError};
use crate::record::{surface_from_name, surface_name};

/// The member's name.
const INTERACTIONS: &str = "interactions";
const NUMBERS: [&str; 3] = ["x", "y", "z"];
const KINDS: [(&str, InteractionKind); 2] =
    [("reflection", InteractionKind::Reflection), ("transmission", InteractionKind::Transmission)];

/// The field, as a member of a path.
pub(super) fn interactions_field() -> Field {
    let number = |name| field(name, DataType::Float64, "m", "global", "point of interaction");
    let [x, y, z] = NUMBERS;
    let members = Fields::from(vec![
        field("kind", DataType::Utf8, "name", "", "reflection or transmission"),
        field(
            "surface",
            DataType::Utf8,
            "name",
            "",
            "wall:-x .. wall:+y, floor, ceiling, board:-x .. board:+z, box0:-x ..",
        ),
        number(x),
        number(y),
        number(z),
    ]);
    let what = "what the path meets, from TX to RX; empty for line of sight";
    field(INTERACTIONS, list(DataType::Struct(members)), "", "", what)
}

/// The member while it grows path by path.
pub(super) struct InteractionsWriter {
    /// Where the list of each path ends; 0 first.
    ends: Vec<i32>,
    kind: Vec<&'static str>,
    surface: Vec<Cow<'static, str>>,
    numbers: [Vec<f64>; NUMBERS.len()],
}

/// The member of a batch.
pub(super) struct InteractionsReader<'a> {
    ends: &'a [i32],
    kind: &'a StringArray,
    surface: &'a StringArray,
    numbers: [&'a [f64]; NUMBERS.len()],
}

impl InteractionsWriter {
    /// Without paths.
    pub(super) fn new() -> Self {
        Self { ends: vec![0], kind: Vec::new(), surface: Vec::new(), numbers: Default::default() }
    }

    /// Adds a path's list, in a scene of so many boxes.
    pub(super) fn push(&mut self, interactions: &[Interaction], boxes: usize) {
        for interaction in interactions {
            self.kind.push(KINDS[usize::from(interaction.kind == InteractionKind::Transmission)].0);
            self.surface.push(surface_name(Some(interaction.surface), boxes));
            push_all(&mut self.numbers, interaction.vertex.coords.into());
        }
        self.ends.push(i32::try_from(self.kind.len()).unwrap_or(i32::MAX));
    }

    /// The member's array.
    pub(super) fn finish(self, field: &Field) -> Result<ArrayRef, ArrowError> {
        let mut members = vec![text(self.kind), text(self.surface)];
        members.extend(self.numbers.map(floats));
        lists_of_structs(field, self.ends, members)
    }
}

impl<'a> InteractionsReader<'a> {
    /// Of the members of a batch's paths; `None` if they do not have this one.
    pub(super) fn new(paths: &NamedColumns<'a>) -> Result<Option<Self>, ColumnError> {
        if paths.find(INTERACTIONS).is_none() {
            return Ok(None);
        }
        let (ends, members) = paths.lists_of_structs(INTERACTIONS)?;
        let (kind, surface) = (members.text("kind")?, members.text("surface")?);
        Ok(Some(Self { ends, kind, surface, numbers: members.floats(NUMBERS)? }))
    }

    /// Those of path number `path` of the batch, in a scene of so many boxes.
    pub(super) fn read(&self, path: usize, boxes: usize) -> Result<Interactions, ValueError> {
        let place = |i: i32| usize::try_from(i).unwrap_or(0);
        let range = place(self.ends[path])..place(self.ends[path + 1]);
        let count = range.len();
        let list = range.map(|i| self.interaction(i, boxes)).collect::<Result<Vec<_>, _>>()?;
        Interactions::new(&list).ok_or_else(|| ValueError::new("paths", format!("a path has {count} interactions")))
    }

    fn interaction(&self, i: usize, boxes: usize) -> Result<Interaction, ValueError> {
        let (kind, surface) = (self.kind.value(i), self.surface.value(i));
        let unknown = |what: &str, name: &str| ValueError::new("paths", format!("{what} {name:?} is unknown"));
        let known = KINDS.iter().find(|(name, _)| *name == kind);
        let (_, kind) = *known.ok_or_else(|| unknown("kind of interaction", kind))?;
        let surface: Surface =
            surface_from_name(surface, boxes).flatten().ok_or_else(|| unknown("surface", surface))?;
        let vertex = Point3::from(self.numbers.map(|column| column[i]));
        Ok(Interaction { surface, kind, vertex })
    }
}
