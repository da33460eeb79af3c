"""The report of a regression run as a table for the documentation: a row for each network, a column for each processor
and mode."""

from __future__ import annotations

from . import zoo


def cosine(value: float) -> str:
    """Seven digits, never rounded up to 1."""
    return "1" if value == 1 else f"{min(value, 0.9999999):.7f}".rstrip("0")


def cell(results: list[dict]) -> str:
    """Of the runs on all numbers of cores: cosine of the worst tensor (- where none but outputs have constant shapes)
    and of the worst output; what did not pass."""
    compared = [r for r in results if r.get("outputs")]
    bad = [r["status"] for r in results if r["status"] != "passed"]
    if not compared:
        return bad[0] if bad else ""
    tensors = [t["cosine"] for r in compared for t in r.get("tensors", [])]
    outputs = [o["cosine"] for r in compared for o in r["outputs"]]
    figures = f"{cosine(min(tensors)) if tensors else '-'} / {cosine(min(outputs))}"
    return f"**{bad[0]}** {figures}" if bad else figures


def bits(comparisons: list[dict]) -> str:
    """On which numbers of cores the outputs were the same bits."""
    different = [c for c in comparisons if not c["equal"]]
    if different:
        return "**" + "; ".join(f"{c['processor']} {c['mode']} differ on {c['cores'][1]}" for c in different) + "**"
    numbers = sorted({number for c in comparisons for number in c["cores"]})
    return ", ".join(map(str, numbers)) if numbers else "-"


def table(outcome: dict) -> str:
    """Cosine of the worst tensor / of the worst output, and the numbers of cores that gave the same bits."""
    results = [r for r in outcome["results"] if r["what"] == "model"]
    where = sorted(
        {(r["processor"], r["mode"]) for r in results}, key=lambda column: (column[0], zoo.MODES.index(column[1]))
    )
    lines = [
        "| " + " | ".join(["network", *(f"{processor} {mode}" for processor, mode in where), "same bits on"]) + " |",
        "|---" * (len(where) + 2) + "|",
    ]
    for name in dict.fromkeys(r["name"] for r in results):
        of = [r for r in results if r["name"] == name]
        cells = [cell([r for r in of if (r["processor"], r["mode"]) == column]) for column in where]
        same = bits([c for c in outcome["cores"] if c["name"] == name])
        lines.append("| " + " | ".join([name, *cells, same]) + " |")
    return "\n".join(lines) + "\n"
