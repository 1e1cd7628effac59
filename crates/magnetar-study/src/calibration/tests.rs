//! Calibration against rows whose offsets are known.

use std::sync::Arc;

use magnetar_dataset::{Generator, Recipe, Record};

use super::*;

/// Rows of one receiver that is off: in pose, level and phase.
fn rows(seed: u64, count: u64) -> (Arc<Recipe>, Vec<Record>) {
    let set = |pairs: &[&str]| pairs.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
    let changed = set(&[
        "outing.sets=1000000",
        "outing.rf_chain=true",
        "outing.pose=true",
        "model_error.level_max_db=6",
        "model_error.rx_position_m_rms=0.1",
        "model_error.rx_heading_deg_rms=3",
        "rf_chain.phase_error_deg_rms=30",
        "rf_chain.gain_ripple_db_rms=0",
        "rf_chain.phase_ripple_deg_rms=0",
        "rf_chain.gain_imbalance_db_rms=0",
    ]);
    let recipe = Arc::new(Recipe::load("paper", &changed).unwrap());
    let generator = Generator::new(&recipe, seed, "train").unwrap();
    let records = generator.map_rows(0..count, Record::clone).unwrap();
    (recipe, records)
}

/// What a calibration should find: level, phase, heading, x, y.
fn truth(record: &Record) -> [(&'static str, f64); 5] {
    let reported = record.reported().rx;
    let step = record.rx.position - reported.position;
    [
        ("level_db", record.outing.as_ref().unwrap().level_offset_db),
        ("phase_deg", record.rf_chain.phase_error_rad.to_degrees()),
        ("rx_heading_deg", magnetar_scene::wrap(record.rx.heading - reported.heading).to_degrees()),
        ("rx_x_m", step.x),
        ("rx_y_m", step.y),
    ]
}

/// Level within 0.3 dB, phase within 1 deg, boresight within 0.5 deg, position within 2 cm.
const BOUNDS: [f64; 5] = [0.3, 1.0, 0.5, 0.02, 0.02];

#[test]
fn known_offsets_are_found_within_their_own_errors() {
    let (mut inside, mut all) = (0, 0);
    for seed in 0..4 {
        let (recipe, records) = rows(seed, 600);
        let found = calibrate_receiver_rows(&recipe, &records, &CalibrationSettings::default(), &|_| {}).unwrap();
        for ((name, expected), bound) in truth(&records[0]).into_iter().zip(BOUNDS) {
            let estimate = found.estimates.iter().find(|e| e.key.name == name).unwrap();
            let off = estimate.value - expected;
            assert!(off.abs() < bound, "seed {seed}, {name}: {} for {expected}", estimate.value);
            inside += usize::from(off.abs() <= 1.96 * estimate.standard_error.unwrap());
            all += 1;
        }
        let tx = found.estimates.iter().find(|e| e.key.name == "tx_heading_deg").unwrap();
        assert!(tx.value.abs() < 0.5f64.max(3.0 * tx.standard_error.unwrap()), "seed {seed}: {tx:?}");
        assert!(found.after.log_likelihood > found.before.log_likelihood + 0.5, "{:?}", (found.before, found.after));
    }
    // Of twenty, nineteen are expected; four outside happen once in a hundred times.
    assert!(inside + 4 > all, "{inside} of {all} are inside their error bars");
}

#[test]
fn what_is_held_stays_and_names_are_checked() {
    let (recipe, records) = rows(9, 120);
    let held = |names: &[&str]| CalibrationSettings {
        held: names.iter().map(|name| (*name).to_owned()).collect(),
        ..CalibrationSettings::default()
    };
    let settings = held(&["phase_slope_deg", "rx_x_m"]);
    let found = calibrate_receiver_rows(&recipe, &records, &settings, &|_| {}).unwrap();
    assert_eq!((found.value("phase_slope_deg"), found.value("rx_x_m")), (0.0, 0.0));
    assert!(found.estimates[4].held && found.estimates[4].standard_error.is_none());
    let nothing = held(&OFFSET_KEYS.map(|key| key.name));
    let found = calibrate_receiver_rows(&recipe, &records, &nothing, &|_| {}).unwrap();
    assert!(found.replicas == 0 && found.estimates.iter().all(|e| e.held && e.standard_error.is_none()), "{found:?}");
    let error = calibrate_receiver_rows(&recipe, &records, &held(&["x"]), &|_| {}).unwrap_err().to_string();
    assert!(error.contains("\"x\"") && error.contains("rx_heading_deg"), "{error}");
    let error = calibrate_receiver_rows(&recipe, &records[..10], &CalibrationSettings::default(), &|_| {})
        .unwrap_err()
        .to_string();
    assert!(error.contains("10 rows are too few"), "{error}");
}

/// A receiver whose heading is reported against another axis is found all the same.
#[test]
fn a_heading_of_another_convention_is_found() {
    let paper = Recipe::paper();
    let generator = Generator::new(&Arc::new(Recipe::paper()), 3, "train").unwrap();
    let settings = CalibrationSettings { replicas: 0, ..CalibrationSettings::default() };
    for turn in [30.0f64, 90.0, 180.0] {
        let mut records = generator.map_rows(0..300, Record::clone).unwrap();
        records.iter_mut().for_each(|record| record.rx.heading += turn.to_radians());
        let found = calibrate_receiver_rows(&paper, &records, &settings, &|_| {}).unwrap();
        let off = magnetar_scene::wrap((found.value("rx_heading_deg") + turn).to_radians()).to_degrees();
        assert!(off.abs() < 1.0, "{turn}: {}", found.value("rx_heading_deg"));
    }
}

/// What replicas take off is what is missing without them, their numbers widen the errors, and no number depends on how many
/// threads there are.
#[test]
fn replicas_take_off_a_bias_that_no_thread_changes() {
    let (recipe, records) = rows(9, 120);
    let calibrate = |replicas: u32, threads: usize| {
        let settings = CalibrationSettings { replicas, ..CalibrationSettings::default() };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| calibrate_receiver_rows(&recipe, &records, &settings, &|_| {}).unwrap())
    };
    let (plain, one, three) = (calibrate(0, 1), calibrate(3, 1), calibrate(3, 3));
    assert_eq!((plain.replicas, one.replicas), (0, 4));
    assert_eq!(one.estimates, three.estimates);
    for (plain, with) in plain.estimates.iter().zip(&one.estimates) {
        assert!(plain.bias == 0.0 && (with.value + with.bias - plain.value).abs() < 1e-9, "{plain:?} {with:?}");
        assert_eq!(plain.standard_error.is_some(), with.standard_error.is_some());
        assert!(with.standard_error >= plain.standard_error, "{plain:?} {with:?}");
    }
    assert!(one.estimates[0].bias != 0.0);
}

