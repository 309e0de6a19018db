"""The core under AddressSanitizer, UndefinedBehaviorSanitizer and valgrind."""

import os
import shutil
import subprocess
import sys

import pytest

from allrelevant.native.core.build import FLAGS, SHARED, SOURCES

SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-g", "-O1"]


def compile_core(path, options):
    sources = [str(source) for source in SOURCES.glob("*.c")]
    subprocess.run(["gcc", *SHARED, *FLAGS, *options, *sources, "-o", str(path)], check=True)


def run_calls(path, *arguments, command=(), **environment):
    return subprocess.run(
        [*command, sys.executable, "-m", "tests.native.run_calls", path, *arguments],
        env=os.environ | {"PYTHONPATH": ":".join(sys.path)} | environment,
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory):
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    path = tmp_path_factory.mktemp("core") / "libcore-sanitized.so"
    compile_core(path, SANITIZERS)
    names = ["libasan.so", "libubsan.so"]
    runtime = [
        subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True)
        for name in names
    ]
    preload = ":".join(done.stdout.strip() for done in runtime)
    # Python does not free everything at its end, so leaks are not reported.
    return str(path.with_suffix("")), {"LD_PRELOAD": preload, "ASAN_OPTIONS": "detect_leaks=0"}


@pytest.mark.parametrize("arguments", [(), ("500",)], ids=["small and malformed", "500 tables"])
def test_sanitizers_report_nothing(sanitized, arguments):
    path, environment = sanitized
    done = run_calls(path, *arguments, **environment)
    assert done.returncode == 0, done.stderr[-5000:]
    assert " calls in " in done.stdout


def test_valgrind_reports_nothing_in_the_core(tmp_path):
    if shutil.which("valgrind") is None or shutil.which("gcc") is None:
        pytest.skip("valgrind or gcc is not installed")
    compile_core(tmp_path / "libcore-debug.so", ["-g"])
    log = tmp_path / "valgrind.log"
    valgrind = ("valgrind", f"--log-file={log}", "--num-callers=30")
    done = run_calls(str(tmp_path / "libcore-debug"), "10", command=valgrind, PYTHONMALLOC="malloc")
    assert done.returncode == 0, done.stderr[-5000:]
    # Python and NumPy cause reports of their own. A frame of the core names its source file.
    report = log.read_text()
    assert "ERROR SUMMARY" in report
    assert not any(f"({source.name}:" in report for source in SOURCES.glob("*.c"))
