"""npz_tool: compare, show and cut .npz files of named tensors."""

from __future__ import annotations

import sys

import numpy as np

from .. import cli, npz
from ..compare import compare, report
from ..errors import UserError

PROG = "npz_tool"


class _SubParser(cli.Parser):
    """The parser of one command; argparse makes it with keywords of its own."""

    def __init__(self, prog: str, description: str = "", **_):
        super().__init__(prog, description)


def parser() -> cli.Parser:
    p = cli.Parser(PROG, "Works on .npz files of named tensors.")
    sub = p.add_subparsers(dest="command", required=True, parser_class=_SubParser)
    c = sub.add_parser("compare", help="compare two files tensor by tensor; exit 1 when one is below tolerance")
    c.add_argument("target")
    c.add_argument("reference")
    c.add_argument(
        "--tolerance", type=cli.tolerance, default=(0.99, 0.99), help="least cosine, least Euclidean similarity"
    )
    c.add_argument("--excepts", type=cli.names, default=[], help="tensors that are not compared (comma list)")
    c.add_argument("-v", "--verbose", action="store_true", help="show every tensor")
    d = sub.add_parser("dump", help="list the tensors, or show one")
    d.add_argument("file")
    d.add_argument("name", nargs="?")
    e = sub.add_parser("extract", help="copy some tensors to a new file")
    e.add_argument("file")
    e.add_argument("output")
    e.add_argument("names", type=cli.names, help="comma list")
    m = sub.add_parser("merge", help="join files; a name in two of them is an error")
    m.add_argument("output")
    m.add_argument("files", nargs="+")
    r = sub.add_parser("rename", help="rename one tensor")
    r.add_argument("file")
    r.add_argument("old")
    r.add_argument("new")
    return p


def _tensor(data, file, name):
    if name not in data:
        raise UserError(f"{file}: no tensor {name!r}; it has {', '.join(data) or 'none'}")
    return data[name]


def work(argv) -> int:
    args = parser().parse_args(argv)
    if args.command == "compare":
        rows = compare(npz.load(args.target), npz.load(args.reference), args.excepts)
        return 0 if report(rows, args.tolerance, f"{args.target} against {args.reference}", args.verbose) else 1
    if args.command == "dump":
        data = npz.load(args.file)
        if args.name:
            print(np.array2string(_tensor(data, args.file, args.name), threshold=4096))
        else:
            for name, value in data.items():
                print(f"{name}  {list(value.shape)}  {value.dtype}")
    elif args.command == "extract":
        data = npz.load(args.file)
        npz.save(args.output, {name: _tensor(data, args.file, name) for name in args.names})
    elif args.command == "merge":
        merged: dict[str, np.ndarray] = {}
        for file in args.files:
            data = npz.load(file)
            twice = merged.keys() & data.keys()
            if twice:
                raise UserError(f"{file}: tensor {sorted(twice)[0]!r} is in an earlier file too")
            merged |= data
        npz.save(args.output, merged)
    elif args.command == "rename":
        data = npz.load(args.file)
        _tensor(data, args.file, args.old)
        if args.new in data:
            raise UserError(f"{args.file}: there is a tensor {args.new!r} already")
        npz.save(args.file, {args.new if k == args.old else k: v for k, v in data.items()})
    return 0


def main(argv=None) -> int:
    return cli.run(PROG, work, argv)


if __name__ == "__main__":
    sys.exit(main())
