"""Paths, observations and estimates: the bits of the command line, and errors with its words."""

import math

import magnetar
import numpy as np
import pyarrow.parquet
import pytest

TX, RX = "0.98,2.28,1.08,-90", "1,-1,1.08,90"
TX_POSE = (0.98, 2.28, 1.08, math.radians(-90))
RX_POSE = (1.0, -1.0, 1.08, math.radians(90))


@pytest.mark.parametrize("options", [{}, {"max_order": 3, "transmission": True}, {"frequency_hz": 28e9}])
def test_paths_are_those_of_the_command_line(command_line, options):
    flags = []
    if "max_order" in options:
        flags += ["--max-order", options["max_order"], "--transmission"]
    if "frequency_hz" in options:
        flags += ["--frequency-ghz", options["frequency_hz"] / 1e9]
    expected = command_line("trace", "lab_middle", "--tx", TX, "--rx", RX, "--json", *flags, parse=True)["paths"]
    found = magnetar.trace("lab_middle", TX_POSE, RX_POSE, **options)
    assert len(found) == len(expected) > 2
    assert found.kind == [path["kind"] for path in expected]
    assert found.surface == [path["surface"] for path in expected]
    assert found.delay_s.tolist() == [path["delay_s"] for path in expected]
    assert found.length_m.tolist() == [path["length_m"] for path in expected]
    assert found.coefficient.tolist() == [complex(*path["coefficient"]) for path in expected]
    azimuth = [path["aoa"]["local_azimuth_deg"] for path in expected]
    assert np.allclose(np.degrees(found.aoa_azimuth_rad), azimuth, rtol=0, atol=1e-12)
    vertices = [[tuple(met["vertex_m"]) for met in path["interactions"]] for path in expected]
    assert found.vertices_m == vertices


def test_many_links_are_the_single_ones():
    rng = np.random.default_rng(1)
    tx = rng.uniform([-1, -5, 0.5, -3], [4, 2.5, 2.5, 3], (40, 4))
    together = magnetar.trace("lab", tx, RX_POSE)
    for n in range(len(tx)):
        alone = magnetar.trace("lab", tx[n], RX_POSE)
        mine = together.link == n
        assert together.coefficient[mine].tolist() == alone.coefficient.tolist()
        assert together.aod_azimuth_rad[mine].tolist() == alone.aod_azimuth_rad.tolist()


@pytest.mark.parametrize(
    ("flags", "options"),
    [
        ([], {}),
        (["--stage", "clean"], {"stage": "clean"}),
        (["--redraw-rf-chain"], {"redraw_rf_chain": True}),
        (["--no-rf-chain", "--rx-pattern", "isotropic"], {"rf_chain": False, "rx_pattern": "isotropic"}),
    ],
)
def test_observations_are_those_of_the_command_line(command_line, tmp_path, flags, options):
    file = tmp_path / "observed.npy"
    link = ["lab_middle", "--tx", TX, "--rx", RX]
    command_line("observe", *link, "--seed", 3, "--count", 5, "--out", file, *flags)
    found = magnetar.observe("lab_middle", TX_POSE, RX_POSE, count=5, seed=3, **options)
    assert found.dtype == np.complex64
    assert found.shape == (1, 5, 512, 2)
    assert (found[0] == np.load(file)).all()


def test_links_have_noise_of_their_own():
    found = magnetar.observe("lab", [TX_POSE, TX_POSE], RX_POSE, seed=1)
    assert (found[0] != found[1]).all()
    assert (found[0] == magnetar.observe("lab", TX_POSE, RX_POSE, seed=1)[0]).all()


def test_every_link_may_have_its_power():
    together = magnetar.observe("lab", [TX_POSE] * 3, RX_POSE, tx_power_offset_db=[0.0, 3.0, -2.5], stage="clean")
    for one, offset in zip(together, (0.0, 3.0, -2.5), strict=True):
        alone = magnetar.observe("lab", TX_POSE, RX_POSE, tx_power_offset_db=offset, stage="clean")
        assert (one == alone[0]).all()


