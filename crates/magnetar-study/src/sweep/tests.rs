//! Laws of sweeps.

use std::fs;
use std::path::Path;

use magnetar_dataset::*;

use super::*;
use crate::{ScorerSettings, StudyError};

pub(super) fn sweep(head: &str, axes: &str) -> Result<Sweep, StudyError> {
    Sweep::parse(&format!("name = \"t\"\nsplit = \"test\"\nrows = 40\n{head}\n{axes}"), "t.toml", None)
}

fn refused(head: &str, axes: &str) -> String {
    sweep(head, axes).unwrap_err().to_string()
}

pub(super) fn run(sweep: &Sweep, out: &Path, threads: usize) -> Outcome {
    sweep.run(out, threads, None, &|_| {}).unwrap()
}

pub(super) fn rows(recipe: &std::sync::Arc<Recipe>, n: u64) -> Vec<Record> {
    let generator = Generator::new(recipe, 1, "test").unwrap();
    let mut rows = generator.rows();
    (0..n).map(|index| rows.row(index).unwrap()).collect()
}

#[test]
fn an_axis_of_recipes_puts_them_in_the_bases_place() {
    let axes = "[[axis]]\nkey = \"link.reference_snr_db\"\nvalues = [40.0]\n\
                [[axis]]\nname = \"all together\"\nrecipes = [\"field\"]";
    let sweep = sweep("design = \"one-at-a-time\"", axes).unwrap();
    let hashes: Vec<String> = sweep.points.iter().map(|point| point.recipe.hash()).collect();
    assert_eq!(hashes[0], Recipe::paper().hash());
    assert_eq!(hashes[2], Recipe::load("field", &[]).unwrap().hash());
    assert_eq!(hashes.len(), 3);
    let label = |point: usize| (&sweep.points[point].settings[1].label[..], sweep.points[point].settings[1].base);
    assert_eq!((label(0), label(2)), (("paper", true), ("field", false)));
    let folder = tempfile::tempdir().unwrap();
    run(&sweep, folder.path(), 2);
    let options = VerifyOptions { sample: 40, seed: 1, partial: false };
    assert!(verify_sweep(folder.path(), options, None, &|_| {}).unwrap().problems.is_empty());
    let alone = "[[axis]]\nrecipes = [\"field\"]";
    assert!(refused("", alone).contains("one-at-a-time"));
    for (axis, words) in [
        ("recipes = []", "at least one"),
        ("recipes = [\"nowhere\"]", "no shipped recipe"),
        ("recipes = [\"field\", \"field\"]", "twice"),
        ("recipes = [\"field\"]\nkey = \"link.reference_snr_db\"", "nothing but a name"),
    ] {
        let said = refused("design = \"one-at-a-time\"", &format!("[[axis]]\n{axis}"));
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn realism_adds_every_model_error_of_field_alone_and_all_together() {
    let sweep = Sweep::load("realism").unwrap();
    let field = Recipe::load("field", &[]).unwrap();
    let (all, alone) = sweep.definition.axes.split_last().unwrap();
    assert!(all.keys.is_empty() && sweep.points.last().unwrap().recipe.hash() == field.hash());
    let mut together = (*sweep.base).clone();
    for (axis, point) in alone.iter().zip(&sweep.points[1..]) {
        for key in &axis.keys {
            // Its size is that of recipe field.
            assert_eq!(point.recipe.get(key), field.get(key), "{key}");
            together.set(key, &field.get(key).unwrap()).unwrap();
        }
    }
    // What an outing shares makes no difference to single rows; nothing else is left.
    together.outing = field.outing;
    assert_eq!(together.hash(), field.hash());
}

#[test]
fn grids_ranges_factors_and_several_keys() {
    let sweep = sweep(
        "",
        "[[axis]]\nkeys = [\"board.width_min_m\", \"board.width_max_m\"]\nfrom = 0.5\nto = 1.5\nsteps = 3\n\
         [[axis]]\nkey = \"link.reference_snr_db\"\nfrom = 10\nto = 40\nsteps = 3\nscale = \"log\"\n\
         [[axis]]\nkey = \"sre.max_paths\"\nfrom = 4\nto = 6\nsteps = 3",
    )
    .unwrap();
    assert_eq!(sweep.points.len(), 27);
    let last = &sweep.points[26].recipe;
    assert_eq!((last.board.width_min_m, last.board.width_max_m), (1.5, 1.5));
    assert_eq!((last.link.reference_snr_db, last.sre.max_paths), (40.0, 6));
    let middle = &sweep.points[13].recipe;
    assert!((middle.link.reference_snr_db - 20.0).abs() < 1e-9);
    assert_eq!(middle.sre.max_paths, 5);
    // The last axis varies fastest.
    assert_eq!(sweep.points[1].recipe.sre.max_paths, 5);
}

#[test]
fn designs_of_points_cover_their_ranges() {
    for design in ["latin-hypercube", "sobol"] {
        let axes = "[[axis]]\nkey = \"link.reference_snr_db\"\nfrom = 20\nto = 60\n\
                    [[axis]]\nkey = \"surfaces.board_material\"\nvalues = [\"glass\", \"metal\"]";
        let sweep = sweep(&format!("design = {design:?}\npoints = 16"), axes).unwrap();
        let snr: Vec<f64> = sweep.points.iter().map(|p| p.recipe.link.reference_snr_db).collect();
        for slice in 0..16 {
            let low = 20.0 + 2.5 * f64::from(slice);
            assert_eq!(snr.iter().filter(|x| (low..low + 2.5).contains(*x)).count(), 1, "{design}");
        }
        let metal = sweep.points.iter().filter(|p| p.recipe.surfaces.board_material == "metal").count();
        assert_eq!(metal, 8, "{design}");
    }
}

#[test]
fn wrong_sweeps_are_refused_before_any_work() {
    let axis = "[[axis]]\nkey = \"link.reference_snr_db\"\n";
    for (more, said) in [
        ("values = []", "empty"),
        ("values = [30, 900]", "from -100 to 100"),
        ("values = [30, \"many\"]", "numbers"),
        ("from = \"low\"\nto = 3\nsteps = 2", "t.toml:7"),
        ("from = 1\nto = 3", "needs steps"),
        ("from = 3\nto = 1\nsteps = 2", "must be below"),
        ("from = nan\nto = 1\nsteps = 2", "must be below"),
        ("from = -3\nto = 1\nsteps = 2\nscale = \"log\"", "above 0"),
        ("from = 1\nto = 3\nsteps = 1000000000", "steps"),
        ("values = [1]\n{axis}values = [2]", "twice"),
        ("values = [1]\nlabels = [\"a\", \"b\"]", "labels"),
        ("valves = [1]", "valves"),
        ("values = [30, 40, 30]", "30 is given twice"),
        ("values = [30, 40]\nlabels = [\"a\", \"a\"]", "label \"a\" is given twice"),
        ("values = [-3, 40]\nscale = \"log\"", "above 0"),
        ("name = \"rows\"\nvalues = [30]", "a column of that name"),
        ("name = \" \"\nvalues = [30]", "name is empty"),
    ] {
        let error = refused("", &format!("{axis}{more}").replace("{axis}", axis));
        assert!(error.contains(said), "{more}: {error}");
    }
    for (head, axes, said) in [
        ("", "", "axes"),
        ("", "[[axis]]\nkey = \"link.reference_snr\"\nvalues = [1]", "did you mean link.reference_snr_db"),
        ("", "[[axis]]\nkey = \"surfaces.board_material\"\nfrom = 1\nto = 3\nsteps = 3", "a number"),
        ("", "[[axis]]\nkey = \"surfaces.board_material\"\nvalues = [\"cheese\"]", "no material"),
        ("", "[[axis]]\nkey = \"board.clearance_min_m\"\nvalues = [20.0]", "clearance"),
        ("", "[[axis]]\nkey = \"board.width_min_m\"\nvalues = [1.0, 2.0]", "board.width_max_m"),
        ("", "[[axis]]\nkey = \"sre.p_fa\"\nfactor = true\nvalues = [\"x\"]", "numbers"),
        ("", "[[axis]]\nkey = \"sre.max_paths\"\nfactor = true\nvalues = [2]", "factor"),
        (
            "",
            &format!("{axis}name = \"nll_stderr\"\nvalues = [30]").replace("nll", "los_share"),
            "a column of that name",
        ),
        ("", "[[axis]]\nkey = \"store.csi\"\nvalues = [\"f32\"]", "does not change a row"),
        ("", "[[axis]]\nkey = \"name\"\nvalues = [\"x\"]", "does not change a row"),
        // The first eight rows can be drawn, the ninth cannot.
        (
            "",
            "[[axis]]\nkey = \"board.clearance_min_m\"\nvalues = [0.1, 3.0]",
            "t.toml: point 1 (board.clearance_min_m = 3)",
        ),
        ("split = \"tset\"", &format!("{axis}values = [1]"), "t.toml:4"),
        ("design = \"sobol\"", &format!("{axis}from = 1\nto = 3"), "needs points"),
        ("design = \"sobol\"\npoints = 1000000000", &format!("{axis}from = 1\nto = 3"), "1000000000 points"),
        ("points = 3", &format!("{axis}values = [1]"), "does not take"),
        ("design = \"hexagonal\"", &format!("{axis}values = [1]"), "hexagonal"),
        ("seed = -1", &format!("{axis}values = [1]"), "t.toml:4"),
        ("set = [\"nonsense\"]", &format!("{axis}values = [1]"), "t.toml: base recipe: "),
        ("recipe = \"nowhere.toml\"", &format!("{axis}values = [1]"), "nowhere.toml"),
    ] {
        let error = refused(head, axes);
        assert!(error.contains(said), "{head} {axes}: {error}");
    }
    // 2^30 points of a grid.
    let axes: String = ["gain_ripple_db_rms", "phase_ripple_deg_rms", "gain_imbalance_db_rms"]
        .map(|key| format!("[[axis]]\nkey = \"rf_chain.{key}\"\nfrom = 0\nto = 1\nsteps = 1024\n"))
        .concat();
    assert!(refused("", &axes).contains("1073741824 points"));
    let many = "name = \"t\"\nsplit = \"test\"\nrows = 10001\n[[axis]]\nkey = \"sre.p_fa\"\nvalues = [0.1]";
    assert!(Sweep::parse(many, "t", None).unwrap_err().to_string().contains("10000 rows"));
}

#[test]
fn a_stopped_sweep_is_finished_and_ends_the_same() {
    let axes = "[[axis]]\nkey = \"link.reference_snr_db\"\nvalues = [30, 40, 50]";
    let (whole, halves) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let sweep_ = sweep("", axes).unwrap();
    let first = run(&sweep_, whole.path(), 1);
    assert_eq!((first.measured.made, first.measured.kept, first.measured.rows), (3, 0, 120));
    // The first value alone, then all: only what is new is measured.
    run(&sweep("", "[[axis]]\nkey = \"link.reference_snr_db\"\nvalues = [30]").unwrap(), halves.path(), 2);
    let second = run(&sweep_, halves.path(), 3);
    assert_eq!((second.measured.made, second.measured.kept, second.measured.rows), (2, 1, 80));
    for file in [SWEEP_TABLE, SWEEP_MANIFEST] {
        assert!(fs::read(whole.path().join(file)).unwrap() == fs::read(halves.path().join(file)).unwrap(), "{file}");
    }
    // A file that a killed run had begun does not stay.
    fs::write(whole.path().join("points/.magnetar-left"), "half a result").unwrap();
    let again = run(&sweep_, whole.path(), 1);
    assert!(!whole.path().join("points/.magnetar-left").exists());
    assert_eq!((again.measured.made, again.measured.kept, again.measured.rows), (0, 3, 0));
}

#[test]
fn storing_changes_no_number_and_verification_finds_damage() {
    let axes = "[[axis]]\nkey = \"link.reference_snr_db\"\nvalues = [30, 50]";
    let (plain, stored) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let a = run(&sweep("", axes).unwrap(), plain.path(), 2);
    let b = run(&sweep("store = true", axes).unwrap(), stored.path(), 2);
    assert!(a.table.results == b.table.results);
    let options = VerifyOptions { sample: 5, seed: 1, partial: false };
    for folder in [&plain, &stored] {
        let found = verify_sweep(folder.path(), options, None, &|_| {}).unwrap();
        assert_eq!(found.problems, Vec::<String>::new());
        assert!(found.regenerated >= 40);
    }
    let hash = &a.table.manifest.points[0].hash;
    let path = plain.path().join("points").join(format!("{}.json", &hash[..16]));
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"rows\":40", "\"rows\":41")).unwrap();
    assert!(verify_sweep(plain.path(), options, None, &|_| {}).unwrap().problems[0].contains("SHA-256"));
}

