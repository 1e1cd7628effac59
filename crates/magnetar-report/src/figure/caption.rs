//! The caption under a figure.

use crate::palette::Ink;
use crate::svg::{Anchor, Canvas, LINE_HEIGHT, TextStyle, lines};

/// A caption under a figure: in as many lines as it takes, none of them beyond the figure's edge.
pub(super) struct Caption<'a> {
    /// What it says.
    pub(super) text: &'a str,
    /// Where its lines begin, pixels from the left edge.
    pub(super) left: f64,
    /// Width of the figure, pixels.
    pub(super) width: f64,
}

impl Caption<'_> {
    const SIZE: f64 = 11.0;

    fn line_width(&self) -> f64 {
        self.width - self.left - 14.0
    }

    /// Height that a figure needs beyond that of a caption of one line.
    pub(super) fn extra_height(&self) -> f64 {
        (lines(self.text, self.line_width(), Self::SIZE).len() - 1) as f64 * LINE_HEIGHT * Self::SIZE
    }

    /// Writes it, its last line `above` the figure's lower edge.
    pub(super) fn draw(&self, canvas: &mut Canvas, height: f64, above: f64) {
        let first = height - above - self.extra_height();
        canvas.paragraph(
            [self.left, first],
            self.line_width(),
            self.text,
            TextStyle::new(Self::SIZE, Ink::Muted, Anchor::Start),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caption_takes_the_lines_it_needs() {
        let long = "a sentence of some words ".repeat(20);
        let short = Caption { text: "short", left: 16.0, width: 520.0 };
        let caption = Caption { text: &long, left: 16.0, width: 520.0 };
        assert_eq!(short.extra_height(), 0.0);
        let count = lines(&long, caption.line_width(), Caption::SIZE).len();
        assert!(count > 4 && caption.extra_height() > 60.0);
        assert_eq!(lines(&long, caption.line_width(), Caption::SIZE).join(" "), long.trim());
    }
}
