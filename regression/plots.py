"""Plots as inline SVG: no script, no file beside the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

COLOURS = ("#2f6db5", "#d9822b", "#4c9a5b", "#9a9a9a")
MODE_COLOURS = {"F32": COLOURS[0], "F16": COLOURS[1], "BF16": COLOURS[2]}


def _text(x: float, y: float, text: str, anchor: str = "start", more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(text)}</text>'


def _svg(width: float, height: float, parts: Sequence[str], title: str) -> str:
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img"><title>{escape(title)}</title>'
        + "".join(parts)
        + "</svg>"
    )


def bars(rows: Sequence[tuple[str, Sequence[tuple[str, float, str]]]], unit: str, title: str) -> str:
    """Horizontal bars: per row a label and stacked (what, value, colour); the scale is shared and begins at 0."""
    label, width, step = 200, 420, 20
    most = max((sum(v for _, v, _ in stack) for _, stack in rows), default=0) or 1
    parts = []
    for i, (name, stack) in enumerate(rows):
        y, x = 4 + i * step, float(label)
        parts.append(_text(label - 6, y + 12, name[-32:], "end"))
        for what, value, colour in stack:
            long = width * value / most
            title_of = escape(f"{name}: {what} {value:,.4g} {unit}")
            parts.append(
                f'<rect x="{x:.1f}" y="{y}" width="{max(long, 0.5):.1f}" height="15" fill="{colour}">'
                f"<title>{title_of}</title></rect>"
            )
            x += long
        parts.append(_text(x + 5, y + 12, f"{sum(v for _, v, _ in stack):,.4g} {unit}"))
    return _svg(label + width + 110, 8 + step * len(rows), parts, title)


def points(series: dict[str, Sequence[tuple[str, float]]], title: str, floor: float = 1e-9) -> str:
    """Values on a logarithmic axis in their order, one colour per series; (name, value) pairs, names show under the
    pointer."""
    width, height, left = 760, 190, 60
    values = [max(v, floor) for s in series.values() for _, v in s if math.isfinite(v)]
    if not values:
        return ""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)) + 1e-9)
    high = max(high, low + 1)

    def y(value: float) -> float:
        return 10 + (height - 30) * (high - math.log10(max(value, floor))) / (high - low)

    parts = []
    for power in range(low, high + 1):
        at = y(10.0**power)
        parts.append(
            f'<line x1="{left}" x2="{width}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>'
            + _text(left - 6, at + 4, f"1e{power}", "end")
        )
    for name, values_of in series.items():
        colour = MODE_COLOURS.get(name, COLOURS[3])
        for i, (what, value) in enumerate(values_of):
            if math.isfinite(value):
                x = left + 8 + (width - left - 16) * i / max(1, len(values_of) - 1)
                parts.append(
                    f'<circle cx="{x:.1f}" cy="{y(value):.1f}" r="2.4" fill="{colour}">'
                    f"<title>{escape(f'{name} {what}: {value:.3g}')}</title></circle>"
                )
    for i, name in enumerate(series):
        parts.append(_text(left + 10 + 60 * i, height - 4, name, more=f' fill="{MODE_COLOURS.get(name, COLOURS[3])}"'))
    return _svg(width, height, parts, title)
