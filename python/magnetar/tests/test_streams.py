"""Streams: ranks and workers share nothing, a stopped stream goes on, fields are those of `magnetar.features`."""

import pickle

import magnetar
import numpy as np
import pytest
from magnetar.streams import PAPER_STAGES, ExposureStream, Share, StoredExposures, expand

KEYS = ("spatial", "heading", "target_index", "target_weight", "mask", "spacing_m")


def same(first, second):
    return all((first[key] == second[key]).all() for key in KEYS)


def stream(**options):
    return ExposureStream(magnetar.Recipe(), **{"batch_size": 4, "seed": 3, **options})


def test_two_ranks_of_two_workers_are_the_plain_sequence():
    plain = stream()
    batches = [next(plain) for _ in range(12)]
    for workers in (1, 2, 3):
        seen = []
        for rank in range(2):
            of_rank = stream(rank=rank, ranks=2)
            for worker in range(workers):
                for batch, _ in zip(of_rank.worker(worker, workers), range(6), strict=False):
                    number = of_rank.share.batch(batch["step"])
                    if number < 12:
                        seen.append(number)
                        assert same(batch, batches[number]), (rank, worker, number)
        assert sorted(seen) == list(range(12)), workers


def test_shares_are_disjoint_and_whole():
    numbers = []
    for rank in range(3):
        for worker in range(4):
            share = Share(rank, 3, worker, 4)
            numbers += [share.batch(step) for step, _ in zip(share.steps(5), range(10), strict=False)]
    assert sorted(numbers) == list(range(15, 15 + 120))
    with pytest.raises(magnetar.InputError):
        Share(3, 3)


def test_a_stopped_stream_goes_on_at_the_next_row():
    whole = stream(stages=PAPER_STAGES, stage_exposures=8)
    batches = [next(whole) for _ in range(9)]
    assert [batch["spatial"].shape[2] for batch in batches] == [33, 33, 25, 25, 33, 33, 41, 41, 33]
    first = stream(stages=PAPER_STAGES, stage_exposures=8)
    for _ in range(3):
        next(first)
    state = pickle.loads(pickle.dumps(first.state_dict()))
    again = stream(stages=PAPER_STAGES, stage_exposures=8)
    again.load_state_dict(state)
    assert all(same(next(again), batch) for batch in batches[3:])
    # After a batch that a worker made.
    again.load_state_dict(first.state_dict(step=6))
    assert same(next(again), batches[7])
    with pytest.raises(magnetar.InputError, match="seed"):
        stream(seed=4, stages=PAPER_STAGES, stage_exposures=8).load_state_dict(state)
    assert same(next(pickle.loads(pickle.dumps(stream()))), next(stream()))


def test_fields_are_those_of_features():
    made = next(stream(support_seed=5))
    rows = magnetar.Recipe().sample("train", 0, 4, seed=3)
    expected = magnetar.features(rows, training_seed=5)
    assert (made["spatial"] == expected.spatial).all()
    assert np.abs(expand(made["spatial"], made["heading"]) - expected.dense()).max() < 1e-6
    assert (made["target_index"] == expected.target_index[:, :2]).all()
    assert (made["target_weight"] == expected.target_weight[:, :2]).all()
    assert not expected.target_weight[:, 2:].any()
    assert (made["mask"] == expected.mask).all()


def test_any_recipe_beyond_its_stored_rows():
    recipe = magnetar.Recipe("field", {"sre.keep": 2})
    made = ExposureStream(recipe, batch_size=2)
    made.step = 10**7
    assert np.isfinite(next(made)["spatial"]).all()


def test_stored_rows_in_every_epoch_once(small):
    stored = StoredExposures(small, "train", batch_size=16)
    assert (len(stored), stored.steps()) == (70, 5)
    orders = []
    for epoch in (0, 1):
        batches = list(stored.batches(epoch))
        index = [int(i) for batch in batches for i in batch["index"]]
        assert sorted(index) == list(range(70))
        orders.append(index)
    assert orders[0] != orders[1]
    assert [int(i) for batch in stored.batches(1) for i in batch["index"]] == orders[1]
    shares = []
    for rank in range(2):
        part = StoredExposures(small, "train", batch_size=16, rank=rank, ranks=2)
        for worker in range(2):
            shares += [int(i) for batch in part.batches(1, worker, 2) for i in batch["index"]]
    assert sorted(shares) == list(range(70))
    batch = next(stored.batches(0))
    rows = magnetar.Dataset(small).rows("train", csi=False)
    assert (batch["room"] == rows.numpy("room")[batch["index"].astype(int)]).all()
    assert len(batch["materials"][0]) == 3
    assert (np.isnan(batch["board"]).any(axis=1) | (batch["board"][:, 3] > 0.5)).all()
    again = pickle.loads(pickle.dumps(stored))
    assert same(next(again.batches(0)), batch)


BAD = [
    lambda: stream(batch_size=0),
    lambda: stream(batch_size=3, stage_exposures=8),
    lambda: stream(stages=()),
    lambda: stream(stages=(0,)),
    lambda: stream(rank=2, ranks=2),
    lambda: next(stream(stages=(1 << 14,))),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_bad_input_raises_a_named_exception(number):
    with pytest.raises(magnetar.InputError):
        BAD[number]()
