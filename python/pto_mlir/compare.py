"""How two sets of named tensors are compared, and how the result is shown."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

import numpy as np

from . import cli
from .errors import UserError

# Tensor name -> operator that makes it, names of the operator's inputs; in the order of computation.
Graph = dict[str, tuple[str, list[str]]]


# Relative L2 error below which a difference is rounding: 64 units in the last place of the storage type.
ROUNDING = {"F32": 64 * 2**-24, "F16": 64 * 2**-11, "BF16": 64 * 2**-8}


@dataclass
class Row:
    """One tensor's comparison: `target` against `reference`."""

    name: str
    shape: tuple[int, ...]
    cosine: float
    euclid: float  # 1 - ||target - reference|| / ||reference||
    max_error: float
    problem: str = ""
    kind: str = ""  # operator that makes the tensor, where it is known

    @property
    def relative_l2(self) -> float:
        """||target - reference|| / ||reference||; infinite where the tensors cannot be compared."""
        return float("inf") if self.problem else 1.0 - self.euclid

    def passes(self, tolerance: tuple[float, float]) -> bool:
        return not self.problem and self.cosine >= tolerance[0] and self.euclid >= tolerance[1]


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    """Cosine of the angle between two tensors, in float64. Two all-zero tensors have cosine 1."""
    a, b = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    if np.array_equal(a, b):
        return 1.0
    norm = np.linalg.norm(a) * np.linalg.norm(b)
    return float(np.dot(a, b) / norm) if norm else 0.0


