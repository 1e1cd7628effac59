//! What the page and the server say to each other, as JSON: metres and degrees, unit in the name.

use magnetar_scene::{BoxShape, Layer, Pose, Room, Scene, SceneBox};
use magnetar_trace::{MAX_ORDER, TraceOptions};
use nalgebra::{Point3, Vector3};
use serde::{Deserialize, Serialize};

use crate::error::ReportError;
use crate::link_scorer::TWIN;

/// Most boxes of a scene that is viewed.
pub const MAX_VIEW_BOXES: usize = 2000;

/// Most receivers of a state.
pub const MAX_RECEIVERS: usize = 5;

/// Most boxes by order of reflection: the work grows with a power of them, and a page should not wait for seconds.
const MAX_ORDER_BOXES: [usize; MAX_ORDER + 1] = [MAX_VIEW_BOXES, MAX_VIEW_BOXES, 60, 12];

/// What is shown: the page sends it back changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkState {
    /// The scene it began with: what the page does not change is that scene's.
    pub scene: String,
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
    /// More receivers, whose posteriors are fused with that of the first.
    pub views: Vec<PoseState>,
    /// Whose link is shown: 0 is `rx`, then `views`.
    pub shown: usize,
    /// Whether the posterior is that of all receivers, or of the one shown alone.
    pub fused: bool,
    /// TX-power offset, dB.
    pub tx_power_offset_db: f64,
    /// Seed of RF chain and noise.
    pub seed: u32,
    /// `surface` or `power`.
    pub colour: ColourState,
    /// The most reflections of a path.
    pub max_order: usize,
    /// Whether waves go through boxes.
    pub transmission: bool,
    /// The scorer's name.
    pub scorer: String,
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
    /// Level of its reflections over the material's, dB.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reflection_db: f64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
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

/// A scene the page asks for, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SceneRequest {
    /// Its name.
    pub scene: String,
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
        Self { material: layer.material.clone(), thickness_m: layer.thickness, reflection_db: layer.reflection_db }
    }

    fn layer(&self) -> Layer {
        Layer::new(&self.material, self.thickness_m).reflecting_more_by(self.reflection_db)
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
            scene: scene.name.clone(),
            room_m: scene.room.bounds(),
            surfaces: scene.surfaces.each_ref().map(LayerState::new),
            boxes: boxes.collect(),
            tx: PoseState::new(tx),
            rx: PoseState::new(rx),
            views: Vec::new(),
            shown: 0,
            fused: true,
            tx_power_offset_db: 0.0,
            seed: 1,
            colour: ColourState::Power,
            max_order: TraceOptions::default().max_order,
            transmission: TraceOptions::default().transmission,
            scorer: TWIN.to_owned(),
            posterior: true,
        })
    }

    /// The same with other paths looked for.
    #[must_use]
    pub fn with_propagation(mut self, options: TraceOptions) -> Self {
        (self.max_order, self.transmission) = (options.max_order, options.transmission);
        self
    }

    /// Which paths are looked for.
    ///
    /// # Errors
    /// If the order is too high, or too high for so many boxes.
    pub fn propagation(&self) -> Result<TraceOptions, ReportError> {
        let options = TraceOptions { max_order: self.max_order, transmission: self.transmission };
        options.check()?;
        let most = MAX_ORDER_BOXES[self.max_order];
        if self.boxes.len() > most {
            return Err(ReportError::State(format!(
                "order {} is shown for up to {most} boxes, and there are {}; choose a lower order",
                self.max_order,
                self.boxes.len()
            )));
        }
        Ok(options)
    }

    /// All receivers, the first one first.
    ///
    /// # Errors
    /// If there are too many, or a number is not finite.
    pub fn receivers(&self) -> Result<Vec<Pose>, ReportError> {
        let all = std::iter::once(&self.rx).chain(&self.views);
        let poses: Option<Vec<Pose>> = all.map(PoseState::pose).collect();
        let poses = poses.ok_or_else(|| ReportError::State("rx: expected finite metres and degrees".into()))?;
        if poses.len() > MAX_RECEIVERS {
            return Err(ReportError::State(format!("views: expected at most {MAX_RECEIVERS} receivers in all")));
        }
        Ok(poses)
    }

    /// Seed of the RF chain and the noise of a receiver.
    #[must_use]
    pub fn receiver_seed(&self, receiver: usize) -> u64 {
        u64::from(self.seed) + receiver as u64
    }

    /// The scene and the devices, the RX being the one that is shown; `base` gives what the page does not change.
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
        let receivers = self.receivers()?;
        let rx = receivers.get(self.shown).ok_or_else(|| bad("shown: there is no such receiver"))?;
        Ok((scene, tx, *rx))
    }
}
