"""Supports, features, posteriors, metrics, fusion: the bits of the command line."""

import magnetar
import numpy as np
import pytest
from magnetar import _native


@pytest.fixture(scope="module")
def twin():
    return magnetar.Scorer("twin", magnetar.Recipe("paper"))


def test_posteriors_are_those_of_the_command_line(command_line, small, tmp_path, twin):
    file = tmp_path / "posteriors.npy"
    command_line("posterior", small, "--all", "--limit", 12, "--out", file)
    rows = magnetar.Dataset(small).rows("test", 0, 12, csi=False)
    found = magnetar.posterior(rows, twin)
    assert (found.mass == np.load(file)).all()
    shown = command_line("posterior", small, "--index", 3, "--json", parse=True)
    x, y, heading, mass = found.mode()[3]
    mode = shown["mode"]
    assert (x, y, mass) == (mode["x_m"], mode["y_m"], pytest.approx(mode["mass"], rel=1e-12))
    assert np.degrees(heading) == pytest.approx(mode["heading_deg"], abs=1e-12)
    assert np.allclose(found.position_marginal()[3], shown["xy_marginal"], rtol=0, atol=1e-12)
    assert shown["scorer"]["identity"] == twin.identity
    for kind in ("marginal", "volume"):
        assert found.figure(3, kind=kind).svg.startswith("<svg")


def test_features_are_those_of_the_command_line(command_line, small, tmp_path):
    rows = magnetar.Dataset(small).rows("train", 0, 10, csi=False)
    for flags, seed in ((["--training", "--seed", 5], 5), ([], None)):
        folder = tmp_path / f"features-{seed}"
        command_line("features", small, "--split", "train", "--limit", 10, "--out", folder, *flags)
        found = magnetar.features(rows, training_seed=seed)
        assert (found.spatial == np.load(folder / "spatial.npy")).all()
        assert (found.query == np.load(folder / "query.npy")).all()
        target = np.load(folder / "target.npy")
        assert (found.target_index == target[..., 0]).all()
        assert (found.target_weight == target[..., 1]).all()
        axes = np.load(folder / "axes.npy")
        assert (np.concatenate([found.ys, found.xs], axis=1).astype(np.float32) == axes).all()
    dense = tmp_path / "dense"
    command_line("features", small, "--split", "train", "--limit", 10, "--dense", "--out", dense)
    assert (magnetar.features(rows).dense() == np.load(dense / "dense.npy")).all()


def test_an_evaluation_is_that_of_the_command_line(command_line, small, twin):
    shown = command_line("evaluate", small, "--limit", 30, "--json", parse=True)
    uniform = magnetar.Scorer("uniform", magnetar.Recipe("paper"))
    dataset = magnetar.Dataset(small)
    found = magnetar.evaluate(dataset, [twin, uniform], limit=30)
    assert found == {name: shown[name] for name in ("twin", "uniform")}
    rows = dataset.rows("test", 0, 30, csi=False)
    assert magnetar.evaluate(rows, [twin, uniform]) == found


def test_volumes_from_elsewhere_score_the_same(small, twin, tmp_path):
    dataset = magnetar.Dataset(small)
    rows = dataset.rows("test", 0, 30, csi=False)
    posterior = magnetar.posterior(rows, twin)
    expected = magnetar.evaluate(rows, twin)["twin"]
    metrics = magnetar.Metrics()
    per_row = metrics.add(rows, posterior.mass)
    for key, value in metrics.summary().items():
        assert value == expected[key] or key in ("no_board", "board"), key
    assert per_row["nll"].shape == (30,)
    # A file of volumes, and a network that gives logits.
    np.save(tmp_path / "mine.npy", posterior.mass)
    file = magnetar.Scorer(str(tmp_path / "mine.npy"), dataset.recipe)
    assert magnetar.evaluate(rows, file)[file.name]["nll"] == pytest.approx(expected["nll"], abs=1e-6)
    with np.errstate(divide="ignore"):
        logits = iter([np.log(posterior.mass[:20]), np.log(posterior.mass[20:])])
    halves = [rows.take(list(range(20))), rows.take(list(range(20, 30)))]
    found = magnetar.evaluate_network(halves, lambda features: next(logits))
    assert found["nll"] == pytest.approx(expected["nll"], abs=1e-5)


def test_a_learned_model_is_a_scorer(command_line, small, tmp_path):
    model, file = tmp_path / "np1.safetensors", tmp_path / "posteriors.npy"
    training = ["--preset", "cpu", "--exposures", 128, "--stages", 9, "--hidden", 8, "--validation-rows", 16]
    command_line("train", "np1", *training, "--out", model)
    command_line("posterior", small, "--all", "--limit", 6, "--scorer", model, "--out", file)
    rows = magnetar.Dataset(small).rows("test", 0, 6, csi=False)
    scorer = magnetar.Scorer(model)
    assert scorer.name == "np1.safetensors"
    assert (magnetar.posterior(rows, scorer).mass == np.load(file)).all()
    shown = command_line("evaluate", small, "--limit", 6, "--scorer", model, "--json", parse=True)
    assert magnetar.evaluate(rows, scorer)[scorer.name]["nll"] == shown[scorer.name]["nll"]
    with pytest.warns(UserWarning, match="trained on recipe"):
        magnetar.Scorer(model, magnetar.Recipe("field"))
    model.write_bytes(model.read_bytes()[:-4])
    with pytest.raises(magnetar.PosteriorError, match=r"np1\.safetensors"):
        magnetar.Scorer(model)


