"""Reading and writing .npz files of named tensors: strict, and never a half-written file."""

from __future__ import annotations

import os
import tempfile
import zipfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from .errors import UserError


def load(path: str | Path) -> dict[str, np.ndarray]:
    """All tensors of an .npz, by name. Objects (pickles) are refused."""
    with _opened(path) as data:
        return {name: data[name] for name in data.files}


def names(path: str | Path) -> list[str]:
    """The tensors' names, so that a file is known to be one before long work begins; the tensors are not read."""
    with _opened(path) as data:
        return data.files


@contextmanager
def _opened(path: str | Path):
    try:
        with np.load(path, allow_pickle=False) as data:
            if isinstance(data, np.ndarray):
                raise UserError(f"{path}: expects an .npz with named tensors, got a single .npy tensor")
            yield data
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except AttributeError:
        raise UserError(f"{path}: expects an .npz with named tensors, got a single .npy tensor") from None
    except (ValueError, zipfile.BadZipFile, EOFError, KeyError) as error:
        raise UserError(f"{path}: not a readable .npz: {str(error).splitlines()[0]}") from None


def save(path: str | Path, tensors: dict[str, np.ndarray]) -> None:
    """Writes an .npz under a temporary name and renames it, so that a failure leaves nothing behind. Strings become
    numpy's text type, which a file holds without pickles."""
    path = Path(path)
    tensors = {name: _text(name, tensor) for name, tensor in tensors.items()}
    handle, temporary = tempfile.mkstemp(dir=path.parent or ".", prefix=path.name, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **tensors)  # type: ignore[arg-type]  # a tensor's name may be any text
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


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
