//! A scene: one room, what its surfaces are made of, and the boxes that stand in it.

use std::fmt;
use std::path::Path;

use crate::block::BoxShape;
use crate::error::{Place, SceneError};
use crate::material::Material;
use crate::material_library::MaterialLibrary;
use crate::room::{Face, Room};
use crate::shipped::{self, Named};
use crate::slab::Slab;
use crate::{scene_file, text};

/// The most boxes a scene may hold.
pub const MAX_BOXES: usize = 100_000;

/// The most materials of its own a scene may hold.
const MAX_MATERIALS: usize = 1000;

/// The largest coordinate or size a scene may hold, metres. Beyond it, millimetres are lost to rounding in the squares
/// the tracer forms.
pub const MAX_COORDINATE: f64 = 1e5;

/// The largest effective reflection level a layer may have over its material's, either way, dB.
const MAX_REFLECTION_DB: f64 = 60.0;

/// What a surface is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Name of the material, in the scene itself or in the material library.
    pub material: String,
    /// Thickness of the slab, metres.
    pub thickness: f64,
    /// Effective level of reflections over what material and thickness give, dB; 0 for as they are.
    pub reflection_db: f64,
}

impl Layer {
    /// A layer of a named material and a thickness in metres.
    #[must_use]
    pub fn new(material: &str, thickness: f64) -> Self {
        Self { material: material.to_owned(), thickness, reflection_db: 0.0 }
    }

    /// The same layer whose reflections are stronger by so many decibels.
    #[must_use]
    pub fn reflecting_more_by(self, level_db: f64) -> Self {
        Self { reflection_db: self.reflection_db + level_db, ..self }
    }
}

/// A closed, opaque box that stands in the room.
#[derive(Debug, Clone, PartialEq)]
pub struct SceneBox {
    /// What the user calls it, for example `board`.
    pub name: Option<String>,
    /// Where it stands and how large it is.
    pub shape: BoxShape,
    /// What its faces are made of. The thickness is that of the reflecting slab, not derived from the shape.
    pub layer: Layer,
}

/// A scene. Its fields may be changed freely; [`Scene::check`] says whether the result still makes sense.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// A short name.
    pub name: String,
    /// One sentence for people; may be empty.
    pub description: String,
    /// Antenna height above the global z = 0 where the user gives none, metres.
    pub device_height: f64,
    /// The room.
    pub room: Room,
    /// What each outer surface is made of, in the order of [`Face::ALL`]: floor at `Face::ZMin`, ceiling at
    /// `Face::ZMax`.
    pub surfaces: [Layer; 6],
    /// The boxes in the room; they may touch or overlap each other and the walls.
    pub boxes: Vec<SceneBox>,
    /// The scene's own materials. They come before the library's.
    pub materials: Vec<Material>,
}

/// A scene at one frequency: what the tracer needs.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedScene {
    /// The room.
    pub room: Room,
    /// The six outer surfaces, in the order of [`Face::ALL`].
    pub surfaces: [Slab; 6],
    /// The boxes, in the order of the scene.
    pub boxes: Vec<(BoxShape, Slab)>,
}

/// A key of the scene file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Name,
    DeviceHeight,
    Room(usize),
    Surface(Face),
    Boxes,
    Box(usize, BoxKey),
    Material(usize),
}

/// A key of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BoxKey {
    Center,
    Size,
    Yaw,
    Material,
    Thickness,
    Reflection,
}

/// What is wrong with a scene.
pub(crate) struct Fault {
    pub(crate) key: Key,
    pub(crate) problem: String,
    pub(crate) expected: &'static str,
}

impl Scene {
    /// An empty room whose walls, ceiling and floor are made of `(wall, ceiling, floor)`.
    #[must_use]
    pub fn new(name: &str, room: Room, [wall, ceiling, floor]: [Layer; 3], device_height: f64) -> Self {
        let surfaces = [wall.clone(), wall.clone(), wall.clone(), wall, floor, ceiling];
        let (boxes, materials) = (Vec::new(), Vec::new());
        Self { name: name.to_owned(), description: String::new(), device_height, room, surfaces, boxes, materials }
    }

    /// The shipped scene of this name, or the scene in the file at this path. A shipped name comes first; `./lab` is
    /// the file.
    ///
    /// # Errors
    /// If there is no such scene or file, or the file is malformed.
    pub fn load(name_or_path: &str) -> Result<Self, SceneError> {
        match shipped::find(shipped::SCENES, "scene", name_or_path)? {
            Named::Shipped(name, toml) => Self::from_toml_str(toml, name),
            Named::File(path) => Self::from_file(path),
        }
    }

