"""The model that sets the standard: as good as this one is what "equivalent" means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import scipy.sparse as sp

from .models import LinearModel
from .programs.samples import Samples
from .solver.l1_baseline import L1Baseline


def l1_path(samples: Samples, grid: Iterable[float]) -> Iterator[LinearModel]:
    """The l1-regularised model, ``min |w|_1 + C * loss``, for each C of a grid.

    Only the objective depends on C, so each solution starts from the last.
    """
    solver = L1Baseline(samples.rows)
    for C in grid:
        found = solver.solve(C)
        model = samples.model(found.coef, found.offset, C, found.rows)
        yield replace(model, start_=found)


def l2_svm_path(samples: Samples, grid: Iterable[float]) -> Iterator[LinearModel]:
    """The common SVM, ``min |w|_2^2 / 2 + C * loss``, for each C of a grid.

    The budget it sets is measured on the model as it is, so the set of equivalent models is well
    defined however closely libsvm comes to its optimum.
    """
    from sklearn.svm import SVC

    for C in grid:
        svm = SVC(kernel="linear", C=C, tol=1e-4, cache_size=500, max_iter=1_000_000)
        svm.fit(samples.X, samples.y, sample_weight=samples.weight)
        coef = svm.coef_.toarray() if sp.issparse(svm.coef_) else svm.coef_
        yield samples.model(coef.ravel(), svm.intercept_, C)


def uses_features(model: LinearModel) -> bool:
    """Whether any weight is more than rounding."""
    return model.norm_ > 1e-10
