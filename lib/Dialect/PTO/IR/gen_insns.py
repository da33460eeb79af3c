"""Writes what follows from the rows of the instruction table that the ops of the pto dialect name.

    gen_insns.py PTO.json ISA.json OUT_DIR

Both tables come from `llvm-tblgen --dump-json`: of PTOOps.td and of ISA.td. Written into OUT_DIR: InsnTypes.inc (per op
the row whose element types are legal for it, for the verifier), InsnCodegen.inc (the code generation of the ops that
are one instruction, operand by operand) and InsnCpp.inc (the forms of the ops' calls in C++, for lib/Target/Cpp).
"""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "ISA"))
from gen_isa import Table, camel, field_type  # noqa: E402

CLASSES = "PTO_Insn, PTO_AdjustedInsn, PTO_Insns or PTO_NoInsn"


class RowError(Exception):
    """An op and the table do not fit."""


class Op:
    """A pto op with the names of its operands, attributes and results."""

    def __init__(self, record, table):
        self.record = record
        self.name = record["opName"]
        self.cpp = record["!name"].removeprefix("PTO_")
        self.arguments = [name for _, name in record["arguments"]["args"]]
        self.results = [name for _, name in record["results"]["args"]]
        self.binds = dict(name.split("=") for name in record["names"])
        definitions = {name: table[definition["def"]] for definition, name in record["arguments"]["args"]}
        # The classes of each argument's definition and of the constraint under it.
        self.kinds = {
            name: set(
                d["!superclasses"] + (table[d["constraint"]["def"]]["!superclasses"] if "constraint" in d else [])
            )
            for name, d in definitions.items()
        }
        self.defaults = {name: d.get("defaultValue") for name, d in definitions.items()}

    def getter(self, name):
        return "get" + "".join(word[0].upper() + word[1:] for word in name.split("_")) + "()"

    def of(self, row_name):
        """What the op calls this operand of the row; None when it has no such, "" when `adjust` fills it in."""
        name = self.binds.get(row_name, row_name)
        known = not name or name in self.arguments + self.results or f"get_{name}" in self.members()
        return name if known else None

    def members(self):
        declared = self.record["extraClassDeclaration"] or ""
        return {f"get_{name}" for name in self.binds.values() if name and self.getter(name) in declared}


class Rows:
    """The instruction table as the ops name it: by the names of its records."""

    def __init__(self, isa):
        self.table = Table(isa)
        self.insns = {name: isa[name] for name in isa["!instanceof"]["Insn"]}
        self.types = {isa[name]["name"] for name in isa["!instanceof"]["ElementType"]}

    def operands(self, row):
        return self.table.operands(self.insns[row])

    def places(self, row):
        """The tiles and views of a row."""
        return [o for o in self.operands(row) if o["kind"] in ("Tile", "View")]

    def reads(self, row, rules):
        """Names of the types that a row's sources may have by the rules of an architecture."""
        types = self.table.ref(self.insns[row]["types"])
        typed = [o for o in self.places(row) if not o["types"]]
        sources = [k for k, o in enumerate(typed) if k or o["direction"] == "in"] or [0]
        combinations = types["combinations"] + types[f"{rules}only"]
        return {self.table.ref(c[0 if types["same"] else k])["name"] for c in combinations for k in sources}


def check(op, rows):
    """What an op says of its rows must be so."""
    record = op.record
    if bool(record["rows"]) == bool(record["noInsn"]):
        raise RowError(f"{op.name}: expects one of {CLASSES} on its definition")
    for row in record["rows"]:
        if row not in rows.insns:
            raise RowError(f"{op.name}: names row '{row}', which the instruction table (ISA/*.td) does not have")
    for rules in ("a3", "a5"):
        refused = set(record["refused" + rules.upper()])
        for name in sorted(refused - (rows.reads(record["rows"][0], rules) if record["rows"] else set())):
            raise RowError(f"{op.name}: refuses {name} on {rules}, which its row does not read there")
    if record["derived"]:
        check_bound(op, rows)


