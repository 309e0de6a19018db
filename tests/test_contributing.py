"""Tests that CONTRIBUTING.md lists all modules."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def listed_modules() -> set[str]:
    """Return the module paths listed in the section "Modules" of CONTRIBUTING.md."""
    tree = (ROOT / "CONTRIBUTING.md").read_text().partition("## Modules")[2]
    modules, folder = set(), ""
    for line in tree.partition("## How to extend")[0].splitlines():
        if heading := re.match(r"### `(?:allrelevant/)?([^`]*)`", line):
            folder = heading[1]
        elif entry := re.match(r"\| `([^`]+\.py)` \|", line):
            modules.add(folder + entry[1])
    return modules


def test_every_module_is_on_the_map():
    package = ROOT / "src" / "allrelevant"
    modules = {
        file.relative_to(package).as_posix()
        for file in package.rglob("*.py")
        if not file.name.startswith("__")
    }
    assert listed_modules() == modules
