//! SVG to PNG, the same on every machine: the font is part of the binary.

use std::sync::{Arc, OnceLock};

use resvg::usvg::fontdb::Database;
use resvg::{tiny_skia, usvg};

use crate::error::ReportError;

/// The most pixels a picture may have: 64 million, 256 MB.
const MAX_PIXELS: f64 = 64e6;

/// Renders one of our pictures at `scale` pixels per unit (2 suits screens and print).
///
/// # Errors
/// If the text is not SVG or the picture would be too large.
pub fn png_from_svg(svg: &str, scale: f32) -> Result<Vec<u8>, ReportError> {
    let options = usvg::Options { font_family: "Noto Sans".into(), fontdb: fonts(), ..usvg::Options::default() };
    let tree = usvg::Tree::from_str(svg, &options).map_err(|e| ReportError::Picture(e.to_string()))?;
    let size = tree.size();
    let (w, h) = ((size.width() * scale).ceil(), (size.height() * scale).ceil());
    let sound = w >= 1.0 && h >= 1.0 && f64::from(w) * f64::from(h) <= MAX_PIXELS;
    let pixmap = if sound { tiny_skia::Pixmap::new(w as u32, h as u32) } else { None };
    let mut pixmap = pixmap.ok_or_else(|| ReportError::Picture(format!("{w} x {h} pixels; use a smaller scale")))?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|e| ReportError::Picture(e.to_string()))
}

/// Noto Sans regular and bold (SIL Open Font License 1.1), and nothing of the machine's.
fn fonts() -> Arc<Database> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    let load = || {
        let mut database = Database::new();
        database.load_font_data(notosans::REGULAR_TTF.to_vec());
        database.load_font_data(notosans::BOLD_TTF.to_vec());
        database.set_sans_serif_family("Noto Sans");
        Arc::new(database)
    };
    Arc::clone(FONTS.get_or_init(load))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::{Ink, Theme};
    use crate::svg::{Anchor, Canvas, TextStyle};

    #[test]
    fn text_leaves_ink_without_any_font_of_the_machine() {
        let render = |text: &str| {
            let mut canvas = Canvas::new(200.0, 40.0, Theme::Light, "t");
            canvas.text([10.0, 25.0], text, TextStyle::new(16.0, Ink::Text, Anchor::Start));
            let png = png_from_svg(&canvas.finish(), 1.0).unwrap();
            let pixmap = tiny_skia::Pixmap::decode_png(&png).unwrap();
            pixmap.pixels().iter().filter(|p| p.red() < 128).count()
        };
        assert_eq!(render(""), 0);
        // Every sign our labels use has a shape of its own.
        for sign in ["m", "\u{b0}", "\u{2212}", "\u{d7}", "\u{b1}", "\u{3c6}", "\u{3ba}", "\u{3c4}", "\u{2264}"] {
            assert!(render(sign) > 3, "{sign}");
        }
    }

    #[test]
    fn nonsense_and_giants_are_refused() {
        assert!(png_from_svg("<svg", 1.0).is_err());
        let svg = Canvas::new(1e5, 1e5, Theme::Light, "t").finish();
        assert!(png_from_svg(&svg, 1.0).is_err());
    }
}
