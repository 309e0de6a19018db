"""Methods in the comparison of selectors, each a function that returns the selected features."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from boruta import BorutaPy
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFECV, mutual_info_classif
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from allrelevant import EBRFE, SVMRFE, SaliencySelector

from .elimination_tasks import THESIS
from .selection_rules import MANY_FEATURES, auc

N_FOLDS = 5
SEED = 0

# Former defaults: features ranked once, unshuffled folds, accuracy, ties to the smallest subset.
# Steps are those of the new defaults, because single steps take hours on the wide tables.
FORMER: dict[str, Any] = {
    **THESIS,
    "cv": StratifiedKFold(N_FOLDS),
    "class_weight": None,
    "step": "auto",
}

# Training rows, their classes and groups (or None) to a mask of the selected features.
Method = Callable[[np.ndarray, np.ndarray, Any], np.ndarray]


def fitted(selector: Any) -> Method:
    def run(X: np.ndarray, y: np.ndarray, groups: Any) -> np.ndarray:
        return selector.fit(X, y, groups=groups).get_support()

    return run


def former(selector: Any) -> Method:
    """Fit a selector with its former defaults, which ignored groups and did not scale features."""

    def run(X: np.ndarray, y: np.ndarray, groups: Any) -> np.ndarray:
        return selector.fit(StandardScaler().fit_transform(X), y).get_support()

    return run


def splits(X: np.ndarray, y: np.ndarray, groups: Any) -> list[Any]:
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    folds = kind(N_FOLDS, shuffle=True, random_state=SEED)
    return list(folds.split(X, y, groups))


def linear_svm(C: float = 1.0, penalty: str = "l2") -> LinearSVC:
    return LinearSVC(
        C=C, penalty=penalty, dual="auto", class_weight="balanced", max_iter=2_000, random_state=0
    )


def rfecv(X: np.ndarray, y: np.ndarray, groups: Any) -> np.ndarray:
    """Run RFECV with the folds, the score and the class weights of the new defaults of ``SVMRFE``.

    Above 200 features, each step removes a tenth of *all* features, so subsets are large.
    """
    step = 1 if X.shape[1] <= MANY_FEATURES else 0.1
    model = RFECV(linear_svm(), step=step, cv=splits(X, y, groups), scoring="balanced_accuracy")
    return model.fit(StandardScaler().fit_transform(X), y).support_


def rfecv_defaults(X: np.ndarray, y: np.ndarray, groups: Any) -> np.ndarray:
    """Run RFECV with its own defaults: unshuffled folds, accuracy, equal class weights."""
    step = 1 if X.shape[1] <= MANY_FEATURES else 0.1
    model = RFECV(LinearSVC(dual="auto", random_state=0), step=step)
    return model.fit(StandardScaler().fit_transform(X), y).support_


def svmrfe_with_steps_of_rfecv(X: np.ndarray, y: np.ndarray, groups: Any) -> np.ndarray:
    """Run ``SVMRFE``, but above 200 features, remove a tenth of *all* features per step."""
    step = 1 if X.shape[1] <= MANY_FEATURES else int(0.1 * X.shape[1])
    return SVMRFE(random_state=SEED, step=step).fit(X, y, groups=groups).get_support()


def l1_svm(X: np.ndarray, y: np.ndarray, groups: Any) -> np.ndarray:
    scaled = StandardScaler().fit_transform(X)
    search = GridSearchCV(
        linear_svm(penalty="l1"),
        {"C": np.logspace(-2, 1, 7)},
        cv=splits(X, y, groups),
        scoring="balanced_accuracy",
    ).fit(scaled, y)
    return (np.abs(search.best_estimator_.coef_) > 1e-8).any(axis=0)


def mutual_information(X: np.ndarray, y: np.ndarray, groups: Any) -> np.ndarray:
    """Select the top features; their number is chosen by cross-validation of a linear SVM."""
    n_features = X.shape[1]
    sizes = [n for n in (1, 2, 3, 5, 10, 20, 50, 100, 200, 500) if n < n_features] + [n_features]
    scores = np.zeros(len(sizes))
    for train, test in splits(X, y, groups):
        order = np.argsort(-mutual_info_classif(X[train], y[train], random_state=SEED))
        scaler = StandardScaler().fit(X[train])
        for index, size in enumerate(sizes):
            top = order[:size]
            model = linear_svm().fit(scaler.transform(X[train])[:, top], y[train])
            predicted = model.predict(scaler.transform(X[test])[:, top])
            scores[index] += balanced_accuracy_score(y[test], predicted)
    order = np.argsort(-mutual_info_classif(X, y, random_state=SEED))
    return np.isin(np.arange(n_features), order[: sizes[int(scores.argmax())]])


def boruta(X: np.ndarray, y: np.ndarray, groups: Any) -> np.ndarray:
    forest = RandomForestClassifier(max_depth=5, class_weight="balanced", n_jobs=1)
    return BorutaPy(forest, n_estimators=100, max_iter=30, random_state=SEED).fit(X, y).support_


def auc_scorer(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Score an SVM by its AUC, averaged over classes."""
    return auc(model.decision_function(X), y, model.classes_)


# Candidate chosen on the development tables; see ``selection_candidates``.
CANDIDATE: dict[str, Any] = {"C": 0.01, "scoring": auc_scorer, "random_state": SEED}

METHODS: dict[str, Method] = {
    "all features": lambda X, y, groups: np.ones(X.shape[1], dtype=bool),
    "SVMRFE": fitted(SVMRFE(random_state=SEED)),
    "SVMRFE, one_se": fitted(SVMRFE(random_state=SEED, n_features_to_select="one_se")),
    "SVMRFE, candidate": fitted(SVMRFE(**CANDIDATE)),
    "SVMRFE, steps of RFECV": svmrfe_with_steps_of_rfecv,
    "SVMRFE, former defaults": former(SVMRFE(**FORMER)),
    "RFECV": rfecv,
    "RFECV, its defaults": rfecv_defaults,
    "l1-penalized SVM": l1_svm,
    "SaliencySelector": fitted(SaliencySelector(SVC(), random_state=SEED)),
    "SaliencySelector, half": former(
        SaliencySelector(SVC(), n_features_to_select=0.5, balanced=False, random_state=SEED)
    ),
    "mutual information": mutual_information,
    "EBRFE": fitted(EBRFE(random_state=SEED)),
    "EBRFE, former defaults": former(EBRFE(**FORMER)),
    "Boruta": boruta,
}


def select(name: str, X: np.ndarray, y: np.ndarray, groups: Any) -> np.ndarray:
    """Run a method, without warnings about convergence or constant columns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(METHODS[name](X, y, groups), dtype=bool)
