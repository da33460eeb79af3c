"""Writes how the ops of the pto dialect take operands, for the lowering of PyPTO.

    gen_forms.py PTO.json OPS.json OUT.inc

Both tables come from `llvm-tblgen --dump-json`: of PTOOps.td and of pypto/ir/ops/Ops.td. One line per pto op that a row
of PyPTO's table becomes: its operands in the order of the op.
"""

import json
import sys


def lineage(data, argument):
    """Names of the classes of an argument's constraint."""
    record = data[argument["def"]]
    classes = set(record["!superclasses"]) | {argument["def"]}
    inner = record.get("constraint")
    return classes | (lineage(data, inner) if "Arg" in classes and inner else set())


def role(name):
    return {"dst": "Dst", "tmp": "Scratch"}.get(name, "Input")


def operands(data, record):
    for argument, name in record["arguments"]["args"]:
        classes = lineage(data, argument)
        if not classes & {"Attr", "AttrConstraint", "Property"}:
            yield name, role(name), bool(classes & {"Optional", "Variadic"})


def main():
    pto, ops = (json.load(open(path)) for path in sys.argv[1:3])
    wanted = {ops[name]["pto"] for name in ops["!instanceof"]["PlOp"]} - {""}
    lines = ["// Generated from PTOOps.td by gen_forms.py."]
    for name in sorted(pto["!instanceof"]["PTO_Op"]):
        record = pto[name]
        if record["opName"] not in wanted:
            continue
        parts = ", ".join(
            f'{{"{operand}", Role::{kind}, {"true" if optional else "false"}}}'
            for operand, kind, optional in operands(pto, record)
        )
        segments = any(trait["def"] == "AttrSizedOperandSegments" for trait in record["traits"])
        on_vectors = "Pipe::PIPE_V;" in (record["extraClassDeclaration"] or "")
        flags = ", ".join("true" if each else "false" for each in (segments, on_vectors))
        lines.append(f'{{"{record["opName"]}", {flags}, {{{parts}}}}},')
    with open(sys.argv[3], "w") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
