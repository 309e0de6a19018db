"""Tests of aggregating saliency over rows and over batches of rows."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.svm import SVC
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from allrelevant import InputError
from allrelevant.saliency import aggregate_batches, aggregate_saliency, as_differentiable
from allrelevant.saliency.aggregation import row_batches, rows_within
from allrelevant.saliency.backends.torch_modules import TorchModel

from .differences import class_table
from .naive import naive_saliency


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return TorchModel(nn.Linear(4, 3).double(), outputs="logits")


@pytest.fixture(scope="module")
def rows():
    X = torch.from_numpy(np.random.default_rng(0).normal(size=(10, 4)))
    return X, torch.arange(10) % 3


def test_class_codes_may_have_any_numeric_dtype(model, rows):
    X, codes = rows
    expected = aggregate_saliency(model, X.numpy(), codes.numpy(), n_classes=3)
    for kind in (torch.float32, torch.float64, torch.uint8, torch.int32):
        loader = DataLoader(TensorDataset(X, codes.to(kind)), batch_size=4)
        found = aggregate_batches(model, loader, n_classes=3)
        np.testing.assert_allclose(found.saliency, expected.saliency)
        assert found.score == expected.score


def test_tensors_that_require_gradients(model, rows):
    X, codes = rows
    found = aggregate_batches(model, [(X.clone().requires_grad_(), codes)], n_classes=3)
    expected = aggregate_batches(model, [(X, codes)], n_classes=3)
    np.testing.assert_array_equal(found.saliency, expected.saliency)


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (lambda X, codes: (X, codes + 0.5), r"class codes from 0 to 2 \(got 0\.5\)"),
        (lambda X, codes: (X, codes - 1), r"class codes from 0 to 2 \(got -1\)"),
        (lambda X, codes: (X, codes + 1), r"class codes from 0 to 2 \(got 3\)"),
        (lambda X, codes: (X, ["a"] * 10), r"class codes from 0 to 2 \(got 'a'\)"),
        (lambda X, codes: (X, codes[:4]), "10 rows but 4 targets"),
        (lambda X, codes: [X], r"must be a pair of rows and targets \(got a list of length 1\)"),
        (lambda X, codes: X, r"must be a pair of rows and targets \(got a single Tensor\)"),
        (lambda X, codes: (X, X, codes), r"must be a pair of rows and targets \(got a tuple of"),
    ],
)
def test_invalid_batches_raise(model, rows, batch, message):
    with pytest.raises(InputError, match=message) as caught:
        aggregate_batches(model, [batch(*rows)], n_classes=3)
    assert "\n" not in str(caught.value)


def test_batches_equal_the_reference_implementation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Saliency computed in batches equals that of the reference implementation."""
    X, y = class_table(3)
    keep = (y != 2) | (np.arange(len(y)) % 5 == 0)
    X, y = X[keep], y[keep]
    model = as_differentiable(SVC(gamma=0.05).fit(X, y))

    def gradient(x, label):
        row, code = x[None], np.array([label])
        return model.vjp(row, model.gain.gradient(model.outputs(row), code))[0]

    expected = naive_saliency(gradient, X, y, classes=True)
    monkeypatch.setattr("allrelevant.saliency.aggregation.NUMBERS_PER_BATCH", 30)
    monkeypatch.setattr("allrelevant.saliency.aggregation.MIN_ROWS_PER_BATCH", 7)
    for rows in (X, sp.csr_array(X)):
        np.testing.assert_allclose(
            aggregate_saliency(model, rows, y, n_classes=3).saliency, expected
        )
    assert expected.sum() == pytest.approx(3)


def test_row_batches_respect_the_budget():
    assert list(row_batches(5, 100, budget=250)) == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert rows_within(100, budget=250) == 2
    assert rows_within(100, budget=250, min_rows=7) == 7
