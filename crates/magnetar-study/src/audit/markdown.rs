//! An audit as a table in Markdown, for dataset cards.

use std::fmt::Write as _;

use super::Audit;

impl Audit {
    /// A table of all figures and how they were found.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = format!(
            "What the rows tell without the radio, and with the strongest arrival taken as the direct path: gain over the \
             uniform\nposterior, nat, of binned models fitted to {} rows of {} and scored on {} rows of {} (`magnetar \
             audit`).\n\n\
             | rows | layout and RX pose alone, nat | direct path alone, nat | arrivals per row | LOS, % | strongest is LOS, % |\n\
             |---|---|---|---|---|---|\n",
            self.splits.fitted_rows, self.splits.fitted, self.all.rows, self.splits.scored
        );
        for (name, of) in self.conditions() {
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "| {name} ({}) | {} | {} | {} | {} | {} |",
                of.rows,
                of.layout_only_nat.shown(3),
                of.direct_path_nat.shown(3),
                of.arrivals_per_row.shown(2),
                of.los_percent.shown(1),
                of.first_is_los_percent.shown(1)
            );
        }
        text
    }
}
