#!/usr/bin/env python3
"""Runs the chapters of docs/pypto-tutorial and draws the pictures in them from what they ran.

scripts/tutorial.py [CHAPTER ..]

A block `python` of a chapter is executed, after those before it and with their names; a block `text` behind it is what
it prints. A block `python broken` fails with the message in the block `text` behind it.
"""

import contextlib
import io
import json
import re
import sys
import tempfile
import types
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pypto-tutorial"
CHAPTERS = sorted(FOLDER.glob("[0-9]*.md"))
_FENCE = re.compile(r"^```(python broken|python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    code: str
    broken: bool
    text: str  # what the block behind it says


def blocks(chapter: Path) -> list[Block]:
    """The blocks of code of a chapter."""
    found: list[Block] = []
    for kind, body in _FENCE.findall(chapter.read_text(encoding="utf-8")):
        if kind == "text":
            found[-1] = found[-1]._replace(text=body)
        else:
            found.append(Block(body, kind.endswith("broken"), ""))
    return found


class Run:
    """The names of a chapter as its blocks are executed in `folder`, each as a file of its own."""

    def __init__(self, folder: Path):
        self.folder, self.names, self.modules = folder, {}, []

    def execute(self, block: Block) -> str:
        """What a block prints; for a broken one the text of its error, empty if there is none."""
        from pypto.language.parser.diagnostics import ErrorRenderer, PlacedError

        self.modules.append(f"tutorial_{id(self)}_{len(self.modules)}")
        module = types.ModuleType(self.modules[-1])
        path = self.folder / f"{len(self.modules)}" / ("mistake.py" if block.broken else "block.py")
        path.parent.mkdir()
        path.write_text(block.code, encoding="utf-8")
        module.__dict__.update(self.names, __name__=self.modules[-1], __file__=str(path))
        sys.modules[self.modules[-1]] = module
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(block.code, str(path), "exec"), module.__dict__)
        except PlacedError as error:
            if not block.broken:
                raise
            return ErrorRenderer().render(error).replace(f"{path.parent}/", "") + "\n"
        if block.broken:
            return ""
        self.names = {name: held for name, held in vars(module).items() if not name.startswith("__")}
        return printed.getvalue()

    def close(self):
        for name in self.modules:
            sys.modules.pop(name, None)


# --- pictures ------------------------------------------------------------------------------------


def timeline(program: Any, folder: Path) -> list[tuple[str, str, float, float]]:
    """(track, what, begin, length in microseconds) of a run in timing mode of a program that has run: of one block the
    engines, of several the cores."""
    import numpy as np
    from pto_mlir.runtime import InferenceSession

    compiled = list(program._cache.values())[-1]
    model, trace = folder / "model.pmodel", folder / "trace.json"
    model.write_bytes(compiled.pmodel)
    session = InferenceSession(model, mode=f"timing:{trace}", trace=True)
    feeds = {}
    for each in session.get_inputs():
        kind = each.type.removeprefix("tensor(").removesuffix(")")
        feeds[each.name] = np.ones(each.shape, {"float": "float32"}.get(kind, kind))
    session.run(None, feeds)
    tasks = folder / "tasks.json"
    session.write_trace(str(tasks))
    del session  # writes the trace
    engines, cores = (json.loads(file.read_text())["traceEvents"] for file in (trace, tasks))
    found = spans(cores, "block")
    return found if len(found) > 2 else spans(engines, "word")  # a block has two vector cores


def spans(events: list[dict], key: str) -> list[tuple[str, str, float, float]]:
    processes = {each["pid"]: each["args"]["name"] for each in events if each["name"] == "process_name"}
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    found = []
    for each in events:
        if each["ph"] == "X" and key in each.get("args", {}):
            thread = threads[each["pid"], each["tid"]]
            track = f"{processes.get(each['pid'], '')} {thread}" if key == "word" else thread
            found.append((track, each["name"], each["ts"], each["dur"]))
    return found


_COLOURS = ("#3b6ea5", "#c8553d", "#4c9a5b", "#8a63a6", "#b5892e", "#4a9aa5")


def draw(found: list[tuple[str, str, float, float]], title: str) -> str:
    """A picture of a timeline: a row for each track, a bar for each thing that it did."""
    tracks = sorted({track for track, *_ in found})
    names = sorted({name for _, name, *_ in found})
    begin, end = min(t for *_, t, _ in found), max(t + d for *_, t, d in found)
    left, width, row = 110, 640, 22
    scale = width / (end - begin)
    height = row * len(tracks) + 44
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 20} {height}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="100%" height="100%" fill="white"/><text x="{left}" y="14">{escape(title)}</text>',
    ]
    for i, track in enumerate(tracks):
        y = 22 + row * i
        lines.append(f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{escape(track)}</text>')
        lines.append(f'<line x1="{left}" x2="{left + width}" y1="{y + 18}" y2="{y + 18}" stroke="#dddddd"/>')
    for track, name, start, length in found:
        x, y, wide = left + (start - begin) * scale, 24 + row * tracks.index(track), max(length * scale, 1)
        colour = _COLOURS[names.index(name) % len(_COLOURS)]
        lines.append(
            f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="16" fill="{colour}" stroke="white" '
            f'stroke-width="0.5"><title>{escape(name)}: {length:.3f} us</title></rect>'
        )
        if wide > 6.5 * len(name):
            lines.append(
                f'<text x="{x + wide / 2:.1f}" y="{y + 12}" fill="white" text-anchor="middle">{escape(name)}</text>'
            )
    below = 36 + row * len(tracks)
    lines.append(f'<text x="{left}" y="{below}">0</text>')
    lines.append(f'<text x="{left + width}" y="{below}" text-anchor="end">{end - begin:.2f} us</text></svg>')
    return "\n".join(lines) + "\n"


class Picture(NamedTuple):
    title: str
    file: Path
    program: str  # whose run it shows


def picture(chapter: Path) -> Picture | None:
    """The picture that a chapter shows, as `![title](file.svg "program")`; None for one without."""
    found = re.search(r'!\[([^]]*)\]\(([\w-]+\.svg) "(\w+)"\)', chapter.read_text(encoding="utf-8"))
    return Picture(found[1], FOLDER / found[2], found[3]) if found else None


def drawn(shown: Picture, run: Run) -> str:
    """The picture of what a chapter has run."""
    return draw(timeline(run.names[shown.program], run.folder), shown.title)


def main() -> None:
    from pto_mlir import pypto

    pypto.enable()
    for chapter in [Path(each) for each in sys.argv[1:]] or CHAPTERS:
        shown = picture(chapter)
        if shown is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            run = Run(Path(folder))
            for block in blocks(chapter):
                if not block.broken:
                    run.execute(block)
            shown.file.write_text(drawn(shown, run), encoding="utf-8")
        print(shown.file)


if __name__ == "__main__":
    main()
