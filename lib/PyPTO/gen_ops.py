"""Generates what depends on a row of PyPTO's table of operations.

    gen_ops.py TABLE.json OUT_DIR

TABLE.json comes from `llvm-tblgen --dump-json include/pypto/ir/ops/Ops.td`. Written into OUT_DIR: OpRules.h.inc (the
result rules), Ops.inc (the rows as data), _ops.pyi (a signature and a docstring per operation).
"""

import json
import os
import sys

KINDS = {"int": "Int", "number": "Number", "bool": "Boolean", "str": "String", "dtype": "DType"}
# What a parameter accepts, in Python.
HINTS = {
    "Tensor": "Tensor",
    "Scalar": "Expr | int | float",
    "Index": "Expr | int",
    "Bool": "Expr | bool",
    "Tuple": "Sequence[Expr | int]",
    "Any": "Expr",
    "Array": "Expr",
    "int": "int",
    "number": "int | float",
    "bool": "bool",
    "str": "str",
    "dtype": "DataType",
}


class Table:
    def __init__(self, data):
        self.data = data
        rows = [data[name] for name in data["!instanceof"]["PlOp"]]
        # One row per namespace.
        self.rows = sorted(
            ((f"{space}.{row['name']}", space, row) for row in rows for space in row["spaces"]), key=lambda r: r[0]
        )

    def params(self, row):
        return [(self.data[value["def"]], name) for value, name in row["params"]["args"]]

    def rules(self):
        return sorted(self.data["!instanceof"]["Rule"])

    def aliases(self):
        """(other name, name); one in a namespace of the row stays in it, others mean the row's first."""
        found = {}
        for name, space, row in self.rows:
            for alias in row["aliases"]:
                own = alias.split(".")[0]
                if space == (own if own in row["spaces"] else row["spaces"][0]):
                    found[alias] = name
        return sorted(found.items())


def quote(text):
    return json.dumps(text)


def write_rows(table, out):
    out.append("// Generated from include/pypto/ir/ops by gen_ops.py.")
    for number, (_, _, row) in enumerate(table.rows):
        params = table.params(row)
        if not params:
            continue
        out.append(f"constexpr OpParam kParams{number}[] = {{")
        for param, name in params:
            kind = param["kind"] if param["operand"] else KINDS.get(param["kind"], "Enum")
            enumeration = param["kind"] if kind == "Enum" else "MemorySpace"
            flags = f"{'true' if param['operand'] else 'false'}, {'true' if param['optional'] else 'false'}"
            out.append(
                f"  {{{quote(name)}, ParamKind::{kind}, EnumKind::{enumeration}, {flags}, {quote(param['value'])}}},"
            )
        out.append("};")
    out.append("constexpr OpRow kOps[] = {")
    for number, (name, _, row) in enumerate(table.rows):
        params = f"kParams{number}" if row["params"]["args"] else "{}"
        texts = ", ".join(quote(row[key]) for key in ("pto", "scalar", "element", "like", "summary"))
        archs = ", ".join("true" if arch in row["archs"] else "false" for arch in ("a2a3", "a5"))
        rule = row["rule"]["def"][len("Rule") :]
        out.append(f"  {{{quote(name)}, {params}, OpRule::{rule}, {texts}, {archs}}},")
    out.append("};")
    out.append("constexpr OpAlias kAliases[] = {")
    out.extend(f"  {{{quote(alias)}, {quote(name)}}}," for alias, name in table.aliases())
    out.append("};")


def write_rules(table, out):
    out.append("// Generated from include/pypto/ir/ops by gen_ops.py.")
    out.append("enum class OpRule : uint8_t {")
    for rule in table.rules():
        out.append(f"  {rule[len('Rule') :]}, ///< {table.data[rule]['summary']}")
    out.append("};")


def hint(param, space):
    kind = param["kind"]
    if kind == "Data":
        text = {"tile": "Tile", "tensor": "Tensor"}.get(space, "Tile | Tensor")
    else:
        text = HINTS.get(kind, kind)
    return text + (" | None" if param["optional"] and (param["operand"] or param["value"] == "None") else "")


def default(param):
    if not param["optional"]:
        return ""
    if param["operand"] or param["value"] == "None":
        return " = None"
    if param["kind"] == "str":
        return f" = {quote(param['value'])}"
    if param["kind"] in KINDS and param["kind"] != "dtype":
        return f" = {param['value']}"
    owner = "DataType" if param["kind"] == "dtype" else param["kind"]
    return f" = {owner}.{param['value']}"


def signature(table, row, space):
    """The parameters as Python declares them. One with a default before one without is a keyword."""
    params = table.params(row)
    last = max((i for i, (param, _) in enumerate(params) if not param["optional"]), default=-1)
    parts, keyword = [], False
    for i, (param, name) in enumerate(params):
        if param["optional"] and i < last and not keyword:
            parts.append("*")
            keyword = True
        parts.append(f"{name}: {hint(param, space)}{default(param)}")
    return ", ".join(parts)


def result(row, space):
    rule = row["rule"]["def"]
    if rule == "RuleNone":
        return "None"
    if rule in ("RuleElement", "RuleIndex"):
        return "Expr"
    if row["like"] == "out" or space == "tensor":
        return "Tensor"
    return "Tile" if space == "tile" else "Expr"


def write_stubs(table, out):
    out.append('"""Operations of pypto.language. Generated from the table of operations by gen_ops.py."""')
    out.append("from collections.abc import Sequence\n")
    enums = {p["kind"] for _, _, row in table.rows for p, _ in table.params(row) if not p["operand"]} - set(KINDS)
    names = ", ".join(sorted(enums | {"DataType", "Expr", "Tensor", "Tile"}))
    out.append(f"from pypto.language.typing import {names}\n")
    for space in sorted({space for _, space, _ in table.rows}):
        out.append(f"class {space}:")
        for _, _, row in (r for r in table.rows if r[1] == space):
            out.append("    @staticmethod")
            out.append(f"    def {row['name']}({signature(table, row, space)}) -> {result(row, space)}:")
            out.append(f'        """{row["summary"]}"""')
        out.append("")


def main():
    with open(sys.argv[1]) as file:
        table = Table(json.load(file))
    for name, write in (("OpRules.h.inc", write_rules), ("Ops.inc", write_rows), ("_ops.pyi", write_stubs)):
        out = []
        write(table, out)
        with open(os.path.join(sys.argv[2], name), "w") as file:
            file.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