def check_bound(op, rows):
    """Every operand and attribute of the row must be one of the op, and the engine the row's."""
    row = op.record["rows"][0]
    named = []
    for operand in rows.operands(row):
        named += (
            [f["name"] for f in rows.table.refs(operand["fields"])] if operand["kind"] == "Attr" else [operand["name"]]
        )
    for name in named:
        if op.of(name) is None or (op.of(name) == "" and not op.record["adjusted"]):
            raise RowError(
                f"{op.name}: has no operand or attribute '{op.binds.get(name, name)}' for '{name}' of its row {row}; "
                f"name it ('{name}=..')"
            )
    for name in op.binds:
        if name not in named:
            raise RowError(f"{op.name}: binds '{name}', which its row {row} does not have")
    pipe = "PIPE_" + rows.table.ref(rows.insns[row]["pipe"])["name"]
    declared = op.record["extraClassDeclaration"] or ""
    if "::Pipe::PIPE_" in declared and f"::Pipe::{pipe};" not in declared:
        raise RowError(f"{op.name}: is not executed by {pipe}, the engine of its row {row}")


def write_types(ops, rows, out):
    """A line per op: name, opcode, refused types by the rules for a3 and a5, names and values of the row's tiles and
    views."""
    bits = {
        rows.table.data[n]["name"]: rows.table.data[n]["value"] for n in rows.table.data["!instanceof"]["ElementType"]
    }
    for op in ops:
        if not op.record["rows"] or op.record["ownTypes"]:
            continue
        row = op.record["rows"][0]
        names = [op.of(o["name"]) for o in rows.places(row)]
        if not names:
            continue
        if None in names:
            raise RowError(
                f"{op.name}: does not name the tiles of its row {row}; say where its types differ (ownTypes)"
            )
        masks = [sum(1 << bits[n] for n in op.record[key]) for key in ("refusedA3", "refusedA5")]
        values = ", ".join(f"op.{op.getter(name)}" for name in names)
        shown = ", ".join(f'"{name}"' for name in names)
        out.append(
            f'{{"pto.{op.name}", isa::Opcode::{camel(rows.insns[row]["mnemonic"])}, {masks[0]:#x}, {masks[1]:#x}, '
            f"{{{shown}}},\n"
            f" [](Operation *o, ValueRow &values) {{ auto op = cast<{op.cpp}>(o); values = {{{values}}}; }}}},"
        )


def bound(op, rows, operand):
    """The statement that binds one operand of the row, as a condition that holds when it failed; or lines of its
    own."""
    kind, name = operand["kind"], op.of(operand["name"])
    call = {"Tile": "tile", "View": "view", "Int": "integer", "Scalar": "scalar"}[kind]
    return f"failed(cg.{call}(op, op.{op.getter(name)}, insn.{operand['name']}))"


def write_codegen(ops, rows, out):
    derived = [op for op in ops if op.record["derived"]]
    for op in derived:
        info = rows.insns[op.record["rows"][0]]
        insn = camel(info["mnemonic"])
        out.append(f"static LogicalResult generateInsn(pto::{op.cpp} op, CodegenContext &cg) {{\n  isa::{insn} insn;")
        conditions, result = [], None
        for operand in rows.operands(op.record["rows"][0]):
            if operand["kind"] == "Attr":
                for field in rows.table.refs(operand["fields"]):
                    if name := op.of(field["name"]):
                        out.append(
                            f"  insn.{field['name']} = toIsa<{cpp_type(rows.table, field)}>(op.{op.getter(name)});"
                        )
            elif operand["kind"] == "Dst":
                result = op.getter(op.of(operand["name"]))
                conditions.append(f"failed(bindRegister(op, cg, op.{result}, insn.{operand['name']}))")
            else:
                conditions.append(bound(op, rows, operand))
        if op.record["adjusted"]:
            conditions.append("failed(adjust(op, cg, insn))")
        conditions.append("failed(cg.emit(op, insn))")
        out.append("  return failure(" + " ||\n                 ".join(conditions) + ");\n}")
    out.append("\nstatic void attachInsns(MLIRContext *context) {")
    out.extend(f"  pto::{op.cpp}::attachInterface<InsnModel<pto::{op.cpp}>>(*context);" for op in derived)
    out.append("}")


