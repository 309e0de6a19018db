import numpy as np

from allrelevant.bounds.baseline import GRID, choose_C, l1_path
from allrelevant.bounds.classification import ClassificationData
from allrelevant.datasets import make_linear_classification
from allrelevant.terms.scaling import standard_scaling


def samples_of(flip, seed, n_samples=200):
    data = make_linear_classification(n_samples, flip=flip, random_state=seed)
    return ClassificationData(data.X, np.where(data.y == 1, 1.0, -1.0), np.ones(n_samples))


def choose(samples, **kwargs):
    return choose_C(samples, l1_path, standard_scaling, random_state=0, **kwargs)


def test_the_choice_is_on_the_grid_and_better_than_chance():
    samples = samples_of(0.1, seed=0)
    choice = choose(samples)
    assert np.isclose(GRID / 200, choice.C).any()
    assert choice.score > choice.chance


def test_noise_asks_for_a_smaller_C():
    """Averaged over seeds: a single table can go either way."""
    clean, noisy = (
        np.mean([np.log(choose(samples_of(flip, seed)).C) for seed in range(6)])
        for flip in (0.0, 0.25)
    )
    assert noisy < clean


def test_the_choice_does_not_depend_on_the_number_of_workers():
    samples = samples_of(0.1, seed=1)
    assert choose(samples, n_jobs=2) == choose(samples, n_jobs=1)


def test_doubling_all_weights_halves_C():
    samples = samples_of(0.1, seed=2)
    doubled = ClassificationData(samples.X, samples.y, 2 * samples.weight)
    assert np.isclose(choose(doubled).C, choose(samples).C / 2)
