"""What a run is known by: a hash of its data, and its settings in words.

Both are the same in every process, and differ for other data or settings.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np
import scipy.sparse as sp


def fingerprint(*data: Any) -> str:
    """A hash of arrays and sparse tables, in this order; shapes and types count too."""
    state = hashlib.sha256()
    for table in data:
        for array in _arrays(table):
            state.update(f"{array.dtype} {array.shape};".encode())
            state.update(_bytes(array))
    return state.hexdigest()


def _arrays(table: Any) -> list[np.ndarray]:
    if not sp.issparse(table):
        return [np.asarray(table)]
    rows = sp.csr_array(table, copy=True)
    rows.sum_duplicates()
    return [np.array(rows.shape), rows.indptr, rows.indices, rows.data]


def _bytes(array: np.ndarray) -> bytes:
    if array.dtype.hasobject:  # whose bytes are addresses
        return repr(array.tolist()).encode("utf-8", "backslashreplace")
    return array.tobytes()


# Settings of any part that change no result of a run, but for the last digits.
NOT_IN_ANY_FINGERPRINT = {"verbose", "n_jobs", "n_threads", "device", "checkpoint"}

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

# Arrays of up to so many values are described by their values, others by a hash.
MAX_LISTED_VALUES = 100

_PLAIN = (str, bytes, bool, int, float, complex, type(None))


def run_settings(params: Mapping[str, Any], ignore: Collection[str] = ()) -> dict[str, str]:
    """Describe the parameters that a run is known by, as ``get_params(deep=True)`` gives them.

    Parameters to ignore are left out with all their parts. An estimator among the values is known
    by its parts. How a run is shown, and its threads and devices, are left out of every part.
    """
    return {
        name: describe_setting(value)
        for name, value in sorted(params.items())
        if name.partition("__")[0] not in ignore
        and _counts(name)
        and (callable(value) or not hasattr(value, "get_params"))
    }


def describe_setting(value: Any) -> str:
    """A setting in words, never by its address in memory.

    Functions and classes go by module and name, functions also by what they do; random numbers by
    their state; arrays by their content; other objects by class, representation and attributes, of
    modules of torch the public ones.
    """
    return _described(value, ())


def _counts(name: str) -> bool:
    return name.rpartition("__")[2] not in NOT_IN_ANY_FINGERPRINT


def _described(value: Any, above: tuple[int, ...]) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, _PLAIN):
        return repr(value)
    if id(value) in above:  # a part that holds the whole
        return "..."
    return _of_parts(value, (*above, id(value)))


def _of_parts(value: Any, above: tuple[int, ...]) -> str:
    for kinds, words in _WORDS:
        if isinstance(value, kinds):
            return words(value, above)
    if callable(value) and hasattr(value, "__qualname__"):
        return _of_function(value, above)
    if hasattr(value, "get_params") and not isinstance(value, type):
        params = {k: v for k, v in value.get_params(deep=False).items() if _counts(k)}
        return f"{_name(type(value))}({_of_mapping(params, above)})"
    return _of_object(value, above)


def _name(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def _of_sequence(values: Iterable[Any], above: tuple[int, ...]) -> str:
    return f"({', '.join(_described(value, above) for value in values)})"


def _of_set(values: Iterable[Any], above: tuple[int, ...]) -> str:
    return f"{{{', '.join(sorted(_described(value, above) for value in values))}}}"


def _of_mapping(values: Mapping[Any, Any], above: tuple[int, ...]) -> str:
    pairs = sorted((_described(k, above), _described(v, above)) for k, v in values.items())
    return f"{{{', '.join(f'{key}: {value}' for key, value in pairs)}}}"


def _of_partial(value: functools.partial[Any], above: tuple[int, ...]) -> str:
    parts = (
        _described(value.func, above),
        _of_sequence(value.args, above),
        _of_mapping(value.keywords, above),
    )
    return f"functools.partial({', '.join(parts)})"


def _of_random_state(value: np.random.RandomState, above: tuple[int, ...]) -> str:
    return f"RandomState({_hashed(_described(value.get_state(legacy=False), above))})"


def _of_generator(value: np.random.Generator, above: tuple[int, ...]) -> str:
    return f"Generator({_hashed(_described(value.bit_generator.state, above))})"


def _of_array(value: Any, above: tuple[int, ...]) -> str:
    """A short one as the list that it could have been; the content of others as a hash."""
    if isinstance(value, np.ndarray) and (value.size <= MAX_LISTED_VALUES or value.dtype.hasobject):
        return _described(value.tolist(), above)
    return f"array({fingerprint(value)})"


def _of_code(code: CodeType, above: tuple[int, ...]) -> str:
    constants = _of_sequence(code.co_consts, above)
    return _hashed(f"{code.co_code.hex()} {code.co_names} {code.co_freevars} {constants}")


def _of_function(value: Any, above: tuple[int, ...]) -> str:
    """By its name and, for names say little of a lambda, by what it does and was made with."""
    words = [_name(value)]
    if isinstance(value, MethodType):
        words.append(_described(value.__self__, above))
    function = getattr(value, "__func__", value)
    if isinstance(function, FunctionType):
        held = [c.cell_contents for c in function.__closure__ or () if c != CellType()]
        made_with = (held, function.__defaults__, function.__kwdefaults__)
        words += [_of_code(function.__code__, above), _of_sequence(made_with, above)]
    return " ".join(words)


def _of_object(value: Any, above: tuple[int, ...]) -> str:
    words = [_name(type(value))]
    shown: Any = type(value).__repr__
    if shown is not object.__repr__:
        words.append(_ADDRESS.sub("", repr(value)))
    # A module of torch keeps its layers out of sight, and much else that is none of its settings.
    if hasattr(value, "named_modules"):
        words += [_of_mapping(_public(part), above) for part in value.modules()]
    else:
        words.append(_of_mapping(_attributes(value), above))
    return " ".join(words)


def _attributes(value: Any) -> dict[str, Any]:
    return {name: own for name, own in getattr(value, "__dict__", {}).items() if _counts(name)}


def _public(value: Any) -> dict[str, Any]:
    return {name: own for name, own in _attributes(value).items() if not name.startswith("_")}


def _hashed(words: str) -> str:
    return hashlib.sha256(words.encode("utf-8", "backslashreplace")).hexdigest()[:16]


# What has words of its own; the first that fits.
_WORDS: tuple[tuple[Any, Any], ...] = (
    (type, lambda value, above: _name(value)),
    ((list, tuple), _of_sequence),
    ((set, frozenset), _of_set),
    (Mapping, _of_mapping),
    (functools.partial, _of_partial),
    (np.random.RandomState, _of_random_state),
    (np.random.Generator, _of_generator),
    (np.ndarray, _of_array),
    ((sp.sparray, sp.spmatrix), _of_array),
    (CodeType, _of_code),
)
