#!/usr/bin/env python3
"""Draws part of a task trace (`model_runner --profile trace.json`) as SVG: what Perfetto shows, for documents.

scripts/draw_trace.py trace.json docs/trace.svg --tasks 0:16
"""

import argparse
import json
import re
import sys
from collections import defaultdict
from pathlib import Path


def pyplot():
    """matplotlib's, for SVG; ends the program where it is not installed: no test and no command needs it."""
    try:
        import matplotlib
    except ModuleNotFoundError:
        sys.exit("draw_trace: error: matplotlib is not installed; pip install matplotlib")
    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    return plt


def draw(plt, events: list[dict], first: int, last: int, title: str):
    """A figure: blocks of the first..last tasks on their cores, their dependencies as lines, and below how many tasks
    were ready."""
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    blocks = [e for e in events if e["ph"] == "X" and "block" in e.get("args", {}) and (e["pid"], e["tid"]) in names]
    tasks = sorted(
        {e["args"]["task"] for e in blocks}, key=lambda t: min(e["ts"] for e in blocks if e["args"]["task"] == t)
    )[first:last]
    blocks = [e for e in blocks if e["args"]["task"] in tasks]
    begin, end = min(e["ts"] for e in blocks), max(e["ts"] + e["dur"] for e in blocks)
    tracks = sorted({(e["pid"], e["tid"]) for e in blocks})
    figure, (cores, queue) = plt.subplots(
        2,
        1,
        figsize=(11, 0.45 * len(tracks) + 2.2),
        sharex=True,
        height_ratios=[max(2, len(tracks)), 1],
        layout="constrained",
    )
    for e in blocks:
        y = tracks.index((e["pid"], e["tid"]))
        cores.barh(
            y,
            e["dur"],
            left=e["ts"] - begin,
            height=0.8,
            color=f"C{tasks.index(e['args']['task']) % 10}",
            edgecolor="white",
        )
        if e["dur"] > (end - begin) / 25:
            cores.text(
                e["ts"] - begin + e["dur"] / 2,
                y,
                e["name"].split("_")[0],
                ha="center",
                va="center",
                fontsize=7,
                color="white",
            )
    flows = defaultdict(dict)
    for e in events:
        if e["ph"] in "sf" and (e["pid"], e["tid"]) in tracks and begin <= e["ts"] <= end:
            flows[e["id"]][e["ph"]] = (e["ts"] - begin, tracks.index((e["pid"], e["tid"])))
    for flow in flows.values():
        if len(flow) == 2:
            cores.annotate("", flow["f"], flow["s"], arrowprops={"arrowstyle": "->", "color": "0.4", "lw": 0.5})
    cores.set_yticks(range(len(tracks)), [names[t] for t in tracks])
    cores.invert_yaxis()
    cores.set_title(title, fontsize=10)
    samples = [e for e in events if e["ph"] == "C" and begin <= e["ts"] <= end]
    for kind in sorted({k for e in samples for k in e["args"]}):
        rows = [(e["ts"] - begin, e["args"][kind]) for e in samples if kind in e["args"]]
        if any(value for _, value in rows):
            queue.step(*zip(*rows), where="post", label=kind, lw=0.8)
    queue.legend(fontsize=7, frameon=False)
    queue.set_ylabel("ready", fontsize=8)
    queue.set_xlabel("microseconds", fontsize=8)
    return figure


def read(file: Path) -> list[dict]:
    """The events of a trace; ends the program with a reason when the file is none."""
    try:
        events = json.loads(file.read_text())["traceEvents"]
        if any(e["ph"] == "X" and "block" in e.get("args", {}) for e in events):
            return events
        sys.exit(f"draw_trace: error: {file}: no task ran in this trace")
    except OSError as error:
        sys.exit(f"draw_trace: error: {file}: {error.strerror}")
    except (ValueError, KeyError, TypeError, AttributeError):
        sys.exit(f"draw_trace: error: {file}: not a trace that model_runner --profile wrote")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("trace", type=Path)
    parser.add_argument("svg", type=Path)
    parser.add_argument("--tasks", default="0:24", help="which tasks, FIRST:LAST in order of their start")
    parser.add_argument("--title", default="")
    args = parser.parse_args()
    if not re.fullmatch(r"\d+:\d+", args.tasks):
        sys.exit(f"draw_trace: error: --tasks expects FIRST:LAST, got {args.tasks!r}")
    first, last = (int(x) for x in args.tasks.split(":"))
    events = read(args.trace)
    plt = pyplot()
    plt.rcParams["svg.hashsalt"] = "pto"
    figure = draw(plt, events, first, last, args.title)
    figure.savefig(args.svg, metadata={"Date": None})


if __name__ == "__main__":
    main()
