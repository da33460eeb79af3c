"""model_runner: runs a .pmodel (cmodel), a top .mlir (MLIR's execution engine) or an .onnx (onnxruntime) on an .npz."""

from __future__ import annotations

import sys

from .. import cli, npz
from ..errors import UserError
from ..preprocess import Preprocess
from .inputs import load_inputs

PROG = "model_runner"


def parser() -> cli.Parser:
    p = cli.Parser(PROG, "Runs a model on inputs and writes its outputs.")
    p.add_argument("--model", required=True, help=".pmodel, .mlir or .onnx")
    p.add_argument("--input", required=True, help=".npz with the inputs by name")
    p.add_argument("--net", default="", help="which net of a .pmodel that has several")
    p.add_argument("--output", default="_output.npz", help=".npz with the outputs by name")
    p.add_argument("--dump_all_tensors", action="store_true", help="also write every named tensor that the model keeps")
    p.add_argument("--device", default="cmodel", help="cmodel, or the path of a device plug-in")
    p.add_argument(
        "--mode",
        choices=["functional", "timing", "checked"],
        default="functional",
        help="how the cmodel runs: timing also counts cycles and prints them; checked also looks for races "
        "between engines and reads of bytes that nobody wrote",
    )
    p.add_argument(
        "--trace", help="with --mode timing: writes what each engine did when, for Perfetto or chrome://tracing"
    )
    p.add_argument(
        "--blocks",
        type=int,
        default=24,
        help=(
            "with --mode timing: the chip's blocks, one cube core and two vector cores each, on which the "
            "model's tasks are scheduled"
        ),
    )
    p.add_argument("--threads", type=int, default=0, help="host threads that simulate cores (0 = all)")
    p.add_argument(
        "--profile",
        nargs="?",
        const="",
        metavar="TRACE.json",
        help="print what each kernel cost: time, instructions, bytes of global memory; with a file, also the critical "
        "path, and write the run's tasks for Perfetto or chrome://tracing (with --mode timing in the chip's time)",
    )
    return p


def _computes(kernel: dict, most: int = 3) -> str:
    """The tensors that a row's kernel computes: the first few, and how many more."""
    tensors = kernel.get("tensors", [])
    return ", ".join(tensors[:most]) + (f" and {len(tensors) - most} more" if len(tensors) > most else "")


def profile_table(kernels: list[dict]) -> None:
    """Prints the rows of InferenceSession.profile_kernels, the slowest kernel first, with their sum at the end."""
    keys = ("launches", "instructions", "gm_bytes_read", "gm_bytes_written", "host_seconds")
    total = {key: sum(k[key] for k in kernels) for key in keys}
    rows = [
        [
            k["name"],
            k["launches"],
            f"{k['host_seconds'] * 1e3:.3f}",
            f"{100 * k['host_seconds'] / total['host_seconds'] if total['host_seconds'] else 0:.1f}%",
            f"{k['instructions']:,}",
            f"{k['gm_bytes_read'] / 1e6:.3f}",
            f"{k['gm_bytes_written'] / 1e6:.3f}",
            _computes(k),
        ]
        for k in [*sorted(kernels, key=lambda k: -k["host_seconds"]), {**total, "name": "all"}]
    ]
    head = ["kernel", "launches", "ms", "share", "instructions", "MB read", "MB written", "computes"]
    cli.table(head, rows, left=(0, 7))


def timing_table(kernels: list[dict]) -> None:
    """Prints what kernels cost on the device, by the rows of profile_kernels in timing mode: the longest first, their
    sum at the end. An engine's share is the part of the time in which it worked, or waited for another."""
    kernels = [k for k in kernels if "cycles" in k]
    total = {key: sum(k[key] for k in kernels) for key in ("launches", "cycles", "seconds")}
    for key in ("busy", "stalled"):
        total[key] = {e: sum(k[key][e] for k in kernels) for e in (kernels[0][key] if kernels else ())}
    rows = []
    for k in [*sorted(kernels, key=lambda k: -k["cycles"]), {**total, "name": "all"}]:
        engines = [
            f"{e} {100 * busy / k['cycles']:.0f}% ({100 * k['stalled'][e] / k['cycles']:.0f}%)"
            for e, busy in k["busy"].items()
            if busy > 0
        ]
        time = [f"{k['cycles']:,.0f}", f"{k['seconds'] * 1e6:.2f}"]
        rows.append([k["name"], k["launches"], *time, ", ".join(engines), _computes(k)])
    head = ["kernel", "launches", "cycles", "us", "busy (waiting) part of each engine's time", "computes"]
    cli.table(head, rows, left=(0, 4, 5))


def _numpy_type(ort_type: str) -> str:
    names = {"float": "float32", "double": "float64", "bool": "bool"}
    inner = ort_type.removeprefix("tensor(").removesuffix(")")
    return names.get(inner, inner)


def run_model(argv) -> int:
    args = parser().parse_args(argv)
    path = cli.existing(args.model, "--model")
    if args.mode != "functional" and path.suffix != ".pmodel":
        raise UserError(f"--mode {args.mode}: only a .pmodel runs on the cmodel, got {path}")
    if args.trace and args.mode != "timing":
        raise UserError("--trace needs --mode timing")
    if args.profile and args.mode not in ("functional", "timing"):
        raise UserError(
            f"--profile with a file needs --mode functional or timing, which run tasks; --mode {args.mode} runs "
            f"launches in order"
        )
    if args.net and path.suffix != ".pmodel":
        raise UserError(f"--net: only a .pmodel has several nets, got {path}")
    if args.profile is not None and path.suffix != ".pmodel":
        raise UserError(f"--profile: only a .pmodel has kernels, got {path}")
    for option in ("output", "profile", "trace"):
        if name := getattr(args, option):
            cli.writable(name, f"--{option}")
    if path.suffix == ".pmodel":
        from ..runtime import InferenceSession

        mode = f"timing:{args.trace}" if args.trace else args.mode
        session = InferenceSession(
            str(path),
            device=args.device,
            threads=args.threads,
            mode=mode,
            net=args.net,
            trace=bool(args.profile) or args.mode == "timing",
            blocks=args.blocks,
        )
        inputs = [(i.name, list(i.shape), _numpy_type(i.type)) for i in session.get_inputs()]
        feed = load_inputs(args.input, inputs, Preprocess())
        values = dict(zip([o.name for o in session.get_outputs()], session.run(None, feed)))
        if args.mode == "timing":
            timing_table(session.profile_kernels())
        if args.profile is not None:
            profile_table(session.profile_kernels())
        in_virtual_time = args.mode == "timing" and session.info()["traced"]
        if in_virtual_time:
            print(f"tasks in virtual time on {args.blocks} cube and {2 * args.blocks} vector cores:")
        if args.profile or in_virtual_time:
            print(session.trace_report(), end="")
        if args.profile:
            session.write_trace(args.profile)
        if args.dump_all_tensors:
            again = session.new_state() if session.has_state else None
            values = {**session.run_with_debug(feed, again), **values}
    elif path.suffix == ".mlir":
        from .. import compiler
        from ..state import inputs_of

        cli.existing_mlir(args.model, "--model")
        net = compiler.describe(str(path))
        feed = load_inputs(args.input, inputs_of(net), Preprocess(**net["preprocess"]))
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