def test_rows_scored_in_parts_are_one_evaluation(small, twin):
    uniform = magnetar.Scorer("uniform")
    rows = magnetar.Dataset(small).rows("test", 0, 40, csi=False)
    expected = magnetar.evaluate(rows, [twin, uniform])
    parts = [_native.score_rows(rows.take(range(a, b)), [twin, uniform], (18, 33, 33)) for a, b in ((0, 7), (7, 40))]
    values = np.concatenate([part["values"] for part in parts])
    board, groups = (sum((part[key] for part in parts), []) for key in ("board", "groups"))
    assert _native.evaluation_of([twin, uniform], values, board, groups) == expected
    with pytest.raises(magnetar.InputError):
        _native.evaluation_of([twin], values, board, groups)


def test_fusion_of_a_set(small, twin):
    rows = magnetar.Dataset(small).rows("fusion", 0, 5, csi=False)
    posterior = magnetar.posterior(rows, twin)
    fused = magnetar.fuse(posterior)
    assert fused.late.sum() == pytest.approx(1)
    with np.errstate(divide="ignore"):
        log_joint = np.log(posterior.mass.astype(np.float64)).sum(axis=0)
    joint = np.exp(log_joint - log_joint.max())
    assert fused.joint == pytest.approx(joint / joint.sum(), abs=1e-12)
    one = magnetar.fuse(posterior.mass[:1])
    assert one.early == pytest.approx(posterior.position_marginal()[0], abs=1e-7)


def test_a_twin_of_a_scene():
    scene = magnetar.Scene("lab")
    scorer = magnetar.Scorer.of_scene(scene)
    assert scorer.name == "twin"


def test_supports():
    room = [0, 4, 0, 3, 0, 3]
    support = magnetar.Support(room, (8, 3, 4))
    assert support.shape == (8, 3, 4)
    assert support.xs.tolist() == [0.5, 1.5, 2.5, 3.5]
    assert support.cell((3.9, 0.1)) == (0, 3)
    assert support.cell((5, 0.1)) is None
    assert support.mask((1.5, 0.5)).tolist() == [[True, False, True, True], [True] * 4, [True] * 4]
    trained = magnetar.Support.training(room, (3.9, 0.1), (8, 3, 4), seed=3, number=1)
    assert (trained.xs[3], trained.ys[0]) == (3.9, 0.1)
    assert trained.xs.tolist() != magnetar.Support.training(room, (3.9, 0.1), (8, 3, 4), seed=3, number=2).xs.tolist()


def rows_of_four():
    return magnetar.Recipe().sample("test", 0, 4)


BAD = [
    (lambda: magnetar.Scorer("no_such_scorer", magnetar.Recipe()), magnetar.PosteriorError),
    (lambda: magnetar.Scorer("/no/such/file.npy", magnetar.Recipe()), magnetar.PosteriorError),
    (lambda: magnetar.Scorer("/no/such/file.safetensors"), magnetar.PosteriorError),
    (lambda: magnetar.evaluate_network([rows_of_four()], lambda features: features.mask), magnetar.InputError),
    (lambda: magnetar.evaluate_network([rows_of_four()], lambda features: 0, batch_size=0), magnetar.InputError),
    (lambda: magnetar.Support([0, 4, 3, 0, 0, 3]), magnetar.InputError),
    (lambda: magnetar.Support([0, 4, 0, 3, 0, np.nan]), magnetar.InputError),
    (lambda: magnetar.Support([0, 4, 0, 3, 0, 3], (0, 3, 3)), magnetar.PosteriorError),
    (lambda: magnetar.Support([0, 4, 0, 3, 0, 3], (1 << 20, 1 << 20, 1 << 20)), magnetar.PosteriorError),
    (lambda: magnetar.Support.training([0, 4, 0, 3, 0, 3], (9, 9)), magnetar.PosteriorError),
    (lambda: magnetar.features(rows_of_four(), (1 << 12, 1 << 12, 1 << 12)), magnetar.InputError),
    (lambda: magnetar.Metrics().summary(), magnetar.InputError),
    (lambda: magnetar.Metrics().add(rows_of_four(), np.ones((4, 18, 33), np.float32)), magnetar.InputError),
    (lambda: magnetar.Metrics().add(rows_of_four(), np.ones((3, 18, 33, 33), np.float32)), magnetar.InputError),
    (lambda: magnetar.Metrics().add(rows_of_four(), np.ones((4, 18, 33, 33), int)), magnetar.InputError),
    (lambda: magnetar.Metrics().add(rows_of_four(), np.full((4, 18, 33, 33), np.nan, np.float32)), magnetar.PosteriorError),
    (lambda: magnetar.Metrics().add(rows_of_four(), np.zeros((4, 18, 33, 33), np.float32)), magnetar.PosteriorError),
    (lambda: magnetar.fuse(np.zeros((0, 18, 33, 33), np.float32)), magnetar.MagnetarError),
    (lambda: magnetar.fuse(np.eye(2, dtype=np.float32).reshape(2, 1, 1, 2)), magnetar.PosteriorError),
    (lambda: magnetar.evaluate(rows_of_four(), [magnetar.Scorer("uniform", magnetar.Recipe())] * 2), magnetar.InputError),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_bad_input_raises_a_named_exception(number):
    call, error = BAD[number]
    with pytest.raises(error):
        call()
