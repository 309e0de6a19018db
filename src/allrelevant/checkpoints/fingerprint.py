"""Identification of a run: a hash of its data, and a description of its settings.

Hash and description are stable across processes, and differ if data or settings differ.
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
    """Return a hash of the values, shapes, dtypes and order of arrays and sparse tables."""
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
    if array.dtype.hasobject:  # its bytes would be memory addresses
        return repr(array.tolist()).encode("utf-8", "backslashreplace")
    return array.tobytes()


# Parameters, including those of nested estimators, that affect at most the rounding of results.
NOT_IN_ANY_FINGERPRINT = {"verbose", "n_jobs", "n_threads", "device", "checkpoint"}

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

# Larger arrays are described by a hash instead of their values.
MAX_LISTED_VALUES = 100

_SCALARS = (str, bytes, bool, int, float, complex, type(None))


def run_settings(params: Mapping[str, Any], ignore: Collection[str] = ()) -> dict[str, str]:
    """Describe the parameters that identify a run as strings, keyed by parameter name.

    ``params`` is the result of ``get_params(deep=True)``. Ignored parameters are skipped together
    with their nested parameters. Nested estimators are described by their own parameters.
    Verbosity, threads and devices are always skipped.
    """
    return {
        name: describe_setting(value)
        for name, value in sorted(params.items())
        if name.partition("__")[0] not in ignore
        and _affects_result(name)
        and (callable(value) or not hasattr(value, "get_params"))
    }


def describe_setting(value: Any) -> str:
    """Describe a parameter value as a string that is the same in every process.

    Classes are described by module and name, and functions also by bytecode, defaults and closure.
    Random number generators are described by their state, and arrays by their content. Other
    objects are described by class, ``repr`` and attributes (PyTorch modules: public attributes).
    """
    return _describe(value, ())


def _affects_result(name: str) -> bool:
    return name.rpartition("__")[2] not in NOT_IN_ANY_FINGERPRINT


def _describe(value: Any, parents: tuple[int, ...]) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, _SCALARS):
        return repr(value)
    if id(value) in parents:  # a circular reference
        return "..."
    return _describe_parts(value, (*parents, id(value)))


def _describe_parts(value: Any, parents: tuple[int, ...]) -> str:
    for types, describe in _DESCRIBERS:
        if isinstance(value, types):
            return describe(value, parents)
    if callable(value) and hasattr(value, "__qualname__"):
        return _describe_function(value, parents)
    if hasattr(value, "get_params") and not isinstance(value, type):
        params = {k: v for k, v in value.get_params(deep=False).items() if _affects_result(k)}
        return f"{_name(type(value))}({_describe_mapping(params, parents)})"
    return _describe_object(value, parents)


def _name(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def _describe_sequence(values: Iterable[Any], parents: tuple[int, ...]) -> str:
    return f"({', '.join(_describe(value, parents) for value in values)})"


def _describe_set(values: Iterable[Any], parents: tuple[int, ...]) -> str:
    return f"{{{', '.join(sorted(_describe(value, parents) for value in values))}}}"


def _describe_mapping(values: Mapping[Any, Any], parents: tuple[int, ...]) -> str:
    pairs = sorted((_describe(k, parents), _describe(v, parents)) for k, v in values.items())
    return f"{{{', '.join(f'{key}: {value}' for key, value in pairs)}}}"


def _describe_partial(value: functools.partial[Any], parents: tuple[int, ...]) -> str:
    parts = (
        _describe(value.func, parents),
        _describe_sequence(value.args, parents),
        _describe_mapping(value.keywords, parents),
    )
    return f"functools.partial({', '.join(parts)})"


def _describe_random_state(value: np.random.RandomState, parents: tuple[int, ...]) -> str:
    return f"RandomState({_hash(_describe(value.get_state(legacy=False), parents))})"


def _describe_generator(value: np.random.Generator, parents: tuple[int, ...]) -> str:
    return f"Generator({_hash(_describe(value.bit_generator.state, parents))})"


def _describe_array(value: Any, parents: tuple[int, ...]) -> str:
    """Describe an array by its values if it is small or contains objects, else by a hash."""
    if isinstance(value, np.ndarray) and (value.size <= MAX_LISTED_VALUES or value.dtype.hasobject):
        return _describe(value.tolist(), parents)
    return f"array({fingerprint(value)})"


def _describe_code(code: CodeType, parents: tuple[int, ...]) -> str:
    constants = _describe_sequence(code.co_consts, parents)
    return _hash(f"{code.co_code.hex()} {code.co_names} {code.co_freevars} {constants}")


def _describe_function(value: Any, parents: tuple[int, ...]) -> str:
    """Describe a function by its name, bytecode, defaults and closure."""
    words = [_name(value)]
    if isinstance(value, MethodType):
        words.append(_describe(value.__self__, parents))
    function = getattr(value, "__func__", value)
    if isinstance(function, FunctionType):
        closure = [c.cell_contents for c in function.__closure__ or () if c != CellType()]
        bound_values = (closure, function.__defaults__, function.__kwdefaults__)
        words += [
            _describe_code(function.__code__, parents),
            _describe_sequence(bound_values, parents),
        ]
    return " ".join(words)


def _describe_object(value: Any, parents: tuple[int, ...]) -> str:
    words = [_name(type(value))]
    to_text: Any = type(value).__repr__
    if to_text is not object.__repr__:
        words.append(_ADDRESS.sub("", repr(value)))
    # Private attributes of PyTorch modules hold the layers, and much that is not a setting.
    if hasattr(value, "named_modules"):
        words += [_describe_mapping(_public_attributes(part), parents) for part in value.modules()]
    else:
        words.append(_describe_mapping(_attributes(value), parents))
    return " ".join(words)


def _attributes(value: Any) -> dict[str, Any]:
    attributes = getattr(value, "__dict__", {})
    return {name: part for name, part in attributes.items() if _affects_result(name)}


def _public_attributes(value: Any) -> dict[str, Any]:
    return {name: part for name, part in _attributes(value).items() if not name.startswith("_")}


def _hash(words: str) -> str:
    return hashlib.sha256(words.encode("utf-8", "backslashreplace")).hexdigest()[:16]


# Types and the functions that describe their values; the first match is used.
_DESCRIBERS: tuple[tuple[Any, Any], ...] = (
    (type, lambda value, parents: _name(value)),
    ((list, tuple), _describe_sequence),
    ((set, frozenset), _describe_set),
    (Mapping, _describe_mapping),
    (functools.partial, _describe_partial),
    (np.random.RandomState, _describe_random_state),
    (np.random.Generator, _describe_generator),
    (np.ndarray, _describe_array),
    ((sp.sparray, sp.spmatrix), _describe_array),
    (CodeType, _describe_code),
)
