"""Summary of a bounds document in sentences, for the HTML report and the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._params import FDR, FIXED, PROBES, UNTESTED
from .._text import count_noun, printable, probability, shorten
from ..bounds.permutations import EVIDENCE_LEVEL
from ..bounds.sufficiency import Sufficiency
from ..relevance import CLASSES, IRRELEVANT, RELEVANT, STRONG, UNCONFIRMED, WEAK
from .bounds import ranked

Document = Mapping[str, Any]

# Start of the warning that a fit issues for a table without evidence. The answer says the same.
NO_EVIDENCE_WARNING = "There is no evidence that the target depends on the features"

JOINTLY_STRONG = "jointly strong"

_TARGET_WIDTH = 40


@dataclass(frozen=True)
class Finding:
    """Features of one relevance class, or groups of jointly strong features.

    ``title`` is a relevance class or :data:`JOINTLY_STRONG`, and ``count`` a number of features or
    groups. ``meaning`` is a sentence. It ends with a colon if each list of names completes it.
    """

    title: str
    relevance: str
    count: str
    meaning: str
    names: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Answer:
    """Sentences that state which features are relevant and how certain this is.

    ``lead`` is the overall result. ``findings`` are empty if no feature was tested, because the
    table shows no evidence. ``certainty`` states the error rate that was controlled,
    ``sufficiency`` whether the relevant features suffice, ``limits`` the conclusions that the
    result does not support, and ``hint`` an option that adds to the result.
    """

    lead: str
    findings: Sequence[Finding]
    certainty: str
    limits: str
    sufficiency: str = ""
    hint: str = ""


def make_answer(document: Document) -> Answer:
    """Summarize a bounds document, possibly loaded from JSON, as an :class:`Answer`."""
    n_relevant = sum(document["counts"][name] for name in RELEVANT)
    if not has_evidence(document["table_pvalue"]):
        return Answer(
            lead=_no_evidence(document, n_relevant),
            findings=_findings(document) if n_relevant else (),
            certainty=_certainty(document) if n_relevant else "",
            limits="This does not prove that there is no relation. The table may be too small, or "
            "the relation may not be linear. Do not interpret the bounds of single features.",
        )
    return Answer(
        lead=_lead(document, n_relevant),
        findings=_findings(document),
        certainty=_certainty(document),
        sufficiency=_sufficiency(document),
        limits=_limits(document),
        hint=_hint(document),
    )


def has_evidence(table_pvalue: float | None) -> bool:
    """Return whether the p-value of a table is None or at most the evidence level."""
    return table_pvalue is None or table_pvalue <= EVIDENCE_LEVEL


def _no_evidence_sentence(target: str, features: str, table_pvalue: float) -> str:
    """Return a sentence stating that there is no evidence for a relation to the target."""
    return (
        f"There is no evidence that {target} depends on {features} "
        f"(permutation test, {format_pvalue(table_pvalue)})."
    )


def privileged_note(document: Document) -> str:
    """Return a sentence if the privileged features show no evidence, else an empty string."""
    pvalue = document["privileged_table_pvalue"]
    if has_evidence(pvalue):
        return ""
    return _no_evidence_sentence(_target(document), "the privileged features", pvalue)


def count_classes(counts: Mapping[str, int]) -> str:
    """Format the numbers of features per relevance class as a phrase.

    Unconfirmed features are omitted if there are none.

    >>> count_classes({"strong": 1, "weak": 4, "unconfirmed": 0, "irrelevant": 0})
    '1 is strong, 4 are weak and none is irrelevant'
    """
    names = [name for name in CLASSES if counts[name] or name != UNCONFIRMED]
    phrases = [
        f"{_number(counts[name])} {'are' if counts[name] > 1 else 'is'} {name}" for name in names
    ]
    return f"{', '.join(phrases[:-1])} and {phrases[-1]}"


def _number(count: int) -> str:
    return f"{count:,}" if count else "none"


def _no_evidence(document: Document, n_relevant: int) -> str:
    n_features = document["table"]["n_features"]
    features = "the only feature" if n_features == 1 else f"these {n_features:,} features"
    sentence = _no_evidence_sentence(_target(document), features, document["table_pvalue"])
    if n_relevant:
        return f"{sentence} The classes below are based on the cutoff alone and ignore this test."
    return f"{sentence} No feature is called relevant."


def _lead(document: Document, n_relevant: int) -> str:
    n_features = document["table"]["n_features"]
    if n_features == 1:
        (only,) = document["features"]
        return f"The only feature is {only['relevance']}."
    counts = f"Of {n_features:,} features, {count_classes(document['counts'])}."
    if document["rule"] == UNTESTED:
        return (
            f"{_target(document, start=True)} depends on these {n_features:,} features as a whole "
            f"(permutation test, {format_pvalue(document['table_pvalue'])}), but the time limit "
            "was reached before single features were tested. No feature is called relevant."
        )
    if n_relevant or document["rule"] != FDR:
        return counts
    return (
        f"{_target(document, start=True)} depends on these {n_features:,} features as a whole "
        f"(permutation test, {format_pvalue(document['table_pvalue'])}), but there is not enough "
        "evidence to call any single feature relevant."
    )


def _findings(document: Document) -> list[Finding]:
    """Return the findings: strong features, jointly strong groups, other relevance classes."""
    by_class: dict[str, list[str]] = {name: [] for name in CLASSES}
    for feature in ranked(document["features"]):
        by_class[feature["relevance"]].append(feature["name"])
    groups = jointly_strong_groups(document)
    in_groups = {name for group in groups for name in group}
    others = [name for name in by_class[WEAK] if name not in in_groups]
    findings = [_class_finding(document, STRONG, by_class[STRONG])]
    if groups:
        findings.append(_group_finding(document, groups))
    if others or not groups:
        findings.append(_class_finding(document, WEAK, others, "other weak" if groups else WEAK))
    if by_class[UNCONFIRMED]:
        findings.append(_class_finding(document, UNCONFIRMED, by_class[UNCONFIRMED]))
    return [*findings, _class_finding(document, IRRELEVANT, by_class[IRRELEVANT])]


def jointly_strong_groups(document: Document) -> list[list[str]]:
    """Return the groups of weak features that are jointly strong, by descending weight.

    Groups with privileged features are omitted.
    """
    if document["relations"] is None:
        return []
    weak = {f["name"] for f in document["features"] if f["relevance"] == WEAK}
    groups = [
        group
        for group in document["relations"]["groups"]
        if group["relevance"] == STRONG
        and len(group["features"]) > 1
        and weak.issuperset(group["features"])
    ]
    groups.sort(key=lambda group: -group["norm_fraction"])
    return [group["features"] for group in groups]


def _class_finding(
    document: Document, relevance: str, names: list[str], title: str | None = None
) -> Finding:
    meaning = _meaning(document, relevance, one=len(names) == 1)
    return Finding(title or relevance, relevance, f"{len(names):,}", meaning, [names])


def _group_finding(document: Document, groups: list[list[str]]) -> Finding:
    group = "this group" if len(groups) == 1 else "a group"
    return Finding(
        title=JOINTLY_STRONG,
        relevance=WEAK,
        count=count_noun(len(groups), "group", "groups"),
        meaning=f"No single feature of {group} is indispensable, but {_every_model(document)} "
        "needs at least one of:",
        names=groups,
    )


def _meaning(document: Document, relevance: str, *, one: bool) -> str:
    """Return a sentence that explains a relevance class, in the singular if ``one`` is true."""
    model = _model(document)
    them, are = ("it", "it is") if one else ("them", "they are")
    limit = "noise can get" if document["rule"] == PROBES else "the cutoff"
    every = _every_model(document)
    if relevance == STRONG:
        text = f"{every} needs {them}; no other features can replace {them}."
    elif relevance == WEAK:
        text = (
            f"some {model}s use {them} and others do not, because other features can replace "
            f"{them}."
        )
    elif document["rule"] == UNTESTED:
        text = _untested_meaning(document, relevance, them)
    elif relevance == UNCONFIRMED and _is_unsolved(document):
        text = f"the bounds are not tight enough to decide whether {are} relevant."
    elif relevance == UNCONFIRMED:
        reason = (
            f"there is not enough evidence that {are} relevant"
            if document["rule"] == FDR
            else f"with no more weight than {limit}"
        )
        text = f"{every} uses {them}, but {reason}. More rows may show whether {are} relevant."
    elif document["rule"] == FDR:
        needed = f"{model}s do not need it" if one else f"no single one is needed by every {model}"
        text = f"there is not enough evidence that {are} relevant, and {needed}."
    else:
        text = f"no {model} gives {them} more weight than {limit}."
    return text[0].upper() + text[1:]


def _is_unsolved(document: Document) -> bool:
    """Return whether features are unconfirmed because their bounds were not solved."""
    unconfirmed = [f for f in document["features"] if f["relevance"] == UNCONFIRMED]
    return document["rule"] != FDR and not all(f["exact"] for f in unconfirmed)


def _untested_meaning(document: Document, relevance: str, them: str) -> str:
    """Return a sentence that explains a class if the time did not suffice to test features."""
    if relevance == UNCONFIRMED:
        return f"not tested. Some {_model(document)} may use {them}."
    return f"no {_model(document)} uses {them}, which is proven."


def _certainty(document: Document) -> str:
    """Return a sentence on the error rate that the selection rule controls, if any."""
    rule, settings = document["rule"], document["settings"]
    if rule == FDR:
        tested = [f["qvalue"] for f in document["features"] if f["qvalue"] is not None]
        relevant = [f["qvalue"] for f in document["features"] if f["relevance"] in RELEVANT]
        if not relevant:
            return (
                f"The smallest q-value is {probability(min(tested))}, but a relevant feature needs "
                f"a q-value of at most {document['fdr']:g}."
            )
        largest = max(relevant)
        fraction = "below 0.1%" if largest < 0.001 else f"at most {100 * largest:.2g}%"
        return (
            "Among the features called relevant, the expected fraction of irrelevant ones is "
            f"{fraction} (largest q-value: {probability(largest)})."
        )
    if rule == UNTESTED:
        return "The bounds are proven. Single features were not tested, so no error rate applies."
    if rule == PROBES and settings["cutoff"] == FDR:
        return (
            "The table has more features than rows, so single features were not tested and have no "
            f"q-values. {_target(document, start=True)} depends on the table as a whole "
            f"(permutation test, {format_pvalue(document['table_pvalue'])}); the classes of single "
            "features are based on cutoffs estimated from permuted columns."
        )
    if rule == PROBES:
        return (
            f"An irrelevant feature exceeds the cutoff with a nominal probability of "
            f"{settings['fpr']:g}. Single features were not tested and have no q-values."
        )
    return "The classes depend on the cutoff. No error rate is controlled."


def _sufficiency(document: Document) -> str:
    """Return sentences on whether the relevant features suffice, or an empty text."""
    part = document["sufficiency"]
    return "" if part is None else str(Sufficiency(**part))


def rule_phrase(document: Document) -> str:
    """Return a short phrase that states under which condition a feature is relevant."""
    rule, cutoff = document["rule"], document["settings"]["cutoff"]
    if rule == FDR:
        return (
            f"evidence for the whole table (p-value of at most {EVIDENCE_LEVEL:g}), and a q-value "
            f"of at most {document['fdr']:g}"
        )
    if rule == UNTESTED:
        return "none, because the time limit was reached before features were tested"
    if rule == PROBES:
        reason = "; more features than rows" if cutoff == FDR else ""
        return f"upper bound above a cutoff estimated from permuted columns (probes{reason})"
    fraction = " times the norm" if document["metric"] else ""
    if rule == FIXED or not isinstance(cutoff, str):
        return f"upper bound above the cutoff of {cutoff:g}{fraction}, set by the user"
    return "upper bound above a fixed fraction of the norm"


def _limits(document: Document) -> str:
    """Return sentences on conclusions that the result does not support."""
    target = _target(document)
    if document["metric"]:
        return f"This does not show that a feature causes {target}."
    return (
        f"This does not show that a feature causes {target}, and it covers linear relations only. "
        "A feature can be relevant merely because it is correlated with a relevant one."
    )


def _hint(document: Document) -> str:
    is_missing = document["relations"] is None and not document["metric"]
    if is_missing and document["counts"][WEAK] > 1:
        return (
            "The weak features were not grouped. To find out which of them can replace each other, "
            "add the option --relations (in Python, call relations())."
        )
    return ""


def _model(document: Document) -> str:
    return "equivalent mapping" if document["metric"] else "equivalent model"


def _every_model(document: Document) -> str:
    several = len(document["subproblems"]) > 1
    return f"{'for at least one class, ' if several else ''}every {_model(document)}"


def _target(document: Document, *, start: bool = False) -> str:
    name = document["table"]["target"]
    if name is None:
        return "The target" if start else "the target"
    return shorten(printable(name), _TARGET_WIDTH)


def format_pvalue(value: float) -> str:
    """Format a p-value for use in a sentence.

    >>> format_pvalue(0.4321), format_pvalue(0.0004)
    ('p = 0.43', 'p < 0.001')
    """
    text = probability(value)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def proof_sentence(document: Document) -> str:
    """Return a sentence on the tolerance of the proven bounds, or an empty text."""
    tol = document.get("tol")
    if tol is None:
        return ""
    n_outer = document["n_outer"]
    exception = f", except those of {count_noun(n_outer, 'feature', 'features')}" if n_outer else ""
    return f"Bounds are proven to within {tol:g} of the norm{exception}."
