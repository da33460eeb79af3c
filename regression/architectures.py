"""Small networks of all architectures of the package transformers, exported by torch, beside onnxruntime:

    PYTHONPATH=build/python:. .venv/bin/python -m regression.architectures --python EXE [--only TEXT] [--json F]

EXE has torch, onnxscript and transformers (regression/makers/architectures.py says which), which this project needs
nowhere else. A row for each network: nodes, seconds of the conversion, least cosine of an output to onnxruntime's, how
many operations are on the host, else the reason. What cannot be built small or exported is counted apart. Exit code 1
when a network that onnxruntime runs is refused or wrong.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from pto_mlir import cli, compiler
from pto_mlir.compare import cosine
from pto_mlir.errors import UserError

PROG = "architectures"
MAKER = Path(__file__).resolve().parent / "makers" / "architectures.py"
BOUNDS = {"F32": 0.99999, "F16": 0.9995, "BF16": 0.99}
# Below these, outputs of a network are no numbers of the mode: networks without trained weights may fade out.
LEAST = {"F32": 1e-30, "F16": 1e-3, "BF16": 1e-30}
BAD = ("refused", "wrong", "crashed", "timed out")
BATCH = 12  # networks per process of EXE, whose start takes seconds


def parser() -> cli.Parser:
    p = cli.Parser(PROG, "Converts small networks of many architectures and compares them with onnxruntime.")
    p.add_argument("--python", metavar="EXE", help="a Python with torch, onnxscript and transformers")
    p.add_argument("--exported", metavar="DIR", help="keep the exported files there, and take those that are there")
    p.add_argument("--only", metavar="TEXT", default="", help="architectures whose name holds it")
    p.add_argument("--mode", choices=sorted(BOUNDS), default="F32", help="storage type")
    p.add_argument(
        "--processor", choices=sorted(compiler.processors()), default="a3", help="architecture of the device"
    )
    p.add_argument("--jobs", type=int, default=1, help="processes at a time")
    p.add_argument("--timeout", type=float, default=300, help="seconds for an export and for a conversion with its run")
    p.add_argument("--json", metavar="F", help="all rows")
    p.add_argument("--compare", metavar="FILE", help="only this .onnx, with inputs in its .npz; prints its row")
    return p


def cosine_of_numbers(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Of what is finite in both. 0 where they are not finite at the same places."""
    numbers = np.isfinite(theirs)
    return cosine(ours[numbers], theirs[numbers]) if np.array_equal(np.isfinite(ours), numbers) else 0.0


def least_cosine(ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray], mode: str) -> float:
    """Of the outputs that are numbers of the mode; 0 where a shape or an integer differs."""
    least = 1.0
    for name, wanted in theirs.items():
        got = ours[name]
        if got.shape != wanted.shape or got.dtype != wanted.dtype:
            return 0.0
        if wanted.dtype.kind != "f":
            least = min(least, float(np.array_equal(got, wanted)))
        elif np.abs(wanted[np.isfinite(wanted)]).max(initial=0) >= LEAST[mode]:
            least = min(least, cosine_of_numbers(got, wanted))
    return least


def compare(file: Path, mode: str, processor: str) -> dict:
    """Converts the file, runs it on its inputs and compares. The row's fields but `name`."""
    from pto_mlir.runtime import InferenceSession

    feed = dict(np.load(file.with_suffix(".npz")))
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    # Its fusions round otherwise, which networks without trained weights may enlarge (bit: a cosine of 0.9995).
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        reference = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        names = [output.name for output in reference.get_outputs()]
        theirs = dict(
            zip(names, reference.run(names, {i.name: feed[i.name] for i in reference.get_inputs()}), strict=True)
        )
    except Exception as error:  # onnxruntime has no common base of its errors
        return {"status": "no reference", "reason": str(error).splitlines()[0][:200]}
    if not names:
        return {"status": "no reference", "reason": "the file has no outputs"}
    with tempfile.TemporaryDirectory() as folder:
        mlir, target = f"{folder}/m.mlir", f"{folder}/m.pmodel"
        begin = time.perf_counter()
        try:
            compiler.transform(str(file), "m", None, [], mlir, "")
            made = compiler.deploy(mlir, target, mode, processor, 1, False)
            seconds = time.perf_counter() - begin
            session = InferenceSession(target)
            wanted = {i.name for i in session.get_inputs()}
            ours = session.run(names, {key: value for key, value in feed.items() if key in wanted})
        except UserError as error:
            return {"status": "refused", "reason": str(error).replace(str(file), file.name)[:400]}
    least = least_cosine(dict(zip(names, ours, strict=True)), theirs, mode)
    return {
        "status": "passed" if least >= BOUNDS[mode] else "wrong",
        "reason": "",
        "nodes": len(onnx.load(file, load_external_data=False).graph.node),
        "seconds": round(seconds, 2),
        "cosine": least,
        "host": len(made["host_ops"]),
    }


