//! What the page and the server say to each other, as JSON: metres and degrees, unit in the name.

use magnetar_scene::{BoxShape, Layer, Pose, Room, Scene, SceneBox};
use magnetar_signal::Arrival;
use magnetar_trace::{azimuth, elevation};
use nalgebra::{Point3, Vector3};
use serde::{Deserialize, Serialize};

use crate::error::ReportError;
use crate::simulator::LinkPath;

/// Most boxes of a scene that is viewed.
pub const MAX_VIEW_BOXES: usize = 2000;

/// What is shown: the page sends it back changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkState {
    /// `[xmin, xmax, ymin, ymax, zmin, zmax]`, metres.
    pub room_m: [f64; 6],
    /// The six surfaces in the order of `Face::ALL`.
    pub surfaces: [LayerState; 6],
    /// The boxes.
    pub boxes: Vec<BoxState>,
    /// The TX.
    pub tx: PoseState,
    /// The RX.
    pub rx: PoseState,
    /// TX-power offset, dB.
    pub tx_power_offset_db: f64,
    /// Seed of RF chain and noise.
    pub seed: u32,
    /// `surface` or `power`.
    pub colour: ColourState,
    /// Whether the posterior is wanted.
    pub posterior: bool,
}

/// What a path's colour says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColourState {
    /// The kind of surface.
    Surface,
    /// The power.
    Power,
}

/// A surface's material.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerState {
    /// Name.
    pub material: String,
    /// Thickness of the slab, metres.
    pub thickness_m: f64,
}

/// A box.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoxState {
    /// What the user calls it; may be empty.
    pub name: String,
    /// Centre, global frame, metres.
    pub center_m: [f64; 3],
    /// Width, thickness, height, metres.
    pub size_m: [f64; 3],
    /// Yaw, degrees.
    pub yaw_deg: f64,
    /// What its faces are made of.
    pub layer: LayerState,
}

/// A device.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoseState {
    /// Antenna position, global frame, metres.
    pub position_m: [f64; 3],
    /// Heading, degrees counter-clockwise from +x.
    pub heading_deg: f64,
}

/// A row of a dataset the page asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowRequest {
    /// The split.
    pub split: String,
    /// The row's number.
    pub index: u64,
}

/// What follows from a state.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkResult {
    /// What is shown, in one sentence, saying that it is simulated.
    pub caption: String,
    /// The paths.
    pub paths: Vec<PathState>,
    /// The SRE's components, strongest first.
    pub arrivals: Vec<ArrivalState>,
    /// Of a measurement: the components of what is predicted for the TX where it stands, strongest first.
    pub predicted: Vec<ArrivalState>,
    /// How many of them are retained.
    pub retained: usize,
    /// The plan's frame, so that the page can turn pixels into metres.
    pub plan_frame: PlanFrame,
    /// Plan view.
    pub plan_svg: String,
    /// Channel magnitude; absent where no observation is stored.
    pub channel_svg: Option<String>,
    /// Delay profile; absent where no observation is stored.
    pub delay_svg: Option<String>,
    /// XY marginal of the twin posterior.
    pub posterior_svg: Option<String>,
    /// What the posterior assumes.
    pub posterior_caption: String,
    /// Why something is not shown.
    pub notes: Vec<String>,
}

/// Pixels and metres of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PlanFrame {
    /// `[x, y, width, height]` in units of the SVG.
    pub area: [f64; 4],
    /// `[min, max]` of x, metres.
    pub x_m: [f64; 2],
    /// `[min, max]` of y, metres.
    pub y_m: [f64; 2],
    /// Width and height of the SVG in its own units.
    pub size: [f64; 2],
}

/// A path, for the table and the 3D view.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathState {
    /// `LOS`, `wall:-x`, ...
    pub surface: String,
    /// TX, vertex if any, RX, metres.
    pub points_m: Vec<[f64; 3]>,
    /// Delay, ns.
    pub delay_ns: f64,
    /// SNR in one bin, antennas included, dB.
    pub raw_snr_db: f64,
    /// CSS variable of its colour.
    pub colour: String,
    /// Dash pattern.
    pub dash: &'static str,
    /// RX-local azimuth and elevation of arrival, degrees.
    pub aoa_deg: [f64; 2],
    /// TX-local azimuth and elevation of departure, degrees.
    pub aod_deg: [f64; 2],
}

/// An SRE component.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ArrivalState {
    /// Delay, timing offset included, ns.
    pub delay_ns: f64,
    /// AoA, principal branch, degrees.
    pub aoa_deg: f64,
    /// Raw SNR, dB.
    pub raw_snr_db: f64,
    /// Processed SNR, dB.
    pub snr_db: f64,
}

impl ArrivalState {
    /// From an arrival.
    #[must_use]
    pub fn new(arrival: &Arrival) -> Self {
        Self {
            delay_ns: arrival.delay_s * 1e9,
            aoa_deg: arrival.aoa_rad.to_degrees(),
            raw_snr_db: arrival.raw_snr_db,
            snr_db: arrival.snr_db,
        }
    }
}