@pytest.mark.parametrize(
    ("flags", "options"),
    [([], {}), (["--all", "--p-fa", 1e-3], {"all": True, "p_fa": 1e-3}), (["--noise-variance", "auto"], {"noise_variance": "auto"})],
)
def test_estimates_are_those_of_the_command_line(command_line, tmp_path, flags, options):
    blocks = magnetar.observe("lab_middle", TX_POSE, RX_POSE, count=20, seed=5)
    np.save(tmp_path / "blocks.npy", blocks[0])
    table = tmp_path / "estimate.parquet"
    command_line("estimate", tmp_path / "blocks.npy", "--out", table, *flags)
    expected = pyarrow.parquet.read_table(table)
    # The command line takes millimetres.
    found = magnetar.estimate(blocks, spacing_m=26.0 * 1e-3, **options)
    assert len(found) == expected.num_rows > 20
    for name in ("observation", "rank", "aoa_rad", "phase_rad", "delay_s", "raw_snr_db", "snr_db"):
        assert getattr(found, name).tolist() == expected[name].to_pylist(), name
    padded = found.padded("snr_db")
    assert padded.shape == (20, 2)
    assert padded[0, 0] == found.snr_db[0]


def test_a_pattern_from_an_array_is_the_file_of_it(tmp_path):
    azimuth, elevation = np.arange(-180, 180, 10.0), np.arange(-90, 91, 10.0)
    gain = 5 * np.cos(np.radians(azimuth))[None] * np.cos(np.radians(elevation))[:, None]
    pattern = magnetar.Pattern.from_array(azimuth, elevation, gain)
    assert pattern.gain_db(np.radians(azimuth), np.zeros(36)) == pytest.approx(gain[9])
    (tmp_path / "mine.csv").write_text(pattern.to_csv())
    link = {"scene": "lab", "tx": TX_POSE, "rx": RX_POSE, "stage": "clean"}
    # A file keeps a ten-thousandth of a dB.
    pattern = magnetar.Pattern(str(tmp_path / "mine.csv"))
    from_file = magnetar.observe(**link, tx_pattern=tmp_path / "mine.csv", rx_pattern=tmp_path / "mine.csv")
    assert np.isfinite(from_file).all()
    assert (magnetar.observe(**link, tx_pattern=pattern, rx_pattern=pattern) == from_file).all()
    assert (magnetar.observe(**link, tx_pattern=pattern, rx_pattern=(pattern, "isotropic")) != from_file).any()
    assert pattern.figure().svg.startswith("<svg")


def test_scenes_and_materials(command_line):
    scene = magnetar.Scene("lab_middle")
    assert magnetar.Scene.from_toml(scene.to_toml()).boxes == scene.boxes
    assert "lab" in magnetar.Scene.names()
    assert len(scene.slabs()) == 6 + len(scene.boxes)
    shown = command_line("material", "list", "--json", parse=True)
    glass = magnetar.materials()["glass"]
    assert shown and glass.at(10e9)[0] == pytest.approx(6.31, abs=0.1)
    figure = scene.figure(TX_POSE, RX_POSE)
    assert figure._repr_svg_() == figure.svg
    assert figure.png(1.0)[:8] == b"\x89PNG\r\n\x1a\n"


def test_errors_have_the_words_of_the_command_line(command_line):
    said = command_line("trace", "no_such_scene", "--tx", TX, "--rx", RX, code=1).stderr
    with pytest.raises(magnetar.SceneError) as raised:
        magnetar.trace("no_such_scene", TX_POSE, RX_POSE)
    assert said == f"error: {raised.value}\n"
    said = command_line("trace", "lab", "--tx", "50,0", "--rx", RX, code=1).stderr
    with pytest.raises(magnetar.TraceError) as raised:
        magnetar.trace("lab", (50, 0), RX_POSE)
    assert said == f"error: {raised.value}\n"


