//! Every figure of every kind of posterior can be drawn and rendered.

use magnetar_posterior::{Support, SupportSize, Volume, fuse};
use magnetar_scene::{BoxShape, Pose, Room};
use nalgebra::{Point3, Vector3};

use super::*;
use crate::palette::Theme;
use crate::plan::{FloorPlan, PathColour};
use crate::png_from_svg;

pub(super) fn room() -> Room {
    Room::from_bounds([-1.403, 4.270, -6.060, 3.0, 0.0, 3.05]).unwrap()
}

fn board() -> BoxShape {
    BoxShape { center: Point3::new(1.0, 1.0, 1.0), size: Vector3::new(1.0, 0.033, 1.7), yaw: 0.3 }
}

/// Uniform, concentrated in one voxel, and smooth.
pub(super) fn volumes(support: &Support, rx: &Pose) -> Vec<Volume> {
    let (size, mask) = (support.size(), support.mask(rx));
    let point: Vec<f64> = (0..size.len()).map(|n| f64::from(u8::from(n == size.len() / 2))).collect();
    let smooth: Vec<f64> = (0..size.len()).map(|n| (-(n as f64 - 20.0).powi(2) / 900.0).exp()).collect();
    vec![
        Volume::uniform(size, &mask).unwrap(),
        Volume::from_weights(size, &mask, &point).unwrap(),
        Volume::from_weights(size, &mask, &smooth).unwrap(),
    ]
}

fn sound(svg: &str) {
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "a broken number");
    assert!(png_from_svg(svg, 0.5).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn every_posterior_can_be_drawn_in_both_themes() {
    let (room, rx) = (room(), Pose::new(1.0, -1.0, 1.08, 0.5));
    for size in [SupportSize { headings: 1, rows: 1, columns: 1 }, SupportSize { headings: 6, rows: 7, columns: 5 }] {
        let support = Support::centred(&room, size).unwrap();
        for volume in volumes(&support, &rx) {
            for (truth, theme) in [(None, Theme::Light), (Some(Pose::new(0.0, 2.0, 1.08, 3.0)), Theme::Dark)] {
                let picture = PosteriorPicture {
                    support: &support,
                    volume: &volume,
                    room: &room,
                    boxes: &[board()],
                    rx: &[rx],
                    truth,
                    caption: "<simulated>",
                };
                for figure in [marginal_figure, slices_figure, volume_figure] {
                    sound(&figure(&picture, theme));
                }
                let fused = fuse(&[volume.clone(), volume.clone()]).unwrap();
                sound(&fusion_figure(&picture, &fused, theme));
            }
        }
    }
}

#[test]
fn rooms_patterns_and_cones_can_be_drawn() {
    let room = room();
    let plan = FloorPlan { room: &room, boxes: &[board()], tx: None, rx: &[], paths: &[] };
    sound(&room_figure(&plan, "a & b", "", PathColour::Power, Theme::Light));
    let silent = magnetar_scene::AntennaPattern::uniform("silent", f64::NEG_INFINITY);
    for pattern in [magnetar_scene::synthetic_vivaldi(), silent] {
        sound(&pattern_figure(&pattern, Theme::Dark));
    }
    let curve = ConeCurve {
        name: "twin".into(),
        opening_deg: vec![20.0, 180.0],
        mass_percent: vec![0.0, 0.0],
        hit_percent: Vec::new(),
        spread_percent: Default::default(),
    };
    sound(&cone_figure(&[curve], "", Theme::Light));
    sound(&cone_figure(&[], "", Theme::Light));
}

#[test]
fn hpd_threshold_keeps_just_enough_mass() {
    let values = [0.5, 0.2, 0.2, 0.1, 0.0];
    assert_eq!(hpd_threshold(&values, 0.5), 0.5);
    assert_eq!(hpd_threshold(&values, 0.6), 0.2);
    assert_eq!(hpd_threshold(&values, 1.0), 0.1);
    assert_eq!(hpd_threshold(&[0.0], 0.5), f64::INFINITY);
}
