"""pto-compile of a Python file: a PyPTO program as .pmodel, .pto, .cpp or a folder of all three."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from .. import cli, pypto
from ..errors import UserError

PROG = "pto-compile"


def parser() -> cli.Parser:
    p = cli.Parser(
        PROG, "Compiles a PyPTO program. Other inputs than .py: see pto-compile --help of the native command."
    )
    p.add_argument("program", help="a Python file with @pl.jit functions or @pl.program classes; it is imported")
    p.add_argument("--entry", default="", help="which function or class; by default the only one")
    p.add_argument(
        "--shape",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=SHAPE",
        help="a=128x128xf32 for each tensor that the program annotates without a shape, n=3 for a number",
    )
    p.add_argument("--processor", default="", help="by default the first one of the instruction table")
    p.add_argument("--blocks", type=int, default=1, help="blocks of each launch")
    p.add_argument("-o", dest="output", required=True, help="a .pmodel, .pto or .cpp, else a folder for all of them")
    return p


def work(argv) -> int:
    args = parser().parse_args(argv)
    file = cli.existing(args.program, "the program")
    if not 1 <= args.blocks <= 1024:
        raise UserError(f"--blocks: expects 1 to 1024, got {args.blocks}")
    pypto.enable()
    files = importlib.import_module("pypto.ir.program_file")
    sys.path.insert(1, str(file.resolve().parent))
    try:
        files.compile_file(file, Path(args.output), args.entry, args.shape, args.processor, args.blocks)
    except files.ParserError as error:
        raise UserError(pypto.described(error)) from None
    except (ImportError, SyntaxError) as error:
        raise UserError(f"{file}: {error}") from None
    except (ValueError, TypeError) as error:
        raise UserError(str(error)) from None
    return 0


def main(argv=None) -> int:
    return cli.run(PROG, work, argv)
