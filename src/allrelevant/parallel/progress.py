"""The progress bar on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..exceptions import MissingExtraError


@contextmanager
def progress_bar(title: str | None, total: int, *, done: int = 0) -> Iterator[Callable[[], object]]:
    """Show a bar while the block runs; what it gives is called once for every finished task.

    Parameters
    ----------
    title : str or None
        None shows none.
    total : int
        Number of tasks.
    done : int, default=0
        How many of them were done before.
    """
    if title is None:
        yield lambda: None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        raise MissingExtraError(
            "Progress bars need tqdm: pip install 'allrelevant[cli]', or use verbose=0."
        ) from None
    with tqdm(desc=title, total=total, initial=done, leave=False) as bar:
        yield bar.update
