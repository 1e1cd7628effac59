//! The JSON of schemas `sionna-box-v1` and `sionna-box-v2` as it is written, before its values are checked.
//!
//! Cases, materials, boxes and paths refuse unknown keys: a misspelt key must not silently become a default.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, SeqAccess, Visitor};

/// More than a file of the largest size can hold in earnest.
const MAX_CASES: usize = 1_000_000;
const MAX_BOXES: usize = 100_000;
const MAX_PATHS: usize = 100_000;
/// Paths have at most eight; a few more are read so that the error can say so.
const MAX_VERTICES: usize = 64;

/// The keys of the top level that mean something; any other is reported and skipped.
pub(super) const TOP_LEVEL_KEYS: [&str; 11] = [
    "schema",
    "set",
    "frequency_hz",
    "wavelength_m",
    "sionna_rt",
    "mitsuba",
    "drjit",
    "variant",
    "antenna",
    "solver",
    "cases",
];

#[derive(Deserialize)]
pub(super) struct RawExport {
    pub frequency_hz: f64,
    pub wavelength_m: Option<f64>,
    #[serde(deserialize_with = "bounded::<_, _, MAX_CASES>")]
    pub cases: Vec<RawCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCase {
    pub id: String,
    #[serde(default, rename = "kind")]
    _kind: IgnoredAny,
    #[serde(default, rename = "split")]
    _split: IgnoredAny,
    #[serde(default, rename = "thickness_mode")]
    _thickness_mode: IgnoredAny,
    #[serde(default, rename = "scene")]
    _scene: IgnoredAny,
    /// Of schema 2.
    pub mode: Option<RawMode>,
    pub max_depth: Option<usize>,
    pub room: [f64; 6],
    pub materials: RawMaterials,
    #[serde(default)]
    pub board: Option<RawBoard>,
    #[serde(default, deserialize_with = "bounded::<_, _, MAX_BOXES>")]
    pub boxes: Vec<RawBox>,
    pub tx: [f64; 3],
    pub rx: [f64; 3],
    #[serde(deserialize_with = "bounded::<_, _, MAX_PATHS>")]
    pub paths: Vec<RawPath>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMaterials {
    pub wall: Option<RawMaterial>,
    #[serde(rename = "wall:-x")]
    pub wall_x_min: Option<RawMaterial>,
    #[serde(rename = "wall:+x")]
    pub wall_x_max: Option<RawMaterial>,
    #[serde(rename = "wall:-y")]
    pub wall_y_min: Option<RawMaterial>,
    #[serde(rename = "wall:+y")]
    pub wall_y_max: Option<RawMaterial>,
    pub floor: RawMaterial,
    pub ceiling: RawMaterial,
    pub board: Option<RawMaterial>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMaterial {
    #[serde(default, rename = "itu")]
    _itu: IgnoredAny,
    #[serde(default, rename = "name")]
    _name: IgnoredAny,
    pub eps_r: f64,
    pub sigma: f64,
    pub thickness: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBoard {
    pub center: [f64; 3],
    pub size: [f64; 3],
    pub yaw_deg: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBox {
    pub center: [f64; 3],
    pub size: [f64; 3],
    pub yaw_deg: f64,
    pub material: RawMaterial,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPath {
    /// Of schema 1.
    #[serde(rename = "type")]
    pub kind: Option<RawKind>,
    pub object: Option<String>,
    #[serde(default, deserialize_with = "some_bounded::<_, _, MAX_VERTICES>")]
    pub vertices: Option<Vec<[f64; 3]>>,
    /// Of schema 2.
    #[serde(default, deserialize_with = "some_bounded::<_, _, MAX_VERTICES>")]
    pub interactions: Option<Vec<RawInteraction>>,
    pub tau: f64,
    pub a: [f64; 2],
    pub theta_t: f64,
    pub phi_t: f64,
    pub theta_r: f64,
    pub phi_r: f64,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
pub(super) enum RawKind {
    #[serde(rename = "LOS")]
    Los,
    #[serde(rename = "specular")]
    Specular,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum RawMode {
    Opaque,
    Through,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawInteraction {
    #[serde(rename = "type")]
    pub kind: RawInteractionKind,
    pub object: String,
    pub vertex: [f64; 3],
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum RawInteractionKind {
    Reflection,
    Transmission,
}

/// Which schema a file says it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    V1,
    V2,
}

/// The ids alone, to name a case whose other values cannot be read.
#[derive(Deserialize)]
pub(super) struct RawIds {
    #[serde(deserialize_with = "bounded::<_, _, MAX_CASES>")]
    pub cases: Vec<RawId>,
}

#[derive(Deserialize)]
pub(super) struct RawId {
    #[serde(default)]
    pub id: String,
}

/// The schema's name alone, read first: another schema is not a broken file.
#[derive(Deserialize)]
pub(super) struct RawSchema {
    #[serde(default)]
    pub schema: Option<serde_json::Value>,
}

fn some_bounded<'de, D, T, const MAX: usize>(deserializer: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    bounded::<_, _, MAX>(deserializer).map(Some)
}

/// A list of at most `MAX` items.
fn bounded<'de, D, T, const MAX: usize>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Items<T, const MAX: usize>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>, const MAX: usize> Visitor<'de> for Items<T, MAX> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a list of at most {MAX} items")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
            let mut items = Vec::new();
            while let Some(item) = list.next_element()? {
                if items.len() == MAX {
                    return Err(A::Error::custom(format_args!("the list has more than {MAX} items")));
                }
                items.push(item);
            }
            Ok(items)
        }
    }

    deserializer.deserialize_seq(Items::<T, MAX>(PhantomData))
}
