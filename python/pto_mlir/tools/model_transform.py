"""model_transform: an ONNX model to top MLIR, checked layer by layer against onnxruntime."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .. import cli, input_values, npz
from ..compare import account, compare, label, report
from ..errors import NotForThisCPU, UserError
from ..preprocess import Preprocess
from .inputs import check_readable, load_inputs

PROG = "model_transform"


def parser() -> cli.Parser:
    p = cli.Parser(PROG, "Converts an ONNX model to the top dialect (.mlir with its weights beside it).")
    p.add_argument("--model_name", required=True, help="name of the net")
    p.add_argument("--model_def", required=True, help="the .onnx file")
    p.add_argument(
        "--mlir", required=True, help="output, ends in .mlir; weights go to <name>_top_weights.safetensors beside it"
    )
    p.add_argument(
        "--input_shapes",
        help="shapes of the inputs, such as [[1,3,224,224]], or [[1,3,48,width]] with --dynamic width=32:1280:8; the "
        "model's own when absent",
    )
    p.add_argument(
        "--dynamic",
        metavar="NAME=SIZES",
        help="sizes of dimensions that the model names: batch=1..4,length=16|32 are compiled one by one, a range such "
        "as tokens=1:512 or tokens=8:512:8 (multiples of 8) in one kernel where the model allows it",
    )
    p.add_argument(
        "--max_extent",
        type=int,
        default=32,
        help="the largest extent that a run may bring forth (NonZero, Range, slices, loops): all up to it are compiled",
    )
    p.add_argument(
        "--input_values",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="the value of an input, such as sr=16000 or 'shape=[2,-1]': it is compiled in and no input any more; may "
        "be given several times",
    )
    p.add_argument(
        "--state",
        metavar="INPUT=OUTPUT",
        default="",
        help="pairs that live on the device between runs, such as 'past.*.key=present.*.key', or auto (comma list)",
    )
    p.add_argument("--state_length", type=int, default=0, help="the most rows of states that grow with every run")
    p.add_argument(
        "--kernels",
        action="append",
        default=[],
        metavar="FILE",
        help="a .py or .pto with kernels of your own for operators of the model; may be given several times",
    )
    p.add_argument(
        "--strict-f64", action="store_true", help="compute in double precision, on the host, whatever the model does"
    )
    p.add_argument("--output_names", type=cli.names, default=[], help="cut the graph at these tensors (comma list)")
    p.add_argument("--resize_dims", type=cli.numbers, default=[], help="height,width that an image is resized to")
    p.add_argument("--keep_aspect_ratio", action="store_true", help="resize without distortion and pad the rest")
    p.add_argument("--pad_value", type=float, default=0.0, help="pixel value of the padding (before mean and scale)")
    p.add_argument("--pad_type", choices=["center", "normal"], default="center", help="normal pads right and bottom")
    p.add_argument("--mean", type=cli.numbers, default=[0.0, 0.0, 0.0], help="per channel, subtracted")
    p.add_argument("--scale", type=cli.numbers, default=[1.0, 1.0, 1.0], help="per channel, multiplied after the mean")
    p.add_argument("--pixel_format", choices=["bgr", "rgb", "gray"], default="bgr")
    p.add_argument("--channel_format", choices=["nchw", "nhwc"], default="nchw")
    p.add_argument("--test_input", help="image(s) or .npz; with it every tensor is compared with onnxruntime's")
    p.add_argument(
        "--test_result", help="output .npz: onnxruntime's value of every tensor, for model_deploy --test_reference"
    )
    p.add_argument(
        "--tolerance", type=cli.tolerance, default=(0.99, 0.99), help="least cosine, least Euclidean similarity"
    )
    p.add_argument("--excepts", type=cli.names, default=[], help="tensors that are not compared (comma list)")
    p.add_argument("--debug", action="store_true", help="show every tensor of the comparison")
    return p


def run_module(mlir, feed, progress):
    """Its tensors, the names of those that are part of others, and what computed them: this machine's CPU, or the
    cmodel for types that the CPU has no code for."""
    from .. import compiler

    try:
        with progress.step("run the top module"):
            return compiler.interpret(mlir, feed, all_tensors=True), [], "top against onnxruntime"
    except NotForThisCPU:
        with progress.step("run it as F32 on the cmodel, which has all its types"):
            return *compiler.simulate(mlir, feed), "cmodel against onnxruntime"


def _listed(values: list[int]) -> str:
    """Sizes in order; of many the first and the last."""
    if len(values) > 8:
        return f"{values[0]}, {values[1]}, .. {values[-1]} ({len(values)} sizes)"
    return ", ".join(map(str, values))


def transform(argv) -> int:
    args = parser().parse_args(argv)
    if not args.mlir.endswith(".mlir"):
        raise UserError(f"--mlir: expects a name that ends in .mlir, got {args.mlir}")
    if not args.model_name or "/" in args.model_name or "\0" in args.model_name:
        raise UserError(f"--model_name: expects a name, of which files are named too, got {args.model_name!r}")
    if args.test_result and not args.test_input:
        raise UserError("--test_result needs --test_input")
    if args.test_input and args.kernels:
        raise UserError("--test_input compares with onnxruntime, which has no operators of --kernels; leave one out")
    from .. import compiler

    sizes, ranges = cli.sizes(args.dynamic, compiler.version_nodes()) if args.dynamic is not None else ({}, {})
    if not 0 <= args.max_extent <= 512:
        raise UserError(f"--max_extent: expects 0 to 512, got {args.max_extent}")
    if args.state_length < 0 or args.state_length > 2**24:
        raise UserError(f"--state_length: expects 1 to {2**24}, got {args.state_length}")
    values = input_values.parse(args.input_values)
    shapes = cli.shapes(args.input_shapes) if args.input_shapes is not None else None
    cli.existing(args.model_def, "--model_def")
    cli.writable(args.mlir, "--mlir")
    if args.test_result:
        cli.writable(args.test_result, "--test_result")
    if args.test_input:
        check_readable(args.test_input)
    if args.resize_dims and len(args.resize_dims) != 2:
        raise UserError("--resize_dims: expects height,width")
    preprocess = Preprocess(
        [int(d) for d in args.resize_dims],
        args.keep_aspect_ratio,
        args.pad_value,
        args.pad_type,
        args.mean,
        args.scale,
        args.pixel_format,
        args.channel_format,
    )

    users = None
    if args.kernels:
        from ..kernels import UserKernels

        users = UserKernels(args.kernels)
    progress = cli.Progress()
    print(f"{PROG}: {args.model_def} -> {args.mlir}")
    with progress.step("import, infer shapes, fold"):
        summary = compiler.transform(
            args.model_def,
            args.model_name,
            shapes,
            args.output_names,
            args.mlir,
            json.dumps(preprocess.to_dict()),
            args.max_extent,
            sizes,
            ranges,
            args.state,
            args.state_length,
            args.strict_f64,
            values,
            users,
        )
    print(f"  {summary['nodes']} ONNX nodes -> {summary['ops']} top ops, {summary['weight_bytes']:,} bytes of weights")
    for name, (least, greatest, multiple) in summary["bounded"].items():
        step = f" in multiples of {multiple}" if multiple != 1 else ""
        print(cli.printable(f"  size '{name}': {least} to {greatest}{step}, known at run time"))
    for name, several in sizes.items():
        if len(several) > 1 and name not in summary["bounded"]:
            print(cli.printable(f"  size '{name}': {_listed(several)}, each in kernels of its own"))
    for remark in summary["remarks"]:
        print(cli.printable(f"  remark: {remark}"))
    if not args.test_input:
        return 0

    from ..reference import constants, run_onnx
    from ..state import inputs_of

    net = compiler.describe(args.mlir)
    feed = load_inputs(args.test_input, inputs_of(net), preprocess)
    npz.save(Path(args.mlir).with_name(f"{args.model_name}_in_f32.npz"), feed)
    whole = feed | input_values.typed(args.model_def, values)
    with progress.step("run onnxruntime"):
        reference = run_onnx(args.model_def, whole, all_tensors=True)
    values, absorbed, title = run_module(args.mlir, feed, progress)
    rows = compare(values, reference, args.excepts)
    label(rows, net["graph"])
    ok = report(rows, args.tolerance, title, args.debug)
    if args.debug:
        reasons = constants(args.model_def, feed)
        # The interpreter runs the NHWC form; model_deploy reports the same permutations as absorbed.
        merged = {name for name, (kind, _) in net["graph"].items() if kind == "permute"}
        reasons |= {name: "a permutation merged by the layout" for name in merged}
        where = account(reference, rows, {*net["absorbed"], *absorbed}, reasons, args.excepts)
        for line in where.lines():
            print(f"  {line}")
        ok = ok and not where.lost
    if args.test_result:
        npz.save(args.test_result, reference)
    return 0 if ok else 1


def main(argv=None) -> int:
    return cli.run(PROG, transform, argv)


if __name__ == "__main__":
    sys.exit(main())
