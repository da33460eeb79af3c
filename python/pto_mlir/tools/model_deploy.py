"""model_deploy: top MLIR to a .pmodel, run on the cmodel and compared with the reference."""

from __future__ import annotations

import os
import sys

from .. import cli, compiler, npz
from ..compare import ROUNDING, account, compare, first_loss, label, loss_line, report
from ..errors import UserError
from ..preprocess import Preprocess
from .inputs import check_readable, load_inputs

PROG = "model_deploy"
TOLERANCE = {"F32": (0.99, 0.99), "F16": (0.99, 0.90), "BF16": (0.99, 0.85)}


def parser() -> cli.Parser:
    p = cli.Parser(PROG, "Compiles a top .mlir to a .pmodel and checks it on the cmodel.")
    p.add_argument("--mlir", required=True, help="the .mlir that model_transform wrote")
    p.add_argument("--model", required=True, help="output, ends in .pmodel")
    p.add_argument(
        "--quantize", choices=sorted(TOLERANCE), default="F32", type=str.upper, help="storage type of the net"
    )
    processors = compiler.processors()
    p.add_argument("--processor", "--chip", dest="processor", choices=list(processors), default=next(iter(processors)))
    most = ", ".join(f"{blocks} on {name}" for name, blocks in processors.items())
    p.add_argument(
        "--num_core", type=int, default=1, help=f"blocks (1 cube core and 2 vector cores each), at most {most}"
    )
    p.add_argument("--test_input", help="image(s) or .npz; with it the .pmodel is run on the cmodel")
    p.add_argument("--test_reference", help=".npz that model_transform --test_result wrote; compared by tensor name")
    p.add_argument("--tolerance", type=cli.tolerance, help="least cosine, least Euclidean similarity (default by type)")
    p.add_argument("--excepts", type=cli.names, default=[], help="tensors that are not compared (comma list)")
    p.add_argument(
        "--debug", action="store_true", help="keep every named tensor in the .pmodel and compare all of them"
    )
    p.add_argument("--verbose", action="store_true", help="say where a pass takes a slow way, tensor by tensor")
    p.add_argument("--dump_ir", metavar="DIR", help="write the module after each stage")
    p.add_argument("--emit-pto", metavar="DIR", help="write each kernel as .pto")
    p.add_argument(
        "--emit-pto-for",
        choices=["assembler", "pto-compile"],
        default="assembler",
        help=(
            "assembler: only what the public assembler lowers; pto-compile: the ops that the model runs (same commands)"
        ),
    )
    return p


MOST_NAMES = 6


def listed(names: list[str]) -> str:
    """The first of many names."""
    return ", ".join(names if len(names) <= MOST_NAMES else [*names[:2], f"{names[2]} and {len(names) - 3} others"])


ON_HOST = " on the host, "


def joined(lines: list[str]) -> list[str]:
    """Lines `tensor: operation on the host, reason`: one line for many tensors of an operation, and one for all of a
    reason that many operations have."""
    reasons: dict[str, dict[str, list[str]]] = {}  # the tensors by reason, then by what is done
    parts = []
    for line in lines:
        name, _, what = line.rpartition(": ")
        same = reasons.setdefault(what.partition(ON_HOST)[2] or what, {})
        same.setdefault(what, []).append(name)
        parts.append((line, what, same))
    single = [line for line, what, same in parts if max(len(same), len(same[what])) <= MOST_NAMES]
    of_operations, of_reasons = [], []
    for reason, same in reasons.items():
        if len(same) <= MOST_NAMES:
            of_operations += [f"{listed(names)}: {what}" for what, names in same.items() if len(names) > MOST_NAMES]
            continue
        most = sorted(same, key=lambda what: -len(same[what]))
        count, operations = sum(map(len, same.values())), [what.partition(ON_HOST)[0] for what in most]
        of_reasons.append(f"{count} operations ({listed(operations)}){ON_HOST}{reason}")
    return single + of_operations + of_reasons