def names_of(python: str, only: str) -> list[str]:
    done = subprocess.run([python, str(MAKER), ".", "--list"], capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"{python} cannot export: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}")
    return [name for name in done.stdout.split() if only in name]


def export(python: str, names: list[str], folder: Path, timeout: float) -> dict[str, str]:
    """Why each of the names was not made, by name; one that outlasts the limit ends its process."""
    reasons, todo = {}, [name for name in names if not (folder / f"{name}.npz").exists()]
    while todo:
        try:
            done = subprocess.run(
                [python, str(MAKER), str(folder), *todo], capture_output=True, text=True, timeout=timeout * len(todo)
            )
            output, why = done.stdout, f"exit code {done.returncode}"
        except subprocess.TimeoutExpired as error:
            output, why = (error.stdout or b"").decode(), "the limit of time"
        rows = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        reasons |= {row["name"]: row["reason"] for row in rows if row["reason"]}
        todo = todo[len(rows) :]
        if todo:  # the process died at this one
            reasons[todo.pop(0)] = why
    return reasons


def compare_apart(file: Path, args) -> dict:
    """compare() in a process of its own."""
    command = [sys.executable, "-m", "regression.architectures", "--compare", str(file)]
    command += ["--mode", args.mode, "--processor", args.processor]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=args.timeout)
    except subprocess.TimeoutExpired:
        return {"status": "timed out", "reason": f"longer than {args.timeout:g} s"}
    if done.returncode:
        return {
            "status": "crashed",
            "reason": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1],
        }
    return json.loads(done.stdout.splitlines()[-1])


def line(row: dict) -> str:
    figures = ""
    if "cosine" in row:
        figures = f"{row['nodes']:6} {row['seconds']:7.2f} {row['cosine']:11.7f} {row['host']:5}"
    return f"{row['name']:28} {row['status']:13} {figures}{row['reason']}"


def run(names: list[str], folder: Path, args) -> list[dict]:
    """Exports the networks and compares each; a line for each as it comes."""
    rows = []
    print(f"{'architecture':28} {'result':13} {'nodes':>6} {'seconds':>7} {'cosine':>11} {'host':>5}")

    def batch(some: list[str]) -> None:
        reasons = export(args.python, some, folder, args.timeout)
        for name in some:
            missing = {"status": "not exported", "reason": reasons.get(name, "")}
            row = {"name": name} | (missing if name in reasons else compare_apart(folder / f"{name}.onnx", args))
            rows.append(row)
            print(line(row), flush=True)

    with ThreadPoolExecutor(max(1, args.jobs)) as pool:
        list(pool.map(batch, (names[i : i + BATCH] for i in range(0, len(names), BATCH))))
    return rows


def work(argv) -> int:
    args = parser().parse_args(argv)
    if args.compare:
        print(json.dumps(compare(Path(args.compare), args.mode, args.processor)))
        return 0
    if not args.python:
        raise UserError("--python names a Python with torch, onnxscript and transformers")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(args.exported or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        rows = run(names_of(args.python, args.only), folder, args)
    counts = Counter(row["status"] for row in rows)
    what = ", ".join(f"{count} {status}" for status, count in counts.items())
    print(f"\n{len(rows)} architectures, {args.mode} on {args.processor}: {what or 'none'}")
    if args.json:
        Path(args.json).write_text(json.dumps(sorted(rows, key=lambda row: row["name"]), indent=1) + "\n")
    return int(any(counts[bad] for bad in BAD))


def main(argv=None) -> int:
    return cli.run(PROG, work, argv)


if __name__ == "__main__":
    sys.exit(main())
