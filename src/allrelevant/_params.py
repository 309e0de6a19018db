from __future__ import annotations

AUTO = "auto"
