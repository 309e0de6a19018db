"""Tests that the HTML report is complete and self-contained and that its text is escaped."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest

from allrelevant import ClassificationBounds, RelevanceWarning
from allrelevant.datasets import make_linear_classification
from allrelevant.relevance import CLASSES
from allrelevant.report import render
from allrelevant.results import bounds_document

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<b>bold</b>",
    "\"double\" & 'single'",
    "<!-- comment",
    "]]> {{ 7 * 7 }} {% raw %}",
    "x" * 5000,
    "",
    "שלום \u202e reversed",
    "line\nbreak\x00\x1b[31m",
    "\ud800 lone surrogate",
    "\u2028 separator",
    "' onmouseover='alert(1)",
]

# Elements without a closing tag.
VOID = {"meta", "link", "input", "br"}


class Reader(HTMLParser):
    """HTML parser that collects tags, attributes and text, and fails on unmatched tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, list[str]] = {}
        self.open: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.text.setdefault(self.open[-1], []).append(data)


def example(names: list[str] | None = None, **settings: Any) -> dict[str, Any]:
    data = make_linear_classification(
        n_samples=80, n_strong=2, n_weak=4, n_irrelevant=6, random_state=0
    )
    # dtype=object, because pandas strings cannot hold a lone surrogate.
    columns = None if names is None else pd.Index(names, dtype=object)
    X = data.X if names is None else pd.DataFrame(data.X, columns=columns)
    est = ClassificationBounds(**{"C": 1.0, "cutoff": 0.1, "random_state": 0, **settings})
    return bounds_document(est.fit(X, data.y), X, data.y, table="<i>table", target="</title>")


def widened(summary: dict[str, Any], n_features: int) -> dict[str, Any]:
    """Return a copy of a document with a larger number of features, without a fit."""
    row = summary["features"][-1]
    features = [{**row, "name": f"f{j}", "upper": 1.0 / (j + 1)} for j in range(n_features)]
    counts = {**dict.fromkeys(CLASSES, 0), row["relevance"]: n_features}
    table = {**summary["table"], "n_features": n_features}
    return {**summary, "features": features, "counts": counts, "table": table}


def test_names_are_escaped() -> None:
    summary = example(HOSTILE)
    summary["warnings"] = ["</aside><script>alert(2)</script>"]
    summary["command"] = "allrelevant report '<script>alert(3)</script>'"
    page = render(summary)
    read = Reader(page)
    scripts = [attributes for tag, attributes in read.tags if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "summary"}, {}]
    assert not {"b", "i "} & {tag for tag, _ in read.tags}
    assert not [name for _, attributes in read.tags for name in attributes if name.startswith("on")]
    assert "<b>bold</b>" in read.text["bdi"]
    assert "' onmouseover='alert(1)" in read.text["bdi"]
    assert "line\\nbreak\\x00\\x1b[31m" in read.text["bdi"]
    assert "49" not in "".join(text for text in read.text["bdi"])
    assert not re.search("[\x00\x1b\u202e\ud800]", page)


