"""The report as one HTML page that needs nothing beside it: this gives the rows and plots, page.html.j2 the text."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from . import plots

SHOWN_TENSORS, SHOWN_KERNELS = 25, 30
OVERVIEW = [
    "model",
    "processor",
    "mode",
    "cores",
    "status",
    "cosine",
    "max error",
    "worst tensor",
    "deploy s",
    "peak MB",
]
OVERVIEW += ["cmodel ms", "onnxruntime ms", "ratio", "file bytes", "kernels", "host ops"]


class Cell(NamedTuple):
    """A cell of a table; `kind` is its CSS class: l (to the left), passed, failed, skipped."""

    text: object
    kind: str = ""


def cells(*values: object) -> list[Cell]:
    return [value if isinstance(value, Cell) else Cell(value) for value in values]


def overview_row(r: dict) -> list[Cell]:
    line: list[object] = [r["name"], r.get("processor", ""), r["mode"], r["cores"], Cell(r["status"], r["status"])]
    if r.get("outputs"):
        s = r["seconds"]
        worst = min((t["cosine"] for t in r.get("tensors", [])), default=float("nan"))
        line += [
            f"{min(o['cosine'] for o in r['outputs']):.7f}",
            f"{max(o['max_error'] for o in r['outputs']):.2e}",
            f"{worst:.7f}",
            f"{s['deploy']:.2f}",
            f"{r['peak_mb']['deploy']:.0f}",
            f"{1e3 * s.get('cmodel', 0):.1f}",
            f"{1e3 * s.get('onnxruntime', 0):.1f}",
            f"{s['cmodel'] / s['onnxruntime']:.1f}" if "cmodel" in s else "",
            f"{r['bytes']['file']:,}",
            len(r["kernels"]),
            len(r["host_ops"]) or "none",
        ]
    return cells(*line)


def times(results: list[dict]) -> str:
    """Bars: one inference over onnxruntime's."""
    rows = []
    for r in results:
        if "cmodel" in r.get("seconds", {}):
            name = f"{r['name']} {r['mode']}" + (f" x{r['cores']}" if r["cores"] > 1 else "")
            ratio = r["seconds"]["cmodel"] / r["seconds"]["onnxruntime"]
            rows.append((name, [("cmodel", ratio, plots.MODE_COLOURS[r["mode"]])]))
    title = "time of one inference, as a multiple of onnxruntime's on one thread"
    return plots.bars(rows, "x onnxruntime", title) if rows else ""


def sizes(results: list[dict], preparations: dict[str, dict]) -> str:
    """Bars: what the bytes of each file are, and the ONNX file beside it."""
    rows = []
    for r in results:
        if "bytes" in r:
            b = r["bytes"]
            parts = {"weights": b["weights"], "commands": b["commands"]}
            parts["the rest"] = b["file"] - sum(parts.values())
            colours = (plots.COLOURS[0], plots.COLOURS[1], plots.COLOURS[3])
            stack = [(what, size / 2**20, colour) for (what, size), colour in zip(parts.items(), colours)]
            rows.append((f"{r['name']} {r['mode']}", stack))
    for name, p in preparations.items():
        if "onnx_bytes" in p:
            rows.append((f"{name} .onnx", [("file", p["onnx_bytes"] / 2**20, plots.COLOURS[2])]))
    return plots.bars(sorted(rows), "MiB", "file sizes: weights, commands, the rest; ONNX beside them") if rows else ""


def kernels(r: dict) -> str:
    """Bars: the commands of the largest kernels."""
    by_size = sorted(r["kernels"], key=lambda k: -k["commands"])[:SHOWN_KERNELS]
    colour = {"AIC": plots.COLOURS[0]}
    rows = [(k["name"], [("commands", k["commands"], colour.get(k["core"], plots.COLOURS[1]))]) for k in by_size]
    return plots.bars(rows, "commands", "commands per kernel; blue: cube, orange: vector")


def errors(name: str, results: list[dict]) -> str:
    """Points: the relative L2 error of every tensor in the order of computation, one series per mode."""
    order: dict[str, list] = {}
    for r in results:
        if r.get("tensors") and r["mode"] not in order:
            tensors = sorted(r["tensors"], key=lambda t: t["position"])
            order[r["mode"]] = [(t["name"], t["relative_l2"]) for t in tensors]
    return plots.points(order, f"{name}: relative L2 error per tensor") if order else ""


def worst_tensors(r: dict) -> list[list[Cell]]:
    return [
        cells(
            t["name"],
            Cell("x".join(map(str, t["shape"])), "l"),
            Cell(t["kind"], "l"),
            f"{t['cosine']:.7f}",
            f"{t['relative_l2']:.2e}",
            f"{t['max_error']:.2e}",
            t["problem"],
        )
        for t in r.get("tensors", [])[:SHOWN_TENSORS]
    ]


def metric_row(r: dict) -> list[Cell]:
    summary = r.get("metric", {}).get("summary", r.get("problem", ""))
    return cells(r["name"], r["mode"], r["cores"], Cell(r["status"], r["status"]), Cell(summary, "l"))


def cores_row(c: dict) -> list[Cell]:
    outputs = Cell("the same bits", "passed") if c["equal"] else Cell(c["difference"], "failed")
    return cells(c["name"], c["mode"], f"{c['cores'][1]} against {c['cores'][0]}", outputs)


def render(outcome: dict) -> str:
    """The page of a report's dictionary (report.collect)."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    models = [r for r in outcome["results"] if r["what"] == "model"]
    preparations = {r["name"]: r for r in outcome["results"] if r["what"] == "prepare"}
    sections = []
    for name, facts in outcome["models"].items():
        results = [r for r in models if r["name"] == name]
        problems = [r for r in [preparations.get(name, {}), *results] if r.get("problem")]
        plotted = [
            {
                **{
                    key: r.get(key)
                    for key in ("mode", "cores", "metric", "first_loss", "account", "tensors", "kernels")
                },
                "worst_tensors": worst_tensors(r),
                "kernel_plot": Markup(kernels(r)) if r.get("kernels") else "",
            }
            for r in results
        ]
        section = {"name": name, "facts": facts, "problems": problems, "results": plotted}
        sections.append({**section, "errors": Markup(errors(name, results))})
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2").render(
        outcome=outcome,
        overview={"head": OVERVIEW, "rows": [overview_row(r) for r in models]},
        times=Markup(times(models)),
        sizes=Markup(sizes(models, preparations)),
        metrics=[metric_row(r) for r in outcome["results"] if r["what"] == "metric"],
        cores=[cores_row(c) for c in outcome["cores"]],
        sections=sections,
    )
