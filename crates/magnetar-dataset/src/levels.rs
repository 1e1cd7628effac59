//! What stands where below lists and columns that may be null: Parquet's repetition and definition levels.

use arrow::buffer::NullBuffer;

use crate::page_encoding::{bits_for, runs};

/// A place in a column: its levels, and the item of the present array that stands there, if one does.
#[derive(Debug, Clone, Copy)]
struct Slot {
    repetition: u32,
    definition: u32,
    item: Option<usize>,
}

/// The places of a column, from rows down to what lists hold.
#[derive(Debug, Clone)]
pub(crate) struct Slots {
    slots: Vec<Slot>,
    most: Slot,
    /// Whether the items are all of the array's, in its order.
    whole: bool,
    /// Which of a table's [`Levels`] these are; none where every row has one value.
    pub(crate) levels: Option<usize>,
}

impl Slots {
    /// One for each row.
    pub(crate) fn rows(count: usize) -> Self {
        let slot = |row| Slot { repetition: 0, definition: 0, item: Some(row) };
        let most = Slot { repetition: 0, definition: 0, item: None };
        Self { slots: (0..count).map(slot).collect(), most, whole: true, levels: None }
    }

    /// Number of places.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The items that are there, or `None` if they are all of the array's.
    pub(crate) fn chosen(&self) -> Option<impl Iterator<Item = usize> + '_> {
        (!self.whole).then(|| self.slots.iter().filter_map(|slot| slot.item))
    }

    /// Those of an array that may be null here and there.
    pub(crate) fn present(&self, nulls: Option<&NullBuffer>) -> Self {
        let mut below = self.clone();
        below.most.definition += 1;
        for slot in &mut below.slots {
            slot.item = slot.item.filter(|item| nulls.is_none_or(|nulls| nulls.is_valid(*item)));
            slot.definition += u32::from(slot.item.is_some());
        }
        below.whole &= nulls.is_none_or(|nulls| nulls.null_count() == 0);
        below
    }

    /// Those of the items of lists, `items` long in all; `range` says which are a list's.
    pub(crate) fn listed(&self, items: usize, range: impl Fn(usize) -> std::ops::Range<usize>) -> Self {
        let most = Slot { repetition: self.most.repetition + 1, definition: self.most.definition + 1, item: None };
        let (mut slots, mut next, mut in_order) = (Vec::with_capacity(items + self.len()), 0, true);
        for slot in &self.slots {
            let range = slot.item.map_or(0..0, &range);
            if range.is_empty() {
                slots.push(Slot { item: None, ..*slot });
                continue;
            }
            in_order &= range.start == next;
            next = range.end;
            let first = range.start;
            slots.extend(range.map(|item| Slot {
                repetition: if item == first { slot.repetition } else { most.repetition },
                definition: slot.definition + 1,
                item: Some(item),
            }));
        }
        Self { slots, most, whole: in_order && next == items, levels: None }
    }
}

/// The levels of a page's places; columns side by side in one list share them.
#[derive(Debug, Default)]
pub(crate) struct Levels {
    repetition: Vec<u32>,
    definition: Vec<u32>,
    most: [u32; 2],
}

impl Levels {
    /// Adds places.
    pub(crate) fn add(&mut self, slots: &Slots) {
        self.most = [slots.most.repetition, slots.most.definition];
        self.repetition.extend(slots.slots.iter().map(|slot| slot.repetition));
        self.definition.extend(slots.slots.iter().map(|slot| slot.definition));
    }

    /// Number of places.
    pub(crate) fn len(&self) -> usize {
        self.definition.len()
    }

    /// The levels as a page starts with them, each kind behind its length.
    pub(crate) fn encode(&self, to: &mut Vec<u8>) {
        for (levels, most) in [&self.repetition, &self.definition].into_iter().zip(self.most) {
            if most == 0 {
                continue;
            }
            let start = to.len();
            to.extend([0; 4]);
            runs(levels, bits_for(u64::from(most)), to);
            let length = (to.len() - start - 4) as u32;
            to[start..start + 4].copy_from_slice(&length.to_le_bytes());
        }
    }

    /// Starts the next page.
    pub(crate) fn clear(&mut self) {
        self.repetition.clear();
        self.definition.clear();
    }
}