def cpp_forms(op):
    """The forms of the op's call, by default its mnemonic with the destination first and scratch where it has some."""
    if op.record["cpp"]:
        return op.record["cpp"]
    if "dst" not in op.arguments:
        raise RowError(f"{op.name}: expects PTO_Cpp, PTO_NoCpp or PTO_CppByEmitter on its definition")
    operands = [name for name in op.arguments if "Attr" not in op.kinds[name]]
    optional = [name for name in operands if "Optional" in op.kinds[name]]
    name = op.name.replace(".", "_").upper()
    forms = []
    for left_out in (optional, []) if optional else ([],):
        names = ["dst"] + [n for n in operands if n != "dst" and n not in left_out]
        forms.append(f"{name}({', '.join('$' + n for n in names)})")
    return forms


def write_cpp(ops, rows, out):
    """A line per op: name, why it has no C++, its forms, and what it says: its operands and attributes."""
    for op in ops:
        record = op.record
        if record["cppByEmitter"]:
            continue
        if record["noCpp"]:
            out.append(f'{{"pto.{op.name}", "{record["noCpp"]}", {{}}, nullptr}},')
            continue
        forms = cpp_forms(op)
        for name in {name for form in forms for name in re.findall(r"\$(\w+)", form)} - set(op.arguments):
            raise RowError(f"{op.name}: has no operand or attribute '{name}', which its C++ names")
        said, operands = [], 0
        for name in op.arguments:
            if "Attr" in op.kinds[name]:
                getter = op.getter(name).removesuffix("()")
                default = op.defaults[name]
                same = f"op.{getter}() == {'pto::' if '::' in default else ''}{default}" if default else "false"
                said.append(f'said.attribute("{name}", op.{getter}Attr(), {same});')
            else:
                said.append(f'said.operands("{name}", op.getODSOperands({operands}));')
                operands += 1
        shown = ", ".join(json.dumps(form) for form in forms)
        body = [f"auto op = cast<pto::{op.cpp}>(o);", *said] if said else ["(void)o, (void)said;"]
        out.append(f'{{"pto.{op.name}", "", {{{shown}}},\n [](Operation *o, Said &said) {{')
        out.extend([*(f"   {line}" for line in body), " }},"])


def cpp_type(table, field):
    name = field_type(table, field)
    return name if name == "uint32_t" else f"isa::{name}"


def generate(pto, isa):
    """The files by name; RowError when an op and the table do not fit."""
    rows = Rows(isa)
    ops = [Op(pto[name], pto) for name in sorted(pto["!instanceof"]["PTO_Op"])]
    for op in ops:
        check(op, rows)
    files = {}
    for name, writer in (
        ("InsnTypes.inc", write_types),
        ("InsnCodegen.inc", write_codegen),
        ("InsnCpp.inc", write_cpp),
    ):
        out = ["// Generated by gen_insns.py from the rows that the ops of the pto dialect name.\n"]
        writer(ops, rows, out)
        files[name] = "\n".join(out) + "\n"
    return files


def main():
    pto, isa = (json.loads(Path(path).read_text()) for path in sys.argv[1:3])
    try:
        files = generate(pto, isa)
    except RowError as error:
        sys.exit(f"error: pto.{error}")
    for name, text in files.items():
        path = Path(sys.argv[3]) / name
        if not path.exists() or path.read_text() != text:  # what did not change causes no compilation
            path.write_text(text)


if __name__ == "__main__":
    main()
