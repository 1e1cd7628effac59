//! Scene files: TOML with a room, its surfaces and any number of boxes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use nalgebra::{Point3, Vector3};
use serde::Deserialize;
use toml::Spanned;

use crate::block::BoxShape;
use crate::error::{Place, SceneError};
use crate::material::Material;
use crate::material_file::{self, RawMaterial};
use crate::room::{Face, Room};
use crate::scene::{Key, Layer, Scene, SceneBox};
use crate::text;

/// Room for `MAX_BOXES` boxes at some 300 bytes each.
pub(crate) const MAX_SCENE_FILE_BYTES: u64 = 32 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScene {
    name: Spanned<String>,
    #[serde(default)]
    description: String,
    device_height_m: Spanned<f64>,
    room: RawRoom,
    surfaces: Spanned<RawSurfaces>,
    #[serde(default, rename = "box")]
    boxes: Vec<Spanned<RawBox>>,
    #[serde(default)]
    material: BTreeMap<String, Spanned<RawMaterial>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRoom {
    x_m: Spanned<[f64; 2]>,
    y_m: Spanned<[f64; 2]>,
    z_m: Spanned<[f64; 2]>,
}

/// `wall` stands for every wall that has no entry of its own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSurfaces {
    wall: Option<Spanned<RawLayer>>,
    #[serde(rename = "wall:-x")]
    wall_x_min: Option<Spanned<RawLayer>>,
    #[serde(rename = "wall:+x")]
    wall_x_max: Option<Spanned<RawLayer>>,
    #[serde(rename = "wall:-y")]
    wall_y_min: Option<Spanned<RawLayer>>,
    #[serde(rename = "wall:+y")]
    wall_y_max: Option<Spanned<RawLayer>>,
    floor: Spanned<RawLayer>,
    ceiling: Spanned<RawLayer>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLayer {
    material: String,
    thickness_m: f64,
    #[serde(default)]
    reflection_db: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBox {
    name: Option<String>,
    center_m: Spanned<[f64; 3]>,
    size_m: Spanned<[f64; 3]>,
    #[serde(default)]
    yaw_deg: Option<Spanned<f64>>,
    material: Spanned<String>,
    thickness_m: Spanned<f64>,
    #[serde(default)]
    reflection_db: Option<Spanned<f64>>,
}

/// Parses the text of a scene file.
pub(crate) fn parse(text: &str, origin: &str) -> Result<Scene, SceneError> {
    let raw: RawScene = text::parse_toml(text, origin)?;
    let surfaces = layers(&raw.surfaces, text, origin)?;
    let mut spans = Spans {
        name: raw.name.span(),
        device_height: raw.device_height_m.span(),
        room: [raw.room.x_m.span(), raw.room.y_m.span(), raw.room.z_m.span()],
        surfaces: surfaces.each_ref().map(|layer| layer.span()),
        boxes: Vec::with_capacity(raw.boxes.len()),
    };
    let materials = raw.material.into_iter().map(|(name, table)| material_file::check(&name, table, text, origin));
    let materials = materials.collect::<Result<Vec<_>, _>>()?;
    let ([x0, x1], [y0, y1], [z0, z1]) = (*raw.room.x_m.get_ref(), *raw.room.y_m.get_ref(), *raw.room.z_m.get_ref());
    let mut boxes = Vec::with_capacity(raw.boxes.len());
    for raw_box in raw.boxes {
        spans.boxes.push(raw_box.get_ref().spans(raw_box.span()));
        boxes.push(raw_box.into_inner().into_box());
    }
    let scene = Scene {
        name: raw.name.into_inner(),
        description: raw.description,
        device_height: raw.device_height_m.into_inner(),
        room: Room { min: Point3::new(x0, y0, z0), max: Point3::new(x1, y1, z1) },
        surfaces: surfaces.map(|layer| layer.get_ref().layer()),
        boxes,
        materials,
    };
    match scene.fault() {
        None => Ok(scene),
        Some(fault) => {
            let line = text::line_at(text.as_bytes(), spans.of(fault.key).start);
            Err(fault.into_error(Place::new(origin).at_line(line)))
        }
    }
}

/// The key of an outer surface in scene files, the same as in path tables.
pub(crate) fn surface_key(face: Face) -> &'static str {
    ["wall:-x", "wall:+x", "wall:-y", "wall:+y", "floor", "ceiling"][face as usize]
}

/// The six layers in face order.
fn layers<'a>(
    raw: &'a Spanned<RawSurfaces>,
    text: &str,
    origin: &str,
) -> Result<[&'a Spanned<RawLayer>; 6], SceneError> {
    let s = raw.get_ref();
    let wall = |own: &'a Option<Spanned<RawLayer>>, face: Face| {
        own.as_ref().or(s.wall.as_ref()).ok_or_else(|| {
            let line = text::line_at(text.as_bytes(), raw.span().start);
            let place = Place::new(origin).at_line(line).at_key(format!("surfaces.{}", surface_key(face)));
            SceneError::malformed(place, "missing", "an entry `wall` for all walls, or one for each wall")
        })
    };
    Ok([
        wall(&s.wall_x_min, Face::XMin)?,
        wall(&s.wall_x_max, Face::XMax)?,
        wall(&s.wall_y_min, Face::YMin)?,
        wall(&s.wall_y_max, Face::YMax)?,
        &s.floor,
        &s.ceiling,
    ])
}

/// Where the keys stand in the text.
struct Spans {
    name: Range<usize>,
    device_height: Range<usize>,
    room: [Range<usize>; 3],
    surfaces: [Range<usize>; 6],
    boxes: Vec<[Range<usize>; 6]>,
}

