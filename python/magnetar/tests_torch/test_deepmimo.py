"""The export in DeepMIMO's layout, read by DeepMIMO itself."""

import json
import subprocess
import sys

import deepmimo
import magnetar
import magnetar.deepmimo
import numpy as np
import pyarrow
import pytest

CARRIER, LIGHT = 10e9, 299_792_458.0


@pytest.fixture
def scenarios(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "deepmimo_scenarios"


def channel(scene, bins, bandwidth):
    """DeepMIMO's channel of one RX point and isotropic antennas, (users, bins)."""
    parameters = deepmimo.ChannelParameters()
    for end in ("bs_antenna", "ue_antenna"):
        parameters[end].shape = np.array([1, 1])
    parameters.ofdm.bandwidth = bandwidth
    parameters.ofdm.subcarriers = bins
    parameters.ofdm.selected_subcarriers = np.arange(bins)
    return scene.compute_channels(parameters).reshape(scene.n_ue, bins) * np.sqrt(bins)


def test_sets_become_scenes_whose_channels_are_our_paths(small, scenarios):
    command = [sys.executable, "-m", "magnetar.deepmimo", str(small), "--split", "fusion"]
    subprocess.run([*command, "--out", str(scenarios / "fusion")], check=True)
    found = deepmimo.load("fusion")
    assert found.n_scenes == 4
    rows = magnetar.Dataset(small).rows("fusion", csi=False)
    paths = pyarrow.table(rows).column("paths").to_pylist()
    bins, bandwidth = 64, 491.52e6
    frequencies = CARRIER + np.arange(bins) * bandwidth / bins
    for number, scene in enumerate(found.datasets):
        made = channel(scene, bins, bandwidth)
        assert made.shape == (5, bins)
        for user in range(5):
            row = 5 * number + user
            gains = np.array([path["coefficient0_re"] + 1j * path["coefficient0_im"] for path in paths[row]])
            delays = np.array([path["delay_s"] for path in paths[row]])
            expected = (gains * np.exp(-2j * np.pi * np.outer(frequencies, delays))).sum(axis=1)
            # Their files are float32: phases to 1e-5 of a radian, delays to 1e-7 of 50 ns against a band of 0.5 GHz.
            assert np.abs(made[user] - expected).max() < 1e-4 * np.abs(expected).max()
            assert scene.rx_pos[user] == pytest.approx([rows.numpy(f"rx.{axis}")[row] for axis in "xyz"], abs=1e-6)
            assert scene.num_paths[user] == len(gains)
            assert bool(scene.los[user] == 1) == bool(rows.numpy("los")[row])
        assert np.ravel(scene.tx_pos) == pytest.approx([rows.numpy(f"tx.{axis}")[5 * number] for axis in "xyz"], abs=1e-6)
    origin = json.loads((scenarios / "fusion/magnetar.json").read_text())
    assert [scene["rows"] for scene in origin["scenes"]] == [list(range(5 * n, 5 * n + 5)) for n in range(4)]
    assert origin["recipe_hash"] == magnetar.Recipe("paper").hash


def test_directions_and_interaction_points_are_geometry(small, scenarios):
    magnetar.deepmimo.export(magnetar.Dataset(small), scenarios / "train", split="train", limit=8)
    found = deepmimo.load("train")
    assert found.n_scenes == 8
    for scene in found.datasets:
        tx = np.ravel(scene.tx_pos)
        for path in range(int(scene.num_paths[0])):
            met = scene.inter_pos[0, path]
            met = met[~np.isnan(met).any(axis=1)]
            assert len(met) == (0 if scene.inter[0, path] == 0 else len(str(int(scene.inter[0, path]))))
            points = [tx, *met, scene.rx_pos[0]]
            length = sum(np.linalg.norm(b - a) for a, b in zip(points, points[1:], strict=False))
            assert scene.delay[0, path] == pytest.approx(length / LIGHT, rel=1e-4)
            for name, towards in (("aoa", points[-2] - points[-1]), ("aod", points[1] - points[0])):
                azimuth, zenith = np.radians(scene[f"{name}_az"][0, path]), np.radians(scene[f"{name}_el"][0, path])
                drawn = [np.sin(zenith) * np.cos(azimuth), np.sin(zenith) * np.sin(azimuth), np.cos(zenith)]
                assert drawn == pytest.approx(towards / np.linalg.norm(towards), abs=1e-3)
        room = scene.scene.objects[0]
        bounds = [room.bounding_box.x_min, room.bounding_box.x_max, room.bounding_box.y_min, room.bounding_box.y_max]
        assert bounds[0] < scene.rx_pos[0, 0] < bounds[1] and bounds[2] < scene.rx_pos[0, 1] < bounds[3]
        names = {material.name for material in scene.materials}
        assert all(scene.materials[face.material_idx].name in names for face in room.faces)


def test_one_set_is_a_static_scenario_and_boards_are_objects(scenarios):
    recipe = magnetar.Recipe("paper")
    rows = recipe.sample("test", 0, 64, seed=3)
    board = int(np.flatnonzero(~np.isnan(rows.numpy("board.yaw")))[0])
    magnetar.deepmimo.export(rows.take([board]), scenarios / "one", recipe=recipe)
    found = deepmimo.load("one")
    assert [thing.name for thing in found.scene.objects] == ["room", "box0"]
    corners = np.concatenate([face.vertices for face in found.scene.objects[1].faces])
    centre = [rows.numpy(f"board.{axis}")[board] for axis in "xyz"]
    assert (corners.min(axis=0) + corners.max(axis=0)) / 2 == pytest.approx(centre, abs=1e-5)


def test_antennas_can_be_divided_out(scenarios):
    plain = {"antennas.tx_pattern": "isotropic", "antennas.rx_patterns": ["isotropic", "isotropic"]}
    gains = []
    for name, overrides, antennas in (("with", {}, False), ("without", plain, True)):
        recipe = magnetar.Recipe("paper", overrides)
        magnetar.deepmimo.export(recipe.sample("test", 0, 1, seed=3), scenarios / name, recipe=recipe, antennas=antennas)
        found = deepmimo.load(name)
        gains.append((found.power, found.phase))
    assert gains[0][0] == pytest.approx(gains[1][0], abs=1e-3)
    assert np.exp(1j * np.radians(gains[0][1])) == pytest.approx(np.exp(1j * np.radians(gains[1][1])), abs=1e-4)


def test_bad_requests_leave_nothing_behind(small, scenarios):
    rows, field = magnetar.Recipe().sample("test", 0, 1), magnetar.Recipe("field")
    bad = [
        (lambda: magnetar.deepmimo.export(rows, scenarios / "x"), "recipe"),
        (lambda: magnetar.deepmimo.export(magnetar.Dataset(small), scenarios / "Upper"), "lower case"),
        (lambda: magnetar.deepmimo.export(magnetar.Dataset(small), scenarios / "x", split="test", limit=0), "no row"),
        (
            lambda: magnetar.deepmimo.export(field.sample("test", 0, 1), scenarios / "x", recipe=field, antennas=False),
            "errors of the patterns",
        ),
    ]
    for call, reason in bad:
        with pytest.raises(magnetar.InputError, match=reason):
            call()
    assert not scenarios.exists() or not list(scenarios.iterdir())
    magnetar.deepmimo.export(rows, scenarios / "x", recipe=magnetar.Recipe())
    with pytest.raises(magnetar.InputError, match="there already"):
        magnetar.deepmimo.export(rows, scenarios / "x", recipe=magnetar.Recipe())
