//! Whether a path that only one side has lies where the two may differ.

use nalgebra::Point3;

use super::case::Case;
use super::names::BoxMode;
use crate::block::Passage;
use crate::{Block, InteractionKind, Interactions, Surface, World};

/// A decision closer than this to an edge, metres, is left to rounding.
pub const EDGE_M: f64 = 2e-3;

/// The axis of a box's own frame along which it is thin: the normal of the sheet that stands for it.
const SHEET_AXIS: usize = 1;

/// What becomes of a path that only one side has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Both should have it.
    Different,
    /// A vertex or a leg lies within [`EDGE_M`] of an edge.
    Ambiguous,
    /// A box and the sheet that stands for it must decide differently.
    LeftOut(LeftOutReason),
}

/// Why a path is not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOutReason {
    /// It is reflected by a box, whose face lies half its thickness before the sheet.
    ReflectionOffSheet,
    /// It passes a box near its outline or grazing, where the sheet is crossed and the box entered or left at a narrow
    /// side, or the other way round.
    SheetOutline,
}

impl LeftOutReason {
    /// A few words, as in reports.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::ReflectionOffSheet => "reflection off a sheet that stands for a box",
            Self::SheetOutline => "passes a box near its outline or grazing, where a sheet decides otherwise",
        }
    }
}

/// Whether a path is of a kind that is not compared at all in this case.
pub(super) fn not_compared(case: &Case, met: &Interactions) -> Option<LeftOutReason> {
    let off_box = met.iter().any(|m| m.kind == InteractionKind::Reflection && matches!(m.surface, Surface::Box { .. }));
    (case.names.mode == BoxMode::Through && off_box).then_some(LeftOutReason::ReflectionOffSheet)
}

/// Judges a path that only one side has.
pub(super) fn judge(case: &Case, world: &World, met: &Interactions) -> Verdict {
    let reflections: Vec<_> = met.iter().filter(|m| m.kind == InteractionKind::Reflection).collect();
    if reflections.iter().any(|m| near_edge(world, m.surface, &m.vertex)) {
        return Verdict::Ambiguous;
    }
    let mut points = vec![case.tx];
    points.extend(reflections.iter().map(|m| m.vertex));
    points.push(case.rx);
    let mut verdict = Verdict::Different;
    for (n, leg) in points.windows(2).enumerate() {
        let ends = [n.checked_sub(1), Some(n)].map(|at| reflections.get(at?).map(|m| m.surface));
        for (index, block) in world.blocks().iter().enumerate() {
            let own =
                |end: &Option<Surface>| matches!(end, Some(Surface::Box { index: i, .. }) if *i as usize == index);
            if ends.iter().any(own) {
                continue;
            }
            if kind_of_passage(&resized(block, EDGE_M), leg) != kind_of_passage(&resized(block, -EDGE_M), leg) {
                return Verdict::Ambiguous;
            }
            if case.names.mode == BoxMode::Through && sheet_differs(block, leg) {
                verdict = Verdict::LeftOut(LeftOutReason::SheetOutline);
            }
        }
    }
    verdict
}

fn near_edge(world: &World, surface: Surface, vertex: &Point3<f64>) -> bool {
    let (axis, gap): (usize, [f64; 3]) = match surface {
        Surface::Room(face) => {
            let room = world.room();
            (face.axis(), [0, 1, 2].map(|a| (vertex[a] - room.min[a]).abs().min((vertex[a] - room.max[a]).abs())))
        }
        Surface::Box { index, face } => {
            let Some(block) = world.blocks().get(index as usize) else { return false };
            let local = block.local(vertex);
            (face.axis(), [0, 1, 2].map(|a| (local[a].abs() - block.half[a]).abs()))
        }
    };
    (0..3).any(|a| a != axis && gap[a] <= EDGE_M)
}

fn resized(block: &Block, by: f64) -> Block {
    Block { half: block.half.map(|half| (half + by).max(0.0)), ..*block }
}

/// The kind of a passage, and the axis it goes along.
fn kind_of_passage(block: &Block, leg: &[Point3<f64>]) -> (u8, usize) {
    match block.passage(&leg[0], &leg[1]) {
        Passage::Beside => (0, 0),
        Passage::Through { face, .. } => (1, face.axis()),
        Passage::OtherFaces => (2, 0),
        Passage::Opaque => (3, 0),
    }
}

/// Whether a leg crosses the sheet and not the box through its wide faces, or the other way round.
fn sheet_differs(block: &Block, leg: &[Point3<f64>]) -> bool {
    let (p, q) = (block.local(&leg[0]), block.local(&leg[1]));
    let crosses_plane = p[SHEET_AXIS] * q[SHEET_AXIS] < 0.0;
    let t = p[SHEET_AXIS] / (p[SHEET_AXIS] - q[SHEET_AXIS]);
    let inside = (0..3).all(|a| a == SHEET_AXIS || (p[a] + t * (q[a] - p[a])).abs() <= block.half[a]);
    match kind_of_passage(block, leg) {
        (0, _) => crosses_plane && inside,
        (1, SHEET_AXIS) => !(crosses_plane && inside),
        _ => true,
    }
}
