//! What a scorer was given besides the rows it scores: printed with every result.

use std::fmt;

use magnetar_trace::TraceOptions;
use serde::Serialize;

/// What is known of the materials of the room's surfaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MaterialKnowledge {
    /// Nobody said what the scorer knows.
    NotReported,
    /// The scorer uses no material.
    Unused,
    /// The materials are one of these assignments (wall/ceiling/floor), all equally likely.
    OneOf(Vec<String>),
    /// The same, and they are the rows' own: the recipe has no `train` split whose materials would be others.
    Own(Vec<String>),
    /// The materials of every surface are known.
    Exact,
}

/// What is known of the level of the signal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LevelKnowledge {
    /// Raw SNR at 1 m, boresight to boresight, dB.
    pub snr_at_one_metre_db: f64,
    /// The level is uniform within plus or minus this about it, dB.
    pub offset_max_db: f64,
}

/// How far the reported pose and layout may be off, as a scorer takes them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ReportedErrors {
    /// RX heading, degrees (standard deviation).
    pub heading_deg: f64,
    /// RX position per axis, metres (standard deviation).
    pub position_m: f64,
    /// Surfaces along their normals, metres (standard deviation).
    pub map_m: f64,
}

/// What a scorer was given besides the rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Knowledge {
    /// The room's materials.
    pub materials: MaterialKnowledge,
    /// The signal's level; `None` where it is not used or not reported.
    pub level: Option<LevelKnowledge>,
    /// Whether every row's room bounds, boxes and RX pose are used as they are.
    pub layout: bool,
    /// How far they may be off; `None` where the scorer does not say.
    pub reported: Option<ReportedErrors>,
    /// Which paths it reckons with; `None` where it traces none or did not say.
    pub propagation: Option<TraceOptions>,
}

impl Knowledge {
    /// Of a scorer that looks at nothing.
    pub const NOTHING: Self =
        Self { materials: MaterialKnowledge::Unused, level: None, layout: false, reported: None, propagation: None };

    /// Of a scorer whose makers did not say.
    pub const NOT_REPORTED: Self = Self { materials: MaterialKnowledge::NotReported, ..Self::NOTHING };

    /// Whether an assignment (wall/ceiling/floor) is among the known ones.
    #[must_use]
    pub fn includes_materials(&self, assignment: &str) -> bool {
        match &self.materials {
            MaterialKnowledge::OneOf(known) | MaterialKnowledge::Own(known) => {
                known.iter().any(|name| name == assignment)
            }
            MaterialKnowledge::Exact => true,
            MaterialKnowledge::NotReported | MaterialKnowledge::Unused => false,
        }
    }
}

impl fmt::Display for MaterialKnowledge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReported => f.write_str("what it knows was not reported"),
            Self::Unused => f.write_str("no material used"),
            Self::OneOf(known) => write!(f, "materials known as one of {}", known.join(", ")),
            Self::Own(known) => {
                let known = known.join(", ");
                write!(f, "materials KNOWN, the rows' own (the recipe has no train split): one of {known}")
            }
            Self::Exact => f.write_str("materials known exactly"),
        }
    }
}

impl fmt::Display for Knowledge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.materials)?;
        if let Some(level) = &self.level {
            write!(f, "; level {:.2} dB at 1 m +- {} dB", level.snr_at_one_metre_db, level.offset_max_db)?;
        }
        if self.layout {
            f.write_str("; layout and RX pose as reported")?;
        }
        if let Some(ReportedErrors { heading_deg, position_m, map_m }) = &self.reported {
            write!(f, " (+- {heading_deg} deg, {position_m} m; surfaces {map_m} m)")?;
        }
        if let Some(propagation) = &self.propagation {
            write!(f, "; reckons with paths of {}", propagation.describe())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_materials_are_announced() {
        let known = Knowledge {
            materials: MaterialKnowledge::OneOf(vec!["brick/concrete/wood".into()]),
            level: Some(LevelKnowledge { snr_at_one_metre_db: 30.86, offset_max_db: 3.0 }),
            layout: true,
            reported: Some(ReportedErrors { heading_deg: 3.0, position_m: 0.05, map_m: 0.02 }),
            propagation: Some(TraceOptions::default()),
        };
        assert_eq!(
            known.to_string(),
            "materials known as one of brick/concrete/wood; level 30.86 dB at 1 m +- 3 dB; layout and RX pose as reported \
             (+- 3 deg, 0.05 m; surfaces 0.02 m); reckons with paths of order 1"
        );
        assert!(known.includes_materials("brick/concrete/wood") && !known.includes_materials("glass/glass/glass"));
        let own = MaterialKnowledge::Own(vec!["brick/concrete/wood".into()]);
        assert!(own.to_string().contains("KNOWN") && own.to_string().contains("no train split"));
        assert!(!Knowledge::NOTHING.includes_materials("brick/concrete/wood"));
    }
}