def _same_order(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether one shape is the other with neighbouring dimensions joined (unit dimensions do not count): the elements
    are in the same order."""
    if a == b:
        return True
    coarse, fine = sorted(([d for d in shape if d != 1] for shape in (a, b)), key=len)
    at = 0
    for size in coarse:
        product = 1
        while product < size and at < len(fine):
            product, at = product * fine[at], at + 1
        if product != size:
            return False
    return at == len(fine)


def compare_tensor(name: str, target: np.ndarray, reference: np.ndarray) -> Row:
    """Compares one tensor; shapes may differ by unit dimensions and by joined neighbours."""
    if not _same_order(target.shape, reference.shape):
        return Row(name, target.shape, 0, 0, np.inf, f"shape {target.shape}, reference has {reference.shape}")
    a, b = target.astype(np.float64).ravel(), reference.astype(np.float64).ravel()
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return Row(name, target.shape, 0, 0, np.inf, "not finite where the reference is (or the reverse)")
    finite = np.isfinite(a)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return Row(name, target.shape, 0, 0, np.inf, "different infinities or NaNs")
    a, b = a[finite], b[finite]
    error, size = np.linalg.norm(a - b), np.linalg.norm(b)
    euclid = 1.0 - error / size if size else (1.0 if error == 0 else 0.0)
    worst = float(np.max(np.abs(a - b))) if a.size else 0.0
    return Row(name, reference.shape, cosine(a, b), float(euclid), worst)


def compare(target: dict[str, np.ndarray], reference: dict[str, np.ndarray], excepts: list[str] = []) -> list[Row]:
    """Rows for every name in both sets, in the target's order. Nothing in common is an error."""
    common = [name for name in target if name in reference and name not in excepts]
    if not common:
        raise UserError("nothing to compare: the two sets have no tensor name in common")
    return [compare_tensor(name, target[name], reference[name]) for name in common]


@dataclass
class Account:
    """Where each named tensor of a model went: the four parts are disjoint and make the whole."""

    compared: list[str]
    absorbed: list[str]
    listed: dict[str, str]  # not compared, with the reason
    lost: list[str]  # without a reason: a fault of the compiler

    @property
    def problem(self) -> str:
        """Empty when no tensor is lost; else one line that names the first ones."""
        if not self.lost:
            return ""
        more = f" and {len(self.lost) - 5} more" if len(self.lost) > 5 else ""
        return f"{len(self.lost)} named tensors neither compared, absorbed nor listed: {', '.join(self.lost[:5])}{more}"

    def lines(self) -> list[str]:
        """For a report: the counts, the listed tensors by reason, and the lost ones."""
        total = len(self.compared) + len(self.absorbed) + len(self.listed) + len(self.lost)
        text = [
            f"{total} named tensors: {len(self.compared)} compared, {len(self.absorbed)} absorbed, "
            f"{len(self.listed)} not compared for a reason, {len(self.lost)} lost"
        ]
        for reason in sorted(set(self.listed.values())):
            names = [name for name, why in self.listed.items() if why == reason]
            more = f" and {len(names) - 10} more" if len(names) > 10 else ""
            text.append(f"{reason}: {', '.join(names[:10])}{more}")
        if self.lost:
            text.append(f"LOST, neither compared nor absorbed: {', '.join(self.lost)}")
        return text


def account(
    reference: dict[str, np.ndarray],
    rows: list[Row],
    absorbed: Container[str],
    reasons: dict[str, str],
    excepts: list[str] = [],
    inputs: dict[str, np.ndarray] = {},
) -> Account:
    """Sorts every name of `reference`. `reasons`: why a tensor need not be computed. A tensor that is another one, or
    one of `inputs`, with other dimensions counts as listed."""
    compared = {row.name for row in rows}
    result = Account([], [], {}, [])
    views: set[tuple] = set()

    def elements(value: np.ndarray) -> tuple:
        return value.dtype.str, value.size, hash(np.ascontiguousarray(value).tobytes())

    for name in reference:
        if name in compared:
            result.compared.append(name)
        elif name in excepts:
            result.listed[name] = "excepted by the user"
        elif name in absorbed:
            result.absorbed.append(name)
        elif name in reasons:
            result.listed[name] = reasons[name]
        else:
            known = [value for n, value in reference.items() if n in compared or n in absorbed]
            views = views or {elements(value) for value in [*known, *inputs.values()]}
            if elements(reference[name]) in views:
                result.listed[name] = "the elements of another tensor in other dimensions"
            else:
                result.lost.append(name)
    return result


def label(rows: list[Row], graph: Graph) -> None:
    """Fills in the kind of each row from a graph."""
    for row in rows:
        row.kind = graph.get(row.name, ("", []))[0]


def sources(name: str, graph: Graph, known: Container[str]) -> list[str]:
    """The nearest ancestors of a tensor that are in `known`: inside a kernel or folded away are those between."""
    found, seen, stack = [], {name}, list(graph.get(name, ("", []))[1])
    while stack:
        parent = stack.pop()
        if parent in seen:
            continue
        seen.add(parent)
        if parent in known:
            found.append(parent)
        else:
            stack.extend(graph.get(parent, ("", []))[1])
    return found


def first_loss(rows: list[Row], graph: Graph, floor: float, growth: float = 8.0) -> tuple[Row, float] | None:
    """Where the first real loss happens: the first row, in the order of the rows, whose relative L2 error is above
    `floor` and above `growth` times the worst error of what it is computed from. Gives the row and that worst error;
    None without such a row.
    """
    errors = {row.name: row.relative_l2 for row in rows}
    for row in rows:
        before = max((errors[s] for s in sources(row.name, graph, errors)), default=0.0)
        if row.relative_l2 > floor and row.relative_l2 > growth * before:
            return row, before
    return None


def loss_line(loss: tuple[Row, float] | None) -> str:
    """What first_loss found, for a report."""
    if loss is None:
        return "no real loss: every error is rounding, or as small as that of what the tensor is computed from"
    row, before = loss
    return (
        f"first real loss at {row.name} ({row.kind}): relative L2 {row.relative_l2:.2e}, of what it is computed "
        f"from {before:.2e}"
    )


def report(rows: list[Row], tolerance: tuple[float, float], title: str, verbose: bool = False) -> bool:
    """Prints a ranked table (worst first) and the verdict; names the first and the worst failing tensor."""
    failed = [row for row in rows if not row.passes(tolerance)]
    ranked = sorted(rows, key=lambda r: (not r.problem, r.euclid))
    shown = ranked if verbose else ranked[:10]
    print(f"{title}: {len(rows)} tensors, tolerance cosine {tolerance[0]:g}, Euclid {tolerance[1]:g}")
    head = ["tensor", "shape", "kind", "cosine", "Euclid", "max error", ""]
    lines = [
        [
            row.name,
            "x".join(map(str, row.shape)) or "scalar",
            row.kind,
            f"{row.cosine:.7f}",
            f"{row.euclid:.7f}",
            f"{row.max_error:.3g}",
            row.problem or ("" if row.passes(tolerance) else "below tolerance"),
        ]
        for row in shown
    ]
    cli.table(head, lines, left=(0, 1, 2, 6), indent=2, marked={i for i, row in enumerate(shown) if row in failed})
    if len(shown) < len(rows):
        print(f"  ... and {len(rows) - len(shown)} more, all closer than these")
    if failed:
        worst = min(failed, key=lambda r: (not r.problem, r.euclid))
        print(f"  FAILED: {len(failed)} of {len(rows)}; first {failed[0].name}, worst {worst.name}")
    else:
        print(f"  passed: {len(rows)} of {len(rows)}")
    return not failed
