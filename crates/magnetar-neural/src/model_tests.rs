//! Model files, and what models give for a row.

use magnetar_posterior::{ScoreRow, Scorer, SupportSize, TwinFile, TwinScorer};

use super::*;
use crate::testing::{row, row_on};
use crate::{Calibration, Design, LearnedScorer, TrainingRecord, Widths};

fn record(design: Design, widths: Widths) -> ModelRecord {
    ModelRecord {
        schema: MODEL_SCHEMA,
        design,
        widths,
        keep: 2,
        recipe: "paper".into(),
        recipe_hash: "0".into(),
        twin: design.uses_twin().then(|| TwinFile::shipped().unwrap().parameters),
        calibration: Calibration::NONE,
        training: TrainingRecord {
            command: String::new(),
            version: String::new(),
            reduced: true,
            rows: String::new(),
            seed: 1,
            real: None,
            exposures: 0,
            batch: 1,
            peak_rate: 1e-3,
            sampled: None,
            truth_inserted: true,
            stages: Vec::new(),
            chosen_stage: 0,
            validation_rows: 0,
            seconds: 0.0,
        },
    }
}

fn model(design: Design) -> Model {
    let widths = Widths { hidden: vec![8], attention: 4, levels: vec![4, 6], blocks: 1 };
    let parameters = Network::new(design, &widths, 2).unwrap().plans().draw(7);
    Model::new(record(design, widths), parameters).unwrap()
}

/// Weights that are not silent anywhere.
fn loud(model: &Model) -> Model {
    let mut parameters = model.parameters.clone();
    for (n, value) in parameters.0.values_mut().flat_map(|array| array.values_mut()).enumerate() {
        *value += 0.1 * libm::sinf(n as f32);
    }
    Model { parameters, ..model.clone() }
}

fn twin_volume(row: &ScoreRow<'_>) -> magnetar_posterior::Volume {
    let recipe = magnetar_dataset::Recipe::paper();
    let twin = magnetar_study::twin_model(&recipe).unwrap();
    let twin = TwinScorer::new(twin, TwinFile::shipped().unwrap().parameters).unwrap();
    twin.score(row.layout, row.rx, row.arrivals, row.support).unwrap()
}

#[test]
fn a_file_is_read_as_it_was_written() {
    for design in Design::ALL {
        let model = loud(&model(design));
        let bytes = model.to_bytes().unwrap();
        let read = Model::from_bytes(&bytes, "model").unwrap();
        assert_eq!((read.record(), &read.parameters), (model.record(), &model.parameters));
        assert_eq!(read.to_bytes().unwrap(), bytes);
        assert_eq!(read.identity(), model.identity());
    }
}

