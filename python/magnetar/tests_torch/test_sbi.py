"""Simulation-based inference with the package ``sbi``: prior, simulator, embedding, and their judgement of our posterior."""

import math
import pickle

import magnetar
import numpy as np
import pytest
import torch
from magnetar.inference import Posterior
from magnetar.sbi import ArrivalEmbedding, PosePrior, Simulator, VolumePosterior, arrivals_of_rows, calibration
from sbi.inference import NPE, simulate_for_sbi
from sbi.neural_nets import posterior_nn
from sbi.utils.user_input_checks import process_prior, process_simulator

RX = (1.0, -1.0, 1.08, 1.57)


@pytest.fixture(scope="module")
def prior():
    return PosePrior("lab_middle", RX)


def test_the_prior_is_uniform_where_a_device_may_be(prior):
    torch.manual_seed(1)
    poses = prior.sample((20_000,))
    assert poses.shape == (20_000, 3) and poses.dtype == torch.float32
    assert prior.support.check(poses).all()
    scene = magnetar.Scene("lab_middle")
    x0, x1, y0, y1, *_ = scene.room
    assert (poses[:, 0] >= x0 + 0.1 - 1e-5).all() and (poses[:, 1] <= y1 - 0.1 + 1e-5).all()
    assert (torch.hypot(poses[:, 0] - RX[0], poses[:, 1] - RX[1]) >= 0.3 - 1e-5).all()
    # The tracer refuses devices inside boxes: none of these is.
    magnetar.trace(scene, poses[:2000, :2].numpy(), RX)
    # It integrates to one, and there is nothing where it is not.
    box = prior.low + (prior.high - prior.low) * torch.rand(200_000, 3)
    volume = float((prior.high - prior.low).prod())
    assert float(prior.log_prob(box).exp().mean()) * volume == pytest.approx(1, abs=0.01)
    assert prior.log_prob(torch.tensor([RX[0], RX[1], 0.0])) == -math.inf
    assert not prior.support.check(torch.tensor([100.0, 0.0, 0.0]))
    assert poses.mean(dim=0).numpy() == pytest.approx(prior.mean.numpy(), abs=0.06)
    assert poses.std(dim=0).numpy() == pytest.approx(prior.stddev.numpy(), rel=0.02)


def test_the_package_takes_prior_and_simulator(prior):
    checked, parameters, numpy_prior = process_prior(prior)
    assert (parameters, numpy_prior) == (3, False)
    simulator = process_simulator(Simulator("lab_middle", RX), checked, numpy_prior)
    theta, x = simulate_for_sbi(simulator, checked, num_simulations=40, simulation_batch_size=16, show_progress_bar=False)
    assert theta.shape == (40, 3)
    assert x.shape == (40, 2, 4) and x.dtype == torch.float32


def test_simulations_are_our_observations(prior):
    torch.manual_seed(2)
    theta = prior.sample((3,))
    csi = Simulator("lab_middle", RX, observation="csi")
    arrivals = Simulator("lab_middle", RX)
    torch.manual_seed(3)
    blocks = csi(theta)
    assert blocks.shape == (3, 4, 512) and blocks.dtype == torch.float32
    torch.manual_seed(3)
    assert (csi(theta) == blocks).all()
    assert (csi(theta) != blocks).any()
    # The arrivals of the same draws are those that the estimator finds in the blocks.
    torch.manual_seed(3)
    sets = arrivals(theta)
    channels = [blocks[:, 2 * n] + 1j * blocks[:, 2 * n + 1] for n in (0, 1)]
    found = magnetar.estimate(torch.stack(channels, dim=-1).numpy().astype(np.complex64))
    assert sets[..., 0].sum() == len(found)
    assert sets[0, 0, 1] == pytest.approx(float(found.aoa_rad[0]), abs=1e-6)
    torch.manual_seed(3)
    assert (pickle.loads(pickle.dumps(arrivals))(theta) == sets).all()
    for bad in (lambda: Simulator("lab", RX, observation="sound"), lambda: arrivals(torch.zeros(3, 2))):
        with pytest.raises(magnetar.InputError):
            bad()
    with pytest.raises(magnetar.TraceError):
        arrivals(torch.tensor([[100.0, 0.0, 0.0]]))


def test_rows_have_the_same_arrivals(small):
    rows = magnetar.Dataset(small).rows("test", csi=False)
    sets = arrivals_of_rows(rows)
    assert sets.shape == (12, 2, 4)
    assert (sets[..., 0] == torch.from_numpy(rows.numpy("valid")).float()).all()


