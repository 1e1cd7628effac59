//! A room with one link, from above.

use magnetar_scene::Room;

use crate::palette::Ink;
use crate::palette::Theme;
use crate::plan::{FloorPlan, PathColour, draw_plan, plan_frame, plan_legend};
use crate::svg::{Anchor, Canvas, TextStyle};

/// The plan of a room with its paths, sized to the room's shape.
#[must_use]
pub fn room_figure(plan: &FloorPlan<'_>, title: &str, caption: &str, colour: PathColour, theme: Theme) -> String {
    let (width, plan_height) = (560.0, plan_height(plan.room, 560.0));
    let height = plan_height + 76.0;
    let mut canvas = Canvas::new(width, height, theme, &format!("Room plan. {title}. {caption}"));
    let frame = plan_frame([0.0, 0.0, width, plan_height], plan.room);
    draw_plan(&mut canvas, &frame, plan, title, colour);
    plan_legend(&mut canvas, [24.0, plan_height + 20.0], width - 40.0, plan, colour);
    canvas.text([24.0, height - 10.0], caption, TextStyle::new(11.0, Ink::Muted, Anchor::Start));
    canvas.finish()
}

/// A height that suits the room's shape, pixels.
pub(crate) fn plan_height(room: &Room, width: f64) -> f64 {
    let ratio = (room.max.y - room.min.y) / (room.max.x - room.min.x);
    ((width - 66.0) * ratio.min(1.35) + 70.0).clamp(260.0, 900.0)
}