BAD = [
    (lambda: magnetar.trace("lab", (1,), RX_POSE), magnetar.InputError),
    (lambda: magnetar.trace("lab", np.zeros((2, 2, 2)), RX_POSE), magnetar.InputError),
    (lambda: magnetar.trace("lab", (np.nan, 0), RX_POSE), magnetar.InputError),
    (lambda: magnetar.trace("lab", (np.inf, 0), RX_POSE), magnetar.InputError),
    (lambda: magnetar.trace("lab", ("a", "b"), RX_POSE), magnetar.InputError),
    (lambda: magnetar.trace("lab", (1j, 0), RX_POSE), magnetar.InputError),
    (lambda: magnetar.trace("lab", [[1, 2], [3]], RX_POSE), magnetar.InputError),
    (lambda: magnetar.trace("lab", np.zeros((3, 3)), np.ones((2, 3))), magnetar.InputError),
    (lambda: magnetar.trace("lab", np.zeros((0, 3)), RX_POSE), magnetar.InputError),
    (lambda: magnetar.trace("lab", TX_POSE, RX_POSE, max_order=4), magnetar.InputError),
    (lambda: magnetar.trace("lab", TX_POSE, RX_POSE, frequency_hz=math.nan), magnetar.InputError),
    (lambda: magnetar.trace("lab", TX_POSE, RX_POSE, max_order=-1), OverflowError),
    (lambda: magnetar.observe("lab", TX_POSE, RX_POSE, count=1 << 40), magnetar.InputError),
    (lambda: magnetar.observe("lab", TX_POSE, RX_POSE, stage="late"), magnetar.InputError),
    (lambda: magnetar.observe("lab", TX_POSE, RX_POSE, tx_power_offset_db=math.nan), magnetar.InputError),
    (lambda: magnetar.observe("lab", TX_POSE, RX_POSE, tx_pattern="none"), magnetar.MagnetarError),
    (lambda: magnetar.observe("lab", TX_POSE, RX_POSE, rx_pattern=("isotropic",)), magnetar.InputError),
    (lambda: magnetar.observe("lab", TX_POSE, RX_POSE, tx_power_offset_db=[1.0, 2.0]), magnetar.InputError),
    (lambda: magnetar.estimate(np.zeros((2, 512, 2))), magnetar.InputError),
    (lambda: magnetar.estimate(np.zeros((0, 512, 2), complex)), magnetar.InputError),
    (lambda: magnetar.estimate(np.zeros(512, complex)), magnetar.InputError),
    (lambda: magnetar.estimate(np.full((1, 512, 2), np.nan, complex)), magnetar.SignalError),
    (lambda: magnetar.estimate(np.zeros((1, 512, 2), complex), p_fa=2.0), magnetar.SignalError),
    (lambda: magnetar.estimate(np.zeros((1, 512, 2), complex), noise_variance="some"), magnetar.InputError),
    (lambda: magnetar.estimate(np.zeros((1, 512, 2), complex), keep=1 << 40), magnetar.SignalError),
    (lambda: magnetar.estimate(np.zeros((1, 512, 2), complex), max_paths=1 << 40), magnetar.SignalError),
    (lambda: magnetar.Pattern.from_array([0, 90], [0], [[1.0]]), magnetar.InputError),
    (lambda: magnetar.Pattern.from_array([0, 90], [0], [[1.0, math.nan]]), magnetar.SceneError),
    (lambda: magnetar.Scene("lab").figure(TX_POSE), magnetar.InputError),
    (lambda: magnetar.Scene("lab").figure(theme="pink"), magnetar.InputError),
    (lambda: magnetar.Scene.from_toml("name = 3"), magnetar.SceneError),
    (lambda: magnetar.set_threads(2000), magnetar.InputError),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_bad_input_raises_a_named_exception(number):
    call, error = BAD[number]
    with pytest.raises(error):
        call()
