//! A small SVG writer: shapes in pixels, colours by meaning, text escaped.

use std::fmt::Write as _;

use crate::palette::{Ink, Theme};

/// Where a text is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Its left end.
    Start,
    /// Its middle.
    Middle,
    /// Its right end.
    End,
}

/// How a text looks.
#[derive(Debug, Clone, Copy)]
pub struct TextStyle {
    /// Size in pixels.
    pub size: f64,
    /// Colour.
    pub ink: Ink,
    /// Which end is at the given point.
    pub anchor: Anchor,
    /// Bold.
    pub bold: bool,
    /// Turned a quarter to the left (for y axes).
    pub upright: bool,
}

/// Distance of the lines of a paragraph, in sizes of its letters.
pub(crate) const LINE_HEIGHT: f64 = 1.4;

/// A text in lines of at most `width` pixels.
pub(crate) fn lines(text: &str, width: f64, size: f64) -> Vec<String> {
    // Noto Sans is about half as wide as it is high.
    let most = (width / (0.54 * size)).max(1.0) as usize;
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line =
            lines.last_mut().filter(|line| line.is_empty() || line.chars().count() + 1 + word.chars().count() <= most);
        match line {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

impl TextStyle {
    /// Plain text of a size.
    #[must_use]
    pub fn new(size: f64, ink: Ink, anchor: Anchor) -> Self {
        Self { size, ink, anchor, bold: false, upright: false }
    }

    /// The same, bold.
    #[must_use]
    pub fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// The same, read upwards.
    #[must_use]
    pub fn upright(self) -> Self {
        Self { upright: true, ..self }
    }
}

/// How a line looks.
#[derive(Debug, Clone, Copy)]
pub struct Stroke<'a> {
    /// Colour.
    pub ink: Ink,
    /// Width in pixels.
    pub width: f64,
    /// SVG dash pattern; empty for a solid line.
    pub dash: &'a str,
    /// Opacity in [0, 1].
    pub opacity: f64,
}

impl<'a> Stroke<'a> {
    /// A solid line.
    #[must_use]
    pub fn new(ink: Ink, width: f64) -> Self {
        Self { ink, width, dash: "", opacity: 1.0 }
    }

    /// The same, dashed.
    #[must_use]
    pub fn dash(self, dash: &'a str) -> Self {
        Self { dash, ..self }
    }

    /// The same, less opaque.
    #[must_use]
    pub fn opacity(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }
}

/// A drawing that grows shape by shape.
#[derive(Debug, Clone)]
pub struct Canvas {
    out: String,
    theme: Theme,
    width: f64,
    height: f64,
}

impl Canvas {
    /// An empty drawing of a size in pixels. `title` says what it shows to those who cannot see it.
    #[must_use]
    pub fn new(width: f64, height: f64, theme: Theme, title: &str) -> Self {
        let mut out = String::with_capacity(16 * 1024);
        let title = escape(title);
        let _ = write!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{title}\" font-family=\"'Noto Sans',system-ui,sans-serif\"",
            px(width),
            px(height)
        );
        // Inside a page, CSS decides the size; alone, the picture has its own.
        if theme != Theme::Page {
            let _ = write!(out, " width=\"{}\" height=\"{}\"", px(width), px(height));
        }
        let _ = write!(out, "><title>{title}</title>");
        let mut canvas = Self { out, theme, width, height };
        if theme != Theme::Page {
            canvas.rect([0.0, 0.0, width, height], Ink::Background, Ink::None);
        }
        canvas
    }

    /// What it is drawn on.
    #[must_use]
    pub fn theme(&self) -> Theme {
        self.theme
    }

    /// Width and height in pixels.
    #[must_use]
    pub fn size(&self) -> (f64, f64) {
        (self.width, self.height)
    }

    /// A rectangle `[x, y, width, height]`.
    pub fn rect(&mut self, [x, y, w, h]: [f64; 4], fill: Ink, stroke: Ink) {
        let (fill, stroke) = (self.theme.paint(fill), self.theme.paint(stroke));
        let _ = write!(
            self.out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{fill}\" stroke=\"{stroke}\"/>",
            px(x),
            px(y),
            px(w.max(0.0)),
            px(h.max(0.0))
        );
    }

    /// A line between two points.
    pub fn line(&mut self, a: [f64; 2], b: [f64; 2], stroke: Stroke<'_>) {
        self.path(&format!("M{} {}L{} {}", px(a[0]), px(a[1]), px(b[0]), px(b[1])), stroke, Ink::None, 1.0);
    }

    /// A line through points; a point that is not finite breaks it.
    pub fn polyline(&mut self, points: impl IntoIterator<Item = [f64; 2]>, stroke: Stroke<'_>) {
        let mut d = String::new();
        let mut pen_down = false;
        for [x, y] in points {
            if x.is_finite() && y.is_finite() {
                let _ = write!(d, "{}{} {}", if pen_down { 'L' } else { 'M' }, px(x), px(y));
            }
            pen_down = x.is_finite() && y.is_finite();
        }
        if !d.is_empty() {
            self.path(&d, stroke, Ink::None, 1.0);
        }
    }

    /// A closed shape.
    pub fn polygon(&mut self, points: &[[f64; 2]], fill: Ink, fill_opacity: f64, stroke: Stroke<'_>) {
        let mut d = String::new();
        for (n, [x, y]) in points.iter().enumerate() {
            let _ = write!(d, "{}{} {}", if n == 0 { 'M' } else { 'L' }, px(*x), px(*y));
        }
        if !d.is_empty() {
            d.push('Z');
            self.path(&d, stroke, fill, fill_opacity);
        }
    }

    /// A path in SVG's own notation.
    pub fn path(&mut self, d: &str, stroke: Stroke<'_>, fill: Ink, fill_opacity: f64) {
        let _ = write!(self.out, "<path d=\"{d}\" fill=\"{}\"", self.theme.paint(fill));
        if fill != Ink::None && fill_opacity < 1.0 {
            let _ = write!(self.out, " fill-opacity=\"{}\"", px(fill_opacity));
        }
        if stroke.ink != Ink::None {
            let paint = self.theme.paint(stroke.ink);
            let _ = write!(self.out, " stroke=\"{paint}\" stroke-width=\"{}\"", px(stroke.width));
            let _ = write!(self.out, " stroke-linejoin=\"round\"");
            if !stroke.dash.is_empty() {
                let _ = write!(self.out, " stroke-dasharray=\"{}\"", stroke.dash);
            }
            if stroke.opacity < 1.0 {
                let _ = write!(self.out, " stroke-opacity=\"{}\"", px(stroke.opacity));
            }
        }
        self.out.push_str("/>");
    }

    /// A disc.
    pub fn circle(&mut self, [x, y]: [f64; 2], radius: f64, fill: Ink, stroke: Stroke<'_>) {
        let (fill, paint) = (self.theme.paint(fill), self.theme.paint(stroke.ink));
        let _ = write!(
            self.out,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{fill}\" stroke=\"{paint}\" stroke-width=\"{}\"/>",
            px(x),
            px(y),
            px(radius),
            px(stroke.width)
        );
    }

    /// A text.
    pub fn text(&mut self, [x, y]: [f64; 2], text: &str, style: TextStyle) {
        let anchor = match style.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = write!(
            self.out,
            "<text x=\"{0}\" y=\"{1}\" font-size=\"{2}\" fill=\"{3}\" text-anchor=\"{anchor}\"",
            px(x),
            px(y),
            px(style.size),
            self.theme.paint(style.ink)
        );
        if style.bold {
            self.out.push_str(" font-weight=\"bold\"");
        }
        if style.upright {
            let _ = write!(self.out, " transform=\"rotate(-90 {} {})\"", px(x), px(y));
        }
        let _ = write!(self.out, ">{}</text>", escape(text));
    }

    /// A text in lines of at most `width` pixels, the first at the given point; returns the y of the last line.
    pub fn paragraph(&mut self, [x, y]: [f64; 2], width: f64, text: &str, style: TextStyle) -> f64 {
        let mut at = y;
        for (n, line) in lines(text, width, style.size).iter().enumerate() {
            at = y + n as f64 * LINE_HEIGHT * style.size;
            self.text([x, at], line, style);
        }
        at
    }

    /// Opens a group whose shapes are cut at a rectangle; ends with [`Canvas::end_clip`]. A nested picture needs no
    /// name for its edge, so many pictures can share one page.
    pub fn begin_clip(&mut self, [x, y, w, h]: [f64; 4]) {
        let [x, y, w, h] = [x, y, w.max(0.1), h.max(0.1)].map(px);
        let _ = write!(
            self.out,
            "<svg x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" viewBox=\"{x} {y} {w} {h}\" overflow=\"hidden\">"
        );
    }

    /// Ends what [`Canvas::begin_clip`] opened.
    pub fn end_clip(&mut self) {
        self.out.push_str("</svg>");
    }

    /// Opens a group with attributes in SVG's own notation (trusted text); ends with [`Canvas::end`].
    pub fn begin(&mut self, attributes: &str) {
        let _ = write!(self.out, "<g {attributes}>");
    }

    /// Closes the innermost group.
    pub fn end(&mut self) {
        self.out.push_str("</g>");
    }

    /// The finished text.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.out.push_str("</svg>\n");
        self.out
    }
}

/// A coordinate with at most two decimals; what is not finite becomes 0.
pub(crate) fn px(value: f64) -> String {
    if !value.is_finite() {
        return "0".into();
    }
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// A text made safe inside XML or HTML, also within quotes. Characters XML forbids are dropped.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if (c as u32) < 0x20 && !matches!(c, '\t' | '\n' | '\r') => {}
            '\u{fffe}' | '\u{ffff}' => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_text_cannot_break_out() {
        assert_eq!((px(1.0), px(-0.001), px(2.345), px(f64::NAN)), ("1".into(), "0".into(), "2.35".into(), "0".into()));
        assert_eq!(escape("</svg><script>\"'\u{0}"), "&lt;/svg&gt;&lt;script&gt;&quot;&#39;");
        let mut canvas = Canvas::new(10.0, 10.0, Theme::Light, "<b>");
        canvas.polyline([[0.0, 0.0], [f64::NAN, 1.0], [2.0, 2.0], [3.0, 3.0]], Stroke::new(Ink::Text, 1.0));
        let svg = canvas.finish();
        assert!(svg.contains("M0 0M2 2L3 3") && svg.contains("&lt;b&gt;") && !svg.contains("<b>"));
    }
}
