//! One palette for every picture: the same colour for the same thing, readable in grey and by colour-blind people.
//!
//! Hues are those of Okabe and Ito ("Color universal design", 2008), darkened or lightened where they would be too weak
//! on the background. What a colour says, a dash or a marker's shape says as well.

use std::borrow::Cow;
use std::fmt::Write as _;

use magnetar_scene::Face;
use magnetar_trace::Surface;

use crate::colormap::{Rgb, viridis};

/// Steps of the power scale of paths.
pub const POWER_STEPS: usize = 8;

/// What a picture is drawn on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// Dark ink on white.
    #[default]
    Light,
    /// Light ink on near-black.
    Dark,
    /// Inside one of our pages: colours are the page's CSS variables (see [`css`]).
    Page,
}

/// What is drawn, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Nothing.
    None,
    /// The ground.
    Background,
    /// The ground inside a chart or a room.
    Panel,
    /// Text and lines that matter.
    Text,
    /// Labels and axes.
    Muted,
    /// Grid lines.
    Grid,
    /// The transmitter.
    Tx,
    /// The receiver.
    Rx,
    /// The direct path.
    Los,
    /// Walls and paths by them.
    Wall,
    /// The floor and paths by it.
    Floor,
    /// The ceiling and paths by it.
    Ceiling,
    /// Boxes such as the board, and paths by them.
    Board,
    /// Channel 0 of the RX.
    Channel0,
    /// Channel 1 of the RX.
    Channel1,
    /// What is true (of a simulation).
    Truth,
    /// What was estimated.
    Estimate,
    /// The mode of a posterior.
    Mode,
    /// A path's power, from 0 (weak) to [`POWER_STEPS`] - 1 (strong).
    Power(u8),
    /// A colour given directly, the same in every theme.
    Fixed(Rgb),
}

/// Name, light and dark colour of every ink that has a variable.
const NAMED: [(Ink, &str, &str, &str); 17] = [
    (Ink::Background, "background", "#ffffff", "#14171b"),
    (Ink::Panel, "panel", "#f5f6f8", "#1d2127"),
    (Ink::Text, "text", "#1b1f24", "#e9ebee"),
    (Ink::Muted, "muted", "#59616c", "#a3acb8"),
    (Ink::Grid, "grid", "#dfe3e8", "#333a43"),
    (Ink::Tx, "tx", "#d04a00", "#ff7d45"),
    (Ink::Rx, "rx", "#0067b0", "#4f9dff"),
    (Ink::Los, "los", "#1b1f24", "#ffffff"),
    (Ink::Wall, "wall", "#00815e", "#2fc79a"),
    (Ink::Floor, "floor", "#8a6a00", "#e0b52e"),
    (Ink::Ceiling, "ceiling", "#a8457f", "#e68fc3"),
    (Ink::Board, "board", "#2f93cc", "#8fdcff"),
    (Ink::Channel0, "channel0", "#0067b0", "#4f9dff"),
    (Ink::Channel1, "channel1", "#c27c00", "#f0b640"),
    (Ink::Truth, "truth", "#1b1f24", "#e9ebee"),
    (Ink::Estimate, "estimate", "#d04a00", "#ff7d45"),
    (Ink::Mode, "mode", "#e69f00", "#ffb92e"),
];

impl Theme {
    /// The colour of an ink, as an SVG paint.
    #[must_use]
    pub fn paint(self, ink: Ink) -> Cow<'static, str> {
        match (ink, self) {
            (Ink::None, _) => Cow::Borrowed("none"),
            (Ink::Fixed(rgb), _) => Cow::Owned(rgb.hex()),
            (Ink::Power(step), Self::Page) => Cow::Owned(format!("var(--power{})", step.min(POWER_STEPS as u8 - 1))),
            (Ink::Power(step), _) => Cow::Owned(power_rgb(step, self == Self::Dark).hex()),
            _ => match NAMED.iter().find(|(named, ..)| *named == ink) {
                Some((_, name, ..)) if self == Self::Page => Cow::Owned(format!("var(--{name})")),
                Some((_, _, light, dark)) => Cow::Borrowed(if self == Self::Dark { dark } else { light }),
                None => Cow::Borrowed("none"),
            },
        }
    }
}

