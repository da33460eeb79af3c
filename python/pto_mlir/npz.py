"""Reading and writing .npz files of named tensors: strict, and never a half-written file."""

from __future__ import annotations

import io
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from . import cli
from .errors import UserError


def load(path: str | Path) -> dict[str, np.ndarray]:
    """All tensors of an .npz, by name. Objects (pickles) are refused."""
    with _opened(path) as data:
        tensors = {name: data[name] for name in data.files}
        for name, tensor in tensors.items():
            if not isinstance(tensor, np.ndarray):  # numpy gives other members of the archive as bytes
                raise UserError(f"{path}: not a readable .npz: {name!r} is not an .npy tensor")
        return tensors


def names(path: str | Path) -> list[str]:
    """The tensors' names, so that a file is known to be one before long work begins; the tensors are not read."""
    with _opened(path) as data:
        return data.files


@contextmanager
def _opened(path: str | Path):
    try:
        with open(path, "rb") as file:
            if not file.read(6).startswith((b"PK", b"\x93NUMPY")):  # numpy would take it for a pickle
                raise UserError(f"{path}: not a readable .npz: it does not begin as a zip archive")
        with np.load(path, allow_pickle=False) as data:
            if isinstance(data, np.ndarray):
                raise UserError(f"{path}: expects an .npz with named tensors, got a single .npy tensor")
            yield data
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except AttributeError:
        raise UserError(f"{path}: expects an .npz with named tensors, got a single .npy tensor") from None
    except MemoryError:
        raise UserError(f"{path}: its tensors do not fit into memory") from None
    except UserError:
        raise
    except Exception as error:  # of zipfile, zlib, numpy and, for a bad header, Python's parser and tokenizer
        if isinstance(error, OSError) and error.filename:
            raise
        reason = str(error).splitlines() or [type(error).__name__]
        raise UserError(f"{path}: not a readable .npz: {reason[0]}") from None


def save(path: str | Path, tensors: dict[str, np.ndarray]) -> None:
    """Writes an .npz under a temporary name and renames it, so that a failure leaves nothing behind. Strings become
    numpy's text type, which a file holds without pickles."""
    tensors = {name: _text(name, tensor) for name, tensor in tensors.items()}
    cli.writable(path)
    # A link stays one, and a device is written to, not replaced.
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        path.write_bytes(_bytes(tensors))
        return
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **tensors)  # type: ignore[arg-type]  # a tensor's name may be any text
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException as error:
        os.unlink(temporary)
        if isinstance(error, OSError):  # a full disk, which names no file, or else the temporary one
            raise UserError(f"{path}: cannot write: {error.strerror or error}") from None
        raise


def _bytes(tensors: dict[str, np.ndarray]) -> bytes:
    file = io.BytesIO()
    np.savez(file, **tensors)  # type: ignore[arg-type]
    return file.getvalue()


def _text(name: str, tensor: np.ndarray) -> np.ndarray:
    if tensor.dtype.kind != "O":
        return tensor
    if any(text.endswith("\0") for text in tensor.flat):
        raise UserError(f"'{name}': a string ends with a zero character, which numpy's text type cuts off")
    return tensor.astype(str)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
