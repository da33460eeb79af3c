"""What every command shares: strict argument parsing, one-line errors, exit codes, quick progress lines."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
import time
from collections.abc import Callable, Container, Sequence
from pathlib import Path

from .errors import UserError


class Parser(argparse.ArgumentParser):
    """argparse without abbreviated options; wrong usage exits 2 with a hint at the nearest option."""

    def __init__(self, prog: str, description: str):
        super().__init__(prog=prog, description=description, allow_abbrev=False)

    def error(self, message: str):
        import difflib

        hint = ""
        if "unrecognized arguments" in message:
            wrong = next((w for w in message.split() if w.startswith("-")), "")
            known = [o for a in self._actions for o in a.option_strings]
            close = difflib.get_close_matches(wrong.split("=")[0], known, 1)
            hint = f"; did you mean {close[0]}?" if close else ""
        print(f"{self.prog}: error: {message}{hint} (--help lists the options)", file=sys.stderr)
        raise SystemExit(2)


def _usage(message: str):
    return argparse.ArgumentTypeError(message)


def shapes(text: str) -> list[list[int | str]]:
    """`[[1,3,48,width],[1,8]]` -> lists of positive integers and names. Parsed as JSON, never evaluated."""
    try:
        value = json.loads(re.sub(r"(?<=[\[,\s])(?!(?:true|false|null)\b)[A-Za-z_][\w.]*(?=[\s,\]])", r'"\g<0>"', text))
    except (json.JSONDecodeError, RecursionError):
        value = None
    good = isinstance(value, list) and bool(value) and all(isinstance(s, list) for s in value)

    def is_dimension(d) -> bool:
        return 0 < d < 2**31 if type(d) is int else type(d) is str and d not in ("True", "False", "None", "")

    if not good or not all(is_dimension(d) for s in value for d in s):
        raise UserError(
            "--input_shapes: expects a list of lists of positive integers such as [[1,3,224,224]], or names of "
            f"dimensions of which --dynamic gives sizes, got {text!r}"
        )
    return value


_SIZES = "--dynamic: expects names with sizes such as batch=1..4,length=16|32, or ranges such as tokens=1:512"


def sizes(text: str, most: int) -> tuple[dict[str, list[int]], dict[str, tuple[int, int, int]]]:
    """`batch=1..4,length=16|32,tokens=8:512:8` -> the sizes by name, and the ranges (least, greatest, multiple). An
    interval has at most `most` sizes."""
    lists: dict[str, list[int]] = {}
    ranges: dict[str, tuple[int, int, int]] = {}
    for part in text.split(","):
        name, _, values = part.rpartition("=")
        if not name or name in lists or name in ranges:
            raise UserError(f"{_SIZES}, got {part!r}")
        if ":" in values:
            ranges[name] = _range(part, values)
        else:
            lists[name] = _list(part, values, most)
    # A range of one value is a size.
    for name, (least, greatest, _) in list(ranges.items()):
        if least == greatest:
            lists[name] = [ranges.pop(name)[0]]
    return lists, ranges


def _is_size(text: str) -> bool:
    return text.isascii() and text.isdigit() and 0 < len(text) < 10


def _range(part: str, values: str) -> tuple[int, int, int]:
    numbers = values.split(":")
    if len(numbers) > 3 or not all(_is_size(n) for n in numbers):
        raise UserError(f"{_SIZES} or tokens=8:512:8, got {part!r}")
    least, greatest, multiple = (int(n) for n in [*numbers, "1"][:3])
    if not 0 < least <= greatest:
        raise UserError(
            f"--dynamic: the range of {part!r} is empty: it goes from the least to the greatest size, from 1 on"
        )
    if multiple == 0 or least % multiple or greatest % multiple:
        raise UserError(f"--dynamic: the bounds of {part!r} are no multiples of {multiple}")
    return least, greatest, multiple


def _list(part: str, values: str, most: int) -> list[int]:
    bounds = [piece.split("..") for piece in values.split("|")]
    ok = all(len(b) <= 2 and all(_is_size(n) for n in b) for b in bounds)
    if not (ok and all(0 < int(b[0]) <= int(b[-1]) for b in bounds)):
        raise UserError(f"{_SIZES}, got {part!r}")
    if any(int(b[-1]) - int(b[0]) >= most for b in bounds):
        raise UserError(f"--dynamic: {part!r} lists more than {most} sizes; a range LEAST:GREATEST may have as many")
    return sorted({n for b in bounds for n in range(int(b[0]), int(b[-1]) + 1)})


def numbers(text: str) -> list[float]:
    """`0.5,0.5,0.5` -> finite floats."""
    try:
        value = [float(part) for part in text.split(",")]
    except ValueError:
        value = []
    if not value or not all(math.isfinite(v) for v in value):
        raise _usage(f"expects numbers separated by commas, got {text!r}")
    return value


def names(text: str) -> list[str]:
    """`a,b` -> ['a', 'b']."""
    return [part for part in text.split(",") if part]


def tolerance(text: str) -> tuple[float, float]:
    """`0.99,0.99` -> least cosine, least Euclidean similarity."""
    value = numbers(text)
    if len(value) != 2:
        raise _usage(f"expects two numbers: least cosine, least Euclidean similarity, got {text!r}")
    return value[0], value[1]


class Progress:
    """Prints one line per step with its seconds; the step is visible while it runs when stderr is a terminal."""

    def __init__(self, quiet: bool = False):
        self.quiet = quiet

    def step(self, text: str) -> Progress:
        self.text, self.begin, self.status = text, time.perf_counter(), None
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console

            self.status = Console(stderr=True, highlight=False).status(escaped(text))
        return self

    def __enter__(self):
        if self.status:
            self.status.start()
        return self

    def __exit__(self, kind, *_):
        if self.status:
            self.status.stop()
        if kind is None and not self.quiet:
            print(f"  {time.perf_counter() - self.begin:6.2f} s  {self.text}", flush=True)


def escaped(text: str) -> str:
    """A text that rich shows as it is: brackets are no markup."""
    from rich.markup import escape

    return escape(text)


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[object]],
    left: Container[int] = (0,),
    indent: int = 0,
    marked: Container[int] = (),
) -> None:
    """Prints aligned columns: texts (`left`) to the left, numbers to the right. On a terminal the rows in `marked` are
    red and long cells fold; elsewhere nothing is coloured, folded or cut."""
    import shutil

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for i, name in enumerate(head):
        grid.add_column(Text(name), justify="left" if i in left else "right", overflow="fold")
    for i, row in enumerate(rows):
        grid.add_row(*(Text(str(cell)) for cell in row), style="red" if i in marked else "")
    width = shutil.get_terminal_size().columns - indent if sys.stdout.isatty() else 1 << 20
    console = Console(highlight=False, width=width)
    with console.capture() as captured:
        console.print(grid)
    for line in captured.get().splitlines():
        print(" " * indent + line.rstrip())


def existing(path: str, what: str) -> Path:
    """The path of a readable file, or a UserError that names the option."""
    file = Path(path)
    if file.is_dir():
        raise UserError(f"{path or repr(path)}: {what}: expects a file, got a directory")
    if not file.is_file():
        raise UserError(f"{path}: {what}: no such file")
    return file


def existing_mlir(path: str, what: str) -> Path:
    """The path of a text that may be what model_transform wrote. The parser would report a line of any other file."""
    file = existing(path, what)
    with file.open("rb") as data:
        head = data.read(4096)
    if head[:4] != b"ML\xefR" and re.search(rb"[\x00-\x08\x0e-\x1f]", head):
        raise UserError(f"{path}: {what}: expects the .mlir that model_transform wrote, got a binary file")
    return file


def writable(path: str | Path, what: str = "") -> None:
    """Raises before long work begins where a file cannot be written."""
    where, folder = f"{str(path) or repr(str(path))}: {what and what + ': '}cannot write: ", Path(path).parent
    if Path(path).is_dir():
        raise UserError(f"{where}is a directory")
    if not folder.is_dir():
        raise UserError(f"{where}there is no directory {str(folder)!r}")
    if not os.access(path if Path(path).exists() and not Path(path).is_file() else folder, os.W_OK):
        raise UserError(f"{where}permission denied")


def printable(text: object) -> str:
    """Text with names of a model in it, whose control characters would move a terminal's cursor."""
    return re.sub(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", lambda found: f"\\x{ord(found[0]):02x}", str(text))


def run(prog: str, body: Callable[[Sequence[str]], int | None], argv: Sequence[str] | None = None) -> int:
    """Runs a command's body; user errors become one line on stderr and exit code 1."""
    try:
        return body(sys.argv[1:] if argv is None else argv) or 0
    except UserError as error:
        print(f"{prog}: error: {printable(error)}", file=sys.stderr)
        return 1
    except MemoryError:
        print(f"{prog}: error: out of memory", file=sys.stderr)
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"{prog}: error: {where}{error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{prog}: interrupted", file=sys.stderr)
        return 130
