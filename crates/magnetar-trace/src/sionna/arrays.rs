//! Plain arrays of Sionna RT's `Paths` in an npz file, as a document of schema `sionna-box-v2`.
//!
//! Shapes are Sionna RT's own, for one antenna at either end: `tau`, the angles and `valid` are `[rx, tx, paths]`, `a` has
//! as many numbers, `interactions` and `objects` are `[depth, rx, tx, paths]`, `vertices` also `[.., 3]`. `scene` holds the
//! bytes of a JSON text: what stands where, and the label of each object.

use std::collections::BTreeMap;
use std::path::Path;

use magnetar_files::npz::{NpzArchive, NpzArray};
use num_complex::Complex64;
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::ExportError;
use super::read::SCHEMA_V2;

/// Sionna RT's numbers of the kinds of interaction that are compared.
const KINDS: [(u32, &str); 2] = [(1, "reflection"), (4, "transmission")];

/// The array that holds the scene.
const SCENE: &str = "scene";

const ANGLES: [&str; 4] = ["theta_t", "phi_t", "theta_r", "phi_r"];

/// The scene's text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SceneText {
    #[serde(default)]
    id: Option<String>,
    frequency_hz: f64,
    room: Value,
    materials: Value,
    #[serde(default)]
    board: Value,
    #[serde(default)]
    boxes: Option<Value>,
    #[serde(default)]
    mode: Option<String>,
    tx: Vec<[f64; 3]>,
    rx: Vec<[f64; 3]>,
    /// The label of each object, by Sionna RT's number of it.
    objects: BTreeMap<u32, String>,
}

/// The arrays of all links, and how many paths there are of each.
struct Arrays {
    depth: usize,
    paths: usize,
    a: Vec<Complex64>,
    tau: Vec<f64>,
    angles: [Vec<f64>; 4],
    valid: Option<Vec<f64>>,
    interactions: Vec<f64>,
    objects: Vec<f64>,
    vertices: Vec<f64>,
}

/// The document that holds the same as the arrays, at most `limit` bytes of either.
pub(super) fn document(file: &Path, bytes: &[u8], limit: u64) -> Result<Vec<u8>, ExportError> {
    let fail = |problem: String| ExportError::Arrays { file: file.to_owned(), problem };
    let shown = file.display().to_string();
    let npz = NpzArchive::read(bytes, &shown, limit).map_err(|e| fail(without(&shown, &e.to_string())))?;
    let scene = scene(&npz, &shown).map_err(fail)?;
    let arrays = Arrays::read(&npz, &shown, scene.rx.len() * scene.tx.len()).map_err(fail)?;
    let mut cases = Vec::new();
    let mut length = 0;
    for (r, rx) in scene.rx.iter().enumerate() {
        for (t, tx) in scene.tx.iter().enumerate() {
            let case = case(&scene, &arrays, [r, t], [rx, tx]).map_err(fail)?;
            length += case.len();
            if length as u64 > limit {
                return Err(ExportError::TooLarge { file: file.to_owned(), limit });
            }
            cases.push(case);
        }
    }
    let head = json!({ "schema": SCHEMA_V2, "frequency_hz": scene.frequency_hz }).to_string();
    Ok(format!("{},\"cases\":[{}]}}", head.trim_end_matches('}'), cases.join(",")).into_bytes())
}

/// Errors of files name the file; here it is named once, by the outer error.
fn without(file: &str, message: &str) -> String {
    message.strip_prefix(file).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(message).to_owned()
}

fn scene(npz: &NpzArchive, file: &str) -> Result<SceneText, String> {
    let array = required::<f64>(npz, file, SCENE)?;
    // Anything that is not a byte is not UTF-8 either.
    let bytes: Vec<u8> = array.elements.iter().map(|byte| *byte as u8).collect();
    let text: SceneText =
        serde_json::from_slice(&bytes).map_err(|e| format!("{SCENE}: {e}; expected the bytes of a JSON text"))?;
    match text.rx.len().checked_mul(text.tx.len()) {
        Some(1..=1_000_000) => Ok(text),
        _ => Err(format!(
            "{SCENE}: {} rx and {} tx; expected at least one link and at most 1000000",
            text.rx.len(),
            text.tx.len()
        )),
    }
}

fn required<T: magnetar_files::npy::NpyElement>(
    npz: &NpzArchive,
    file: &str,
    name: &str,
) -> Result<NpzArray<T>, String> {
    let array = npz.array::<T>(name).map_err(|e| without(file, &e.to_string()))?;
    array.ok_or_else(|| {
        let held: Vec<&str> = npz.names().take(20).collect();
        format!("has no array `{name}`; it has {}; magnetar-sionna-arrays (pip install ./python/magnetar) writes what is needed", held.join(", "))
    })
}

