"""Tests of `SaliencySelector` against the algorithms of the paper, and of its API."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_wine, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GroupKFold, LeaveOneOut, StratifiedKFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from allrelevant import InputError, RelevanceWarning, SaliencySelector, explain
from allrelevant.exceptions import CheckpointError
from allrelevant.saliency import OutputGain
from allrelevant.saliency.rounds import Rounds, balanced_rows

from .naive import PAPER, naive_ranking


def table(n_features: int = 12, n_classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return make_classification(
        150,
        n_features,
        n_informative=4,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        shuffle=False,
        random_state=seed,
    )


def order(selector: SaliencySelector) -> list[int]:
    return np.argsort(selector.ranking_).tolist()


def train_logistic(X, y):
    """Fit a logistic regression; return the gradient of equation 8 and the training score."""
    model = LogisticRegression().fit(X, y)
    weights = model.coef_[0]

    def gradient(x, label):
        decision = float(x @ weights + model.intercept_[0])
        sign = 1.0 if label == model.classes_[1] else -1.0
        # The derivative of -log(1 - p) in the decision value is 1 / (1 - p) * p (1 - p) = p.
        return expit(sign * decision) * sign * weights

    return gradient, model.score(X, y)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 0.9])
def test_classification_ranking_equals_the_paper(gamma: float) -> None:
    X, y = table()
    found = SaliencySelector(
        LogisticRegression(), **PAPER, keep_fraction=gamma, n_repeats=2, n_features_to_select=6
    ).fit(X, y)
    assert order(found) == naive_ranking(train_logistic, X, y, gamma=gamma, n_repeats=2)


def test_a_model_that_uses_no_feature_warns() -> None:
    X, _ = table()
    with pytest.warns(RelevanceWarning, match="round 1 of 1, the model depends on none of its 12"):
        SaliencySelector(Lasso(alpha=1e3), keep_fraction=0.0, n_features_to_select=3).fit(
            X, X[:, 5]
        )


def test_explanations_do_not_depend_on_units() -> None:
    X, y = table()
    scales = 10.0 ** np.arange(-6, 6)
    selector = SaliencySelector(SVC(), keep_fraction=0.0, n_features_to_select=12, random_state=0)
    plain, scaled = clone(selector).fit(X, y), selector.fit(X * scales, y)
    found = scaled.explain(X * scales, y)
    np.testing.assert_allclose(found.saliency, plain.explain(X, y).saliency, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(found.features, X * scales)
    by_hand = explain(scaled.estimator_, X * scales, y, units=(X * scales).std(axis=0))
    np.testing.assert_allclose(found.saliency, by_hand.saliency)
    assert (scaled.estimator_.predict(X * scales) == plain.estimator_.predict(X)).all()


def test_number_of_features_is_chosen_with_the_ranking_repeated_in_each_fold() -> None:
    X, y = table()
    folds = StratifiedKFold(3)
    selector = SaliencySelector(LogisticRegression(), keep_fraction=0.5, cv=folds, balanced=False)
    found = clone(selector).fit(X, y)
    assert found.n_subset_features_.tolist() == [12, 6, 3]
    assert not found.optimistic_
    for number, (train, test) in enumerate(folds.split(X, y)):
        alone = clone(selector).set_params(n_features_to_select=12).fit(X[train], y[train])
        for index, size in enumerate((12, 6, 3)):
            chosen = alone.ranking_ <= size
            model = make_pipeline(StandardScaler(), LogisticRegression())
            model.fit(X[train][:, chosen], y[train])
            score = balanced_accuracy_score(y[test], model.predict(X[test][:, chosen]))
            assert found.fold_scores_[index, number] == pytest.approx(score)
    assert found.n_features_ in (12, 6, 3)
    assert found.held_out_score_.support.shape == (3, 12)
    assert found.select("one_se").n_features_ <= found.select("best").n_features_
    assert found.select(6).held_out_score_.scores.tolist() == found.fold_scores_[1].tolist()


def test_a_single_round_also_scores_smaller_subsets() -> None:
    X, y = table()
    found = SaliencySelector(SVC(), keep_fraction=0.0, random_state=0).fit(X, y)
    assert found.n_subset_features_.tolist() == [12, 10, 9, 8, 7, 6, 5, 4, 3, 2]
    assert len(found.history_) == 1
    assert found.n_features_ < 12


def test_permuted_classes_give_scores_at_chance() -> None:
    X, y = table(60)
    found = SaliencySelector(SVC(), random_state=0).fit(X, np.random.RandomState(0).permutation(y))
    score = found.held_out_score_
    assert abs(score.score - score.constant) < 2 * score.standard_error + 0.02


def test_a_fixed_number_runs_no_cross_validation(monkeypatch) -> None:
    X, y = table()
    monkeypatch.setattr("allrelevant.saliency.selector.cv_splits", None)
    found = SaliencySelector(SVC(), n_features_to_select=3).fit(X, y)
    assert found.scores_.shape == (0,)
    assert not hasattr(found, "held_out_score_")
    with pytest.raises(InputError, match="requires scores"):
        found.select("best")
    with pytest.raises(InputError, match="requires scores"):
        SaliencySelector(SVC(), cv=None).fit(X, y)


@pytest.mark.parametrize(
    ("model", "n_repeats"),
    [(SVC(), 1), (make_pipeline(StandardScaler(), Ridge()), 1), (MLPClassifier((2,)), 3)],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_only_random_trainings_are_repeated(model, n_repeats) -> None:
    X, y = table(6)
    found = SaliencySelector(model, keep_fraction=0.0, n_features_to_select=2).fit(X, y)
    assert len(found._history.rounds[0].scores) == n_repeats


def test_groups_stay_together_and_scorers() -> None:
    X, y = table(5)
    groups = np.arange(150) // 3
    selector = SaliencySelector(SVC(), cv=GroupKFold(4), scoring="accuracy")
    found = clone(selector).fit(X, y, groups=groups)
    train, test = next(GroupKFold(4).split(X, y, groups))
    model = make_pipeline(StandardScaler(), SVC())
    rows = balanced_rows(y[train], 0)
    accuracy = model.fit(X[train][rows], y[train][rows]).score(X[test], y[test])
    assert found.fold_scores_[0, 0] == pytest.approx(accuracy, abs=0.05)
    assert found.scoring_ == "accuracy"
    with pytest.raises(InputError, match="Cannot split the rows"):
        selector.fit(X, y, groups=np.repeat([0, 1], 75))


def test_finds_the_features_of_an_exclusive_or() -> None:
    """The selector finds both features of an exclusive or; neither is informative alone."""
    X = np.random.default_rng(0).normal(size=(300, 20))
    y = (X[:, 3] * X[:, 7] > 0).astype(int)
    found = SaliencySelector(SVC(), n_repeats=1, n_features_to_select=2).fit(X, y)
    assert found.get_support(indices=True).tolist() == [3, 7]


def test_history_lists_every_round() -> None:
    X, y = table(10)
    found = SaliencySelector(LogisticRegression(), keep_fraction=0.5, n_repeats=1).fit(
        pd.DataFrame(X, columns=[f"f{j}" for j in range(10)]), y
    )
    history = found.history_
    assert history["round"].tolist() == [1, 2, 3]
    assert history["n_features"].tolist() == [10, 5, 2]
    assert [len(names) for names in history["dropped"]] == [5, 3, 0]
    assert set(history["features"][1]) == set(history["features"][0]) - set(history["dropped"][0])
    assert history["saliency"][2] == sorted(history["saliency"][2], reverse=True)
    last = [f"f{j}" for j in order(found)[:2]]
    assert history["features"][2] == last
    assert (history["training_seconds"] > 0).all()
    assert (history["saliency_seconds"] > 0).all()


def test_select_a_different_number() -> None:
    X, y = table()
    found = SaliencySelector(LogisticRegression(), keep_fraction=0.0, n_features_to_select=0.5)
    assert found.fit(X, y).n_features_ == 6
    assert found.select(3).transform(X).shape == (150, 3)
    np.testing.assert_array_equal(found.support_, found.ranking_ <= 3)
    assert found.select(0.25).n_features_ == 3
    wrong: Any
    for wrong in (13, 0, -0.5, 1.0, float("nan"), "3"):
        with pytest.raises(InputError, match=f"Cannot select {wrong!r} of 12"):
            found.select(wrong)


def test_inactive_features_set_to_zero() -> None:
    """Setting inactive features to zero gives the same ranking as dropping them."""
    X, y = table()
    X = X - X.mean(axis=0)
    selector = SaliencySelector(
        SVC(gamma=0.1), **PAPER, n_repeats=1, keep_shape=True, n_features_to_select=6
    )
    dropped = clone(selector).set_params(keep_shape=False).fit(X, y)
    zeroed = clone(selector).fit(X, y)
    # A column of zeros does not affect an SVM, so outputs and rankings are equal.
    assert order(zeroed) == order(dropped)
    assert zeroed.estimator_.n_features_in_ == 12
    assert dropped.estimator_.n_features_in_ == 6
    np.testing.assert_allclose(
        zeroed.explain(X, y).saliency, dropped.explain(X, y).saliency, atol=1e-6
    )
    assert order(selector.fit(sp.csr_array(X), y)) == order(dropped)


def test_an_estimator_may_require_all_columns() -> None:
    class FixedInputsSVC(SVC):
        requires_all_columns = True

    X, y = table()
    for model in (FixedInputsSVC(), make_pipeline(StandardScaler(), FixedInputsSVC())):
        found = SaliencySelector(model, n_features_to_select=6).fit(X, y)
        assert found.estimator_.n_features_in_ == 12


def test_balanced_rows() -> None:
    X, y = table()
    rare = np.flatnonzero(y == 1)[:20]
    keep = np.concatenate([np.flatnonzero(y == 0), rare])
    X, y = X[keep], y[keep]
    seen = []

    class RecordingModel(LogisticRegression):
        def fit(self, X, y):
            seen.append(np.bincount(y).tolist())
            return super().fit(X, y)

    n = int((y == 0).sum())
    SaliencySelector(RecordingModel(), keep_fraction=0.0, n_features_to_select=6).fit(X, y)
    assert seen == [[n, n], [n, n]]
    assert n > 20


def test_sparse_and_dense_tables_have_the_same_ranking() -> None:
    X, y = table()
    X[np.abs(X) < 0.3] = 0.0
    for model in (SVC(kernel="rbf", gamma=0.1, tol=1e-8), LogisticRegression(tol=1e-10)):
        selector = SaliencySelector(model, **PAPER, n_features_to_select=6)
        dense, sparse = clone(selector).fit(X, y), selector.fit(sp.csr_array(X), y)
        assert order(dense) == order(sparse)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_result_depends_on_the_seed_but_not_on_n_jobs() -> None:
    X, y = table(8)
    network = MLPClassifier((5,), max_iter=15)
    fits = [
        SaliencySelector(
            network, keep_fraction=0.5, n_repeats=2, random_state=seed, n_jobs=n_jobs
        ).fit(X, y)
        for seed, n_jobs in ((0, None), (0, 2), (1, None))
    ]
    np.testing.assert_array_equal(fits[0].importances_, fits[1].importances_)
    np.testing.assert_array_equal(fits[0].ranking_, fits[1].ranking_)
    assert (fits[0].importances_ != fits[2].importances_).any()
    assert network.random_state is None


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_resumed_run_gives_the_same_result(tmp_path, monkeypatch) -> None:
    X, y = table(8)
    model = SaliencySelector(
        MLPClassifier((5,), max_iter=10),
        keep_fraction=0.7,
        n_repeats=2,
        n_features_to_select=4,
        checkpoint=tmp_path / "run.ckpt",
    )
    whole_round, done = Rounds._round, []

    def interrupted(self: Rounds, number: int, active: Any) -> Any:
        if number == 2:
            raise KeyboardInterrupt
        done.append(number)
        return whole_round(self, number, active)

    monkeypatch.setattr(Rounds, "_round", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert done == [0, 1]
    entropies = []

    def recording_round(self: Rounds, number: int, active: Any) -> Any:
        done.append(number)
        entropies.append(self.entropy)
        return whole_round(self, number, active)

    monkeypatch.setattr(Rounds, "_round", recording_round)
    resumed = clone(model).fit(X, y)  # without random_state, it reuses the stored entropy
    assert done[2:4] == [2, 3]
    assert len(set(entropies)) == 1
    fresh = clone(model).set_params(checkpoint=None)
    monkeypatch.setattr("allrelevant.saliency.selector.draw_entropy", lambda *_: entropies[0])
    fresh.fit(X, y)
    np.testing.assert_array_equal(resumed.importances_, fresh.importances_)
    np.testing.assert_array_equal(resumed.ranking_, fresh.ranking_)
    with pytest.raises(CheckpointError, match="different: keep_fraction"):
        clone(model).set_params(keep_fraction=0.5).fit(X, y)
    with pytest.raises(CheckpointError, match="different: estimator__alpha"):
        clone(model).set_params(estimator__alpha=0.5).fit(X, y)
    with pytest.raises(CheckpointError, match="different: data"):
        clone(model).fit(X + 1, y)


def test_gain_parameter() -> None:
    X, y = table()
    model = LogisticRegression().fit(X, y)
    found = SaliencySelector(
        LogisticRegression(), **PAPER, keep_fraction=0.0, gain=OutputGain(), n_features_to_select=6
    ).fit(X, y)
    weights = np.abs(model.coef_[0])
    assert order(found) == np.argsort(-weights, kind="stable").tolist()
    np.testing.assert_allclose(found.importances_, weights / weights.sum())


def test_pipeline_with_a_scaler() -> None:
    """Saliency of a pipeline with a scaler is per unit of the unscaled features."""
    X, _ = table()
    y = X[:, 0] + X[:, 1] * X[:, 2]
    units = np.logspace(-1, 1, X.shape[1])
    inside = SaliencySelector(
        make_pipeline(StandardScaler(), SVR()), **PAPER, keep_fraction=0.0, n_features_to_select=6
    )
    plain, other = clone(inside).fit(X, y), clone(inside).fit(X * units, y)
    expected = plain.importances_ / units
    np.testing.assert_allclose(other.importances_, expected / expected.sum(), rtol=1e-6)


def test_ranking_does_not_depend_on_units() -> None:
    X, y = table(n_classes=3)
    X[np.abs(X) < 0.5] = 0.0
    units = np.logspace(-3, 3, X.shape[1])
    scaler = StandardScaler(with_mean=False)
    selector = SaliencySelector(SVC(gamma=0.1), n_features_to_select=6, balanced=False)
    prescaled = clone(selector).set_params(standardize=False).fit(scaler.fit_transform(X), y)
    for rows in (X, X * units, sp.csr_array(X * units)):
        found = clone(selector).fit(rows, y)
        assert order(found) == order(prescaled)
        np.testing.assert_allclose(found.importances_, prescaled.importances_, rtol=1e-2)
    rule = SaliencySelector(SVC(), random_state=0)
    wine, target = load_wine(return_X_y=True)
    raw, scaled = clone(rule).fit(wine, target), rule.fit(scaler.fit_transform(wine), target)
    assert (raw.support_ == scaled.support_).all()


def test_pandas_polars_pickle_and_pipelines() -> None:
    X, y = table(6)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    found = SaliencySelector(LogisticRegression(), n_features_to_select=2).fit(frame, y)
    names = [list("abcdef")[j] for j in np.flatnonzero(found.support_)]
    assert found.set_output(transform="pandas").transform(frame).columns.tolist() == names
    polars = pl.DataFrame({name: frame[name].to_numpy() for name in frame})
    assert found.set_output(transform="polars").transform(polars).columns == names
    copy = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(copy.ranking_, found.ranking_)
    labels = np.where(y == 1, "yes", "no")
    pipeline = make_pipeline(StandardScaler(), SaliencySelector(SVC(), n_repeats=1), SVC())
    assert pipeline.fit(X, labels).score(X, labels) > 0.8


def test_constant_columns_are_ranked_last() -> None:
    X, y = table(6)
    X = np.column_stack([np.ones(len(X)), X, np.zeros(len(X))])
    with pytest.warns(RelevanceWarning, match="2 constant column.*'x0', 'x7'"):
        found = SaliencySelector(LogisticRegression(), n_repeats=1).fit(X, y)
    assert set(found.ranking_[[0, 7]]) == {7, 8}
    np.testing.assert_array_equal(found.importances_[[0, 7]], 0)
    with pytest.warns(RelevanceWarning, match="2 constant"):
        SaliencySelector(LogisticRegression(), n_features_to_select=2).fit(sp.csr_array(X), y)
    with pytest.raises(InputError, match="All columns are constant"):
        SaliencySelector(LogisticRegression()).fit(np.ones((len(y), 3)), y)


class Diverging(LogisticRegression):
    """Model whose weights become NaN in the second round."""

    def fit(self, X, y):
        super().fit(X, y)
        if X.shape[1] < 12:
            self.coef_[:] = np.nan
        return self


class Failing(LogisticRegression):
    def fit(self, X, y):
        raise ValueError("Solver produced non-finite parameter weights.")


class ThreeOutputs(LogisticRegression):
    def fit(self, X, y):
        super().fit(X, y)
        self.coef_: Any = np.ones((3, X.shape[1]))
        self.intercept_ = np.zeros(3)
        return self


def test_bad_input_raises() -> None:
    X, y = table()
    for estimator, message in (
        (RandomForestClassifier(2), "not implemented for RandomForestClassifier"),
        (
            Diverging(),
            r"Training failed in round 2 of 10 \(10 features\): .* not finite.* learning rate",
        ),
        (
            Failing(),
            r"Training failed in round 1 of 10 \(12 features\): Solver produced non-finite",
        ),
        (
            ThreeOutputs(),
            r"have shape \(150, 3\), .* Use a model with 2 outputs, one per class",
        ),
    ):
        with pytest.raises(InputError, match=message) as caught:
            SaliencySelector(estimator).fit(X, y)
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="single class, 'a'"):
        SaliencySelector(SVC()).fit(X, ["a"] * len(X))
    with pytest.raises(InputError, match="Cannot select 40 of 12"):
        SaliencySelector(SVC(), n_features_to_select=40).fit(X, y)
    with pytest.raises(ValueError, match="'estimator' parameter"):
        SaliencySelector(3).fit(X, y)
    with pytest.raises(ValueError, match="'keep_fraction' parameter"):
        SaliencySelector(SVC(), keep_fraction=1.0).fit(X, y)
    with pytest.raises(ValueError, match="Unknown label type"):
        SaliencySelector(SVC()).fit(X, X[:, 0])
    assert SaliencySelector(Ridge(), keep_fraction=0.0).fit(X, X[:, 3]).ranking_[3] == 1
    X[3, 2] = np.nan
    with pytest.raises(InputError, match=r"NaN values \(1 in total\), first in feature 'x2'"):
        SaliencySelector(SVC()).fit(X, y)


def test_heavy_packages_are_imported_late() -> None:
    code = (
        "import sys, allrelevant\n"
        "print(sorted({'sklearn', 'torch', 'matplotlib'} & set(sys.modules)))\n"
        "from allrelevant import SaliencySelector, explain\n"
        "print(sorted({'torch', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.splitlines() == ["[]", "[]"]


@pytest.mark.filterwarnings("error")
def test_a_single_held_out_row_has_no_r2():
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(6, 2)), rng.normal(size=6)
    # By default, there are at least two rows per fold.
    assert np.isfinite(SaliencySelector(Ridge()).fit(X, y).fold_scores_).all()
    with pytest.raises(InputError, match="Fold 0 of cv has a single held-out row"):
        SaliencySelector(Ridge(), cv=LeaveOneOut()).fit(X, y)
    scoring = "neg_mean_squared_error"
    selector = SaliencySelector(Ridge(), cv=LeaveOneOut(), scoring=scoring).fit(X, y)
    assert np.isfinite(selector.fold_scores_).all()
