import numpy as np
import pytest

from allrelevant.bounds.ranking import RankingData


def test_what_C_is_chosen_by_is_the_loss_of_all_pairs():
    rng = np.random.RandomState(0)
    samples = RankingData(
        rng.normal(size=(30, 3)), np.where(rng.rand(30) < 0.3, 1.0, -1.0), rng.rand(30) + 0.5
    )
    model = samples.model(rng.normal(size=3), np.empty(0), C=1.0)
    loss, total = 0.0, 0.0
    for i in np.flatnonzero(samples.y > 0):
        for j in np.flatnonzero(samples.y < 0):
            weight = samples.weight[i] * samples.weight[j]
            loss += weight * max(0.0, 1.0 - model.coef_ @ (samples.X[i] - samples.X[j]))
            total += weight
    assert samples.merit(model) == pytest.approx(-loss / total)
