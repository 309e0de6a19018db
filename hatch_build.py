"""Build hook that compiles the core in C (src/allrelevant/native/core) for wheels.

A wheel for this computer is compiled by its C compiler, or else by ``ziglang``, which is then a
build requirement. The environment variable ``ALLRELEVANT_TARGET`` chooses a different system (a
name in ``TARGETS`` of ``build.py``), as ``make wheels`` does. An editable installation loads the
libraries from the source folder. Wheels contain ``core.wasm`` if ``ziglang`` is available.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import sys_tags

PACKAGE = Path("src/allrelevant/native")


class CoreBuildHook(BuildHookInterface[Any]):
    """Compile the core and add the libraries to the wheel."""

    def dependencies(self) -> list[str]:
        if self.target_name != "wheel":
            return []
        core = self._core
        needs_zig = self._target is not None or core.system_compiler() is None
        return [core.REQUIREMENT] if needs_zig else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        target = self._target
        platform = self._core.TARGETS[target].tag if target else next(sys_tags()).platform
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        if version == "editable":
            self._core.build(Path(self.root) / PACKAGE, target)
            return
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        files = self._core.build(folder, target)
        if self._core.has_zig():
            files.append(self._core.build_wasm(folder))
        for file in files:
            build_data["force_include"][str(file)] = f"allrelevant/native/{file.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "_folder"):
            self._folder.cleanup()

    @property
    def _target(self) -> str | None:
        return os.environ.get("ALLRELEVANT_TARGET") or None

    @property
    def _core(self) -> ModuleType:
        """The module that compiles the core; the package itself cannot be imported yet."""
        name, path = "allrelevant_core_build", Path(self.root) / PACKAGE / "core" / "build.py"
        if name not in sys.modules:
            spec = importlib.util.spec_from_file_location(name, path)
            assert spec is not None
            assert spec.loader is not None
            sys.modules[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(sys.modules[name])
        return sys.modules[name]
