//! What is shown as a command: the lines that give the same in a shell.

use std::fmt::Write as _;

use magnetar_scene::{Pose, Scene};
use magnetar_signal::{AntennaConfig, RadioConfig};
use magnetar_trace::TraceOptions;
use serde::Deserialize;

use super::app::App;
use super::protocol::{LinkState, PoseState, RowRequest};
use crate::error::ReportError;
use crate::link_scorer::{TWIN, margins_m, usual_margins_m};

/// How the command line names what is shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spoken {
    /// The scene or dataset, as it was given.
    pub what: String,
    /// The antenna pattern of both ends, as it was given; the default one if left out.
    pub pattern: Option<String>,
    /// Files of materials, as they were given.
    pub materials: Vec<String>,
    /// Scorers by name, and the flags that give each; those of others are their name alone.
    pub scorers: Vec<(String, String)>,
}

impl Spoken {
    /// A scene, and nothing else that was given.
    #[must_use]
    pub fn of_scene(what: &str) -> Self {
        Self { what: what.to_owned(), ..Self::default() }
    }
}

/// A command that the page asks for.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandRequest {
    /// What is shown.
    pub state: LinkState,
    /// The row it is, as stored.
    pub row: Option<RowRequest>,
    /// Which command.
    pub command: CommandKind,
}

/// Commands that give what is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommandKind {
    /// The paths.
    Trace,
    /// The observation.
    Observe,
    /// The posterior.
    Locate,
}

impl App {
    /// The lines of a shell that give what is shown.
    pub(super) fn command(&self, wanted: &CommandRequest) -> Result<String, ReportError> {
        let state = &wanted.state;
        let base = self.base(&state.scene)?;
        let (mut scene, tx, _) = state.scene(base)?;
        let (receivers, propagation) = (state.receivers()?, state.propagation()?);
        if wanted.command != CommandKind::Trace {
            if let Some(row) = &wanted.row {
                return Ok(self.row_command(row, wanted.command, &state.scorer));
            }
            self.check_radio(wanted.command, &state.scorer)?;
        }
        // `locate` takes the TX to be at the scene's device height.
        let height = if wanted.command == CommandKind::Locate { tx.position.z } else { base.device_height };
        let mut lines = String::new();
        let named = if self.rows.is_some() || height != base.device_height || !is_as_loaded(state, base)? {
            scene.device_height = height;
            write_scene(&mut lines, &scene);
            "room.toml".to_owned()
        } else if base.name == self.scenes[0].name {
            quoted(&self.spoken.what)
        } else {
            quoted(&base.name)
        };
        let shared = self.shared_flags(&propagation);
        match wanted.command {
            CommandKind::Trace => {
                let devices = devices(&state.tx, receiver(state, state.shown));
                let _ = write!(lines, "magnetar trace {named} {devices}{}{shared}", self.carrier_flag());
            }
            CommandKind::Observe => {
                self.observe(&mut lines, state, &named, &shared, (state.shown, "observation.npy"));
            }
            CommandKind::Locate => {
                let fused = state.fused && receivers.len() > 1;
                let views: Vec<usize> = if fused { (0..receivers.len()).collect() } else { vec![state.shown] };
                let file = |n: usize| if fused { format!("view{}.npy", n + 1) } else { "observation.npy".to_owned() };
                for n in &views {
                    self.observe(&mut lines, state, &named, &shared, (*n, &file(*n)));
                    lines.push('\n');
                }
                let poses: Vec<Pose> = views.iter().filter_map(|n| receivers.get(*n).copied()).collect();
                if margins_m(&scene, &tx, &poses) != usual_margins_m() {
                    lines.push_str("# locate keeps its candidates farther from walls and RX than this TX stands\n");
                }
                let _ = write!(lines, "magnetar locate {named}");
                for n in &views {
                    let _ = write!(lines, " {}", file(*n));
                }
                for n in &views {
                    let _ = write!(lines, " --rx {}", pose(receiver(state, *n)));
                }
                lines.push_str(&self.materials_flags());
                lines.push_str(&self.scorer_flags(&state.scorer));
            }
        }
        Ok(lines)
    }

    /// A stored row's own command: its posterior as the figure that is nearest to what is shown.
    fn row_command(&self, row: &RowRequest, command: CommandKind, scorer: &str) -> String {
        let place = format!("{} --split {} --row {}", quoted(&self.spoken.what), quoted(&row.split), row.index);
        let flags = self.scorer_flags(scorer);
        match command {
            CommandKind::Locate => format!("magnetar plot marginal {place}{flags} -o marginal.svg"),
            _ => format!("magnetar view {place}{flags} --export row.html"),
        }
    }

