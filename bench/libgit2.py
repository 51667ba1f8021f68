"""libgit2's three-way merge in this process, where the pygit2 wheel, which carries the library, is installed."""

import ctypes
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

Merge = Callable[[bytes, bytes, bytes], bytes | None]
"""Takes base, current and draft; None is a conflict."""

VERSION = 1


class _Input(ctypes.Structure):
    """`git_merge_file_input` of `git2/merge.h`."""

    _fields_ = (
        ("version", ctypes.c_uint),
        ("ptr", ctypes.c_char_p),
        ("size", ctypes.c_size_t),
        ("path", ctypes.c_char_p),
        ("mode", ctypes.c_uint),
    )


class _Result(ctypes.Structure):
    """`git_merge_file_result` of `git2/merge.h`."""

    _fields_ = (
        ("automergeable", ctypes.c_uint),
        ("path", ctypes.c_char_p),
        ("mode", ctypes.c_uint),
        ("ptr", ctypes.c_void_p),
        ("len", ctypes.c_size_t),
    )


def libgit2_merge() -> Merge | None:
    """Its merge; None where there is no pygit2."""
    found = find_spec("pygit2")
    if found is None or found.origin is None:
        return None
    carried = sorted((Path(found.origin).parents[1] / "pygit2.libs").glob("libgit2-*"))
    if not carried:
        return None
    library = ctypes.CDLL(str(carried[0]))
    library.git_libgit2_init()

    def merge(base: bytes, current: bytes, draft: bytes) -> bytes | None:
        inputs = [_Input(VERSION, text, len(text), b"a.md", 0o100644) for text in (base, current, draft)]
        result = _Result()
        code = library.git_merge_file(ctypes.byref(result), *map(ctypes.byref, inputs), None)
        assert code == 0, code
        merged = ctypes.string_at(result.ptr, result.len) if result.automergeable else None
        library.git_merge_file_result_free(ctypes.byref(result))
        return merged

    return merge
