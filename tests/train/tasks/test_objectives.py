"""Objectives against torch's cross-entropy and against the sampling design's own expectation."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from psymem.train.tasks.objectives import (
    CompetitorSampler,
    inclusion_probabilities,
    joint_loss,
    next_word_loss,
)


def problem(n: int = 1500, vocabulary: int = 60, d: int = 8):
    g = torch.Generator().manual_seed(0)
    hidden = torch.randn(n, d, generator=g, requires_grad=True)
    weight = torch.randn(vocabulary, d, generator=g, requires_grad=True)
    bias = torch.randn(vocabulary, generator=g, requires_grad=True)
    return hidden, weight, bias, torch.randint(0, vocabulary, (n,), generator=g)


def test_exact_loss_and_gradients_equal_cross_entropy():
    hidden, weight, bias, targets = problem()
    expected = torch.nn.functional.cross_entropy(hidden @ weight.T + bias, targets)
    gradients = torch.autograd.grad(expected, (hidden, weight, bias))
    found = next_word_loss(hidden, weight, bias, targets)
    torch.testing.assert_close(found, expected)
    for f, e in zip(torch.autograd.grad(found, (hidden, weight, bias)), gradients, strict=True):
        torch.testing.assert_close(f, e, rtol=1e-4, atol=1e-6)


def test_all_words_as_competitors_is_the_exact_loss():
    hidden, weight, bias, targets = problem()
    sampler = CompetitorSampler(np.arange(60.0), 60)
    assert next_word_loss(hidden, weight, bias, targets, sampler.draw((1,))).item() == pytest.approx(
        next_word_loss(hidden, weight, bias, targets).item(), rel=1e-6
    )


def test_sampled_loss_is_near_the_exact_one_and_its_gradient_points_the_same_way():
    hidden, weight, _, targets = problem(vocabulary=2000)
    counts = 1e5 / np.arange(1.0, 2001)
    hidden, bias = 0.5 * hidden, torch.from_numpy(np.log(counts)).float()  # like a model that knows frequency
    sampler = CompetitorSampler(counts, 400)
    exact = next_word_loss(hidden, weight, bias, targets)
    expected = torch.autograd.grad(exact, weight)[0]
    losses, gradient = [], torch.zeros_like(weight)
    for seed in range(40):
        loss = next_word_loss(hidden, weight, bias, targets, sampler.draw((seed,)))
        losses.append(loss.item())
        gradient += torch.autograd.grad(loss, weight)[0] / 40
    assert np.mean(losses) == pytest.approx(exact.item(), rel=0.01)
    assert torch.nn.functional.cosine_similarity(gradient.flatten(), expected.flatten(), dim=0) > 0.98


def test_inclusion_probabilities_sum_to_the_size_and_are_met():
    weights = 1.0 / np.arange(1, 501)
    inclusion = inclusion_probabilities(weights, 100, never=(3,))
    assert inclusion.sum() == pytest.approx(100)
    assert inclusion.max() == 1.0
    assert inclusion[3] == 0.0
    sampler = CompetitorSampler(np.ones(500), 100, never=(3,))
    sampler.inclusion = inclusion
    drawn = np.zeros(500)
    for seed in range(3000):
        ids = sampler.draw((seed,)).ids.numpy()
        assert len(ids) in (100, 101, 99)
        drawn[ids] += 1 / 3000
    np.testing.assert_allclose(drawn, inclusion, atol=0.05)


def test_joint_loss_published_and_released_form():
    language, tags = torch.tensor(4.0), torch.tensor(2.0)
    assert joint_loss(language, tags, 5.0, normalised=False).item() == 14.0
    assert joint_loss(language, tags, 5.0, normalised=True).item() == pytest.approx(14 / 6)
    assert joint_loss(language, None, 5.0, normalised=True).item() == 4.0