    /// Flags that give a scorer, each after a space.
    fn scorer_flags(&self, scorer: &str) -> String {
        match self.spoken.scorers.iter().find(|(name, _)| name == scorer) {
            Some((_, flags)) => flags.clone(),
            None if scorer == TWIN => String::new(),
            None => format!(" --scorer {}", quoted(scorer)),
        }
    }

    /// Refuses what no flag of `observe` or `locate` gives.
    fn check_radio(&self, command: CommandKind, scorer: &str) -> Result<(), ReportError> {
        let config = self.simulators.settings().radio.config();
        let antennas = AntennaConfig::all(&config.antennas.tx_pattern);
        let why = if self.measurement.is_some() {
            "the observation is a file of yours: `magnetar locate` takes it with the flags you gave to `view`"
        } else if *config != (RadioConfig { antennas, ..RadioConfig::default() }) {
            "the radio is that of a recipe, which `observe` has no flags for; `magnetar generate` makes its rows"
        } else if self.rows.is_some() && command == CommandKind::Locate && scorer == TWIN {
            "a dataset's twin knows the recipe's materials, that of `locate` the scene's; show the stored row instead"
        } else {
            return Ok(());
        };
        Err(ReportError::State(why.into()))
    }

    fn observe(&self, lines: &mut String, state: &LinkState, named: &str, shared: &str, (n, file): (usize, &str)) {
        let devices = devices(&state.tx, receiver(state, n));
        let _ = write!(lines, "magnetar observe {named} {devices} --seed {}{shared}", state.receiver_seed(n));
        if let Some(pattern) = &self.spoken.pattern {
            let pattern = quoted(pattern);
            let _ = write!(lines, " --tx-pattern {pattern} --rx-pattern {pattern}");
        }
        if state.tx_power_offset_db != 0.0 {
            let _ = write!(lines, " --tx-power-offset-db {}", state.tx_power_offset_db);
        }
        let _ = write!(lines, " --out {file}");
    }

    fn materials_flags(&self) -> String {
        self.spoken.materials.iter().map(|file| format!(" --materials {}", quoted(file))).collect()
    }

    /// Flags that `trace` and `observe` share.
    fn shared_flags(&self, propagation: &TraceOptions) -> String {
        let mut flags = self.materials_flags();
        if propagation.max_order != TraceOptions::default().max_order {
            let _ = write!(flags, " --max-order {}", propagation.max_order);
        }
        flags.push_str(if propagation.transmission { " --transmission" } else { "" });
        flags
    }

    fn carrier_flag(&self) -> String {
        let carrier_hz = self.simulators.settings().radio.band().carrier_hz;
        let usual = RadioConfig::default().band.carrier_hz;
        if carrier_hz == usual { String::new() } else { format!(" --carrier-ghz {}", carrier_hz / 1e9) }
    }
}

/// Whether nothing of a scene has been changed.
fn is_as_loaded(state: &LinkState, base: &Scene) -> Result<bool, ReportError> {
    let origin = Pose::new(0.0, 0.0, 0.0, 0.0);
    let loaded = LinkState::new(base, &origin, &origin)?;
    Ok((&loaded.room_m, &loaded.surfaces, &loaded.boxes) == (&state.room_m, &state.surfaces, &state.boxes))
}

fn receiver(state: &LinkState, n: usize) -> &PoseState {
    n.checked_sub(1).and_then(|view| state.views.get(view)).unwrap_or(&state.rx)
}

fn devices(tx: &PoseState, rx: &PoseState) -> String {
    format!("--tx {} --rx {}", pose(tx), pose(rx))
}

/// A pose, rounded where radians have left their noise: to a nanometre and a billionth of a degree.
fn pose(state: &PoseState) -> String {
    let [x, y, z] = state.position_m;
    let words = [x, y, z, state.heading_deg].map(|value| ((value * 1e9).round() / 1e9 + 0.0).to_string());
    words.join(",")
}

/// The scene as a file that the shell writes.
fn write_scene(lines: &mut String, scene: &Scene) {
    let text = scene.to_toml();
    let mut end = "END".to_owned();
    while text.lines().any(|line| line == end) {
        end.push('_');
    }
    let _ = writeln!(lines, "cat > room.toml <<'{end}'\n{}\n{end}", text.trim_end());
}

/// A word that a POSIX shell takes as it is.
#[must_use]
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,=+@%".contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_cannot_leave_their_quotes() {
        for (word, said) in [
            ("lab_middle", "lab_middle"),
            ("my room.toml", "'my room.toml'"),
            ("a'; rm -rf /", r"'a'\''; rm -rf /'"),
            ("", "''"),
            ("$(x)`y`", "'$(x)`y`'"),
            ("--out", "'--out'"),
        ] {
            assert_eq!(quoted(word), said);
        }
    }
}
