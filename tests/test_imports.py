"""Tests of imports: any module can be imported first, and all public names exist."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import allrelevant

SOURCE = Path(allrelevant.__file__).parent
MODULES = [
    ".".join(["allrelevant", *file.relative_to(SOURCE).with_suffix("").parts])
    for file in sorted(SOURCE.rglob("*.py"))
    if not file.name.startswith("__")
]

# Third-party modules stay loaded: only the import order of this package's modules matters.
IMPORT_EACH_FIRST = f"""
import sys
for name in {MODULES!r}:
    for loaded in [key for key in sys.modules if key.partition(".")[0] == "allrelevant"]:
        del sys.modules[loaded]
    __import__(name)
"""


def test_every_module_can_be_imported_first():
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_EACH_FIRST],
        capture_output=True,
        text=True,
        timeout=300,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.returncode == 0, done.stderr


def test_public_names_exist_in_modules_of_the_package():
    for name in dir(allrelevant):
        value = getattr(allrelevant, name)
        if hasattr(value, "__module__"):
            assert value.__module__.startswith("allrelevant.")
            assert getattr(import_module(value.__module__), name) is value