#[test]
fn scores_are_measured_row_by_row_differences_are_paired_and_verification_scores_again() {
    let axes =
        "[[axis]]\nkey = \"link.reference_snr_db\"\nvalues = [20, 60]\n[[axis]]\nkey = \"sre.p_fa\"\nvalues = [0.02]";
    let sweep = sweep("design = \"one-at-a-time\"\nposterior = \"own\"", axes).unwrap();
    assert_eq!(sweep.points.len(), 4);
    let folder = tempfile::tempdir().unwrap();
    let settings = || ScorerSettings::shipped().unwrap();
    let scorer = SweepScorer::new(&sweep.definition, &sweep.base, "uniform", settings()).unwrap();
    let outcome = sweep.run(folder.path(), 2, scorer.as_ref(), &|_| {}).unwrap();
    let nll = |result: &PointResult| result.metric("nll").unwrap().value.unwrap();
    assert!(outcome.table.results.iter().all(|result| (nll(result) - 19_602f64.ln()).abs() < 1e-3));
    assert_eq!(outcome.table.results[0].by_row["p1m"].len(), 40);
    // Rows share their numbers, so a metric that no key moves has no difference and no error.
    let found = sensitivities(&outcome.table, "p1m").unwrap();
    assert!(found.iter().all(|s| (s.difference, s.stderr) == (0.0, Some(0.0))));
    let found = sensitivities(&outcome.table, "arrivals_mean").unwrap();
    assert_eq!((found.len(), found[0].axis.as_str()), (3, "link.reference_snr_db"));
    assert!(found[0].difference < -0.5 && found[1].difference >= 0.0, "{found:?}");
    let effects = main_effects(&outcome.table, 0, "arrivals_mean");
    assert_eq!(effects.iter().map(|e| e.number.unwrap()).collect::<Vec<_>>(), [20.0, 50.0, 60.0]);
    let options = VerifyOptions { sample: 40, seed: 1, partial: false };
    let verified = verify_sweep(folder.path(), options, None, &|_| {}).unwrap();
    assert_eq!((verified.problems, verified.regenerated), (Vec::new(), 40));
    // Another scorer's results are other results.
    let twin = SweepScorer::new(&sweep.definition, &sweep.base, "twin", settings()).unwrap();
    assert_ne!(sweep.hashes(twin.as_ref()), sweep.hashes(scorer.as_ref()));
}

