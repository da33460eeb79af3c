"""model_runner: runs a .pmodel (cmodel), a top .mlir (MLIR's execution engine) or an .onnx (onnxruntime) on an .npz."""

from __future__ import annotations

import sys
from pathlib import Path

from .. import cli, npz
from ..errors import UserError
from ..preprocess import Preprocess
from .inputs import load_inputs

PROG = "model_runner"


def parser() -> cli.Parser:
    p = cli.Parser(PROG, "Runs a model on inputs and writes its outputs.")
    p.add_argument("--model", required=True, help=".pmodel, .mlir or .onnx")
    p.add_argument("--input", required=True, help=".npz with the inputs by name")
    p.add_argument("--output", default="_output.npz", help=".npz with the outputs by name")
    p.add_argument("--dump_all_tensors", action="store_true", help="also write every named tensor that the model keeps")
    p.add_argument("--device", default="cmodel", help="cmodel, or the path of a device plug-in")
    p.add_argument("--mode", choices=["functional", "checked"], default="functional",
                   help="how the cmodel runs: checked also looks for races between engines and reads of bytes that nobody wrote")  # fmt: skip
    p.add_argument("--threads", type=int, default=0, help="host threads that simulate cores (0 = all)")
    p.add_argument("--profile", action="store_true", help="print what each kernel cost: time, instructions, bytes of global memory")
    return p


def profile_table(kernels: list[dict]) -> list[str]:
    """The rows of InferenceSession.profile_kernels as lines of text, the slowest kernel first, with their sum at the end."""
    keys = ("launches", "instructions", "gm_bytes_read", "gm_bytes_written", "host_seconds")
    total = {key: sum(k[key] for k in kernels) for key in keys}
    rows = sorted(kernels, key=lambda k: -k["host_seconds"]) + [{**total, "name": "all"}]
    width = max(len(k["name"]) for k in rows)
    lines = [f"{'kernel':<{width}} {'launches':>9} {'ms':>10} {'share':>6} {'instructions':>13} {'MB read':>10} {'MB written':>11}"]
    for k in rows:
        share = 100 * k["host_seconds"] / total["host_seconds"] if total["host_seconds"] else 0
        lines.append(f"{k['name']:<{width}} {k['launches']:>9} {k['host_seconds'] * 1e3:>10.3f} {share:>5.1f}% "
                     f"{k['instructions']:>13,} {k['gm_bytes_read'] / 1e6:>10.3f} {k['gm_bytes_written'] / 1e6:>11.3f}")  # fmt: skip
    return lines


def _numpy_type(ort_type: str) -> str:
    names = {"float": "float32", "double": "float64", "bool": "bool"}
    inner = ort_type.removeprefix("tensor(").removesuffix(")")
    return names.get(inner, inner)


def run_model(argv) -> int:
    args = parser().parse_args(argv)
    path = cli.existing(args.model, "--model")
    if args.mode != "functional" and path.suffix != ".pmodel":
        raise UserError(f"--mode {args.mode}: only a .pmodel runs on the cmodel, got {path}")
    if args.profile and path.suffix != ".pmodel":
        raise UserError(f"--profile: only a .pmodel has kernels, got {path}")
    if path.suffix == ".pmodel":
        from ..runtime import InferenceSession

        session = InferenceSession(str(path), device=args.device, threads=args.threads, mode=args.mode)
        inputs = [(i.name, list(i.shape), _numpy_type(i.type)) for i in session.get_inputs()]
        feed = load_inputs(args.input, inputs, Preprocess())
        values = dict(zip([o.name for o in session.get_outputs()], session.run(None, feed)))
        if args.profile:
            print("\n".join(profile_table(session.profile_kernels())))
        if args.dump_all_tensors:
            values = {**session.run_with_debug(feed), **values}
    elif path.suffix == ".mlir":
        from .. import compiler

        net = compiler.describe(str(path))
        feed = load_inputs(args.input, net["inputs"], Preprocess(**net["preprocess"]))
        values = compiler.interpret(str(path), feed, args.dump_all_tensors)
    elif path.suffix == ".onnx":
        from ..reference import run_onnx

        values = run_onnx(path, npz.load(args.input), args.dump_all_tensors)
    else:
        raise UserError(f"{path}: expects a .pmodel, .mlir or .onnx")
    npz.save(args.output, values)
    for name, value in list(values.items())[-8:]:
        print(f"  {name} {list(value.shape)} {value.dtype}")
    print(f"{PROG}: {len(values)} tensors -> {args.output}")
    return 0


def main(argv=None) -> int:
    return cli.run(PROG, run_model, argv)


if __name__ == "__main__":
    sys.exit(main())