/// Surfaces that reflect other than their materials say, and elements further apart than the recipe has them. What the floor
/// reflects comes back less exactly: it mostly shares a cell of delay with the direct path.
#[test]
fn reflection_levels_and_the_slope_of_the_phase_are_found() {
    let world = ["reflection.walls_db=-5", "reflection.floor_db=3", "array.spacing_m=0.0266"].map(str::to_owned);
    let world = Arc::new(Recipe::load("paper", &world).unwrap());
    let records = Generator::new(&world, 5, "train").unwrap().map_rows(0..1500, Record::clone).unwrap();
    let paper = Recipe::paper();
    let found = calibrate_receiver_rows(&paper, &records, &CalibrationSettings::default(), &|_| {}).unwrap();
    let slope = paper.array.phase(std::f64::consts::FRAC_PI_2, paper.band.carrier_hz).to_degrees() * 0.6 / 26.0;
    for (name, expected, bound) in
        [("walls_db", -5.0, 0.3), ("floor_db", 3.0, 1.0), ("ceiling_db", 0.0, 1.0), ("phase_slope_deg", slope, 0.3)]
    {
        let value = found.value(name);
        assert!((value - expected).abs() < bound, "{name}: {value} for {expected}");
    }
    // A recipe that holds what was found leaves little to be found.
    let again = ["walls_db", "floor_db", "ceiling_db"].map(|name| format!("reflection.{name}={}", found.value(name)));
    let (again, few) =
        (Recipe::load("paper", &again).unwrap(), CalibrationSettings { replicas: 4, ..Default::default() });
    let again = calibrate_receiver_rows(&again, &records, &few, &|_| {}).unwrap();
    assert!(again.value("walls_db").abs() < 0.3 && again.value("floor_db").abs() < 0.3, "{again:?}");
}
