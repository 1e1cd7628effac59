//! The fit drawn over the map.

use image::{Rgb, RgbImage};

use super::{Cell, OccupancyMap, RoomFit};

/// Colours of the picture: the wall line stands out on white, black and grey, also without colour.
const FREE: Rgb<u8> = Rgb([255, 255, 255]);
const OCCUPIED: Rgb<u8> = Rgb([40, 40, 40]);
const UNKNOWN: Rgb<u8> = Rgb([190, 190, 190]);
const WALL: Rgb<u8> = Rgb([213, 94, 0]);

/// Pixels of a cell.
fn scale(map: &OccupancyMap) -> usize {
    (800 / map.width.max(map.height).max(1)).clamp(1, 8)
}

/// The map alone, several pixels a cell for small maps.
#[must_use]
pub fn picture_of_map(map: &OccupancyMap) -> RgbImage {
    let scale = scale(map);
    let (width, height) = (map.width * scale, map.height * scale);
    RgbImage::from_fn(width as u32, height as u32, |x, y| {
        let (column, row) = (x as usize / scale, map.height - 1 - y as usize / scale);
        match map.cell(column as isize, row as isize) {
            Cell::Free => FREE,
            Cell::Occupied => OCCUPIED,
            Cell::Unknown => UNKNOWN,
        }
    })
}

/// The map with the fitted rectangle drawn over it.
#[must_use]
pub fn picture_of_fit(map: &OccupancyMap, fit: &RoomFit) -> RgbImage {
    let mut picture = picture_of_map(map);
    let scale = scale(map);
    let height = map.height * scale;
    let pixel = |corner: [f64; 2]| {
        let [column, row] = map.grid_from_map(corner);
        [column * scale as f64, height as f64 - row * scale as f64]
    };
    let corners = fit.corners_in_map().map(pixel);
    let half = (scale as f64 / 2.0).max(1.0);
    for i in 0..4 {
        line(&mut picture, corners[i], corners[(i + 1) % 4], half);
    }
    picture
}

/// A line of the given half width, clipped to the picture.
fn line(picture: &mut RgbImage, from: [f64; 2], to: [f64; 2], half: f64) {
    let steps = ((to[0] - from[0]).abs().max((to[1] - from[1]).abs()) * 2.0).ceil().clamp(1.0, 100_000.0);
    for i in 0..=steps as u32 {
        let t = f64::from(i) / steps;
        let (x, y) = (from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1]));
        let mut dy = -half;
        while dy <= half {
            let mut dx = -half;
            while dx <= half {
                let (px, py) = (x + dx, y + dy);
                if px >= 0.0 && py >= 0.0 && px < f64::from(picture.width()) && py < f64::from(picture.height()) {
                    picture.put_pixel(px as u32, py as u32, WALL);
                }
                dx += 1.0;
            }
            dy += 1.0;
        }
    }
}
