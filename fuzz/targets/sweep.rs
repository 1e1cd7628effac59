//! Sweep TOML. What takes long by design (rows and points that are drawn to check a sweep) is made small first.
#![no_main]

use magnetar_study::sweep::Sweep;
use toml::{Table, Value};

/// Most rows, points and steps of an axis that are tried.
const MOST: i64 = 4;
/// Most axes that are tried together.
const MOST_AXES: usize = 3;

magnetar_fuzz::target!(|data| {
    if let Ok(text) = std::str::from_utf8(data) {
        let small = text.parse::<Table>().ok().map(|mut table| {
            shrink(&mut table);
            table.to_string()
        });
        let text = small.as_deref().unwrap_or(text);
        // To draw rows of every point takes ten times as long as all the rest: some sweeps are enough.
        let read = if data.len().is_multiple_of(16) { Sweep::parse } else { Sweep::outline };
        match read(text, "fuzz.toml", None) {
            Ok(sweep) => drop(sweep.points.len()),
            Err(error) => drop(error.to_string()),
        }
    }
});

fn shrink(table: &mut Table) {
    for key in ["rows", "points", "steps"] {
        if let Some(Value::Integer(number)) = table.get_mut(key) {
            *number = (*number).min(MOST);
        }
    }
    if let Some(Value::Array(axes)) = table.get_mut("axis") {
        axes.truncate(MOST_AXES);
        axes.iter_mut().filter_map(Value::as_table_mut).for_each(shrink);
    }
}