def deploy(argv) -> int:
    args = parser().parse_args(argv)
    if not args.model.endswith(".pmodel"):
        raise UserError(f"--model: expects a name that ends in .pmodel, got {args.model}")
    blocks = compiler.processors()[args.processor]
    if not 1 <= args.num_core <= blocks:
        raise UserError(f"--num_core: expects 1 to {blocks}, got {args.num_core}")
    if args.test_reference and not args.test_input:
        raise UserError("--test_reference needs --test_input")
    cli.existing_mlir(args.mlir, "--mlir")
    cli.writable(args.model, "--model")
    if args.test_input:
        check_readable(args.test_input)
    if args.test_reference:
        npz.names(args.test_reference)
    if args.dump_ir:
        os.makedirs(args.dump_ir, exist_ok=True)
    if args.emit_pto:
        os.makedirs(args.emit_pto, exist_ok=True)

    progress = cli.Progress()
    print(f"{PROG}: {args.mlir} -> {args.model} ({args.quantize}, {args.processor}, {args.num_core} core)")
    with progress.step("compile"):
        result = compiler.deploy(
            args.mlir,
            args.model,
            args.quantize,
            args.processor,
            args.num_core,
            args.debug,
            args.dump_ir or "",
            args.emit_pto or "",
            args.emit_pto_for == "pto-compile",
            args.verbose,
        )
    print(
        f"  {result['kernels']} kernels ({result['launches']} launches), {result['command_bytes']:,} bytes of commands,"
        f" {result['weight_bytes']:,} of weights, {result['file_bytes']:,} in all"
    )
    host = result["host_ops"] if args.verbose else joined(result["host_ops"])
    print(cli.printable(f"  on the host: {'; '.join(host) if host else 'none, all computation runs on the engines'}"))
    if narrowed := result["narrowed"]:
        names = ", ".join(narrowed) if args.verbose else listed(narrowed)
        print(cli.printable(f"  converted on the host, range checked: {names}"))
    if result["clipped"]:
        print(cli.printable(f"  cut to the range of {args.quantize}: {', '.join(result['clipped'])}"))
    if args.verbose:
        for line in result["remarks"] or ["no pass takes a slow way"]:
            print(cli.printable(f"  remark: {line}"))
    if args.emit_pto:
        print(f"  {result['emitted']} kernels written to {args.emit_pto} as .pto")
        for line in result["not_emitted"]:
            print(f"  not as .pto: {line}")
        for line in result["rewritten"]:
            print(f"  in other ops than the model runs: {line}")
    if not args.test_input:
        return 0

    from ..runtime import InferenceSession
    from ..state import inputs_of, run_session

    net = compiler.describe(args.mlir)
    feed = load_inputs(args.test_input, inputs_of(net), Preprocess(**net["preprocess"]))
    session = InferenceSession(args.model)
    with progress.step("run on the cmodel"):
        values = run_session(session, net, feed, args.debug)
    if not args.test_reference:
        return 0
    reference = npz.load(args.test_reference)
    tolerance = args.tolerance or TOLERANCE[args.quantize]
    rows = compare(values, reference, args.excepts)
    label(rows, net["graph"])
    ok = report(rows, tolerance, "cmodel against the reference", args.debug)
    if args.debug:
        by_name = {row.name: row for row in rows}
        ordered = [by_name[name] for name in net["graph"] if name in by_name]
        print(f"  {loss_line(first_loss(ordered, net['graph'], ROUNDING[args.quantize]))}")
        computed = set(net["graph"])
        reasons = {name: "constant, or folded by model_transform" for name in reference if name not in computed}
        where = account(reference, rows, set(result["absorbed"]), reasons, args.excepts)
        for line in where.lines():
            print(f"  {line}")
        ok = ok and not where.lost
    if args.debug and result["absorbed"]:
        print(f"  absorbed by folding, fusion into a kernel or the fixpipe: {', '.join(result['absorbed'])}")
    return 0 if ok else 1


def main(argv=None) -> int:
    return cli.run(PROG, deploy, argv)


if __name__ == "__main__":
    sys.exit(main())