/// Where every point moves all axes, effects are means over bins of points with their spread.
#[test]
fn effects_of_scattered_points_are_binned_with_their_spread() {
    let axes = "[[axis]]\nkey = \"link.reference_snr_db\"\nfrom = 20\nto = 60\n[[axis]]\nkey = \"sre.p_fa\"\nfrom = 0.001\nto = 0.05";
    let sweep = sweep("design = \"latin-hypercube\"\npoints = 13", axes).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let table = run(&sweep, folder.path(), 2).table;
    let effects = main_effects(&table, 0, "arrivals_mean");
    assert_eq!(effects.iter().map(|effect| effect.points).sum::<usize>(), 13);
    assert!(effects.len() == 4 && effects.iter().all(|effect| effect.points >= 3 && effect.spread_stderr.is_some()));
    let dots = scattered(&table, 0, "arrivals_mean");
    assert_eq!(dots.len(), 13);
    // The mean over all bins, by their points, is the mean over all dots.
    let mean = dots.iter().map(|dot| dot[1]).sum::<f64>() / 13.0;
    let binned = effects.iter().map(|effect| effect.mean * effect.points as f64).sum::<f64>() / 13.0;
    assert!((mean - binned).abs() < 1e-12);
    assert!(effects[0].mean < effects[3].mean, "a higher level, more arrivals");
}

