"""Tests that all builds of the core, including WebAssembly, give the same results."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from allrelevant.native import library
from allrelevant.native.library import FAILED, OPTIMAL, VARIANTS, load
from tests.native.calls import run_native, run_wasm, small_calls

# Results of a build may differ from those of another by this much, relative to their size.
TOLERANCE = 1e-9


@pytest.fixture(scope="module")
def build():
    """Module that compiles the core; only a checkout has it."""
    return pytest.importorskip("allrelevant.native.core.build")


@pytest.fixture(scope="module")
def calls():
    return small_calls()


@pytest.fixture(scope="module")
def expected(calls):
    return [run_native(call, load(VARIANTS[1])) for call in calls]


def assert_same(found, expected, calls):
    for (status, arrays), (right_status, right_arrays), call in zip(
        found, expected, calls, strict=True
    ):
        assert status == right_status, call.function
        for array, right in zip(arrays, right_arrays, strict=True):
            np.testing.assert_allclose(array, right, rtol=TOLERANCE, atol=TOLERANCE)


def test_there_are_290_problems_and_most_are_solved(calls, expected):
    assert len(calls) == 290
    assert all(status == OPTIMAL for status, _ in expected)
    extremes = [
        arrays[3]
        for (_, arrays), call in zip(expected, calls, strict=True)
        if call.function == "ar_solve_extremes"
    ]
    status = np.concatenate(extremes)
    assert set(status) <= {OPTIMAL, FAILED}
    assert (status == OPTIMAL).mean() > 0.99


@pytest.mark.parametrize("level", [level for level in VARIANTS if level > 1])
def test_vector_variants_agree(level, calls, expected):
    """All variants of one compiler round alike, so their results are equal to the last bit."""
    if load(VARIANTS[1]).ar_vector_level() < level:
        pytest.skip(f"the processor does not support x86-64-v{level}")
    for call, (status, arrays) in zip(calls, expected, strict=True):
        found_status, found = run_native(call, load(VARIANTS[level]))
        assert found_status == status, call.function
        for array, right in zip(found, arrays, strict=True):
            np.testing.assert_array_equal(array, right)


def test_webassembly_agrees(calls, expected, request, tmp_path):
    if shutil.which("node") is None:
        pytest.skip("node, which runs WebAssembly, is not installed")
    path = Path(library.__file__).with_name("core.wasm")  # in wheels
    if not path.exists():
        build = request.getfixturevalue("build")
        if not build.has_zig():
            pytest.skip("ziglang, which compiles WebAssembly, is not installed")
        path = build.build_wasm(tmp_path)
    assert_same(run_wasm(calls, path), expected, calls)


@pytest.mark.parametrize("variant", VARIANTS.values())
def test_variant_can_be_chosen(variant):
    """The environment variable chooses the library."""
    code = "from allrelevant.native.library import load; print(load()._name)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"ALLRELEVANT_CORE": variant},
        capture_output=True,
        text=True,
    )
    if not library._path(variant).exists():
        assert "ImportError" in done.stderr
        return
    assert done.stdout.strip() == str(library._path(variant))


def test_missing_library_names_the_remedy():
    with pytest.raises(ImportError, match=r"compiled core of allrelevant is missing .*build\.py"):
        load("core-of-another-planet")


def test_unknown_target_names_the_known_ones(build, tmp_path):
    with pytest.raises(build.CompilerError, match=r"Unknown target 'amiga'.*linux-x86_64"):
        build.build(tmp_path, "amiga")


def test_without_any_compiler_the_error_names_the_remedy(build, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(build, "has_zig", lambda: False)
    with pytest.raises(build.CompilerError, match=r"No suitable C compiler.*pip install ziglang"):
        build.build(tmp_path)


def test_system_compiler_makes_a_library(build, tmp_path):
    if build.system_compiler() is None:
        pytest.skip("there is no C compiler")
    names = [path.stem for path in build.build(tmp_path)]
    assert names[0] == "libcore"
    assert not list(tmp_path.glob("tmp*"))  # no temporary folder remains