def test_embedded_json_is_the_summary() -> None:
    summary = example(HOSTILE)
    (text,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', render(summary))
    assert json.loads(text) == summary
    assert "<" not in text


@pytest.mark.parametrize("cutoff", [0.1, "probes"])
def test_report_is_self_contained(cutoff: float | str) -> None:
    page = render(example(cutoff=cutoff, n_probes=12))
    assert not re.search(r"https?:|//[a-z]|@import|url\(", page)
    for tag, attributes in Reader(page).tags:
        assert "src" not in attributes
        assert attributes.get("href", "data:,") == "data:,", tag


def test_file_size() -> None:
    page = render(widened(example(), 30))
    assert len(page.encode()) < 100_000


def test_summary_comes_first() -> None:
    summary = example([f"name {j}" for j in range(12)], cutoff=0.5)
    text = " ".join(render(summary).split())
    counts = summary["counts"]
    assert (
        f"Of 12 features, {counts['strong']} are strong, {counts['weak']} are weak "
        f"and {counts['irrelevant']} are irrelevant." in text
    )
    assert text.index("Of 12 features") < text.index("<svg role=")
    strong = re.search(r'<div class="strong">(.*?)</div>', text)
    assert strong is not None
    for feature in summary["features"]:
        assert (feature["name"] + "<" in strong[1]) == (feature["relevance"] == "strong")


def words(page: str) -> str:
    """Return the visible text of an HTML page."""
    body = page.partition("<body>")[2].partition("<script")[0]
    return " ".join(re.sub("<[^>]*>", " ", body).split())


def test_tested_features() -> None:
    summary = example(cutoff="fdr", fdr=0.1)
    page, text = render(summary), words(render(summary))
    Reader(page)
    assert 'class="cutoff' not in page
    assert "Cutoff, upper bound" not in page
    for phrase in (
        "Test of the whole table.",
        "The null hypothesis is that",
        "if its q-value is at most 0.1",
        "at most 10% of the features called relevant are expected to be irrelevant",
        "A column that is correlated with a relevant one",
        "linear relations only",
        "not causal claims",
        "permuted 499 times",
    ):
        assert phrase in text
    assert f"Here, p = {summary['table_pvalue']:.2g}." in text
    shown = re.findall(r'data-value="([\d.e-]+)">([\d.<]+)</td>', page)
    values = dict(shown)
    for feature in summary["features"]:
        assert values[str(feature["qvalue"])] == f"{feature['qvalue']:.2g}"
        assert str(feature["pvalue"]) in values


def test_features_without_tests_have_a_dash() -> None:
    summary = example(cutoff="fdr")
    constant = next(f for f in summary["features"] if f["relevance"] == "irrelevant")
    constant.update(qvalue=None, pvalue=None)
    assert render(summary).count('data-value="2">–</td>') == 2
    for feature in summary["features"]:
        feature["qvalue"] = feature["pvalue"] = None
    assert "q-value" not in Reader(render({**summary, "rule": "fixed"})).text["button"]


@pytest.mark.parametrize(
    ("settings", "present", "absent"),
    [
        ({"cutoff": 0.1}, "cutoff was set by the user, so no error rate", "q-value"),
        ({"cutoff": "probes", "n_probes": 12}, "estimated from 12 probes", "q-value"),
    ],
)
def test_rules_with_cutoffs(settings: dict[str, Any], present: str, absent: str) -> None:
    page = render(example(**settings))
    text = words(page)
    assert present in text
    assert absent not in text.partition("How to read this report")[2]
    assert "Test of each feature" not in text
    assert 'class="cutoff' in page
    assert "Cutoff, upper bound" in text


def test_more_features_than_rows() -> None:
    data = make_linear_classification(30, n_strong=2, n_irrelevant=38, random_state=0)
    est = ClassificationBounds(C=1.0, cutoff="fdr", n_probes=12, random_state=0)
    est.fit(data.X, data.y)
    text = words(render(bounds_document(est, data.X, data.y)))
    assert est.rule_ == "probes"
    assert "Test of the whole table." in text
    assert "The table has more features than rows, where tests of single features" in text
    assert "Test of each feature." not in text


def test_no_evidence_is_stated_once_and_first() -> None:
    rng = np.random.RandomState(1)
    X, y = rng.normal(size=(60, 4)), rng.randint(0, 2, 60)
    with pytest.warns(RelevanceWarning) as issued:
        est = ClassificationBounds(cutoff="fdr", random_state=0).fit(X, y)
    notes = [str(warning.message) for warning in issued]
    page = render(bounds_document(est, X, y, target="<y>", warnings=[*notes, "another note"]))
    Reader(page)
    text = words(page)
    assert text.partition("Summary ")[2].startswith(
        "There is no evidence that &lt;y&gt; depends on these 4 features (permutation test, p = "
    )
    assert text.count("There is no evidence") == 1
    assert "another note" in text
    assert "No feature is called relevant." in text
    assert 'class="answer"' not in page
    assert "x0" not in text.partition("Relevance intervals")[0]
    assert "single features were not tested" in text
    assert "Test of each feature." not in text


def test_unconfirmed_features_only_if_present() -> None:
    summary = example()
    assert "unconfirmed" not in words(render(summary))
    summary["features"][0]["relevance"] = "unconfirmed"
    summary["counts"]["unconfirmed"] = 1
    page = render(summary)
    Reader(page)
    legend = page[page.index('<ul class="legend"') : page.index("</ul>", page.index("legend"))]
    assert "unconfirmed" in legend
    assert '<div class="unconfirmed">' in page
    assert '<g class="unconfirmed ' in page
    assert "The feature may fit noise in these rows." in words(page)


def test_jointly_strong_groups_are_in_the_summary() -> None:
    summary = example([f"name {j}" for j in range(12)], cutoff="fdr")
    weak = [f["name"] for f in summary["features"] if f["relevance"] == "weak"]
    assert len(weak) >= 2
    assert "--relations" in words(render(summary))
    groups = [
        {
            "features": weak[:2],
            "relevance": "strong",
            "lower": 0.5,
            "upper": 1.0,
            "norm_fraction": 0.2,
        }
    ]
    empty: dict[str, Any] = {"features": [], "group": [], "matrix": [], "threshold": 0.5}
    text = words(render({**summary, "relations": {**empty, "groups": groups}}))
    answer = text.partition("Relevance intervals")[0]
    assert (
        "jointly strong 1 group No single feature of this group is indispensable, but every "
        f"equivalent model needs at least one of: {weak[0]} , {weak[1]}"
    ) in answer
    assert "--relations" not in answer


def test_draws_every_interval() -> None:
    summary = example([f"name {j}" for j in range(12)])
    page = render(summary)
    chart = page[page.index('<svg role="img"') : page.index("</figure>")]
    bars = {
        name: (relevance, float(left), float(width))
        for relevance, name, left, width in re.findall(
            r'<g class="(\w+) i-\d+">\s*<title>(.*?):.*?'
            r'<rect x="([\d.]+)%" y="5.5" width="([\d.]+)%"',
            chart,
            re.DOTALL,
        )
    }
    end = float(re.findall(r">([\d.]+)</text>", chart)[-1])
    assert len(bars) == 12
    for feature in summary["features"]:
        relevance, left, width = bars[feature["name"]]
        assert relevance == feature["relevance"]
        assert left == pytest.approx(100 * feature["lower"] / end, abs=0.01)
        assert left + width == pytest.approx(100 * feature["upper"] / end, abs=0.01)
    (cutoff,) = re.findall(r'class="cutoff both" x1="([\d.]+)%"', chart)
    assert float(cutoff) == pytest.approx(10 / end, abs=0.01)


def test_is_accessible() -> None:
    tags = Reader(render(example())).tags
    ids = {attributes["id"] for _, attributes in tags if "id" in attributes}
    for _, attributes in tags:
        for key in ("aria-labelledby", "for"):
            assert set((attributes.get(key) or "").split()) <= ids
    assert ("html", {"lang": "en"}) in tags
    sortable = [a for tag, a in tags if tag == "th" and "aria-sort" in a]
    assert len(sortable) == 7
    assert sum(tag == "button" for tag, _ in tags) == 8
    headings = [tag for tag, _ in tags if tag in ("h1", "h2", "h3")]
    assert headings[0] == "h1"
    assert headings.count("h1") == 1


def test_wide_tables_note_omitted_features() -> None:
    page = " ".join(render(widened(example(), 5000)).split())
    assert "The first 60 of 5,000 features" in page
    assert "Only the first 200 of 5,000 features" in page
    assert "--json FILE" in page
    assert "and 4,985 more" in page
    assert 'type="application/json"' not in page
    assert page.count('<th scope="row"><bdi>f') == 200
    assert len(page) < 300_000


def test_model_no_better_than_a_constant_prediction_is_noted() -> None:
    summary = example()
    assert "hardly better than a constant prediction" not in render(summary)
    summary["score"]["training"] = 0.5
    assert "hardly better than a constant prediction" in render(summary)


def test_cross_validated_accuracy() -> None:
    summary = example()
    assert "cross-validation" not in render(summary)
    summary["score"]["cross_validated"] = 0.875
    page = " ".join(render(summary).split())
    assert "classifies 87.5% of held-out rows correctly (cross-validation)" in page


def test_several_classes() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.repeat(["<x>", "y", "z"], 20)
    X[:20, 0] += 3
    X[20:40, 1] += 3
    est = ClassificationBounds(C=1.0, cutoff=0.1).fit(X, y)
    page = render(bounds_document(est, X, y))
    read = Reader(page)
    assert "Bounds by class" in read.text["h3"]
    assert "<x>" in read.text["bdi"]
    assert 'class="cutoff' not in page
    details = page[page.index("<details>") : page.index("</details>")]
    assert details.count('<th scope="row">') == 3
    assert "<bdi>&lt;x&gt;</bdi>" in details


def test_risk_bound() -> None:
    summary = example()
    read = Reader(render(summary))
    (risk,) = summary["risk_bound"]
    assert read.text["summary"] == ["Bounds on the error for new data"]
    for name in ("loss_part", "complexity_part", "offset_part", "baseline", "equivalent"):
        assert f"{risk[name]:.3f}" in read.text["td"]
    assert risk["interpretation"] in read.text["p"]
    assert "is not informative by itself" in risk["interpretation"]


@pytest.mark.parametrize("old", [True, False])
def test_without_a_risk_bound(old: bool) -> None:
    summary = {**example(), "risk_bound": None}
    if old:  # JSON written by an older version
        del summary["risk_bound"]
    assert "<details>" not in render(summary)


def test_all_bounds_zero() -> None:
    summary = widened(example(), 2)
    for feature in summary["features"]:
        feature.update(lower=0.0, upper=0.0, baseline=0.0)
    summary["subproblems"][0]["cutoff"] = {"lower": 0.0, "upper": 0.0}
    summary["counts"] = {**dict.fromkeys(CLASSES, 0), "irrelevant": 2}
    page = render(summary)
    Reader(page)
    assert "none is strong, none is weak and 2 are irrelevant." in page


def test_report_from_json() -> None:
    summary = example(HOSTILE)
    assert render(json.loads(json.dumps(summary))) == render(summary)


def test_strict_content_security_policy() -> None:
    page = render(example())
    assert " style=" not in page  # style attributes would need a weaker policy
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="(.*?)">', page)
    assert policy is not None
    sources = dict(part.split(" ", 1) for part in policy[1].split("; "))
    assert sources["default-src"] == "'none'"
    assert sources["img-src"] == "data:"
    for element in ("style", "script"):
        (content,) = re.findall(rf"<{element}>(.*?)</{element}>", page, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert sources[f"{element}-src"] == f"'sha256-{digest}'"
    assert page.index("Content-Security-Policy") < page.index("<style>")


def test_long_names_are_shortened() -> None:
    summary = example()
    summary["features"][0]["name"] = "x" * 300_000
    summary["table"]["name"] = "z" * 300_000
    page = render(summary)
    visible = page.partition('<script type="application/json"')[0]
    assert len(visible) < 250_000
    assert "x" * 400 in visible
