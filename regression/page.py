"""The report as one HTML page that needs nothing beside it."""

from __future__ import annotations

from html import escape

from . import plots

STYLE = """body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:1100px;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:.6em 0}td,th{padding:2px 9px;text-align:right;border-bottom:1px solid #e4e4e4;white-space:nowrap}
td:first-child,th:first-child,.l{text-align:left}svg{display:block;margin:.4em 0;max-width:100%}svg text{font:11px sans-serif}
.passed{color:#27703a}.failed{color:#b3261e;font-weight:600}.skipped{color:#888}h2{margin-top:1.8em;border-bottom:2px solid #ccc}
pre{background:#f6f6f6;padding:.6em;white-space:pre-wrap}summary{cursor:pointer;color:#2f6db5}"""
SHOWN_TENSORS, SHOWN_KERNELS = 25, 30


def table(head: list[str], rows: list[list[object]]) -> str:
    """Cells are escaped; a pair (text, class) gets a CSS class."""

    def cell(value) -> str:
        text, kind = value if isinstance(value, tuple) else (value, "")
        return f'<td class="{kind}">{escape(str(text))}</td>' if kind else f"<td>{escape(str(text))}</td>"

    lines = "".join("<tr>" + "".join(map(cell, row)) + "</tr>" for row in rows)
    return "<table><tr>" + "".join(f"<th>{escape(h)}</th>" for h in head) + f"</tr>{lines}</table>"


def overview(results: list[dict]) -> str:
    rows = []
    for r in results:
        line: list[object] = [r["name"], r.get("processor", ""), r["mode"], r["cores"], (r["status"], r["status"])]
        if r.get("outputs"):
            s = r["seconds"]
            ratio = f"{s['cmodel'] / s['onnxruntime']:.1f}" if "cmodel" in s else ""
            worst = min((t["cosine"] for t in r.get("tensors", [])), default=float("nan"))
            line += [
                f"{min(o['cosine'] for o in r['outputs']):.7f}",
                f"{max(o['max_error'] for o in r['outputs']):.2e}",
                f"{worst:.7f}",
                f"{s['deploy']:.2f}",
                f"{r['peak_mb']['deploy']:.0f}",
                f"{1e3 * s.get('cmodel', 0):.1f}",
                f"{1e3 * s.get('onnxruntime', 0):.1f}",
                ratio,
                f"{r['bytes']['file']:,}",
                len(r["kernels"]),
                len(r["host_ops"]) or "none",
            ]
        rows.append(line)
    return table(
        [
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
            "cmodel ms",
            "onnxruntime ms",
            "ratio",
            "file bytes",
            "kernels",
            "host ops",
        ],
        rows,
    )


def times(results: list[dict]) -> str:
    rows = []
    for r in results:
        if "cmodel" in r.get("seconds", {}):
            ratio = r["seconds"]["cmodel"] / r["seconds"]["onnxruntime"]
            rows.append(
                (
                    f"{r['name']} {r['mode']}" + (f" x{r['cores']}" if r["cores"] > 1 else ""),
                    [("cmodel", ratio, plots.MODE_COLOURS[r["mode"]])],
                )
            )
    return (
        plots.bars(rows, "x onnxruntime", "time of one inference, as a multiple of onnxruntime's on one thread")
        if rows
        else ""
    )


def sizes(results: list[dict], preparations: dict[str, dict]) -> str:
    rows = []
    for r in results:
        if "bytes" in r:
            b = r["bytes"]
            rest = b["file"] - b["weights"] - b["commands"]
            rows.append(
                (
                    f"{r['name']} {r['mode']}",
                    [
                        ("weights", b["weights"] / 2**20, plots.COLOURS[0]),
                        ("commands", b["commands"] / 2**20, plots.COLOURS[1]),
                        ("the rest", rest / 2**20, plots.COLOURS[3]),
                    ],
                )
            )
    for name, p in preparations.items():
        if "onnx_bytes" in p:
            rows.append((f"{name} .onnx", [("file", p["onnx_bytes"] / 2**20, plots.COLOURS[2])]))
    return plots.bars(sorted(rows), "MiB", "file sizes: weights, commands, the rest; ONNX beside them") if rows else ""


