"""The report of a regression run: one dictionary, shown on the terminal, written as JSON and as a page."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
from pto_mlir import cli, npz
from pto_mlir.errors import UserError

from . import markdown, page, zoo


def collect(pieces: list, models: list, work: Path) -> dict:
    """All results, the comparison across numbers of cores, and how many passed, failed and were skipped."""
    facts = {
        m.name: {
            "title": m.title,
            "source": m.source,
            "licence": m.licence,
            "shapes": m.shapes,
            "metric": m.metric,
            "notes": m.notes,
        }
        for m in models
    }
    results = [p.result for p in pieces if p.result]
    cores = across_cores([r for r in results if r["what"] == "model"], work)
    counts = {s: sum(r["status"] == s for r in results) for s in ("passed", "failed", "skipped")}
    counts["failed"] += sum(not c["equal"] for c in cores)
    return {
        **counts,
        "unfinished": sum(p.result is None for p in pieces),
        "models": facts,
        "results": results,
        "cores": cores,
    }


def processor_of(result: dict) -> str:
    """Where a model ran; a preparation runs nowhere."""
    return result.get("processor") or zoo.DEFAULT_PROCESSOR


def across_cores(results: list[dict], work: Path) -> list[dict]:
    """Outputs for other numbers of cores against those of the first. Any differing bit is a failure of the run."""
    rows: list[dict] = []
    first: dict[tuple, tuple[int, dict]] = {}
    for r in results:
        try:
            outputs = npz.load(work / f"{zoo.stem(r['name'], r)}_outputs.npz") if r.get("outputs") else None
        except UserError:
            outputs = None
        if outputs is None:
            continue
        cores, reference = first.setdefault((r["name"], processor_of(r), r["mode"]), (r["cores"], outputs))
        if reference is not outputs:
            rows.append(
                {
                    "name": r["name"],
                    "processor": processor_of(r),
                    "mode": r["mode"],
                    "cores": [cores, r["cores"]],
                    "equal": not (different := differing(outputs, reference)),
                    "difference": "; ".join(different),
                }
            )
    return rows


def differing(outputs: dict[str, np.ndarray], reference: dict[str, np.ndarray]) -> list[str]:
    """What is not the same, bit by bit: one text per output."""
    lines = [f"{name}: in one of the two only" for name in sorted(outputs.keys() ^ reference.keys())]
    for name in outputs.keys() & reference.keys():
        a, b = outputs[name], reference[name]
        if a.dtype != b.dtype or a.shape != b.shape:
            lines.append(f"{name}: {a.dtype} {a.shape} instead of {b.dtype} {b.shape}")
        elif a.tobytes() != b.tobytes():
            bits = [np.ascontiguousarray(x).reshape(-1).view(np.uint8).reshape(a.size, -1) for x in (a, b)]
            count = int((bits[0] != bits[1]).any(axis=1).sum())
            worst = float(np.abs(a.astype(np.float64) - b.astype(np.float64)).max())
            lines.append(f"{name}: {count} of {a.size} elements differ, by {worst:.2e} at most")
    return lines


def write(outcome: dict, work: Path) -> None:
    """report.json, report.html and report.md, each complete or not at all."""
    files = {
        "report.json": json.dumps(outcome, indent=1),
        "report.html": page.render(outcome),
        "report.md": markdown.table(outcome),
    }
    for name, text in files.items():
        temporary = work / f"{name}.{os.getpid()}.tmp"
        temporary.write_text(text)
        temporary.replace(work / name)


def overview(rows: list[dict]) -> None:
    """The table of models: accuracy, times and sizes."""
    head = ["model", "chip", "mode", "cores", "status", "cosine", "max error", "worst tensor"]
    head += ["deploy s", "MB", "cmodel ms", "ort ms", "x", "file", "kernels"]
    lines = []
    for r in rows:
        line = [r["name"], processor_of(r), r["mode"], r["cores"], r["status"]]
        if r.get("outputs"):
            cosine, error = min(o["cosine"] for o in r["outputs"]), max(o["max_error"] for o in r["outputs"])
            worst = min((t["cosine"] for t in r.get("tensors", [])), default=float("nan"))
            line += [f"{cosine:.7f}", f"{error:.2e}", f"{worst:.7f}"]
            ms = [1e3 * r["seconds"].get(k, float("nan")) for k in ("cmodel", "onnxruntime")]
            line += [f"{r['seconds']['deploy']:.2f}", f"{r['peak_mb']['deploy']:.0f}", *(f"{t:.2f}" for t in ms)]
            line += [f"{ms[0] / ms[1]:.1f}", f"{r['bytes']['file']:,}", len(r["kernels"])]
        lines.append(line)
    failed = {i for i, r in enumerate(rows) if r["status"] == "failed"}
    cli.table(head, lines, left=(0, 1, 2, 4), marked=failed)


def show(outcome: dict) -> None:
    """One line per model, mode and number of cores; then the worst tensors, the metrics and what failed."""
    rows = [r for r in outcome["results"] if r["what"] == "model"]
    print()
    overview(rows)
    for r in rows:
        where = f"  {r['name']} {r['mode']}:"
        if loss := r.get("first_loss"):
            error = f"relative L2 {loss['relative_l2']:.2e}, of its inputs {loss['inputs']:.2e}"
            print(f"{where} first real loss at {loss['name']} ({loss['kind']}): {error}")
        if r.get("host_ops"):
            print(f"{where} on the host: {'; '.join(r['host_ops'])}")
        for o in r.get("outputs", []):
            if "float64" in o:
                distances = f"{o['float64']:.2e} from float64, onnxruntime {o['onnxruntime_float64']:.2e}"
                print(f"{where} {o['name']}: {distances}")
    for r in outcome["results"]:
        if r.get("metric"):
            print(f"  {r['name']} {r['mode']} {r['cores']} core(s): {r['metric']['summary']}")
    for c in outcome["cores"]:
        how = "the same bits" if c["equal"] else f"FAILED: {c['difference']}"
        print(f"  {c['name']} {c['processor']} {c['mode']}: {c['cores'][1]} cores against {c['cores'][0]}: {how}")
    for r in outcome["results"]:
        if r["status"] != "passed":
            piece = f"{r['name']} {r.get('processor', '')} {r['mode'] or 'preparation'} {r['cores'] or ''}"
            print(f"  {r['status']}: {piece}: {r['problem']}")
    print(f"{outcome['passed']} passed, {outcome['failed']} failed, {outcome['skipped']} skipped")
