"""Script that compiles the core into shared libraries or WebAssembly.

usage: python build.py [FOLDER] [--target NAME] [--wasm]

Without arguments, the core is compiled for this computer, into the folder from which the package
loads it. The compiler is the system's C compiler, or else ``ziglang`` from PyPI, a C compiler in a
wheel. For other targets and for WebAssembly, it is always ``ziglang``. This file needs only the
standard library, because the build hook of the package imports it before anything is installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).resolve().parent

# Every product and sum is rounded separately, and no sum is reordered, so that all variants return
# the same bits. The last two flags only state that errno and floating-point traps are not used.
FLAGS = ["-std=c11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
WARNINGS = ["-Wall", "-Wextra", "-Wno-psabi"]
SHARED = ["-shared", "-fPIC", "-fvisibility=hidden"]
WASM = ["-nostdlib", "-Wl,--no-entry", "-Wl,--export-dynamic", "-fvisibility=hidden"]

# Variants of the library by file name, with the x86-64 level for which they are compiled. Other
# processors have a single variant. (x86-64-v4, with AVX-512, is at most a tenth faster than v3.)
X86_LEVELS = {"libcore": None, "libcore_v3": "v3"}

REQUIREMENT = "ziglang>=0.13"


@dataclass(frozen=True)
class Target:
    """Compilation target: Zig target name, library suffix and wheel tag.

    The Linux libraries do not name a C library to load, so they run with glibc and with musl.
    """

    zig: str
    suffix: str
    tag: str

    @property
    def is_x86(self) -> bool:
        return self.zig.startswith("x86_64")

    @property
    def flags(self) -> list[str]:
        return ["-nostdlib"] if "linux" in self.zig else []


def _linux(machine: str) -> Target:
    tags = f"manylinux_2_17_{machine}.manylinux2014_{machine}.musllinux_1_1_{machine}"
    return Target(f"{machine}-linux-gnu.2.17", ".so", tags)


# Targets of wheels.
TARGETS = {
    "linux-x86_64": _linux("x86_64"),
    "linux-aarch64": _linux("aarch64"),
    "macos-x86_64": Target("x86_64-macos.11.0", ".dylib", "macosx_11_0_x86_64"),
    "macos-arm64": Target("aarch64-macos.11.0", ".dylib", "macosx_11_0_arm64"),
    "windows-x86_64": Target("x86_64-windows-gnu", ".dll", "win_amd64"),
}


class CompilerError(RuntimeError):
    """Error in the compilation of the core."""


def build(folder: Path, target: str | None = None) -> list[Path]:
    """Compile all variants of the library for a target, by default this computer."""
    if target is None:
        return _build_here(folder)
    if target not in TARGETS:
        raise CompilerError(f"Unknown target {target!r}. Use one of: {', '.join(TARGETS)}.")
    settings = TARGETS[target]
    command = [*_zig(), "-target", settings.zig, "-s", *settings.flags, *SHARED]
    return _compile_variants(command, folder, settings.suffix, settings.is_x86, is_zig=True)


def build_wasm(folder: Path) -> Path:
    """Compile the core into ``core.wasm``, with 128-bit vectors and exported memory."""
    features = "-mcpu=generic+simd128+bulk_memory"
    command = [*_zig(), "-target", "wasm32-freestanding", features, "-s", *WASM]
    return _compile(command, folder / "core.wasm")


def system_compiler() -> list[str] | None:
    """Return the command of a working C compiler on this computer, or None.

    Compilers without the options of gcc, such as that of Visual Studio, do not count.
    """
    candidates = [os.environ.get("CC", ""), "cc", "gcc", "clang"]
    for command in (shlex.split(candidate) for candidate in candidates):
        if command and shutil.which(command[0]) and _works(command):
            return command
    return None


def has_zig() -> bool:
    return importlib.util.find_spec("ziglang") is not None


def _build_here(folder: Path) -> list[Path]:
    compiler, is_x86 = system_compiler(), platform.machine() in ("x86_64", "AMD64")
    suffix = {"win32": ".dll", "cygwin": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
    command = [*(compiler or _zig()), *SHARED]
    return _compile_variants(command, folder, suffix, is_x86, is_zig=compiler is None)


def _zig() -> list[str]:
    if not has_zig():
        raise CompilerError(
            "No suitable C compiler was found. Install gcc or clang, or run: pip install ziglang "
            "(required for WebAssembly and for other systems)."
        )
    return [sys.executable, "-m", "ziglang", "cc"]


def _compile_variants(
    command: list[str], folder: Path, suffix: str, is_x86: bool, is_zig: bool
) -> list[Path]:
    option = "-mcpu=x86_64_" if is_zig else "-march=x86-64-"
    levels = X86_LEVELS if is_x86 else {"libcore": None}
    return [
        _compile([*command, *([option + level] if level else [])], folder / (name + suffix))
        for name, level in levels.items()
    ]


def _compile(command: list[str], path: Path) -> Path:
    """Compile all sources into one file and return its path; no partial file is left."""
    sources = [str(source) for source in sorted(SOURCES.glob("*.c"))]
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        part = Path(folder) / path.name
        _run([*command, *FLAGS, *WARNINGS, *sources, "-o", str(part)])
        part.replace(path)
    return path


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise CompilerError(f"{shlex.join(command)} failed:\n{done.stderr}")


def _works(compiler: list[str]) -> bool:
    """Return whether a compiler can build a shared library with the flags of the core."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "empty.c"
        source.write_text("int main_entry(void) { return 0; }\n")
        command = [*compiler, *SHARED, *FLAGS, str(source), "-o", str(source.with_suffix(".so"))]
        return subprocess.run(command, capture_output=True).returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description="Compile the core of allrelevant.")
    parser.add_argument("folder", nargs="?", type=Path, default=SOURCES.parent)
    parser.add_argument("--target", choices=TARGETS, help="system (default: this computer)")
    parser.add_argument("--wasm", action="store_true", help="compile into WebAssembly instead")
    args = parser.parse_args()
    try:
        paths = [build_wasm(args.folder)] if args.wasm else build(args.folder, args.target)
    except CompilerError as error:
        sys.exit(f"Error: {error}")
    for path in paths:
        print(f"{path} ({path.stat().st_size:,} bytes)")


if __name__ == "__main__":
    main()