/// Strong paths stand out from the ground in either theme: dark on white, bright on black.
fn power_rgb(step: u8, dark: bool) -> Rgb {
    let t = f64::from(step.min(POWER_STEPS as u8 - 1)) / (POWER_STEPS - 1) as f64;
    if dark { viridis(0.35 + 0.65 * t) } else { viridis(0.72 * (1.0 - t)) }
}

/// The palette as CSS: light by default, dark where the system or the page's `data-theme` asks for it.
#[must_use]
pub fn css() -> String {
    let variables = |dark: bool| {
        let mut out = String::from(if dark { "color-scheme:dark;" } else { "color-scheme:light;" });
        for (_, name, light, dark_paint) in NAMED {
            let _ = write!(out, "--{name}:{};", if dark { dark_paint } else { light });
        }
        for step in 0..POWER_STEPS as u8 {
            let _ = write!(out, "--power{step}:{};", power_rgb(step, dark).hex());
        }
        out
    };
    let (light, dark) = (variables(false), variables(true));
    format!(
        ":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n:root[data-theme=dark]{{{dark}}}\n"
    )
}

/// Colour, dash pattern and name of the kind of surface a path meets first; none is line of sight.
#[must_use]
pub fn surface_style(surface: Option<Surface>) -> (Ink, &'static str, &'static str) {
    match surface {
        None => (Ink::Los, "", "LOS"),
        Some(Surface::Room(Face::ZMin)) => (Ink::Floor, "2 3", "floor"),
        Some(Surface::Room(Face::ZMax)) => (Ink::Ceiling, "9 4", "ceiling"),
        Some(Surface::Room(_)) => (Ink::Wall, "5 2.5", "wall"),
        Some(Surface::Box { .. }) => (Ink::Board, "9 3 2 3", "board"),
    }
}

/// The step of the power scale for a power in dB below the strongest path (0 is the strongest).
#[must_use]
pub fn power_ink(below_strongest_db: f64) -> Ink {
    // 5 dB per step: the weakest step starts 35 dB under the strongest path.
    let step = (POWER_STEPS as f64 - 1.0 + below_strongest_db.min(0.0) / 5.0).round();
    Ink::Power(if step.is_finite() { step.clamp(0.0, POWER_STEPS as f64 - 1.0) as u8 } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// WCAG relative luminance of `#rrggbb`.
    fn luminance(hex: &str) -> f64 {
        let part = |at: usize| {
            let c = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_drawing_ink_stands_out_from_its_ground_in_both_themes() {
        for (ink, name, ..) in NAMED.into_iter().skip(2).filter(|(ink, ..)| *ink != Ink::Grid) {
            for theme in [Theme::Light, Theme::Dark] {
                let (paint, ground) = (theme.paint(ink), theme.paint(Ink::Background));
                // The mode's marker has an outline, so its fill may be weaker.
                let least = if ink == Ink::Mode { 2.0 } else { 3.0 };
                let got = contrast(&paint, &ground);
                assert!(got >= least, "{name} in {theme:?}: contrast {got:.2}");
            }
        }
        for theme in [Theme::Light, Theme::Dark] {
            let ground = theme.paint(Ink::Background);
            assert!(contrast(&theme.paint(Ink::Text), &ground) > 7.0);
            assert!(contrast(&theme.paint(Ink::Muted), &ground) > 4.5);
        }
    }

    #[test]
    fn a_stronger_path_is_never_fainter() {
        for theme in [Theme::Light, Theme::Dark] {
            let ground = theme.paint(Ink::Background);
            let seen: Vec<f64> =
                (0..POWER_STEPS as u8).map(|s| contrast(&theme.paint(Ink::Power(s)), &ground)).collect();
            assert!(seen.windows(2).all(|w| w[1] > w[0]), "{theme:?}: {seen:?}");
        }
        assert_eq!(power_ink(0.0), Ink::Power(7));
        assert_eq!(power_ink(-300.0), Ink::Power(0));
        assert_eq!(power_ink(f64::NAN), Ink::Power(7));
        assert_eq!(power_ink(f64::NEG_INFINITY), Ink::Power(0));
    }
}
