//! Laws of rows whose paths are of higher order or go through boxes.

use std::sync::Arc;

use crate::*;

const ROWS: u64 = 60;

fn rows(sets: &[&str]) -> Vec<Record> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let recipe = Arc::new(Recipe::load("paper", &sets).unwrap());
    let generator = Generator::new(&recipe, 11, "train").unwrap();
    let mut rows = generator.rows();
    (0..ROWS).map(|index| rows.row(index).unwrap()).collect()
}

fn order(path: &RecordPath) -> usize {
    path.interactions.unwrap().order()
}

#[test]
fn a_higher_order_adds_paths_and_changes_no_draw() {
    let of_order: Vec<Vec<Record>> = (0..=3).map(|order| rows(&[&format!("propagation.max_order={order}")])).collect();
    assert!(of_order[1] == rows(&[]));
    for (most, pair) in of_order.windows(2).enumerate() {
        let mut added = 0;
        for (low, high) in pair[0].iter().zip(&pair[1]) {
            assert_eq!((&low.layout, low.tx, low.rx, low.rf_chain), (&high.layout, high.tx, high.rx, high.rf_chain));
            assert_eq!(low.left_out, None);
            let kept: Vec<_> = high.paths.iter().filter(|path| order(path) <= most).copied().collect();
            assert_eq!(kept, low.paths);
            added += high.paths.len() - kept.len();
        }
        assert!(added > 3 * ROWS as usize, "order {}: {added} paths", most + 1);
    }
}

#[test]
fn transmission_opens_what_a_board_blocks_and_counts_what_it_leaves_out() {
    let (opaque, open) = (rows(&[]), rows(&["propagation.transmission=true"]));
    let (mut blocked, mut opened, mut left_out) = (0, 0, 0);
    for (opaque, open) in opaque.iter().zip(&open) {
        // Both ways of finding a reflection agree to rounding.
        let reflected: Vec<_> =
            open.paths.iter().filter(|path| path.interactions.unwrap().transmissions() == 0).collect();
        assert_eq!(reflected.len(), opaque.paths.len());
        for (open, opaque) in reflected.into_iter().zip(&opaque.paths) {
            assert!(open.interactions.unwrap().same_surfaces(&opaque.interactions.unwrap()));
            assert!((open.wave.delay_s / opaque.wave.delay_s - 1.0).abs() < 1e-12);
            assert!((open.wave.coefficients[0] - opaque.wave.coefficients[0]).norm() < 1e-12);
        }
        assert_eq!(open.los, opaque.los);
        let counted = open.left_out.unwrap();
        left_out += counted.other_faces;
        assert_eq!(counted.too_long, 0);
        if open.layout.board.is_none() {
            assert_eq!((open.paths.len(), counted.other_faces), (opaque.paths.len(), 0));
        }
        blocked += usize::from(!open.los);
        let direct = open.paths.iter().any(|path| order(path) == 0 && path.surface.is_some());
        // A blocked direct path goes through the board, or enters and leaves it at faces that are not opposite.
        assert!(open.los || direct || counted.other_faces > 0);
        opened += usize::from(direct);
    }
    assert!(blocked > 5 && opened > 5 && left_out > 0, "{blocked} blocked, {opened} opened, {left_out} left out");
}

#[test]
fn rows_with_every_interaction_read_back_and_are_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let sets = ["propagation.max_order=3", "propagation.transmission=true"];
    let recipe = Arc::new(Recipe::load("paper", &sets.map(str::to_owned)).unwrap());
    let job = Job { splits: vec!["train".into()], limit: Some(ROWS), ..Job::new(recipe, 11, folder.path()) };
    Plan::new(job).unwrap().run(&|_| {}).unwrap();
    let dataset = Dataset::open(folder.path()).unwrap();
    let read: Vec<Record> = dataset.records("train", Columns::All).unwrap().map(Result::unwrap).collect();
    assert!(read == rows(&sets));
    let options = VerifyOptions { sample: ROWS, seed: 1, partial: false };
    let verified = verify(folder.path(), options, &|_| {}).unwrap();
    assert_eq!((verified.regenerated, verified.problems), (ROWS, Vec::<String>::new()));
}
