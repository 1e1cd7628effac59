//! What a path meets on its way from TX to RX.

use std::fmt;
use std::ops::Deref;

use magnetar_scene::Face;
use nalgebra::Point3;

/// The most interactions a path carries: three reflections and five crossed boxes.
pub const MAX_INTERACTIONS: usize = 8;

/// A surface of the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Surface {
    /// An outer surface of the room.
    Room(Face),
    /// A face (in the box's own frame) of box number `index` of the scene.
    Box {
        /// Position of the box in the scene's list.
        index: u32,
        /// The face in the box's own frame.
        face: Face,
    },
}

impl fmt::Display for Surface {
    /// `wall:-x`, `floor`, `ceiling`, `box0:+y`, ...
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Room(Face::ZMin) => f.write_str("floor"),
            Self::Room(Face::ZMax) => f.write_str("ceiling"),
            Self::Room(face) => write!(f, "wall:{face}"),
            Self::Box { index, face } => write!(f, "box{index}:{face}"),
        }
    }
}

/// What a wave does at a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InteractionKind {
    /// Specular reflection.
    Reflection,
    /// Straight passage through a box, in at one face and out at the opposite one.
    Transmission,
}

impl fmt::Display for InteractionKind {
    /// `reflection` or `transmission`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reflection => "reflection",
            Self::Transmission => "transmission",
        })
    }
}

/// One encounter of a path with a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interaction {
    /// The surface met; of a crossed box, the face where the wave enters.
    pub surface: Surface,
    /// What happens there.
    pub kind: InteractionKind,
    /// Where, metres, global frame: the reflection point, or the middle of the stretch inside a crossed box.
    pub vertex: Point3<f64>,
}

impl Interaction {
    /// A reflection.
    #[must_use]
    pub fn reflection(surface: Surface, vertex: Point3<f64>) -> Self {
        Self { surface, kind: InteractionKind::Reflection, vertex }
    }
}

impl fmt::Display for Interaction {
    /// A reflection as its surface, a transmission as `through:box0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kind, self.surface) {
            (InteractionKind::Transmission, Surface::Box { index, .. }) => write!(f, "through:box{index}"),
            (InteractionKind::Transmission, surface) => write!(f, "through:{surface}"),
            (InteractionKind::Reflection, surface) => surface.fmt(f),
        }
    }
}

/// The interactions of a path, from TX to RX; none for line of sight. Read it as a slice.
#[derive(Clone, Copy)]
pub struct Interactions {
    count: usize,
    /// Entries from `count` on mean nothing.
    list: [Interaction; MAX_INTERACTIONS],
}

impl Interactions {
    /// Line of sight.
    pub const NONE: Self = Self {
        count: 0,
        list: [Interaction {
            surface: Surface::Room(Face::XMin),
            kind: InteractionKind::Reflection,
            vertex: Point3::new(0.0, 0.0, 0.0),
        }; MAX_INTERACTIONS],
    };

    /// A list of interactions; `None` beyond [`MAX_INTERACTIONS`].
    #[must_use]
    pub fn new(list: &[Interaction]) -> Option<Self> {
        let mut interactions = Self::NONE;
        interactions.list.get_mut(..list.len())?.copy_from_slice(list);
        interactions.count = list.len();
        Some(interactions)
    }

    /// One interaction.
    #[must_use]
    pub fn single(interaction: Interaction) -> Self {
        let mut interactions = Self::NONE;
        interactions.set_single(interaction);
        interactions
    }

    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds an interaction; false if there is no room for it.
    pub(crate) fn push(&mut self, interaction: Interaction) -> bool {
        let slot = self.list.get_mut(self.count);
        let fits = slot.is_some();
        if let Some(slot) = slot {
            *slot = interaction;
            self.count += 1;
        }
        fits
    }

    /// Keeps a single interaction.
    #[inline]
    pub(crate) fn set_single(&mut self, interaction: Interaction) {
        self.list[0] = interaction;
        self.count = 1;
    }

    /// The surfaces met, from TX to RX.
    pub fn surfaces(&self) -> impl ExactSizeIterator<Item = Surface> + '_ {
        self.iter().map(|interaction| interaction.surface)
    }

    /// The points of interaction, from TX to RX, metres, global frame.
    pub fn vertices(&self) -> impl ExactSizeIterator<Item = Point3<f64>> + '_ {
        self.iter().map(|interaction| interaction.vertex)
    }

    /// Number of reflections.
    #[must_use]
    pub fn order(&self) -> usize {
        self.iter().filter(|interaction| interaction.kind == InteractionKind::Reflection).count()
    }

    /// Number of boxes crossed.
    #[must_use]
    pub fn transmissions(&self) -> usize {
        self.len() - self.order()
    }

    /// Whether both lists name the same surfaces and kinds in the same order, wherever the vertices lie.
    #[must_use]
    pub fn same_surfaces(&self, other: &Self) -> bool {
        self.len() == other.len()
            && self.iter().zip(other.iter()).all(|(a, b)| (a.kind, a.surface) == (b.kind, b.surface))
    }
}

impl Deref for Interactions {
    type Target = [Interaction];

    #[inline]
    fn deref(&self) -> &[Interaction] {
        &self.list[..self.count]
    }
}

impl PartialEq for Interactions {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl fmt::Debug for Interactions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl fmt::Display for Interactions {
    /// `LOS`, or the names of the interactions joined by a space: `wall:-x`, `floor wall:+y`, `through:box0 ceiling`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, rest)) = self.split_first() else { return f.write_str("LOS") };
        first.fmt(f)?;
        rest.iter().try_for_each(|interaction| write!(f, " {interaction}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(index: u32) -> Interaction {
        let surface = Surface::Box { index, face: Face::YMin };
        Interaction { surface, kind: InteractionKind::Transmission, vertex: Point3::origin() }
    }

    #[test]
    fn a_list_counts_and_names_what_it_holds() {
        let floor = Interaction::reflection(Surface::Room(Face::ZMin), Point3::new(1.0, 2.0, 0.0));
        let list = Interactions::new(&[through(3), floor]).unwrap();
        assert_eq!((list.len(), list.order(), list.transmissions()), (2, 1, 1));
        assert_eq!(list.to_string(), "through:box3 floor");
        assert_eq!(Interactions::NONE.to_string(), "LOS");
        assert_eq!(list.vertices().last(), Some(floor.vertex));
        assert!(Interactions::new(&[floor; MAX_INTERACTIONS + 1]).is_none());
    }

    #[test]
    fn what_lies_beyond_the_end_does_not_count() {
        let floor = Interaction::reflection(Surface::Room(Face::ZMin), Point3::origin());
        let mut once = Interactions::new(&[through(0), through(1)]).unwrap();
        once.set_single(floor);
        assert_eq!(once, Interactions::new(&[floor]).unwrap());
        assert!(once.same_surfaces(&Interactions::new(&[floor]).unwrap()));
        assert_ne!(once, Interactions::NONE);
    }
}