#[test]
fn a_scorer_that_a_sweep_cannot_use_is_refused_before_any_work() {
    let taken = "[[axis]]\nname = \"p1m\"\nkey = \"sre.p_fa\"\nvalues = [0.02]";
    let sweep = sweep("posterior = \"base\"", taken).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = folder.path().join("elsewhere");
    let of = |name: &str| SweepScorer::new(&sweep.definition, &sweep.base, name, ScorerSettings::shipped().unwrap());
    let scorer = of("uniform").unwrap();
    assert!(matches!(sweep.run(&elsewhere, 1, scorer.as_ref(), &|_| {}), Err(StudyError::AxisName { .. })));
    assert!(!elsewhere.exists());
    assert!(matches!(of("volumes.npy"), Err(StudyError::VolumesOfSweep { .. })));
    assert!(matches!(of("oracle"), Err(StudyError::UnknownScorer { .. })));
}

#[test]
fn keys_that_differ_in_the_base_have_no_one_base_value() {
    let axes = "[[axis]]\nname = \"width\"\nkeys = [\"board.width_min_m\", \"board.width_max_m\"]\nvalues = [0.5, 1.5]";
    let sweep = sweep("design = \"one-at-a-time\"", axes).unwrap();
    let base = &sweep.points[0].settings[0];
    assert_eq!((base.label.as_str(), base.number, base.base), ("0.75, 1.25", None, true));
    assert_eq!(sweep.points[1].settings[0].number, Some(0.5));
}

/// On strong links without RF chain nearly all aliases are resolved; each would count as an error against the principal
/// branch, which half of all directions lie off.
#[test]
fn a_resolved_alias_counts_as_right() {
    let sets = ["rf_chain.enabled=false", "link.reference_snr_db=100", "sre.aoa_mode=wideband"].map(str::to_owned);
    let recipe = std::sync::Arc::new(Recipe::load("paper", &sets).unwrap());
    let (mut right, mut all) = (0, 0);
    for record in rows(&recipe, 300) {
        for arrival in &record.arrivals.found {
            if let Some(path) = stats::matching_path(&recipe, &record, arrival) {
                all += 1;
                right += usize::from(stats::aoa_error(&recipe, arrival, path).abs().to_degrees() < 5.0);
            }
        }
    }
    assert!(10 * right > 7 * all, "{right} of {all}");
}

#[test]
fn the_shipped_sweeps_load() {
    for name in shipped_names() {
        let sweep = Sweep::load(name).unwrap();
        assert!(sweep.points.len() > 1 && !sweep.definition.description.is_empty(), "{name}");
    }
}
