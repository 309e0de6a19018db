"""What a task is called on pages and terminals: its aim, its score, its loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TaskWording:
    """The words that differ from task to task.

    Attributes
    ----------
    aim : str
        What the model was trained to do, with places for the classes if need be.
    classes : str
        What the list of classes is called; empty where there are none.
    score : str
        Name of the score.
    score_heading : str
        The same above a column of cross-validated scores.
    unseen : str
        What the baseline achieves on rows it has not seen, with a place for the number.
    training, training_alone : str
        The same of the rows it was trained on: after the other, and on its own.
    without_features : str
        What a model without features achieves.
    scaled : str
        What the scale of the weights is, where features were standardized.
    loss : str
        What the loss of a model is; empty where the page says nothing about it.
    model : str
        Whose score it is.
    """

    aim: str
    classes: str
    score: str
    score_heading: str
    unseen: str
    training: str
    training_alone: str
    without_features: str
    scaled: str = "features scaled to variance 1"
    loss: str = ""
    model: str = "baseline model"

    def achievement(self, score: Mapping[str, Any]) -> str | None:
        """How good the baseline is, in a sentence; None if that is not known.

        Parameters
        ----------
        score : mapping
            As in the summary.
        """
        unseen, training = score["cross_validated"], score["training"]
        parts = []
        if unseen is not None:
            parts.append(self.unseen.format(percent(unseen)))
        if training is not None:
            phrase = self.training if parts else self.training_alone
            parts.append(phrase.format(percent(training)))
        if not parts:
            return None
        guess = score["without_features"]
        contrast = "" if guess is None else f"; {self.without_features.format(percent(guess))}"
        return f"The {self.model} {', and '.join(parts)}{contrast}."


def percent(share: float) -> str:
    """A share with one decimal; scores can be negative.

    Examples
    --------
    >>> percent(0.875)
    '87.5%'
    """
    return real_minus(f"{share:.1%}")


def number(value: float) -> str:
    """A number of any size in few characters.

    Examples
    --------
    >>> number(1234567.0), number(3.14159), number(2000.0)
    ('1,234,567', '3.142', '2,000')
    """
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.4g}"


def real_minus(text: str) -> str:
    """A number with a minus sign in place of the hyphen, for pages."""
    return text.replace("-", "\N{MINUS SIGN}")


WORDINGS = {
    "classification": TaskWording(
        aim="tell the classes apart",
        classes="classes",
        score="accuracy",
        score_heading="Accuracy (cross-validated)",
        unseen="puts {} of rows it has not seen into their class, by cross-validation",
        training="{} of the rows it was trained on",
        training_alone="puts {} of the rows it was trained on into their class",
        without_features="always naming the most frequent class would get {}",
    ),
    "regression": TaskWording(
        aim="predict the target",
        classes="",
        score="share of the absolute deviation from the median that is explained",
        score_heading="Deviation explained (cross-validated)",
        unseen="explains {} of the distance of the target from its median in rows it has not seen, "
        "by cross-validation",
        training="{} in the rows it was trained on",
        training_alone="explains {} of the distance of the target from its median in the rows it "
        "was trained on",
        without_features="always naming the median would explain none of it",
        scaled="features and a target scaled to variance 1",
        loss="by how much predictions are off beyond epsilon, summed over the rows",
    ),
    "ordinal": TaskWording(
        aim="place each row in the order of the classes",
        classes="classes from low to high",
        score="share of the absolute deviation from the median class that is explained",
        score_heading="Deviation explained (cross-validated)",
        unseen="explains {} of the distance from the median class, counted in classes, in rows it "
        "has not seen, by cross-validation",
        training="{} in the rows it was trained on",
        training_alone="explains {} of the distance from the median class, counted in classes, in "
        "the rows it was trained on",
        without_features="always naming the median class would explain none of it",
        loss="what rows lack to be beyond the threshold below their class and short of the one "
        "above it, each by 1, summed over the rows",
    ),
    "ranking": TaskWording(
        aim="rank the rows of class {1} above those of class {0}",
        classes="classes from low to high",
        score="area under the ROC curve",
        score_heading="AUC (cross-validated)",
        unseen="puts {} of the pairs of rows it has not seen, one of each class, in the right "
        "order (this is the AUC), by cross-validation",
        training="{} of those it was trained on",
        training_alone="puts {} of the pairs of rows it was trained on, one of each class, in the "
        "right order (this is the AUC)",
        without_features="tossing a coin would get {}",
        loss="what the higher row of a pair lacks to score 1 more than the other, averaged over "
        "all pairs",
    ),
    "metric": TaskWording(
        aim="tell the classes apart by distances",
        classes="classes",
        score="accuracy",
        score_heading="Accuracy (cross-validated)",
        unseen="puts {} of rows it has not seen into their class, by cross-validation",
        training="{} of the rows it was trained on",
        training_alone="puts {} of the rows it was trained on into their class",
        without_features="always naming the most frequent class would get {}",
        model="averaged mapping",
    ),
}