    /// The scene in a file.
    ///
    /// # Errors
    /// If the file cannot be read or is malformed.
    pub fn from_file(path: &Path) -> Result<Self, SceneError> {
        let toml = text::read(path, "scene", scene_file::MAX_SCENE_FILE_BYTES)?;
        Self::from_toml_str(&toml, &path.display().to_string())
    }

    /// The scene in a TOML text; `origin` names it in errors.
    ///
    /// # Errors
    /// If the text is malformed; the error names line and key.
    pub fn from_toml_str(toml: &str, origin: &str) -> Result<Self, SceneError> {
        scene_file::parse(toml, origin)
    }

    /// The scene as the text of a scene file.
    #[must_use]
    pub fn to_toml(&self) -> String {
        scene_file::write(self)
    }

    /// The names of the shipped scenes.
    pub fn shipped_names() -> impl Iterator<Item = &'static str> {
        shipped::SCENES.iter().map(|(name, _)| *name)
    }

    /// Whether all values make sense.
    ///
    /// # Errors
    /// The first value that does not, with its key.
    pub fn check(&self) -> Result<(), SceneError> {
        self.fault().map_or(Ok(()), |fault| Err(fault.into_error(Place::new(&self.name))))
    }

    /// The scene at a frequency in Hz.
    ///
    /// # Errors
    /// If a value makes no sense, a material is unknown or not defined at this frequency.
    pub fn resolve(&self, materials: &MaterialLibrary, frequency_hz: f64) -> Result<ResolvedScene, SceneError> {
        self.check()?;
        let slab = |layer: &Layer, key: Key| {
            let own = self.materials.iter().find(|material| material.name == layer.material);
            let material = own.or_else(|| materials.get(&layer.material)).ok_or_else(|| {
                let known = self.materials.iter().chain(materials.iter()).map(|m| m.name.clone()).collect();
                let place = Place::new(&self.name).at_key(key);
                SceneError::UnknownMaterial { place, name: text::excerpt(&layer.material), known }
            })?;
            let (eps_r, sigma) = material.at(frequency_hz)?;
            Ok(Slab::new(eps_r, sigma, layer.thickness).reflecting_more_by(layer.reflection_db))
        };
        let mut surfaces = [Slab::new(1.0, 0.0, 0.0); 6];
        for ((resolved, layer), face) in surfaces.iter_mut().zip(&self.surfaces).zip(Face::ALL) {
            *resolved = slab(layer, Key::Surface(face))?;
        }
        let boxes = self.boxes.iter().enumerate();
        let boxes = boxes.map(|(i, b)| Ok((b.shape, slab(&b.layer, Key::Box(i, BoxKey::Material))?)));
        Ok(ResolvedScene { room: self.room, surfaces, boxes: boxes.collect::<Result<_, SceneError>>()? })
    }

    /// What is allowed but probably not meant, such as a box that reaches out of the room. One sentence each, at most
    /// ten.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let corner_out = |b: &BoxShape| {
            let [x0, x1, y0, y1, z0, z1] = self.room.bounds();
            // A board on the wall may stick out by rounding.
            let slack = 1e-9;
            let planar = b
                .footprint()
                .iter()
                .any(|&[x, y]| x < x0 - slack || x > x1 + slack || y < y0 - slack || y > y1 + slack);
            planar || b.center.z - b.size.z / 2.0 < z0 - slack || b.center.z + b.size.z / 2.0 > z1 + slack
        };
        let out = self.boxes.iter().enumerate().filter(|(_, b)| corner_out(&b.shape));
        out.take(10).map(|(i, _)| format!("box[{i}] reaches out of the room")).collect()
    }

    /// The first fault, if there is one.
    pub(crate) fn fault(&self) -> Option<Fault> {
        let fault = |key, problem: String, expected| Some(Fault { key, problem, expected });
        if self.name.trim().is_empty() || self.name.chars().count() > 200 {
            return fault(Key::Name, "empty or too long".into(), "a name of 1 to 200 characters");
        }
        for axis in 0..3 {
            let (lo, hi) = (self.room.min[axis], self.room.max[axis]);
            if !(lo < hi && lo.abs() <= MAX_COORDINATE && hi.abs() <= MAX_COORDINATE) {
                let expected = "[min, max] in metres with min < max, both within 100 km of the origin";
                return fault(Key::Room(axis), format!("bounds [{lo}, {hi}]"), expected);
            }
        }
        if !(self.device_height > self.room.min.z && self.device_height < self.room.max.z) {
            let problem = format!("height {} m", self.device_height);
            return fault(Key::DeviceHeight, problem, "a height in metres inside the room");
        }
        for (face, layer) in Face::ALL.into_iter().zip(&self.surfaces) {
            if let Some((_, problem, expected)) = layer.fault() {
                return fault(Key::Surface(face), problem, expected);
            }
        }
        if self.boxes.len() > MAX_BOXES {
            return fault(Key::Boxes, format!("{} boxes", self.boxes.len()), "at most 100000 boxes");
        }
        for (i, b) in self.boxes.iter().enumerate() {
            if let Some((key, problem, expected)) = b.fault() {
                return fault(Key::Box(i, key), problem, expected);
            }
        }
        if self.materials.len() > MAX_MATERIALS {
            let problem = format!("{} materials", self.materials.len());
            return fault(Key::Material(MAX_MATERIALS), problem, "at most 1000 materials in a scene");
        }
        self.materials.iter().enumerate().find_map(|(i, material)| {
            let twice = self.materials[..i].iter().any(|other| other.name == material.name);
            if twice || !text::is_name(&material.name) || material.ranges.is_empty() {
                let expected = "a name of letters, digits, `_`, `-` or `.`, given once, and at least one range";
                return fault(Key::Material(i), "bad material".into(), expected);
            }
            let range = material.ranges.iter().find_map(|range| range.check().err());
            range.and_then(|(problem, expected)| fault(Key::Material(i), problem, expected))
        })
    }
}