impl Arrays {
    fn read(npz: &NpzArchive, file: &str, links: usize) -> Result<Self, String> {
        let tau = required::<f64>(npz, file, "tau")?;
        let total = tau.elements.len();
        if total % links != 0 {
            return Err(format!("tau: {total} numbers cannot be shared by the {links} links of `{SCENE}`"));
        }
        let sized = |name: &str, elements: &[f64], expected: usize| {
            let found = elements.len();
            if found == expected {
                Ok(())
            } else {
                Err(format!("{name}: {found} numbers; expected {expected}, as `tau` has {total}"))
            }
        };
        let a = required::<Complex64>(npz, file, "a")?.elements;
        if a.len() != total {
            let found = a.len();
            return Err(format!(
                "a: {found} numbers; expected {total}, one antenna at either end and as many as `tau`"
            ));
        }
        let mut angles = ANGLES.map(|_| Vec::new());
        for (slot, name) in angles.iter_mut().zip(ANGLES) {
            *slot = required::<f64>(npz, file, name)?.elements;
            sized(name, slot, total)?;
        }
        let interactions = required::<f64>(npz, file, "interactions")?;
        let depth = interactions.shape.first().copied().unwrap_or(0);
        let each = depth.checked_mul(total).ok_or("interactions: too many")?;
        sized("interactions", &interactions.elements, each)?;
        let objects = required::<f64>(npz, file, "objects")?.elements;
        sized("objects", &objects, each)?;
        let vertices = required::<f64>(npz, file, "vertices")?.elements;
        sized("vertices", &vertices, each.checked_mul(3).ok_or("vertices: too many")?)?;
        let valid = npz.array::<f64>("valid").map_err(|e| without(file, &e.to_string()))?.map(|array| array.elements);
        if let Some(valid) = &valid {
            sized("valid", valid, total)?;
        }
        let (tau, interactions) = (tau.elements, interactions.elements);
        Ok(Self { depth, paths: total / links, a, tau, angles, valid, interactions, objects, vertices })
    }

    /// Whether number `at` is a path: Sionna RT fills up links that have fewer than others.
    fn is_path(&self, at: usize) -> bool {
        // Without `valid`, a filler has the delay -1.
        self.valid.as_ref().map_or(self.tau[at] >= 0.0, |valid| valid[at] != 0.0)
    }

    /// Path number `at` as the schema has it.
    fn path(&self, at: usize, labels: &BTreeMap<u32, String>) -> Result<Value, String> {
        let total = self.tau.len();
        let mut met = Vec::new();
        for n in 0..self.depth {
            let i = n * total + at;
            if self.interactions[i] == 0.0 {
                continue;
            }
            let whole = |number: f64| (number >= 0.0 && number <= f64::from(u32::MAX)).then_some(number as u32);
            let kind = whole(self.interactions[i]).and_then(|kind| KINDS.iter().find(|(known, _)| *known == kind));
            let (_, kind) = kind.ok_or_else(|| {
                format!("interactions: {}; expected 1 (specular), 4 (refraction) or 0 (none)", self.interactions[i])
            })?;
            let label = whole(self.objects[i]).and_then(|id| labels.get(&id));
            let label = label
                .ok_or_else(|| format!("objects: {} has no label in the `objects` of `{SCENE}`", self.objects[i]))?;
            let vertex = &self.vertices[3 * i..3 * i + 3];
            met.push(json!({ "type": kind, "object": label, "vertex": vertex }));
        }
        let mut path = json!({ "interactions": met, "tau": self.tau[at], "a": [self.a[at].re, self.a[at].im] });
        for (name, values) in ANGLES.iter().zip(&self.angles) {
            path[*name] = json!(values[at]);
        }
        Ok(path)
    }
}

/// One link as the schema has it.
fn case(scene: &SceneText, arrays: &Arrays, [r, t]: [usize; 2], [rx, tx]: [&[f64; 3]; 2]) -> Result<String, String> {
    let link = r * scene.tx.len() + t;
    let range = link * arrays.paths..(link + 1) * arrays.paths;
    let paths = range.filter(|at| arrays.is_path(*at)).map(|at| {
        let path = arrays.path(at, &scene.objects)?;
        // A number that JSON cannot hold has become null.
        let broken = path.as_object().and_then(|o| o.iter().find(|(_, value)| value.is_null() || has_null(value)));
        broken.map_or(Ok(path.clone()), |(name, _)| Err(format!("{name}: number {at} is not finite")))
    });
    let id = scene.id.as_deref().unwrap_or("link");
    let single = scene.rx.len() * scene.tx.len() == 1;
    let mut case = json!({
        "id": if single { id.to_owned() } else { format!("{id}-rx{r}-tx{t}") },
        "mode": scene.mode.as_deref().unwrap_or("opaque"),
        "max_depth": arrays.depth.max(1),
        "room": scene.room,
        "materials": scene.materials,
        "board": scene.board,
        "tx": tx,
        "rx": rx,
        "paths": paths.collect::<Result<Vec<_>, _>>()?,
    });
    if let Some(boxes) = &scene.boxes {
        case["boxes"] = boxes.clone();
    }
    Ok(case.to_string())
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        _ => false,
    }
}
