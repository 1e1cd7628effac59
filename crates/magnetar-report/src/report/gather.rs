//! What a report gathers of a split while its rows stream by.

use magnetar_dataset::stats::{aoa_error, matching_path};
use magnetar_dataset::{Recipe, Record};

use crate::chart::ChartHistogram;

/// Most points drawn of a kind in a coverage plan.
const MAX_POINTS: usize = 2500;

/// Most boards drawn in a coverage plan: lines fill it sooner than points.
const MAX_BOARDS: usize = 500;

/// Rows of one board condition.
#[derive(Debug, Clone)]
pub struct Condition {
    /// Rows.
    pub rows: u64,
    /// Rows whose direct path is free.
    pub los: u64,
    /// Distance of TX and RX, metres.
    pub range_m: ChartHistogram,
    /// Raw SNR of the strongest arrival, dB.
    pub raw_snr_db: ChartHistogram,
    /// AoA of an arrival minus that of its true path in the estimator's range, degrees.
    pub aoa_error_deg: ChartHistogram,
    /// Arrivals found.
    pub found: ChartHistogram,
    /// True paths.
    pub paths: ChartHistogram,
}

/// A split as the report shows it.
#[derive(Debug, Clone)]
pub struct SplitPicture {
    /// Its name.
    pub name: String,
    /// Rows that are there.
    pub present: u64,
    /// Rows when complete.
    pub expected: u64,
    /// Rows read.
    pub read: u64,
    /// Without and with a board.
    pub conditions: [Condition; 2],
    /// TX positions, x and y in metres.
    pub tx: Vec<[f64; 2]>,
    /// RX positions.
    pub rx: Vec<[f64; 2]>,
    /// Ends of the boards' long side.
    pub boards: Vec<[[f64; 2]; 2]>,
    /// `[xmin, xmax, ymin, ymax]` that holds all rooms, metres.
    pub bounds: [f64; 4],
}

impl Condition {
    fn new(recipe: &Recipe) -> Self {
        let keep = recipe.sre.keep as f64;
        let reach = {
            let r = &recipe.room;
            (r.x_max_m - r.x_min_m).hypot(r.y_max_m - r.y_min_m) * (1.0 + r.planar_scale_max + r.aspect_ratio_max)
        };
        Self {
            rows: 0,
            los: 0,
            range_m: ChartHistogram::new(0.0, reach.ceil().max(1.0), 40),
            raw_snr_db: ChartHistogram::new(-30.0, 50.0, 40),
            aoa_error_deg: ChartHistogram::new(-20.0, 20.0, 41),
            found: ChartHistogram::new(-0.5, keep + 0.5, recipe.sre.keep + 1),
            paths: ChartHistogram::new(-0.5, 13.5, 14),
        }
    }
}

impl SplitPicture {
    /// Of a split with so many rows there and expected.
    #[must_use]
    pub fn new(name: &str, present: u64, expected: u64, recipe: &Recipe) -> Self {
        let r = &recipe.room;
        Self {
            name: name.to_owned(),
            present,
            expected,
            read: 0,
            conditions: [Condition::new(recipe), Condition::new(recipe)],
            tx: Vec::new(),
            rx: Vec::new(),
            boards: Vec::new(),
            bounds: [r.x_min_m, r.x_max_m, r.y_min_m, r.y_max_m],
        }
    }

    /// Counts a row.
    pub fn add(&mut self, record: &Record, recipe: &Recipe) {
        self.read += 1;
        let [x0, x1, y0, y1, ..] = record.layout.room.bounds();
        let [a, b, c, d] = self.bounds;
        self.bounds = [a.min(x0), b.max(x1), c.min(y0), d.max(y1)];
        if self.tx.len() < MAX_POINTS {
            self.tx.push([record.tx.position.x, record.tx.position.y]);
            self.rx.push([record.rx.position.x, record.rx.position.y]);
            if let Some(board) = record.layout.board.as_ref().filter(|_| self.boards.len() < MAX_BOARDS) {
                let (sin, cos) = board.shape.yaw.sin_cos();
                let (c, half) = (board.shape.center, board.shape.size.x / 2.0);
                self.boards.push([[c.x - half * cos, c.y - half * sin], [c.x + half * cos, c.y + half * sin]]);
            }
        }
        let condition = &mut self.conditions[usize::from(record.layout.board.is_some())];
        condition.rows += 1;
        condition.los += u64::from(record.los);
        condition.range_m.add((record.tx.position - record.rx.position).norm());
        condition.paths.add(record.paths.len() as f64);
        let found = &record.arrivals.found;
        condition.found.add(found.len() as f64);
        if let Some(strongest) = found.first() {
            condition.raw_snr_db.add(strongest.raw_snr_db);
        }
        for arrival in found {
            if let Some(path) = matching_path(recipe, record, arrival) {
                condition.aoa_error_deg.add(aoa_error(recipe, arrival, path).to_degrees());
            }
        }
    }
}