#[test]
fn damaged_files_are_refused_with_a_reason() {
    let model = model(Design::Np2);
    let bytes = model.to_bytes().unwrap();
    for cut in [0, 4, 8, 100, bytes.len() / 2, bytes.len() - 1] {
        assert!(matches!(Model::from_bytes(&bytes[..cut], "cut"), Err(NeuralError::Model { .. })), "{cut}");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(Model::from_bytes(&longer, "longer").is_err());
    let mut huge = bytes.clone();
    huge[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(Model::from_bytes(&huge, "huge").unwrap_err().to_string().contains("header"));
    // The header names shapes; other lengths of it are still read without a panic.
    for n in 0..bytes.len().min(3000) {
        let mut changed = bytes.clone();
        changed[n] ^= 0x11;
        let _ = Model::from_bytes(&changed, "changed");
    }
}

fn with_record(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header = std::str::from_utf8(&bytes[8..8 + length]).unwrap().replace(from, to);
    assert!(header.contains(to), "{to} in {header}");
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &bytes[8 + length..]].concat()
}

#[test]
fn other_schemas_widths_and_weights_are_refused_with_a_reason() {
    let bytes = model(Design::Np1).to_bytes().unwrap();
    let told = |bytes: Vec<u8>| Model::from_bytes(&bytes, "m.safetensors").unwrap_err().to_string();
    for (was, is, said) in [
        ("'schema':1", "'schema':9", "m.safetensors"),
        ("'schema':1", "'schema':9", "schema 9"),
        ("'hidden':[8]", "'hidden':[16]", "expected shape"),
        ("'hidden':[8]", "'hidden':[99999999]", "widths"),
        ("'design':'np1'", "'design':'np2'", "np2"),
        ("'keep':2", "'keep':2,'more':1", "more"),
        ("'keep':2", "'keep':4000000000", "arrivals"),
        ("'temperature':1.0", "'temperature':0.0", "calibration"),
    ] {
        // The record is JSON in a JSON text.
        let [was, is] = [was, is].map(|text| text.replace('\'', "\\\""));
        let error = told(with_record(&bytes, &was, &is));
        assert!(error.contains(said), "{is}: {error}");
    }
    let mut nan = bytes.clone();
    let last = nan.len() - 4;
    nan[last..].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(told(nan).contains("finite"));
    assert!(told(b"\x02\0\0\0\0\0\0\0{}".to_vec()).contains("record"));
}

#[test]
fn an_untrained_network_is_the_uniform_posterior_and_np6_the_twin() {
    row(|row| {
        let valid = row.support.mask(row.rx).count() as f32;
        for design in [Design::Np1, Design::Np2, Design::Np3, Design::Np4, Design::Np5] {
            let scorer = LearnedScorer::new("x", model(design), None).unwrap();
            let volume = scorer.score(&[*row]).unwrap().remove(0);
            assert!(volume.mass().iter().all(|m| *m == 0.0 || (m * valid - 1.0).abs() < 1e-6), "{design}");
        }
        let twin = twin_volume(row);
        let logits = model(Design::Np6).logits(&Inputs::new(row, Some(&twin)).unwrap()).unwrap();
        let volume = crate::scorer::posterior(row, &logits, &Calibration::NONE).unwrap();
        for (mine, theirs) in volume.mass().iter().zip(twin.mass()) {
            assert!((mine - theirs).abs() <= 1e-6 * theirs.max(1e-3), "{mine} {theirs}");
        }
    });
}

#[test]
fn a_model_gives_a_distribution_with_and_without_arrivals_that_depends_on_the_row() {
    let size = SupportSize { headings: 6, rows: 7, columns: 9 };
    for design in Design::ALL.into_iter().filter(|design| !design.uses_twin()) {
        let scorer = LearnedScorer::new("x", loud(&model(design)), None).unwrap();
        let volumes: Vec<_> =
            (0..=2).map(|found| row_on(size, found, |row| scorer.score(&[*row]).unwrap().remove(0))).collect();
        for volume in &volumes {
            assert!((volume.mass().iter().map(|m| f64::from(*m)).sum::<f64>() - 1.0).abs() < 1e-5, "{design}");
        }
        assert!(volumes[0] != volumes[1] && volumes[1] != volumes[2], "{design} does not look at its arrivals");
    }
}

#[test]
fn what_is_picked_is_scored_as_in_the_whole() {
    for design in Design::ALL {
        let model = loud(&model(design));
        row(|row| {
            let twin = design.uses_twin().then(|| twin_volume(row));
            let inputs = Inputs::new(row, twin.as_ref()).unwrap();
            let all = model.logits(&inputs).unwrap();
            let picked = if design.scores_headings() {
                Picked::Headings(if design.needs_all_headings() { (0..6).collect() } else { vec![4, 1] })
            } else {
                Picked::Candidates(vec![200, 3, 77])
            };
            let net = Net { engine: &PlainEngine, parameters: &model.parameters };
            let some = model.network.logits(&net, &inputs, &picked).unwrap().into_values();
            let same: Vec<f32> = picked.candidates(inputs.size()).iter().map(|n| all[*n]).collect();
            assert_eq!(some, same, "{design}");
        });
    }
}

#[test]
fn np3_turns_with_the_circle_of_headings() {
    let model = loud(&model(Design::Np3));
    row(|row| {
        let inputs = Inputs::new(row, None).unwrap();
        let before = model.logits(&inputs).unwrap();
        // Every heading's channels moved on by one bin: scores move with them.
        let (plane, headings) = (inputs.plane(), inputs.size().headings);
        let mut turned = inputs.clone();
        turned.heading.chunks_exact_mut(headings).for_each(|channel| channel.rotate_right(1));
        turned.world_headings.rotate_right(1);
        let mut after = model.logits(&turned).unwrap();
        after.rotate_left(plane);
        assert_eq!(before, after);
    });
}

#[test]
fn parameter_counts_are_those_of_the_papers_widths() {
    let count = |design: Design| Network::new(design, &Widths::of_paper(design), 2).unwrap().plans().count();
    for design in Design::ALL {
        println!("{design}: {} parameters, cpu {}", count(design), {
            Network::new(design, &Widths::for_cpu(design), 2).unwrap().plans().count()
        });
    }
    assert_eq!(count(Design::Np1), 24 * 128 + 128 + 2 * (128 * 128 + 128) + 128 + 1);
    assert!((2_500_000..2_700_000).contains(&count(Design::Np5)), "{}", count(Design::Np5));
}

#[test]
fn rows_of_another_number_of_arrivals_are_refused() {
    let scorer = LearnedScorer::new("x", model(Design::Np1), None).unwrap();
    row(|row| {
        let arrivals = magnetar_signal::Arrivals { keep: 3, found: row.arrivals.found.clone() };
        let error = scorer.score(&[ScoreRow { arrivals: &arrivals, ..*row }]).unwrap_err().to_string();
        assert!(error.contains("2 arrivals") && error.contains("keeps 3"), "{error}");
    });
    assert!(LearnedScorer::new("x", model(Design::Np6), None).is_err());
}