def kernels(r: dict) -> str:
    by_size = sorted(r["kernels"], key=lambda k: -k["commands"])[:SHOWN_KERNELS]
    rows = [
        (k["name"], [("commands", k["commands"], plots.COLOURS[0] if k["core"] == "AIC" else plots.COLOURS[1])])
        for k in by_size
    ]
    return (
        f"<details><summary>{r['mode']}: {len(r['kernels'])} kernels</summary>"
        + plots.bars(rows, "commands", "commands per kernel; blue: cube, orange: vector")
        + "</details>"
    )


def section(name: str, facts: dict, results: list[dict], preparation: dict) -> str:
    parts = [
        f"<h2>{escape(name)}: {escape(facts['title'])}</h2>",
        f"<p>{escape(facts['source'])}; {escape(facts['licence'])}; inputs {escape(facts['shapes'])}</p>",
    ]
    for r in [preparation, *results]:
        if r.get("problem"):
            parts.append(
                f"<pre class='{r['status']}'>{escape((r['mode'] or 'preparation') + ': ' + r['problem'])}</pre>"
            )
    order: dict[str, list] = {}
    for r in results:
        if r.get("tensors") and r["mode"] not in order:
            order[r["mode"]] = [
                (t["name"], t["relative_l2"]) for t in sorted(r["tensors"], key=lambda t: t["position"])
            ]
    if order:
        parts += [
            "<p>Relative L2 error of every tensor, in the order of computation:</p>",
            plots.points(order, f"{name}: relative L2 error per tensor"),
        ]
    for r in results:
        if r.get("metric"):
            parts.append(f"<p>{r['mode']}, {r['cores']} core(s): {escape(r['metric']['summary'])}</p>")
        if r.get("first_loss"):
            loss = r["first_loss"]
            parts.append(
                f"<p>{r['mode']}: first real loss at <b>{escape(loss['name'])}</b> ({escape(loss['kind'])}): {loss['relative_l2']:.2e}, "
                f"of its inputs {loss['inputs']:.2e}</p>"
            )
        if r.get("tensors"):
            rows = [
                [
                    t["name"],
                    ("x".join(map(str, t["shape"])), "l"),
                    (t["kind"], "l"),
                    f"{t['cosine']:.7f}",
                    f"{t['relative_l2']:.2e}",
                    f"{t['max_error']:.2e}",
                    t["problem"],
                ]
                for t in r["tensors"][:SHOWN_TENSORS]
            ]
            parts.append(
                f"<details><summary>{r['mode']}, {r['cores']} core(s): the worst of {len(r['tensors'])} tensors</summary>"
                + table(["tensor", "shape", "kind", "cosine", "relative L2", "max error", ""], rows)
                + "</details>"
            )
        if r.get("kernels"):
            parts.append(kernels(r))
    return "".join(parts)


def render(outcome: dict) -> str:
    """The page of a report's dictionary (report.collect)."""
    models = [r for r in outcome["results"] if r["what"] == "model"]
    preparations = {r["name"]: r for r in outcome["results"] if r["what"] == "prepare"}
    metrics = [
        [
            r["name"],
            r["mode"],
            r["cores"],
            (r["status"], r["status"]),
            (r.get("metric", {}).get("summary", r.get("problem", "")), "l"),
        ]
        for r in outcome["results"]
        if r["what"] == "metric"
    ]
    cores = [
        [
            c["name"],
            c["mode"],
            f"{c['cores'][1]} against {c['cores'][0]}",
            ("the same bits", "passed") if c["equal"] else (c["difference"], "failed"),
        ]
        for c in outcome["cores"]
    ]
    body = [
        f"<h1>Regression: {outcome['passed']} passed, {outcome['failed']} failed, {outcome['skipped']} skipped</h1>"
    ]
    if outcome["unfinished"]:
        body.append(f"<p class='failed'>Interrupted: {outcome['unfinished']} pieces were not run.</p>")
    body += [overview(models), times(models), sizes(models, preparations)]
    if metrics:
        body += ["<h2>End metrics over several models</h2>", table(["metric", "mode", "cores", "status", ""], metrics)]
    if cores:
        body += ["<h2>Numbers of cores</h2>", table(["model", "mode", "cores", "outputs"], cores)]
    for name, facts in outcome["models"].items():
        body.append(section(name, facts, [r for r in models if r["name"] == name], preparations.get(name, {})))
    return f"<!doctype html><html lang='en'><meta charset='utf-8'><title>Regression</title><style>{STYLE}</style><body>{''.join(body)}</body></html>"
