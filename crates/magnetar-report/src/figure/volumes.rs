//! Volumes of several scorers side by side, with badges: the paper's Fig. 3.

use super::PosteriorPicture;
use super::caption::Caption;
use super::slices::nearest_bin;
use super::volume::{View, key, mark_truth, voxels};
use crate::palette::{Ink, Theme};
use crate::svg::{Anchor, Canvas, Stroke, TextStyle};
use crate::ticks::number;

/// One scorer's posteriors of the cases.
pub struct VolumeRow<'a> {
    /// The scorer.
    pub name: String,
    /// One posterior per case, truth known, each with the name of its case as caption.
    pub cases: Vec<PosteriorPicture<'a>>,
}

const PANEL: [f64; 2] = [215.0, 250.0];
const LEFT: f64 = 130.0;

/// A row of volumes per scorer, a column per case; height is the heading relative to the true one. The badges are means
/// over the cases.
#[must_use]
pub fn volumes_figure(rows: &[VolumeRow<'_>], caption: &str, theme: Theme) -> String {
    let across = rows.iter().map(|row| row.cases.len()).max().unwrap_or(0);
    let width = (LEFT + across as f64 * PANEL[0] + 16.0).max(560.0);
    let under = Caption { text: caption, left: 24.0, width };
    let top = 34.0;
    let panels = top + rows.len() as f64 * PANEL[1];
    let height = panels + 122.0 + under.extra_height();
    let mut canvas = Canvas::new(width, height, theme, &format!("HPD sets of the joint posterior. {caption}"));
    let words = |size: f64, anchor: Anchor| TextStyle::new(size, Ink::Text, anchor);
    if let Some(row) = rows.first() {
        for (n, case) in row.cases.iter().enumerate() {
            let middle = LEFT + (n as f64 + 0.5) * PANEL[0];
            canvas.text([middle, 22.0], case.caption, words(12.0, Anchor::Middle).bold());
        }
    }
    for (i, row) in rows.iter().enumerate() {
        let y = top + i as f64 * PANEL[1];
        canvas.text([24.0, y + 30.0], &row.name, words(13.0, Anchor::Start).bold());
        badges(&mut canvas, [24.0, y + 44.0], &row.cases);
        for (n, case) in row.cases.iter().enumerate() {
            panel(&mut canvas, [LEFT + n as f64 * PANEL[0], y, PANEL[0], PANEL[1]], case);
        }
    }
    key(&mut canvas, [24.0, panels + 4.0]);
    let mark = "dashed plane and triangle: true TX heading and position; height: heading from \u{2212}180\u{b0} to 180\u{b0} about the true one";
    canvas.text([24.0, panels + 94.0], mark, words(11.0, Anchor::Start));
    under.draw(&mut canvas, height, 12.0);
    canvas.finish()
}

/// Mean mass near the truth over the cases.
fn badges(canvas: &mut Canvas, [x, y]: [f64; 2], cases: &[PosteriorPicture<'_>]) {
    let masses: Vec<[f64; 2]> = cases.iter().filter_map(masses_near_truth).collect();
    let mean = |k: usize| 100.0 * masses.iter().map(|m| m[k]).sum::<f64>() / masses.len() as f64;
    for (n, name) in ["P 1 m", "P joint"].into_iter().enumerate() {
        let top = y + 26.0 * n as f64;
        canvas.rect([x, top, 92.0, 21.0], Ink::Panel, Ink::Muted);
        let text = format!("{name} {} %", number(mean(n), 1));
        canvas.text([x + 46.0, top + 15.0], &text, TextStyle::new(11.0, Ink::Text, Anchor::Middle));
    }
}

/// Mass within 1 m of the true position over all headings, and in the heading bin nearest the true one alone.
fn masses_near_truth(picture: &PosteriorPicture<'_>) -> Option<[f64; 2]> {
    let truth = picture.truth?;
    let nearest = nearest_bin(picture, truth.heading);
    let mut masses = [0.0; 2];
    for (n, mass) in picture.volume.mass().iter().enumerate() {
        let (d, i, j) = picture.support.place(n);
        let (dx, dy) = (picture.support.xs()[j] - truth.position.x, picture.support.ys()[i] - truth.position.y);
        if dx.hypot(dy) <= 1.0 {
            masses[0] += f64::from(*mass);
            masses[1] += if d == nearest { f64::from(*mass) } else { 0.0 };
        }
    }
    Some(masses)
}

fn panel(canvas: &mut Canvas, [x, y, w, h]: [f64; 4], picture: &PosteriorPicture<'_>) {
    let bounds = picture.support.bounds();
    let view = View::fitting([x + 8.0, y + 14.0, w - 16.0, h - 28.0], bounds);
    let [x0, x1, y0, y1] = bounds;
    let thin = Stroke::new(Ink::Grid, 1.0);
    let floor = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
    canvas.polygon(&floor.map(|[x, y]| view.at(x, y, 0.0)), Ink::Panel, 1.0, Stroke::new(Ink::Muted, 1.0));
    for [x, y] in [[x0, y0], [x0, y1], [x1, y1]] {
        canvas.line(view.at(x, y, 0.0), view.at(x, y, 1.0), thin);
    }
    canvas.polyline([[x0, y0], [x0, y1], [x1, y1]].map(|[x, y]| view.at(x, y, 1.0)), thin);
    let headings = picture.support.size().headings;
    let lowest =
        picture.truth.map_or(0, |truth| (nearest_bin(picture, truth.heading) + headings - headings / 2) % headings);
    voxels(canvas, &view, picture, lowest);
    if let Some(truth) = picture.truth {
        // The middle of its bin, which is in the middle of the height.
        let h = ((headings / 2) as f64 + 0.5) / headings as f64;
        mark_truth(canvas, &view, [truth.position.x, truth.position.y, h], 5.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::tests::{room, volumes};
    use magnetar_posterior::{Support, SupportSize};
    use magnetar_scene::Pose;

    #[test]
    fn badges_are_the_mass_near_the_truth() {
        let (truth, room, rx) = (Pose::new(1.0, 0.5, 1.0, 0.4), room(), [Pose::new(2.0, -1.0, 1.0, 0.0)]);
        let support = Support::centred(&room, SupportSize { headings: 6, rows: 7, columns: 5 }).unwrap();
        let volume = &volumes(&support, &rx[0])[0];
        let picture = PosteriorPicture {
            support: &support,
            volume,
            room: &room,
            boxes: &[],
            rx: &rx,
            truth: Some(truth),
            caption: "a case",
        };
        let [near, joint] = masses_near_truth(&picture).unwrap();
        // Spread evenly: a sixth of what is near lies in one of six headings.
        assert!(near > 0.0 && near < 0.2 && (joint - near / 6.0).abs() < 1e-6, "{near} {joint}");
        let row = |name: &str| VolumeRow { name: name.into(), cases: vec![picture; 2] };
        let svg = volumes_figure(&[row("twin"), row("uniform")], "Simulated.", Theme::Light);
        let badge = format!("P 1 m {} %", number(100.0 * near, 1));
        assert_eq!(svg.matches(&badge).count(), 2, "{badge}");
        assert!(!svg.contains("NaN"));
        assert!(masses_near_truth(&PosteriorPicture { truth: None, ..picture }).is_none());
    }
}
