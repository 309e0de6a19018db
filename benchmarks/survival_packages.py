"""Script that scores FastSurvivalSVM on a data set of scikit-survival, for its environment.

It writes the encoded table, the folds, the concordance of each fold and the CPU times.

usage: python survival_packages.py NAME N_FOLDS ANSWER.npz
"""

import sys
import time
from importlib import import_module

import numpy as np

datasets = import_module("sksurv.datasets")
FastSurvivalSVM = import_module("sksurv.svm").FastSurvivalSVM
concordance = import_module("sksurv.metrics").concordance_index_censored
model_selection = import_module("sklearn.model_selection")

# Regularization strengths from which 3-fold cross-validation in the training rows chooses.
ALPHAS = np.logspace(-4, 2, 7)

name, n_folds, answer = sys.argv[1], int(sys.argv[2]), sys.argv[3]
frame, y = getattr(datasets, f"load_{name}")()
encoded = []
for column in frame.columns:
    values = frame[column]
    if values.dtype.kind in "fiub":
        numbers = values.astype(float)
        encoded.append(numbers.fillna(numbers.median()).to_numpy()[:, None])
    else:
        filled = values.astype(object).where(values.notna(), values.mode().iloc[0]).astype(str)
        levels = sorted(set(filled))
        encoded.append((filled.to_numpy()[:, None] == levels).astype(float))
X = np.hstack(encoded)
X = X[:, X.std(axis=0) > 0]
event, days = (y[field] for field in y.dtype.names)
# FastSurvivalSVM refuses times of zero. Times are integers, so this does not change their order.
y[y.dtype.names[1]] = days = np.maximum(days, 0.5)

splitter = model_selection.StratifiedKFold(n_folds, shuffle=True, random_state=0)
fold = np.empty(len(X), dtype=int)
scores, seconds = [], []
for number, (train, test) in enumerate(splitter.split(X, event)):
    fold[test] = number
    mean, scale = X[train].mean(axis=0), X[train].std(axis=0)
    scaled = (X - mean) / np.where(scale > 0, scale, 1.0)
    start = time.process_time()
    search = model_selection.GridSearchCV(
        FastSurvivalSVM(rank_ratio=1.0, max_iter=200, tol=1e-5, random_state=0),
        {"alpha": ALPHAS},
        cv=model_selection.StratifiedKFold(3, shuffle=True, random_state=0).split(
            scaled[train], event[train]
        ),
    ).fit(scaled[train], y[train])
    seconds.append(time.process_time() - start)
    predicted = search.predict(scaled[test])
    scores.append(concordance(event[test], days[test], predicted)[0])
np.savez(answer, X=X, event=event, time=days, fold=fold, concordance=scores, seconds=seconds)