def test_the_embedding_is_blind_to_order_and_to_what_is_missing():
    torch.manual_seed(1)
    net = ArrivalEmbedding(output_dim=16)
    sets = torch.rand(5, 6, 4) * torch.tensor([1.0, 3.0, 40.0, 100.0])
    sets[..., 0] = (torch.rand(5, 6) < 0.6).float()
    sets[0, :, 0] = 0
    sets.requires_grad_(True)
    seen = net(sets)
    assert seen.shape == (5, 16) and torch.isfinite(seen).all()
    shuffled = net(sets[:, torch.randperm(6)])
    assert shuffled.detach().numpy() == pytest.approx(seen.detach().numpy(), abs=1e-5)
    missing = sets[..., :1] < 0.5
    rubbish = torch.where(missing & torch.tensor([False, True, True, True]), torch.full_like(sets, 1e6), sets)
    assert (net(rubbish) == seen).all()
    fewer = net(torch.cat([sets, torch.zeros(5, 3, 4)], dim=1))
    assert fewer.detach().numpy() == pytest.approx(seen.detach().numpy(), abs=1e-5)
    # Delays count from the first arrival: the clock of an asynchronous link says nothing.
    later = sets + torch.tensor([0.0, 0.0, 0.0, 50.0]) * sets[..., :1]
    assert net(later).detach().numpy() == pytest.approx(seen.detach().numpy(), abs=1e-4)
    seen.sum().backward()
    assert torch.isfinite(sets.grad).all()
    assert any((parameter.grad != 0).any() for parameter in net.parameters())


def test_a_neural_posterior_is_trained_on_arrivals(prior):
    torch.manual_seed(1)
    theta = prior.sample((1000,))
    x = Simulator("lab_middle", RX)(theta)
    net = posterior_nn("mdn", embedding_net=ArrivalEmbedding(), z_score_x="none")
    trainer = NPE(prior, density_estimator=net, show_progress_bars=False)
    trainer.append_simulations(theta, x).train(max_num_epochs=30, training_batch_size=100)
    found = trainer.build_posterior()
    log_prob = found.log_prob_batched(theta[None, :200], x[:200], norm_posterior=False)
    # It has learned something that the prior does not know.
    assert float(log_prob.mean()) > float(prior.log_prob(theta[:1])) + 0.2
    samples = found.sample((100,), x=x[:1], show_progress_bars=False)
    assert prior.support.check(samples).all()


@pytest.fixture(scope="module")
def posterior():
    rows = magnetar.Recipe("paper").sample("val", 0, 400, seed=11)
    return magnetar.posterior(rows, magnetar.Scorer("twin"))


def test_draws_from_our_posteriors_follow_their_masses(posterior):
    ours = VolumePosterior(posterior)
    torch.manual_seed(1)
    drawn = ours.sample((40_000,), x=ours.places[3])
    assert drawn.shape == (40_000, 3)
    counted, _ = np.histogramdd(drawn.numpy(), bins=(33, 33, 18), range=[(0, 1)] * 3)
    mass = posterior.mass[3].transpose(2, 1, 0)
    assert counted / 40_000 == pytest.approx(mass, abs=5 * math.sqrt(mass.max() / 40_000))
    centres = np.stack(np.meshgrid(*[(np.arange(n) + 0.5) / n for n in (33, 33, 18)], indexing="ij"), axis=-1)
    density = ours.log_prob(torch.from_numpy(centres.reshape(-1, 3)), ours.places[3]).exp()
    assert float(density.mean()) == pytest.approx(1, abs=1e-5)
    assert (ours.thetas >= 0).all() and (ours.thetas <= 1).all()
    with pytest.raises(magnetar.InputError):
        ours.sample((1,), x=torch.tensor([[400.0]]))


def test_theirs_judge_ours_and_catch_a_wrong_one(posterior):
    torch.manual_seed(1)
    found = calibration(posterior, samples=200)
    assert found.ranks.shape == (400, 3)
    assert min(found.ks_p) > 1e-4, found.ks_p
    assert found.tarp_p > 1e-4
    sharp = posterior.mass.astype(np.float64) ** 6
    sharp /= sharp.sum(axis=(1, 2, 3), keepdims=True)
    wrong = Posterior(posterior.rows, posterior.scorer, sharp.astype(np.float32), posterior.xs, posterior.ys, posterior.headings)
    caught = calibration(wrong, samples=200)
    assert min(*caught.ks_p, caught.tarp_p) < 1e-6
    assert caught.area_to_curve < found.area_to_curve
