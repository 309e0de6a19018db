"""Tests that the examples in README.md run."""

import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_readme_examples_run():
    code, more = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    bounds = names["bounds"]
    assert names["selected"].shape[1] == bounds.get_support().sum()  # type: ignore[attr-defined]
    assert names["without"].coef_[bounds.feature_names_in_ == "worst radius"] == 0  # type: ignore[attr-defined]
    exec(compile(more, "README.md", "exec"), names)
    assert names["without_radius"].interval_[20, 1] == 0  # type: ignore[attr-defined]
    assert names["design"][0].proven  # type: ignore[index]
