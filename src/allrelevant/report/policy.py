"""Content-Security-Policy of a page: only its own style and its own script are allowed.

Inline ``style`` attributes would require a weaker policy. Sizes that differ between pages are
therefore classes, and :class:`StyleVariables` writes the rules of the classes that a page uses.
"""

from __future__ import annotations

import base64
import hashlib


class StyleVariables:
    """CSS variables of the elements of a page, each set by a class."""

    def __init__(self) -> None:
        self._rules: dict[str, str] = {}

    def add(self, name: str, value: float) -> str:
        """Return the class of an element whose variable has the given value.

        >>> variables = StyleVariables()
        >>> variables.add("row", 2.5), variables.rules()
        ('row-2_5', '.row-2_5{--row:2.5}')
        """
        selector = f"{name}-{value}".replace(".", "_")
        self._rules[selector] = f".{selector}{{--{name}:{value}}}"
        return selector

    def rules(self) -> str:
        """Return the rules of all classes."""
        return "\n".join(self._rules.values())


def content_policy(style: str, script: str) -> str:
    """Return the policy of a page with the given content of its style and its script element."""
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src '{_hash(style)}'",
            f"script-src '{_hash(script)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
