"""Networks on images: feature rankings and robustness, as in Cancela et al. (2020).

These are Tables 11 to 13 and Table 15.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from allrelevant import RelevanceWarning

from ...image_sets import SETS
from ..table import Column, Figures, Row, Table

NUMBERS = {"mnist": 11, "fashion_mnist": 12, "cifar10": 13}
TITLES = {"mnist": "MNIST", "fashion_mnist": "Fashion-MNIST", "cifar10": "CIFAR-10"}
SPLITS = {"fashion_mnist": " The train/test split differs from the original."}
SMALLER_NETWORK = (
    "The evaluation model is a small network, trained on some of the images for a few epochs. In "
    "the paper, it is WRN-16-4, trained on all images for 80 epochs or more on a GPU. The row "
    '"all features" shows the accuracy of the small network without selection. Compare the order '
    "of the methods with that in the paper, not the accuracies."
)


def measure(seed: int, data: Path, *, settings: Mapping[str, Any]) -> Figures:
    from ...network_images import figures

    warnings.simplefilter("ignore", RelevanceWarning)  # Pixels at the border are constant.
    result = figures(data, dict(settings), seed)
    accuracy, sizes = result["accuracy"], SETS[settings["set"]].sizes
    if len(accuracy) == 1:  # With all features, the accuracy is the same for every size.
        return {str(size): accuracy[0] for size in sizes}
    return {
        **{str(size): value for size, value in zip(sizes, accuracy, strict=True)},
        "zero weights": result["zero_weights"],
        "ranking seconds": result["ranking_seconds"],
    }


def rows(name: str) -> list[Row]:
    from ...network_images import EFFORTS, rows_of

    published = SETS[name].published
    return [
        Row(
            "all features" if row.method == "all" else row.title,
            partial(measure, settings=asdict(row)),
            {
                str(size): accuracy
                for size, accuracy in zip(
                    SETS[name].sizes, published.get(row.title, ()), strict=False
                )
            },
            seeds=1,
            quick=0,
            data_file=f"{SETS[name].file}.npz",
            is_ours=row.method != "all",
        )
        for row in rows_of(name, EFFORTS[name])
    ]


def table(name: str) -> Table:
    from ...network_images import EFFORTS

    effort = EFFORTS[name]
    return Table(
        name=f"sfs20_table_{NUMBERS[name]}",
        title=f"sfs20, Table {NUMBERS[name]}: {TITLES[name]}",
        about=f"""
The table shows the test accuracy of a network that uses only the highest-ranked features. Each
feature is one pixel{" in one color channel" if name == "cifar10" else ""}. Pixels that are not
selected are set to zero (black).{SPLITS.get(name, "")}

SFS (saliency-based feature selection) ranks features by the saliency of a network. It uses a single
round (gamma 0) or several rounds that each keep 90% of the features (gamma 0.9). DFS (deep
feature selection) ranks features by a sparse mask on the inputs of a network. SFS+DFS ranks
features by the saliency of a network with such a mask.

The paper's 3-layer network is both the ranking model and the evaluation model. Ranking models are
trained on {effort.rows:,} images. With several rounds, they are trained for {effort.epochs} epochs
per round, and with a single round for {effort.long_epochs} epochs. The evaluation model is trained
on
{effort.judge_rows:,} images for {effort.judge_epochs} epochs, with a decreasing learning rate. The
paper uses all images, 40 epochs or more, and a wide residual network (WRN-16-4) as the evaluation
model. Each ranking was computed with one seed, so differences of one percentage point are not
meaningful.
""",
        columns=[
            Column(f"accuracy with {size} features, %", str(size)) for size in SETS[name].sizes
        ],
        rows=rows(name),
        row_header="ranked by",
        remarks={"": SMALLER_NETWORK},
    )


def robustness_figures(seed: int, data: Path, *, noise: float) -> Figures:
    from allrelevant import NetworkClassifier, robustness

    warnings.simplefilter(
        "ignore", RelevanceWarning
    )  # Targets that are not reached are counted below.
    images = SETS["mnist"].load(data)
    X, y = images.first(ROBUSTNESS_ROWS)
    network = NetworkClassifier(
        "cnn",
        max_epochs=ROBUSTNESS_EPOCHS,
        annealing=True,
        l2=5e-4,
        input_noise=noise,
        random_state=seed,
    ).fit(X, y)
    digits = np.array([np.flatnonzero(images.y_new == digit)[seed] for digit in range(10)])
    result = robustness(network, images.X_new[digits], max_steps=60, bounds=(0.0, 1.0))
    return {
        "accuracy": 100 * float(network.score(images.X_new, images.y_new)),
        "change": float(np.median(result.distance[result.distance > 0])),
        "reached": float(result.reached.sum()),
    }


ROBUSTNESS_ROWS, ROBUSTNESS_EPOCHS = 5_000, 5

TABLE_15 = Table(
    name="sfs20_table_15",
    title="sfs20, Table 15: adversarial robustness",
    about=f"""
One MNIST digit of each class is perturbed until a network predicts a given class with a probability
of 95%. The table shows the Euclidean norm of the smallest perturbation found. It is the median over
the 90 pairs of a digit and a class other than its own. Pixel values range from 0 to 1. The column
"pairs
reached" counts the pairs for which the probability was reached. It includes the pairs of each digit
and its own class, so the maximum is 100.

One network is trained without input noise, and the other is trained with input noise of standard
deviation 0.3.
Both are small networks, trained on {ROBUSTNESS_ROWS:,} images for {ROBUSTNESS_EPOCHS} epochs. The
paper uses a wide residual network (WRN-16-4) and all images, and it shows perturbed images instead
of norms. [networks.md](../networks.md) shows such images. For each seed, new networks are
trained and different digits are perturbed.
""",
    columns=[
        Column("accuracy, %", "accuracy"),
        Column("median norm of the perturbation", "change", 2, "higher"),
        Column("pairs reached", "reached", 0, ""),
    ],
    rows=[
        Row(
            name,
            partial(robustness_figures, noise=noise),
            {"accuracy": accuracy},
            seeds=3,
            quick=0,
            data_file="mnist.npz",
            is_ours=True,
        )
        for name, noise, accuracy in (
            ("trained without noise", 0.0, 99.69),
            ("trained with noise", 0.3, 99.37),
        )
    ],
    row_header="network",
    remarks={
        "": "The network is smaller than in the paper and is trained on a twelfth of the images "
        "for a few epochs. The paper's finding is reproduced: the network trained with noise is "
        "less accurate, but a larger perturbation is required to change its prediction."
    },
)