impl PoseState {
    /// From a pose.
    #[must_use]
    pub fn new(pose: &Pose) -> Self {
        let p = pose.position;
        Self { position_m: [p.x, p.y, p.z], heading_deg: pose.heading.to_degrees() }
    }

    /// As a pose; `None` if a number is not finite.
    #[must_use]
    pub fn pose(&self) -> Option<Pose> {
        let [x, y, z] = self.position_m;
        let finite = self.position_m.iter().chain([&self.heading_deg]).all(|v| v.is_finite() && v.abs() <= 1e6);
        finite.then(|| Pose::new(x, y, z, self.heading_deg.to_radians()))
    }
}

impl LayerState {
    fn new(layer: &Layer) -> Self {
        Self { material: layer.material.clone(), thickness_m: layer.thickness }
    }

    fn layer(&self) -> Layer {
        Layer::new(&self.material, self.thickness_m)
    }
}

impl LinkState {
    /// A scene with a link.
    ///
    /// # Errors
    /// If the scene has more boxes than can be shown.
    pub fn new(scene: &Scene, tx: &Pose, rx: &Pose) -> Result<Self, ReportError> {
        if scene.boxes.len() > MAX_VIEW_BOXES {
            return Err(ReportError::TooManyBoxes { found: scene.boxes.len(), most: MAX_VIEW_BOXES });
        }
        let boxes = scene.boxes.iter().map(|b| BoxState {
            name: b.name.clone().unwrap_or_default(),
            center_m: [b.shape.center.x, b.shape.center.y, b.shape.center.z],
            size_m: [b.shape.size.x, b.shape.size.y, b.shape.size.z],
            yaw_deg: b.shape.yaw.to_degrees(),
            layer: LayerState::new(&b.layer),
        });
        Ok(Self {
            room_m: scene.room.bounds(),
            surfaces: scene.surfaces.each_ref().map(LayerState::new),
            boxes: boxes.collect(),
            tx: PoseState::new(tx),
            rx: PoseState::new(rx),
            tx_power_offset_db: 0.0,
            seed: 1,
            colour: ColourState::Power,
            posterior: true,
        })
    }

    /// The scene and the devices; `base` gives what the page does not change.
    ///
    /// # Errors
    /// Says what makes no sense.
    pub fn scene(&self, base: &Scene) -> Result<(Scene, Pose, Pose), ReportError> {
        let bad = |what: &str| ReportError::State(what.to_owned());
        if self.boxes.len() > MAX_VIEW_BOXES {
            return Err(ReportError::TooManyBoxes { found: self.boxes.len(), most: MAX_VIEW_BOXES });
        }
        if !(-100.0..=100.0).contains(&self.tx_power_offset_db) {
            return Err(bad("tx_power_offset_db: expected -100 to 100 dB"));
        }
        let mut scene = base.clone();
        scene.room =
            Room::from_bounds(self.room_m).ok_or_else(|| bad("room_m: expected each minimum below its maximum"))?;
        scene.surfaces = self.surfaces.each_ref().map(LayerState::layer);
        let boxes = self.boxes.iter().map(|b| SceneBox {
            name: (!b.name.is_empty()).then(|| b.name.chars().take(80).collect()),
            shape: BoxShape {
                center: Point3::from(b.center_m),
                size: Vector3::from(b.size_m),
                yaw: b.yaw_deg.to_radians(),
            },
            layer: b.layer.layer(),
        });
        scene.boxes = boxes.collect();
        // The height of devices is not used here, and a row's room may be another one.
        scene.device_height = f64::midpoint(scene.room.min.z, scene.room.max.z);
        scene.check()?;
        let tx = self.tx.pose().ok_or_else(|| bad("tx: expected finite metres and degrees"))?;
        let rx = self.rx.pose().ok_or_else(|| bad("rx: expected finite metres and degrees"))?;
        Ok((scene, tx, rx))
    }
}

impl PathState {
    /// A path between two devices; colour and dash are those of the plan.
    #[must_use]
    pub fn new(path: &LinkPath, tx: &Pose, rx: &Pose, colour: String, dash: &'static str) -> Self {
        let flat = |p: &Point3<f64>| [p.x, p.y, p.z];
        let mut points_m = vec![flat(&tx.position)];
        points_m.extend(path.path.interactions().vertices().map(|v| flat(&v)));
        points_m.push(flat(&rx.position));
        let local = |direction: &Vector3<f64>, pose: &Pose| {
            let d = pose.device_from_global(direction);
            [azimuth(&d).to_degrees(), elevation(&d).to_degrees()]
        };
        Self {
            surface: path.path.interactions().to_string(),
            points_m,
            delay_ns: path.path.delay() * 1e9,
            raw_snr_db: path.raw_snr_db,
            colour,
            dash,
            aoa_deg: local(&path.path.geometry.arrival, rx),
            aod_deg: local(&path.path.geometry.departure, tx),
        }
    }
}