impl Spans {
    fn of(&self, key: Key) -> Range<usize> {
        match key {
            Key::Name => self.name.clone(),
            Key::DeviceHeight => self.device_height.clone(),
            Key::Room(axis) => self.room[axis].clone(),
            Key::Surface(face) => self.surfaces[face as usize].clone(),
            Key::Box(i, key) => self.boxes[i][key as usize].clone(),
            // The first box beyond the limit; materials were checked one by one while they were read.
            Key::Boxes => self.boxes.get(crate::scene::MAX_BOXES).map_or(0..0, |spans| spans[0].clone()),
            Key::Material(_) => 0..0,
        }
    }
}

impl RawLayer {
    fn layer(&self) -> Layer {
        Layer::new(&self.material, self.thickness_m).reflecting_more_by(self.reflection_db)
    }
}

impl RawBox {
    /// The spans of the keys, in the order of `BoxKey`; `whole` is the span of the table.
    fn spans(&self, whole: Range<usize>) -> [Range<usize>; 6] {
        let given = |key: &Option<Spanned<f64>>| key.as_ref().map_or(whole.clone(), Spanned::span);
        let (yaw, reflection) = (given(&self.yaw_deg), given(&self.reflection_db));
        [self.center_m.span(), self.size_m.span(), yaw, self.material.span(), self.thickness_m.span(), reflection]
    }

    fn into_box(self) -> SceneBox {
        let yaw = self.yaw_deg.map_or(0.0, Spanned::into_inner).to_radians();
        let center = Point3::from(self.center_m.into_inner());
        let size = Vector3::from(self.size_m.into_inner());
        let reflection_db = self.reflection_db.map_or(0.0, Spanned::into_inner);
        let layer =
            Layer::new(self.material.get_ref(), self.thickness_m.into_inner()).reflecting_more_by(reflection_db);
        SceneBox { name: self.name, shape: BoxShape { center, size, yaw }, layer }
    }
}

/// Writes a scene as the text of a scene file. Numbers read back as they are, yaw to the last place.
pub(crate) fn write(scene: &Scene) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_scene(&mut out, scene);
    out
}

fn write_scene(out: &mut String, scene: &Scene) -> std::fmt::Result {
    writeln!(out, "name = {}", quoted(&scene.name))?;
    writeln!(out, "description = {}", quoted(&scene.description))?;
    writeln!(out, "device_height_m = {:?}", scene.device_height)?;
    writeln!(out, "\n[room]")?;
    for (axis, key) in ["x_m", "y_m", "z_m"].into_iter().enumerate() {
        writeln!(out, "{key} = [{:?}, {:?}]", scene.room.min[axis], scene.room.max[axis])?;
    }
    writeln!(out, "\n[surfaces]")?;
    let walls = &scene.surfaces[..4];
    let one_wall = walls.iter().all(|layer| *layer == walls[0]);
    if one_wall {
        writeln!(out, "wall = {}", inline(&walls[0]))?;
    }
    for (face, layer) in Face::ALL.into_iter().zip(&scene.surfaces).skip(if one_wall { 4 } else { 0 }) {
        let key = surface_key(face);
        let key = if key.contains(':') { quoted(key) } else { key.to_owned() };
        writeln!(out, "{key} = {}", inline(layer))?;
    }
    for b in &scene.boxes {
        let BoxShape { center, size, yaw } = b.shape;
        writeln!(out, "\n[[box]]")?;
        if let Some(name) = &b.name {
            writeln!(out, "name = {}", quoted(name))?;
        }
        writeln!(out, "center_m = [{:?}, {:?}, {:?}]", center.x, center.y, center.z)?;
        writeln!(out, "size_m = [{:?}, {:?}, {:?}]", size.x, size.y, size.z)?;
        writeln!(out, "yaw_deg = {:?}", degrees(yaw))?;
        writeln!(out, "material = {}", quoted(&b.layer.material))?;
        writeln!(out, "thickness_m = {:?}", b.layer.thickness)?;
        if b.layer.reflection_db != 0.0 {
            writeln!(out, "reflection_db = {:?}", b.layer.reflection_db)?;
        }
    }
    scene.materials.iter().try_for_each(|material| write_material(out, material))
}

fn write_material(out: &mut String, material: &Material) -> std::fmt::Result {
    writeln!(out, "\n[material.{}]", quoted(&material.name))?;
    writeln!(out, "source = {}", quoted(&material.source))?;
    writeln!(out, "ranges = [")?;
    for range in &material.ranges {
        let (lo, hi) = (range.min_hz / 1e9, range.max_hz / 1e9);
        // TOML spells infinity as Rust does.
        writeln!(
            out,
            "  {{ min_ghz = {lo:?}, max_ghz = {hi:?}, a = {:?}, b = {:?}, c = {:?}, d = {:?} }},",
            range.a, range.b, range.c, range.d
        )?;
    }
    writeln!(out, "]")
}

fn inline(layer: &Layer) -> String {
    let level_db = layer.reflection_db;
    let level = if level_db == 0.0 { String::new() } else { format!(", reflection_db = {level_db:?}") };
    format!("{{ material = {}, thickness_m = {:?}{level} }}", quoted(&layer.material), layer.thickness)
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// An angle in degrees, short where a short number means the same angle to the last places.
fn degrees(radians: f64) -> f64 {
    let exact = radians.to_degrees();
    let short = (exact * 1e9).round() / 1e9;
    if (short.to_radians() - radians).abs() <= 2.0 * f64::EPSILON * radians.abs() { short } else { exact }
}