impl Layer {
    fn fault(&self) -> Option<(BoxKey, String, &'static str)> {
        if !text::is_name(&self.material) {
            let problem = format!("material `{}`", text::excerpt(&self.material));
            return Some((BoxKey::Material, problem, "the name of a material: letters, digits, `_`, `-` or `.`"));
        }
        let sound = self.reflection_db.abs() <= MAX_REFLECTION_DB;
        if !sound {
            let problem = format!("reflection_db = {}", self.reflection_db);
            return Some((BoxKey::Reflection, problem, "a reflection_db from -60 to 60 dB"));
        }
        let valid = self.thickness > 0.0 && self.thickness <= MAX_COORDINATE;
        (!valid).then(|| {
            let problem = format!("thickness {} m", self.thickness);
            (BoxKey::Thickness, problem, "a positive thickness_m in metres")
        })
    }
}

impl SceneBox {
    fn fault(&self) -> Option<(BoxKey, String, &'static str)> {
        let BoxShape { center, size, yaw } = self.shape;
        if !center.iter().all(|v| v.abs() <= MAX_COORDINATE) {
            let problem = format!("centre [{}, {}, {}]", center.x, center.y, center.z);
            return Some((BoxKey::Center, problem, "finite metres within 100 km of the origin"));
        }
        if !size.iter().all(|&v| v > 0.0 && v <= MAX_COORDINATE) {
            let problem = format!("size [{}, {}, {}]", size.x, size.y, size.z);
            return Some((BoxKey::Size, problem, "[width, thickness, height], each positive, in metres"));
        }
        if !yaw.is_finite() || yaw.abs() > 1e6 {
            return Some((BoxKey::Yaw, format!("yaw {} deg", yaw.to_degrees()), "a finite angle in degrees"));
        }
        self.layer.fault()
    }
}

impl Fault {
    pub(crate) fn into_error(self, place: Place) -> SceneError {
        SceneError::malformed(place.at_key(self.key), self.problem, self.expected)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => f.write_str("name"),
            Self::DeviceHeight => f.write_str("device_height_m"),
            Self::Room(axis) => f.write_str(["room.x_m", "room.y_m", "room.z_m"].get(*axis).unwrap_or(&"room")),
            Self::Surface(face) => write!(f, "surfaces.{}", scene_file::surface_key(*face)),
            Self::Boxes => f.write_str("box"),
            Self::Box(i, key) => {
                let key = match key {
                    BoxKey::Center => "center_m",
                    BoxKey::Size => "size_m",
                    BoxKey::Yaw => "yaw_deg",
                    BoxKey::Material => "material",
                    BoxKey::Thickness => "thickness_m",
                    BoxKey::Reflection => "reflection_db",
                };
                write!(f, "box[{i}].{key}")
            }
            Self::Material(i) => write!(f, "material number {i}"),
        }
    }
}
