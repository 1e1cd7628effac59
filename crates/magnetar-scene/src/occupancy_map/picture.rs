//! The fit drawn over the map, with the map frame's metres.

use image::{Rgb, RgbImage};

use super::{Cell, OccupancyMap, RoomFit};

/// Colours of the picture: the wall line stands out on white, black and grey, also without colour.
const FREE: Rgb<u8> = Rgb([255, 255, 255]);
const OCCUPIED: Rgb<u8> = Rgb([40, 40, 40]);
const UNKNOWN: Rgb<u8> = Rgb([190, 190, 190]);
const WALL: Rgb<u8> = Rgb([213, 94, 0]);
const METRES: Rgb<u8> = Rgb([0, 90, 160]);

/// Fewest pixels between two lines of metres.
const APART: f64 = 70.0;
/// Pixels from one dot of such a line to the next.
const DOTS: usize = 5;
/// Digits and the minus sign, five rows of three pixels each, the highest bit on the left.
const GLYPHS: [(char, [u8; 5]); 11] = [
    ('0', [7, 5, 5, 5, 7]),
    ('1', [2, 6, 2, 2, 7]),
    ('2', [7, 1, 7, 4, 7]),
    ('3', [7, 1, 7, 1, 7]),
    ('4', [5, 5, 7, 1, 1]),
    ('5', [7, 4, 7, 1, 7]),
    ('6', [7, 4, 7, 5, 7]),
    ('7', [7, 1, 1, 2, 2]),
    ('8', [7, 5, 7, 5, 7]),
    ('9', [7, 5, 7, 1, 7]),
    ('-', [0, 0, 7, 0, 0]),
];
/// Pixels of a glyph's pixel.
const GLYPH_SCALE: i64 = 2;

/// Pixels of a cell.
fn scale(map: &OccupancyMap) -> usize {
    (800 / map.width.max(map.height).max(1)).clamp(1, 8)
}

/// The map alone, several pixels a cell for small maps, with dotted lines of x and y in the map frame and their metres.
#[must_use]
pub fn picture_of_map(map: &OccupancyMap) -> RgbImage {
    let mut picture = cells(map);
    metres(&mut picture, map);
    picture
}

fn cells(map: &OccupancyMap) -> RgbImage {
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

/// Dotted lines where x or y of the map frame is a round number of metres, each with that number where it enters the picture.
fn metres(picture: &mut RgbImage, map: &OccupancyMap) {
    let scale = scale(map) as f64;
    let per_metre = scale / map.resolution;
    let Some(step) =
        [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].into_iter().find(|m| f64::from(*m) * per_metre >= APART)
    else {
        return;
    };
    let (width, height) = (map.width as f64, map.height as f64);
    let corners = [[0.0, 0.0], [width, 0.0], [0.0, height], [width, height]].map(|[u, v]| map.map_from_grid(u, v));
    for axis in [0, 1] {
        let range = |axis: usize| {
            let values = corners.map(|corner| corner[axis]);
            values.iter().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(*x), high.max(*x)))
        };
        let ((low, high), (from, to)) = (range(axis), range(1 - axis));
        let dots = ((to - from) * per_metre) as usize / DOTS;
        for number in (low / f64::from(step)).ceil() as i64..=(high / f64::from(step)).floor() as i64 {
            let metres = number * i64::from(step);
            let mut entered = false;
            for dot in 0..=dots {
                let along = from + (dot * DOTS) as f64 / per_metre;
                let point = if axis == 0 { [metres as f64, along] } else { [along, metres as f64] };
                let [column, row] = map.grid_from_map(point);
                let (x, y) = ((column * scale).floor() as i64, ((height - row) * scale).floor() as i64);
                let inside = put(picture, x, y, METRES);
                if inside && !entered {
                    entered = true;
                    write(picture, &metres.to_string(), x + 3, y - 3);
                }
            }
        }
    }
}

/// Colours a pixel of the picture, if it is one.
fn put(picture: &mut RgbImage, x: i64, y: i64, colour: Rgb<u8>) -> bool {
    let inside = (0..i64::from(picture.width())).contains(&x) && (0..i64::from(picture.height())).contains(&y);
    if inside {
        picture.put_pixel(x as u32, y as u32, colour);
    }
    inside
}

/// Writes a number with its lower left corner at a pixel, or as near as it fits.
fn write(picture: &mut RgbImage, number: &str, x: i64, y: i64) {
    let (wide, high) = (4 * GLYPH_SCALE * number.len() as i64, 5 * GLYPH_SCALE);
    let x = x.min(i64::from(picture.width()) - wide).max(0);
    let y = y.max(high) - high;
    for (n, letter) in number.chars().enumerate() {
        let Some((_, rows)) = GLYPHS.iter().find(|(glyph, _)| *glyph == letter) else { continue };
        let left = x + 4 * GLYPH_SCALE * n as i64;
        for (dx, dy) in (0..3 * GLYPH_SCALE).flat_map(|dx| (0..high).map(move |dy| (dx, dy))) {
            if rows[(dy / GLYPH_SCALE) as usize] >> (2 - dx / GLYPH_SCALE) & 1 == 1 {
                put(picture, left + dx, y + dy, METRES);
            }
        }
    }
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
