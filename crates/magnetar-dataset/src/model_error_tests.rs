//! Model errors on common random numbers: each key alone changes only what it should.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::recipe::Recipe;
use crate::record::Record;
use crate::{Generator, Reported};

const ROWS: u64 = 30;

fn rows(settings: &[&str], split: &str) -> Vec<Record> {
    let settings: Vec<String> = settings.iter().map(|text| (*text).to_owned()).collect();
    let recipe = Arc::new(Recipe::load("paper", &settings).unwrap());
    let generator = Generator::new(&recipe, 5, split).unwrap();
    let mut rows = generator.rows();
    (0..ROWS).map(|index| rows.row(index).unwrap()).collect()
}

/// The parts of a row that differ.
fn changed(a: &Record, b: &Record) -> BTreeSet<&'static str> {
    let (believed_a, believed_b): (Reported, Reported) = (a.reported(), b.reported());
    let geometry = |r: &Record| -> Vec<_> { r.paths.iter().map(|p| (p.surface, p.wave.delay_s.to_bits())).collect() };
    let coefficients = |r: &Record| -> Vec<_> { r.paths.iter().map(|p| p.wave.coefficients).collect() };
    let outing = |r: &Record| r.outing.clone().unwrap_or_default();
    let parts = [
        ("devices", a.tx != b.tx || a.rx != b.rx),
        ("room", (a.layout.room, &a.materials) != (b.layout.room, &b.materials)),
        ("board", a.layout.board != b.layout.board),
        ("TX power", a.tx_power_offset_db != b.tx_power_offset_db),
        ("RF chain", a.rf_chain != b.rf_chain),
        ("path geometry", geometry(a) != geometry(b)),
        ("coefficients", coefficients(a) != coefficients(b)),
        ("observation", a.csi != b.csi),
        ("reported room", believed_a.room != believed_b.room),
        ("reported board", believed_a.board != believed_b.board),
        ("reported position", believed_a.rx.position != believed_b.rx.position),
        ("reported heading", believed_a.rx.heading != believed_b.rx.heading),
        ("level", outing(a).level_offset_db != outing(b).level_offset_db),
        ("unmodelled", outing(a).unmodelled != outing(b).unmodelled),
    ];
    parts.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
}

#[test]
fn each_key_alone_changes_only_what_it_should() {
    let plain = rows(&[], "val");
    let cases: [(&str, &[&str]); 14] = [
        ("model_error.arrivals_mean=2", &["unmodelled", "observation"]),
        ("model_error.pattern_db_rms=3", &["coefficients", "observation"]),
        ("model_error.pattern_phase_deg_rms=10", &["coefficients", "observation"]),
        ("model_error.rx_position_m_rms=0.05", &["reported position"]),
        ("model_error.rx_heading_deg_rms=3", &["reported heading"]),
        ("model_error.wall_position_m_rms=0.02", &["reported room"]),
        ("model_error.board_position_m_rms=0.02", &["reported board"]),
        ("model_error.board_yaw_deg_rms=1", &["reported board"]),
        ("model_error.board_width_m_rms=0.01", &["reported board"]),
        ("model_error.level_max_db=6", &["level", "observation"]),
        ("outing.rf_chain=true", &["RF chain", "observation"]),
        // Nothing alone: what is shared, or the shape of an error that is off.
        ("outing.pose=true", &[]),
        ("model_error.arrivals_level_db=-3", &[]),
        ("model_error.pattern_width_deg=90", &[]),
    ];
    for (setting, expected) in cases {
        let mut found = BTreeSet::new();
        for (a, b) in plain.iter().zip(rows(&[setting], "val")) {
            found.extend(changed(a, &b));
        }
        assert_eq!(found, expected.iter().copied().collect(), "{setting}");
    }
}

#[test]
fn free_boards_leave_rows_without_one_as_they_were() {
    for (a, b) in rows(&[], "val").iter().zip(rows(&["board.placement=free"], "val")) {
        let moved = changed(a, &b);
        assert_eq!(moved.contains("board"), a.layout.board.is_some());
        assert!(a.layout.board.is_some() || moved.is_empty(), "{moved:?}");
        assert!(!moved.contains("room") && !moved.contains("RF chain") && !moved.contains("TX power"));
    }
}

#[test]
fn an_error_is_the_same_whatever_others_are_on() {
    let alone = rows(&["model_error.rx_heading_deg_rms=3", "model_error.level_max_db=6"], "val");
    let all = rows(
        &[
            "model_error.rx_heading_deg_rms=3",
            "model_error.level_max_db=6",
            "model_error.arrivals_mean=2",
            "model_error.pattern_db_rms=3",
            "model_error.wall_position_m_rms=0.02",
        ],
        "val",
    );
    for (a, b) in alone.iter().zip(&all) {
        let moved = changed(a, b);
        assert!(!moved.contains("reported heading") && !moved.contains("level"), "{moved:?}");
    }
}

#[test]
fn rows_of_an_outing_share_its_state_and_others_do_not() {
    let shared = [
        "model_error.rx_heading_deg_rms=3",
        "model_error.level_max_db=6",
        "outing.rf_chain=true",
        "outing.pose=true",
        "outing.sets=2",
    ];
    let rows = rows(&shared, "fusion");
    let state = |r: &Record| {
        let turn = magnetar_scene::wrap(r.reported().rx.heading - r.rx.heading);
        let (level, phase) = (r.outing.clone().unwrap().level_offset_db, r.rf_chain.phase_error_rad);
        ((turn * 1e9).round(), level, phase)
    };
    for (index, row) in rows.iter().enumerate() {
        // Two sets of five views are an outing.
        let outing = index / 10;
        assert_eq!(row.outing.as_ref().unwrap().outing, outing as u64);
        assert_eq!(state(row), state(&rows[10 * outing]));
        assert_eq!(state(row) == state(&rows[0]), outing == 0);
    }
    assert_ne!(rows[0].rf_chain.timing_offset_s, rows[1].rf_chain.timing_offset_s);
}

#[test]
fn reported_poses_have_the_stated_spread_and_stay_in_the_reported_room() {
    let settings = [
        "model_error.rx_position_m_rms=0.05",
        "model_error.rx_heading_deg_rms=3",
        "model_error.wall_position_m_rms=0.03",
        "model_error.board_position_m_rms=0.03",
        "noise.enabled=false",
    ];
    let settings: Vec<String> = settings.iter().map(|text| (*text).to_owned()).collect();
    let recipe = Arc::new(Recipe::load("paper", &settings).unwrap());
    let generator = Generator::new(&recipe, 1, "train").unwrap();
    let mut rows = generator.rows();
    let mut record = rows.blank();
    let (mut position, mut heading, count) = (0.0, 0.0, 2000);
    for index in 0..count {
        rows.draw(index, &mut record).unwrap();
        let reported = record.reported();
        assert!(reported.room.contains(&reported.rx.position));
        position += (reported.rx.position.x - record.rx.position.x).powi(2) / count as f64;
        heading += magnetar_scene::wrap(reported.rx.heading - record.rx.heading).to_degrees().powi(2) / count as f64;
    }
    assert!((position.sqrt() / 0.05 - 1.0).abs() < 0.06, "{}", position.sqrt());
    assert!((heading.sqrt() / 3.0 - 1.0).abs() < 0.06, "{}", heading.sqrt());
}
