"""Tests of the documents of selections and of their sentences."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from allrelevant import SVMRFE, ClassificationBounds
from allrelevant.datasets import make_linear_classification
from allrelevant.results import selection_document
from allrelevant.results.selection import SelectionBounds
from allrelevant.results.selection_answer import (
    features_of_sets,
    needed_by,
    recommendation,
    replacement,
    score_name,
    selection_answer,
    set_name,
    small_set_sentence,
)
from allrelevant.results.small_set import describe_small_set


def fitted_document(*, bounds: bool = True, **parameters: Any) -> dict[str, Any]:
    data = make_linear_classification(
        100, n_strong=1, n_weak=2, n_irrelevant=3, flip=0.05, random_state=0
    )
    X = pd.DataFrame(
        data.X, columns=["strong", "copy 1", "copy 2", "noise 1", "noise 2", "noise 3"]
    )
    est = SVMRFE(random_state=0, **parameters).fit(X, data.y)
    parts = None
    if bounds:
        fitted = ClassificationBounds(C=1.0, cutoff=0.5).fit(X, data.y)
        design = fitted.cheapest()
        either = est.get_support() | design.get_support()
        parts = SelectionBounds(fitted, fitted.substitutes(list(X.columns[either])), design)
    document = selection_document(
        est,
        data.y,
        task="classification",
        table="t.csv",
        target="sick",
        settings={},
        warnings=(),
        command="allrelevant select",
        bounds=parts,
    )
    return json.loads(json.dumps(document, allow_nan=False))


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return fitted_document()


def with_score(document: dict[str, Any], **changes: Any) -> dict[str, Any]:
    held_out = {**document["score"]["held_out"], **changes}
    return {**document, "score": {**document["score"], "held_out": held_out}}


def test_features_have_rank_frequency_and_relevance(document: dict[str, Any]) -> None:
    by_name = {feature["name"]: feature for feature in document["features"]}
    assert by_name["strong"]["relevance"] == "strong"
    assert by_name["strong"]["frequency"] == 1.0
    assert by_name["copy 1"]["relevance"] == by_name["copy 2"]["relevance"] == "weak"
    for feature in document["features"]:
        assert ("substitutes" in feature) == (feature["selected"] or feature["in_small_set"])
    assert document["selected"][0] == min(by_name.values(), key=lambda f: f["rank"])["name"]


def test_without_bounds_and_scores() -> None:
    document = fitted_document(bounds=False, n_features_to_select=2)
    assert document["bounds"] is None
    assert document["score"]["held_out"] is None
    answer = selection_answer(document)
    assert answer.quality == "The score of the selected features was not estimated."
    assert (answer.verdict, answer.size, answer.stability, answer.bounds) == ("", "", "", "")
    assert small_set_sentence(document) == ""


def test_ranked_once() -> None:
    document = fitted_document(bounds=False, repeat_in_folds=False)
    score = document["score"]
    assert score["optimistic"]
    assert score["cross_validated"] == max(subset["score"] for subset in document["subsets"])
    assert "optimistic" in selection_answer(document).quality


def test_lead_names_few_features(document: dict[str, Any]) -> None:
    few = {**document, "n_selected": 2, "selected": ["strong", "copy 1"]}
    assert selection_answer(few).lead == "2 of 6 features were selected: strong and copy 1."
    one = {**document, "n_selected": 1, "selected": ["strong"]}
    assert selection_answer(one).lead == "1 of 6 features was selected: strong."
    every = {**document, "n_selected": 6}
    assert selection_answer(every).lead == "All 6 features were selected."
    names = [f"x{j}" for j in range(20)]
    table = {**document["table"], "n_features": 40}
    many = {**document, "n_selected": 20, "selected": names, "table": table}
    assert selection_answer(many).lead == "20 of 40 features were selected."


@pytest.mark.parametrize(
    ("mean", "expected"),
    [
        (0.55, "hardly better than a constant prediction"),
        (0.79, "is not significant (corrected resampled t-test, p = "),
        (0.70, "predict worse than all features"),
        (0.95, "predict better than all features"),
    ],
)
def test_verdict(document: dict[str, Any], mean: float, expected: str) -> None:
    changed = with_score(document, mean=mean, standard_error=0.03, all_features=0.8, constant=0.5)
    changed = with_score(changed, difference_pvalue=0.3 if mean == 0.79 else 0.01)
    few = {**changed, "n_selected": 2}
    assert expected in selection_answer(few).verdict


def test_size(document: dict[str, Any]) -> None:
    assert "chosen for the best cross-validated score" in selection_answer(document).size
    best = document["score"]["best_n_features"]
    other = 1 if best > 1 else 2
    given = {**document, "n_selected": other}
    given = {**given, "settings": {**document["settings"], "n_features_to_select": other}}
    assert (
        f"The best cross-validated score is that of {best} feature" in selection_answer(given).size
    )
    given["n_selected"] = best
    assert selection_answer(given).size == ""


def test_smaller_subset_is_mentioned(document: dict[str, Any]) -> None:
    scores = {6: 0.90, 5: 0.92, 4: 0.91, 3: 0.905, 2: 0.80, 1: 0.70}
    subsets = [
        {"n_features": size, "score": score, "standard_error": 0.01}
        for size, score in scores.items()
    ]
    changed = {**document, "subsets": subsets, "n_selected": 5}
    text = selection_answer(changed).size
    assert "The best score is 0.920 with 5 features." in text
    assert text.endswith("4 within one standard error (--n-features one_se).")
    subsets[1]["standard_error"] = 0.005
    assert selection_answer(changed).size.endswith(": 4 within 0.01 (--n-features 4).")
    subsets[1]["standard_error"] = 0.02
    assert selection_answer(changed).size.endswith(
        "3 within one standard error (--n-features one_se) and 4 within 0.01 (--n-features 4)."
    )
    assert "The fewest" not in selection_answer({**changed, "n_selected": 3}).size
    for subset in subsets:
        subset["score"] -= 2.0  # a score with an unknown unit, such as a negative error
    assert "0.01" not in selection_answer(changed).size


def test_selected_subset_is_named_if_others_have_the_same_score(document: dict[str, Any]) -> None:
    subsets = [
        {"n_features": size, "score": 0.9 if size > 2 else 0.895, "standard_error": 0.02}
        for size in (6, 5, 4, 3, 2, 1)
    ]
    text = selection_answer({**document, "subsets": subsets, "n_selected": 4}).size
    assert "The best score is 0.900 with 4 features." in text


def test_scope_of_the_score(document: dict[str, Any]) -> None:
    few = {**document, "n_selected": 2}
    assert selection_answer(few).scope.endswith("and not of exactly these 2 features.")
    assert selection_answer({**document, "n_selected": 1}).scope.endswith("exactly this feature.")
    assert selection_answer({**document, "n_selected": 6}).scope == ""
    unscored = {**few, "score": {**document["score"], "held_out": None}}
    assert selection_answer(unscored).scope == ""


def test_stability(document: dict[str, Any]) -> None:
    def answer(frequencies: list[float]) -> str:
        feature = {"name": "a", "selected": True, "relevance": "weak"}
        features = [{**feature, "frequency": frequency} for frequency in frequencies]
        changed = with_score(document, stability=0.5, by_fold=[1.0] * 5)
        return selection_answer({**changed, "features": features}).stability

    assert answer([1.0, 1.0]).startswith("All 2 selected features were chosen in all 5 folds")
    assert answer([1.0, 0.8, 0.2]).startswith("1 of the 3 selected features was chosen in all 5")
    assert answer([0.8, 0.2]).startswith("None of the 2 selected features were chosen")
    assert answer([0.8]).startswith("The selected feature was not chosen in all 5 folds")
    assert "(stability 0.50; 1 means" in answer([1.0])


def test_relevance_of_the_selected_features(document: dict[str, Any]) -> None:
    classes = ["strong", "weak", "weak", "irrelevant", "unconfirmed"]
    features = [
        {"name": str(j), "selected": True, "relevance": name, "frequency": 1.0}
        for j, name in enumerate(classes)
    ]
    features.append({"name": "no", "selected": False, "relevance": "strong", "frequency": 0.0})
    text = selection_answer({**document, "features": features}).bounds
    assert text == (
        "Of the selected features, 1 is strong (every equivalent linear model needs it), 2 are "
        "weak (other features can replace them), 1 is unconfirmed (all equivalent linear models "
        "use it, but there is not enough evidence) and 1 is irrelevant (not significantly more "
        "relevant than noise, perhaps selected by chance)."
    )


def test_selected_features_that_replace_each_other(document: dict[str, Any]) -> None:
    def text(substitutes: dict[str, list[str]], strong: str = "") -> str:
        features = [
            {
                "name": name,
                "selected": True,
                "relevance": "strong" if name == strong else "weak",
                "frequency": 1.0,
                "substitutes": names,
            }
            for name, names in substitutes.items()
        ]
        return selection_answer({**document, "features": features}).bounds

    assert "replace each other" not in text({"a": ["b", "x"], "b": ["x"]})
    both = {"a": ["b", "x"], "b": ["a"], "c": []}
    assert text(both).endswith(
        "features a and b can replace each other, so fewer features may suffice."
    )
    three = {"a": ["b", "c"], "b": ["a", "c"], "c": ["b", "a"]}
    assert "a and b can replace each other, as can 2 other pairs, so" in text(three)
    assert "replace each other" not in text(both, strong="b")


def test_strong_for_one_of_several_classes(document: dict[str, Any]) -> None:
    assert needed_by(document) == "every equivalent linear model"
    several = {**document, "classes": [{"label": str(j), "n_rows": 9} for j in range(3)]}
    assert needed_by(several) == "for at least one class, every equivalent linear model"
    assert "strong (for at least one class, every" in selection_answer(several).bounds


def test_relevance_of_a_single_feature(document: dict[str, Any]) -> None:
    feature = {"name": "a", "selected": True, "relevance": "weak", "frequency": 1.0}
    text = selection_answer({**document, "features": [feature]}).bounds
    assert text == "The selected feature is weak: other features can replace it."


def test_replacement() -> None:
    weak = {"relevance": "weak", "substitutes": ["a", "b", "c", "d"]}
    assert replacement(weak, []) == "a, b, c and 1 more"
    assert replacement(weak, ["b", "d"]) == "a or c"
    assert replacement(weak, ["a", "b", "c", "d"], at_most=2) == "a, b and 2 more (also selected)"
    assert replacement({**weak, "substitutes": []}, []) == "a combination of other features"
    assert replacement({"relevance": "weak"}, []) == ""
    assert replacement({"relevance": "strong"}, []) == "nothing"
    assert replacement({"relevance": "irrelevant"}, []) == "not needed"
    assert replacement({"relevance": "irrelevant", "in_small_set": True}, []) == "unclear"


def test_features_of_the_small_set_follow_the_selected_ones() -> None:
    def feature(name: str, rank: int, selected: bool, in_small_set: bool) -> dict[str, Any]:
        return {"name": name, "rank": rank, "selected": selected, "in_small_set": in_small_set}

    features = [
        feature("a", 4, False, True),
        feature("b", 2, True, True),
        feature("c", 3, False, True),
        feature("d", 5, False, False),
        feature("e", 1, True, False),
    ]
    members = features_of_sets({"features": features})
    assert [(f["name"], set_name(f)) for f in members] == [
        ("e", "selected"),
        ("b", "both"),
        ("c", "small set"),
        ("a", "small set"),
    ]


def test_score_names(document: dict[str, Any]) -> None:
    assert score_name(document) == "balanced accuracy"
    assert score_name({**document, "score": {**document["score"], "name": "r2"}}) == "R2"


def test_small_set(document: dict[str, Any]) -> None:
    small_set = document["bounds"]["small_set"]
    (first,) = small_set["models"]
    text = small_set_sentence(document)
    assert text.startswith(f"{len(first['features'])} features suffice for a linear model")
    assert "No smaller set suffices." in text
    assert f"the accuracy is {small_set['held_out_score']:.3f} ± " in text
    unproven = {**small_set, "models": [{**first, "proven": False, "gap": 2.0}]}
    assert "up to 2 fewer features may exist" in describe_small_set(unproven, "accuracy")
    unscored = {**small_set, "held_out_score": None}
    assert "It is optimistic" in describe_small_set(unscored, "accuracy")
    empty = {**small_set, "models": [{**first, "features": []}]}
    assert describe_small_set(empty, "accuracy").startswith("A linear model without features")


@pytest.mark.parametrize(
    ("n_small", "small_score", "mean", "expected"),
    [
        (2, 0.79, 0.80, "Use the small set, which has fewer features"),
        (2, 0.79, 0.75, "Use the small set, which has fewer features"),
        (2, 0.76, 0.79, "Use the selected features, unless 3 are too many."),
        (3, 0.79, 0.75, "Use the small set, which is as large"),
        (3, 0.75, 0.79, "Use the selected features. The small set is as large"),
        (4, 0.80, 0.79, "Use the selected features, which are fewer."),
    ],
)
def test_recommendation(
    document: dict[str, Any], n_small: int, small_score: float, mean: float, expected: str
) -> None:
    small_set = document["bounds"]["small_set"]
    small_set = {
        **small_set,
        "models": [{**small_set["models"][0], "features": list("abcd")[:n_small]}],
        "held_out_score": small_score,
        "held_out_score_error": 0.02,
        "baseline": {"score": 0.8, "score_error": 0.02},
    }
    changed = {
        **with_score(document, mean=mean, standard_error=0.01, all_features=0.8, constant=0.5),
        "bounds": {**document["bounds"], "small_set": small_set},
        "selected": list("bcd"),
        "n_selected": 3,
    }
    text = recommendation(changed)
    assert text.startswith(expected)
    change = "equal to" if mean == 0.8 else f"{0.8 - mean:.3f} below"
    assert text.endswith(f"(balanced accuracy) is {change} that of all features.")
    assert recommendation(with_score(changed, mean=0.51)) == ""
    same = {**changed, "selected": list("abcd")[:n_small]}
    assert recommendation(same) == "The small set consists of the selected features."
    small_set["held_out_score"] = None
    assert recommendation(changed) == ""


def test_names_are_printable(document: dict[str, Any]) -> None:
    hostile = {**document, "n_selected": 1, "selected": ["line\nbreak\x1b[31m"]}
    assert "line\\nbreak\\x1b[31m" in selection_answer(hostile).lead
    weak = {"relevance": "weak", "substitutes": ["tab\t"]}
    assert replacement(weak, []) == "tab\\t"


def test_document_agrees_with_the_estimator() -> None:
    document = fitted_document(bounds=False)
    sizes = np.array([subset["n_features"] for subset in document["subsets"]])
    scores = np.array([subset["score"] for subset in document["subsets"]])
    assert document["score"]["best_n_features"] == sizes[scores.argmax()]
    assert document["score"]["cross_validated"] == scores[sizes == document["n_selected"]][0]
