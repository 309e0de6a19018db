"""Rows of a table as pictures."""

from __future__ import annotations

from math import isqrt, prod

from torch import Tensor, nn

from ...exceptions import InputError

# Two poolings, or two strides, halve a picture twice.
SMALLEST = 4


class ToPicture(nn.Module):
    """Turn flat rows into pictures with the channels first, as convolutions want them.

    Parameters
    ----------
    shape : tuple of int
        Height, width and channels. In the table the channels of a pixel stand side by side.
    """

    def __init__(self, shape: tuple[int, int, int]) -> None:
        super().__init__()
        self.shape = shape

    def forward(self, rows: Tensor) -> Tensor:
        return rows.reshape(-1, *self.shape).permute(0, 3, 1, 2).contiguous()


def picture_shape(n_inputs: int, shape: tuple[int, ...] | None) -> tuple[int, int, int]:
    """Height, width and channels of pictures with so many values.

    Parameters
    ----------
    n_inputs : int
    shape : tuple of int or None
        (height, width) or (height, width, channels); None: a square of one channel.

    Examples
    --------
    >>> picture_shape(784, None)
    (28, 28, 1)
    """
    if shape is None:
        side = isqrt(n_inputs)
        if side * side != n_inputs:
            raise InputError(
                f"{n_inputs} features are no square picture: give image_shape=(height, width) or "
                "(height, width, channels)."
            )
        shape = (side, side)
    if len(shape) not in (2, 3) or prod(shape) != n_inputs:
        raise InputError(
            f"image_shape={shape} does not hold the {n_inputs} features of X: give (height, "
            "width) or (height, width, channels) whose product they are."
        )
    height, width, channels = (*shape, 1)[:3]
    if min(height, width) < SMALLEST:
        raise InputError(
            f"A picture of {height} x {width} is too small for this network, which halves it "
            f"twice: {SMALLEST} x {SMALLEST} is the least."
        )
    return height, width, channels
