"""Generates everything that depends on a row of the instruction table.

    gen_isa.py TABLE.json OUT_DIR

TABLE.json comes from `llvm-tblgen --dump-json include/pto_mlir/ISA/ISA.td`. Written into OUT_DIR: Enums.h.inc
(enumerations), Insns.h (a struct per row, the list of rows, operand visitors), Tables.inc (the rows as data), isa.md
(the reference page).
"""

import json
import os
import sys
import zlib


def camel(mnemonic):
    """tadd -> TAdd, tmatmul_acc -> TMatmulAcc, load_scalar -> LoadScalar."""
    words = mnemonic.split("_")
    if mnemonic[0] == "t":  # tile instructions; no scalar mnemonic begins with t
        words[0] = "T" + words[0][1:].capitalize()
        words[1:] = [w[0].upper() + w[1:] for w in words[1:]]
        return "".join(words)
    return "".join(w[0].upper() + w[1:] for w in words)


class Table:
    def __init__(self, data):
        self.data = data

    def of(self, cls, key):
        return sorted((self.data[name] for name in self.data["!instanceof"][cls]), key=lambda record: record[key])

    def ref(self, value):
        return self.data[value["def"]]

    def refs(self, values):
        return [self.ref(v) for v in values]

    def operands(self, insn):
        return [self.ref(arg) for arg, _ in insn["operands"]["args"]]


NUM_SLOTS = {"Int": 1, "Scalar": 1, "Wide": 0, "Dst": 0, "Attr": 0, "Tile": 3}


def field_type(table, field):
    return table.ref(field["enumeration"])["name"] or "uint32_t"


def write_enums(table, out):
    out.append("// Generated from include/pto_mlir/ISA by gen_isa.py.\n")

    def enum(name, base, entries):
        out.append(f"enum class {name} : {base} {{")
        for entry, value in entries:
            out.append(f"  {entry} = {value},")
        out.append("};\n")

    for cls in ("ElementType", "Layout", "Pad", "Pipe", "CoreKind", "Memory", "Arch", "ArchFeature"):
        enum(cls, "uint8_t", [(r["name"], r["value"]) for r in table.of(cls, "value") if not r.get("testOnly")])
    own = [r for r in table.of("Enum", "!name") if "TableEnum" not in r["!superclasses"] and r["name"]]
    for record in own:
        enum(record["name"], "uint32_t", [(v, i) for i, v in enumerate(record["values"])])
    for cls in ("Shape", "AccessPattern", "CostForm", "CurveChoice"):
        enum(cls, "uint8_t", [(r["name"], i) for i, r in enumerate(table.of(cls, "!name"))])
    bits = {r["value"]: r["width"] for r in table.of("ElementType", "value")}
    out.append(f"inline constexpr unsigned kNumElementTypes = {len(bits)};")
    out.append(
        "inline constexpr uint8_t kElementBits[kNumElementTypes] = {"
        + ", ".join(str(bits[i]) for i in range(len(bits)))
        + "};"
    )
    for cls in ("ElementType", "Layout", "Pad", "Memory", "Arch", "CoreKind"):
        names = [r["name"] for r in table.of(cls, "value") if not r.get("testOnly")]
        out.append(f"inline constexpr const char *k{cls}Names[] = {{" + ", ".join(f'"{n}"' for n in names) + "};")
    pipes = {r["value"]: r["name"] for r in table.of("Pipe", "value")}
    out.append(
        "inline constexpr const char *kPipeNames[] = {"
        + ", ".join(f'"{pipes[i]}"' if i in pipes else "nullptr" for i in range(max(pipes) + 1))
        + "};"
    )


def write_struct(table, insn, name, out):
    out.append(f"/// `{insn['mnemonic']}`: {insn['summary']}")
    out.append(f"struct {name} {{")
    for op in table.operands(insn):
        kind = op["kind"]
        if kind in ("Int", "Scalar"):
            out.append(f"  Value {op['name']};")
        elif kind == "Wide":
            out.append(f"  int64_t {op['name']} = 0;")
        elif kind == "Dst":
            out.append(f"  uint8_t {op['name']} = 0;")
        elif kind in ("Tile", "View"):
            out.append(f"  {kind} {op['name']};")
        else:
            for field in table.refs(op["fields"]):
                out.append(f"  {field_type(table, field)} {field['name']} = {{}};")
    out.append("};")


def packing(table, op):
    """(field, shift, width) of an attribute word; the last field lies at bit 0."""
    result, shift = [], 0
    for field in reversed(table.refs(op["fields"])):
        result.append((field, shift, field["width"]))
        shift += field["width"]
    return list(reversed(result))


def write_visitor(table, insn, name, out):
    out.append(f"template <class V> void visitOperands({name} &insn, V &&v) {{")
    if not table.operands(insn):
        out.append("  (void)insn, (void)v;")
    for k, op in enumerate(table.operands(insn)):
        kind, field_name = op["kind"], op["name"]
        call = {"Int": "integer", "Scalar": "scalar", "Wide": "wide", "Dst": "dst", "Tile": "tile", "View": "view"}.get(
            kind
        )
        if call:
            out.append(f"  v.{call}({k}, insn.{field_name});")
            continue
        parts = packing(table, op)
        word = " | ".join(
            f"(uint32_t(insn.{f['name']}){' & ' + hex((1 << w) - 1) if w < 32 else ''}) << {s}" for f, s, w in parts
        )
        out.append(f"  {{\n    uint32_t word = {word};")
        if any(w < 32 for _, _, w in parts):
            fits = " && ".join(f"uint32_t(insn.{f['name']}) <= {hex((1 << w) - 1)}" for f, _, w in parts if w < 32)
            out.append(f"    v.attr({k}, word, {fits});")
        else:
            out.append(f"    v.attr({k}, word, true);")
        for f, s, w in parts:
            mask = f" & {hex((1 << w) - 1)}" if w < 32 else ""
            out.append(f"    insn.{f['name']} = {field_type(table, f)}((word >> {s}){mask});")
        out.append("  }")
    out.append("}")


def write_insns(table, insns, out):
    out.append("// Generated from include/pto_mlir/ISA by gen_isa.py: one struct per row of the instruction table.")
    out.append("#ifndef PTO_MLIR_ISA_INSNS_H\n#define PTO_MLIR_ISA_INSNS_H\n")
    out.append('#include "pto_mlir/ISA/Operands.h"\n')
    out.append(
        "/// X(struct, mnemonic, opcode, pipe) for every row, opcodes ascending. Pipe ALL: every engine executes it."
    )
    rows = [
        f"X({camel(i['mnemonic'])}, {i['mnemonic']}, {i['opcode']:#05x}, {table.ref(i['pipe'])['name']})" for i in insns
    ]
    out.append("#define ISA_INSNS(X) \\\n  " + " \\\n  ".join(rows) + "\n")
    out.append("namespace pto_mlir::isa {\n")
    out.append(f"inline constexpr unsigned kNumInsns = {len(insns)};")
    checksum = zlib.crc32(
        json.dumps(
            [
                [
                    i["opcode"],
                    i["mnemonic"],
                    [
                        (
                            o["kind"],
                            o["name"],
                            o.get("fields") and [(f["name"], f["width"]) for f in table.refs(o["fields"])],
                        )
                        for o in table.operands(i)
                    ],
                ]
                for i in insns
            ]
        ).encode()
    )
    out.append("/// Changes whenever a row's opcode, name or operands do.")
    out.append(f"inline constexpr uint32_t kTableVersion = {checksum:#010x};\n")
    out.append("enum class Opcode : uint16_t {")
    for i in insns:
        out.append(f"  {camel(i['mnemonic'])} = {i['opcode']:#x},")
    out.append("};\n")
    out.append("template <class Insn> struct OpcodeOf;")
    for i in insns:
        name = camel(i["mnemonic"])
        write_struct(table, i, name, out)
        out.append(f"template <> struct OpcodeOf<{name}> {{ static constexpr Opcode value = Opcode::{name}; }};")
        write_visitor(table, i, name, out)
        out.append("")
    out.append("} // namespace pto_mlir::isa\n#endif")


# Default access pattern of the operands that a row reads, by its shape relation: of all operands but the last tile, of
# the last tile.
ACCESS_OF_SHAPE = {
    "same": ("lane", "lane"),
    "rowReduce": ("dstRows", "dstRows"),
    "colReduce": ("dstCols", "dstCols"),
    "rowExpand": ("lane", "rowStatistic"),
    "colExpand": ("lane", "colStatistic"),
    "transpose": ("transposed", "transposed"),
    "any": ("valid", "valid"),
}


def accesses(table, insn):
    """The access pattern of each operand; None if it is neither a tile nor a view."""
    ops = table.operands(insn)
    places = [k for k, op in enumerate(ops) if op["kind"] in ("Tile", "View")]
    named = [r["name"] for r in table.refs(insn["accesses"])]
    if not named:
        shape = table.ref(insn["shape"])["name"]
        if shape not in ACCESS_OF_SHAPE or any(ops[k]["kind"] == "View" for k in places):
            sys.exit(f"{insn['!name']}: say with Touches<[..]> what its operands stand for")
        most, last = ACCESS_OF_SHAPE[shape]
        named = ["valid" if ops[k]["direction"] == "out" else last if k == places[-1] else most for k in places]
    if len(named) != len(places):
        sys.exit(f"{insn['!name']}: {len(named)} access patterns for {len(places)} tiles and views")
    result = [None] * len(ops)
    for k, name in zip(places, named):
        result[k] = name
    return result


def write_costs(table, out):
    """Writes the rates and curves that rows refer to."""

    def text(record):
        return json.dumps(record["source"])

    for r in table.of("Rate", "!name"):
        out.append(
            f"static const Rate cost{r['!name']} = {{CostForm::{table.ref(r['form'])['name']}, "
            f"{r['head']}, {r['work']}, {r['more']}, {r['tail']}, {'true' if r['counts'] else 'false'}, {text(r)}}};"
        )
    fields = ("perRepeat", "fixed", "perRowRepeat", "perRow", "fixedOfRows")
    for r in table.of("CurveSet", "!name"):
        name, rows = r["!name"], "{}"
        if r["curves"]:
            rows = f"curves{name}"
            body = ", ".join("{" + ", ".join(c[f] for f in fields) + "}" for c in table.refs(r["curves"]))
            out.append(f"static const Curve {rows}[] = {{{body}}};")
        out.append(
            f"static const CurveSet cost{name} = {{CurveChoice::{table.ref(r['by'])['name']}, {rows}, {text(r)}}};"
        )


# Of a chip, in the order of ChipInfo; lists by GlobalPath.
CHIP_NUMBERS = (
    "clock",
    "launchSeconds",
    "dispatchSeconds",
    "crossSeconds",
    "l2BytesPerSecond",
    "hbmBytesPerSecond",
    "l2Bytes",
    "lineBytes",
)
CHIP_PATHS = ("toUB", "toL1", "fromUB", "fromL1", "fromL0C")
CHIP_STARTS = ("startToUB", "startToL1", "startFromUB")


def chips(table):
    return sorted(table.of("Chip", "!name"), key=lambda chip: table.ref(chip["arch"])["value"])


def write_chips(table, out):
    out.append("static const ChipInfo kChips[] = {")
    for chip in chips(table):

        def number(key):
            return f"{{{table.ref(chip[key])['value']}, {json.dumps(table.ref(chip[key])['source'])}}}"

        paths = ", ".join(["{}"] + [number(key) for key in CHIP_PATHS])
        starts = ", ".join(["{}"] + [number(key) for key in CHIP_STARTS])
        out.append(
            f"    {{Arch({table.ref(chip['arch'])['value']}), {table.ref(chip['arch'])['blocks']}, "
            + ", ".join(number(key) for key in CHIP_NUMBERS)
            + f", {{{paths}}}, {{{starts}}}, {number('extractFactor')}, "
            + ("true}," if chip["vectorCurves"] else "false},")
        )
    out.append("};\n")


def mask_of(records):
    value = 0
    for r in records:
        value |= 1 << r["value"]
    return f"{value:#x}"


def archs_by_column(table):
    """(bit set of architectures, column of type lists): a row is legal with the columns of the architecture's
    `rules`."""
    rows = table.of("Arch", "value")
    a3, a5 = (mask_of([r for r in rows if r["rules"] == name]) for name in ("a3", "a5"))
    return [(mask_of(rows), "combinations"), (a5, "a5only"), (a3, "a3only")]


ARCH_NUMBERS = ("scratchBegin", "scratchBytes", "blocks", "vectorCores", "eventIds", "crossFlags")


def write_arch(table, arch):
    """A row of `ArchInfo`, as C++."""

    def memories(sizes):
        ordered = sorted(sizes, key=lambda s: table.ref(s["memory"])["value"])
        return "{{" + ", ".join(f"{{{s['bytes']}, {s['alignment']}}}" for s in ordered) + "}}"

    carriers = {e["missing"]["def"]: table.ref(e["carrier"]) for e in table.refs(arch["missing"])}
    engines = [str(number) for number in range(16)]
    for pipe in table.of("Pipe", "value"):
        engines[pipe["value"]] = str(carriers.get(pipe["!name"], pipe)["value"])
    if arch["eventIds"] > 8 or arch["crossFlags"] > 16 or not 1 <= arch["vectorCores"] <= 2:
        sys.exit(f"{arch['name']}: commands name at most 8 event ids, 16 cross-core flags and 2 vector cores")

    own = table.refs(arch["memories"])
    planned = {s["memory"]["def"]: s for s in own} | {
        s["memory"]["def"]: s for s in table.refs(arch["assemblerMemories"])
    }
    fields = [
        f"Arch({arch['value']})",
        f'"{arch["name"]}"',
        f"Arch::{arch['rules']}",
        memories(own),
        memories(planned.values()),
        *(str(arch[key]) for key in ARCH_NUMBERS),
        f"Layout::{table.ref(arch['leftLayout'])['name']}",
        "{" + ", ".join(f"Pipe({number})" for number in engines) + "}",
        "true" if arch["testOnly"] else "false",
        mask_of(table.refs(arch["features"])),
    ]
    return "    {" + ", ".join(fields) + "},"


def write_tables(table, insns, out):
    out.append("// Generated from include/pto_mlir/ISA by gen_isa.py: the rows as data.\n")
    enums = {r["!name"]: r for r in table.of("Enum", "!name")}
    for name, r in enums.items():
        if r["values"]:
            out.append(
                f"static const char *const values{name}[] = {{" + ", ".join(f'"{v}"' for v in r["values"]) + "};"
            )

    write_costs(table, out)

    def enum_info(field):
        r = table.ref(field["enumeration"])
        if r["name"] in ("Pipe", "Memory"):
            return f"k{r['name']}Names, std::size(k{r['name']}Names), false"
        if not r["values"]:
            return "nullptr, 0, true"
        return f"values{r['!name']}, {len(r['values'])}, {'true' if r['open'] else 'false'}"

    for i in insns:
        ident = i["!name"]
        ops = table.operands(i)
        for k, op in enumerate(ops):
            if op["kind"] == "Attr":
                fields = ", ".join(f'{{"{f["name"]}", {s}, {w}, {enum_info(f)}}}' for f, s, w in packing(table, op))
                out.append(f"static const FieldInfo fields{ident}_{k}[] = {{{fields}}};")
        entries = []
        patterns = [f"AccessPattern::{name or 'unknown'}" for name in accesses(table, i)]
        for k, op in enumerate(ops):
            direction = {"in": "In", "out": "Out", "inout": "InOut"}.get(op.get("direction"), "In")
            if op["kind"] == "Attr":
                entries.append(
                    f'{{OperandKind::Attr, "{op["name"]}", Direction::In, 0, 0, 0, {patterns[k]}, fields{ident}_{k}}}'
                )
            elif op["kind"] in ("Tile", "View"):
                memories, layouts, types = (mask_of(table.refs(op[key])) for key in ("memories", "layouts", "types"))
                entries.append(
                    f'{{OperandKind::{op["kind"]}, "{op["name"]}", Direction::{direction}, '
                    f"{memories}, {layouts}, {types}, {patterns[k]}, {{}}}}"
                )
            else:
                entries.append(
                    f'{{OperandKind::{op["kind"]}, "{op["name"]}", Direction::In, 0, 0, 0, {patterns[k]}, {{}}}}'
                )
        if entries:
            out.append(f"static const OperandInfo operands{ident}[] = {{\n    " + ",\n    ".join(entries) + "};")
        types = table.ref(i["types"])
        combos = []
        typed = [o for o in ops if o["kind"] in ("Tile", "View") and not o["types"]]
        for archs, key in archs_by_column(table):
            for combo in types[key]:
                names = [t["name"] for t in table.refs(combo)]
                if types["same"]:
                    names = names * len(typed)
                if len(names) != len(typed):
                    sys.exit(f"{ident}: a type combination has {len(names)} types for {len(typed)} operands")
                combos.append(f"{{{archs}, {{" + ", ".join(f"ElementType::{n}" for n in names) + "}}")
        if combos:
            out.append(f"static const TypeCombination types{ident}[] = {{" + ", ".join(combos) + "};")
        i["_operands"] = f"operands{ident}" if entries else "{}"
        i["_types"] = f"types{ident}" if combos else "{}"
    out.append("\nstatic const InsnInfo kInsns[] = {")
    for i in insns:
        out.append(
            f'    {{Opcode::{camel(i["mnemonic"])}, "{i["mnemonic"]}", Pipe::{table.ref(i["pipe"])["name"]}, '
            f"Shape::{table.ref(i['shape'])['name']}, {i['_operands']}, {i['_types']}, &cost{i['cost']['def']}, "
            f"&cost{i['a5Cost']['def']}}},"
        )
    out.append("};\n")
    out.append("static const ArchInfo kArchs[] = {")
    out.extend(write_arch(table, arch) for arch in table.of("Arch", "value"))
    out.append("};\n")
    write_chips(table, out)
    out.append(
        "static const uint16_t kCorePipes[] = {"
        + ", ".join(mask_of(table.refs(c["pipes"])) for c in table.of("CoreKind", "value"))
        + "};"
    )


def cost(table, insn):
    """The cost of a row in words, with its source."""
    rate, curves = table.ref(insn["cost"]), table.ref(insn["a5Cost"])
    form = table.ref(rate["form"])["summary"]
    if table.ref(rate["form"])["name"] == "cycles":
        form = "a cycle"
    text = form.format(h=rate["head"], w=rate["work"], m=rate["more"], t=rate["tail"])
    counting = ", 16 more where rows end inside 256 bytes" if rate["counts"] else ""
    text = f"{text}{counting} ({rate['source']})"
    if curves["curves"]:
        first = table.ref(curves["curves"][0])
        text += f"; a5: {first['perRepeat']} per repeat + {first['fixed']} cycles ({curves['source']}"
        text += ")" if len(curves["curves"]) == 1 else "; other types have curves of their own)"
    return text


def write_chip_docs(table, out):
    out.append("\n## Chips as the cost model sees them\n\nPaths are those of one core that has the path for itself.\n")
    out.append("| chip | number | value | source |\n|---|---|---|---|")
    for chip in chips(table):
        name = table.ref(chip["arch"])["name"]
        if table.ref(chip["arch"])["testOnly"]:
            continue
        out.append(f"| {name} | blocks | {table.ref(chip['arch'])['blocks']} | |")
        for key in CHIP_NUMBERS + CHIP_PATHS + CHIP_STARTS + ("extractFactor",):
            number = table.ref(chip[key])
            out.append(f"| {name} | {key} | {number['value']} | {number['source']} |")


def shipped_archs(table):
    return [a for a in table.of("Arch", "value") if not a["testOnly"]]


def write_docs(table, insns, out):
    out.append(
        "# The instruction table\n\nGenerated from `include/pto_mlir/ISA/*.td`; words and operand kinds: "
        "docs/commands.md.\n"
    )
    out.append(
        "## Memories\n\n| memory | holds | "
        + " | ".join(f"{a['name']} bytes (alignment)" for a in shipped_archs(table))
        + " |"
    )
    out.append("|---|---|" + "---|" * len(shipped_archs(table)))
    for m in table.of("Memory", "value"):
        cells = []
        for a in shipped_archs(table):
            size = next(s for s in table.refs(a["memories"]) if table.ref(s["memory"]) is m)
            cells.append(f"{size['bytes']} ({size['alignment']})")
        out.append(f"| {m['name']} | {m['summary']} | " + " | ".join(cells) + " |")
    out.append(
        "\n## Limits of every tile\n\nThe address is a multiple of its memory's alignment. Rows of an ND box, "
        "columns of a DN box are multiples of 32 bytes; boxed layouts\n"
        "have whole boxes (sides: docs/commands.md and below). The valid region lies in the box, whose sides are "
        "at most 65535; its last byte lies in\n"
        "the memory. Where a row relates the valid shapes of its tiles, static ones are compared when a kernel "
        "is loaded, others when it runs.\n"
    )
    patterns = {r["name"]: r["summary"] for r in table.of("AccessPattern", "!name")}
    out.append("| layout | |\n|---|---|")
    for layout in table.of("Layout", "value"):
        out.append(f"| {layout['name']} | {layout['summary']} |")
    write_chip_docs(table, out)
    out.append(
        "\n## Instructions\n\nA name of the public ISA that is missing here is explained in docs/isa-names.md.\n"
    )
    for i in insns:
        out.append(f"### `{i['mnemonic']}`: {i['opcode']:#05x}, {table.ref(i['pipe'])['name']}\n\n`{i['summary']}`\n")
        if i["description"]:
            out.append(i["description"] + "\n")
        ops = table.operands(i)
        if ops:
            out.append("| operand | kind | in | layouts | bytes |\n|---|---|---|---|---|")
        for op, pattern in zip(ops, accesses(table, i)):
            if op["kind"] == "Attr":
                text = ", ".join(
                    f"`{f['name']}`"
                    + (
                        f" ({' '.join(table.ref(f['enumeration'])['values'])})"
                        if table.ref(f["enumeration"])["values"]
                        else ""
                    )
                    + f" bits {s}-{s + w - 1}"
                    for f, s, w in packing(table, op)
                )
                out.append(f"| {op['name']} | Attr: {text} | | | |")
            elif op["kind"] in ("Tile", "View"):
                memories = " ".join(m["name"] for m in table.refs(op["memories"])) or "global"
                own = " of " + " ".join(t["name"] for t in table.refs(op["types"])) if op["types"] else ""
                out.append(
                    f"| {op['name']} | {op['kind']}{own}, {op['direction']} | {memories} | "
                    f"{' '.join(layout['name'] for layout in table.refs(op['layouts']))} | "
                    f"{patterns[pattern]} |"
                )
            else:
                out.append(f"| {op['name']} | {op['kind']} | | | |")
        types = table.ref(i["types"])
        for title, key in (("Types", "combinations"), ("Types on a5 only", "a5only"), ("Types on a3 only", "a3only")):
            if types[key]:
                out.append(
                    f"\n{title}: "
                    + ", ".join(
                        "(" + ", ".join(t["name"] for t in table.refs(c)) + ")"
                        if len(c) > 1
                        else table.ref(c[0])["name"]
                        for c in types[key]
                    )
                    + "."
                )
        shape = table.ref(i["shape"])
        if shape["name"] != "any":
            out.append(f"\nShapes: {shape['summary']}.")
        out.append(f"\nCost: {cost(table, i)}.\n")


def main():
    with open(sys.argv[1]) as f:
        table = Table(json.load(f))
    insns = table.of("Insn", "opcode")
    opcodes = [i["opcode"] for i in insns]
    for key in ("opcode", "mnemonic"):
        seen = {}
        for i in insns:
            if i[key] in seen:
                sys.exit(f"{i['!name']} and {seen[i[key]]} have the same {key} {i[key]}")
            seen[i[key]] = i["!name"]
    if min(opcodes) < 1 or max(opcodes) > 1023:
        sys.exit("an opcode is outside 1..1023")
    for i in insns:
        slots = sum(NUM_SLOTS.get(o["kind"], 11) for o in table.operands(i))
        if slots > 32:
            sys.exit(f"{i['!name']} has {slots} maskable slots, 32 fit the register mask")
    os.makedirs(sys.argv[2], exist_ok=True)
    for name, writer in (
        ("Enums.h.inc", lambda o: write_enums(table, o)),
        ("Insns.h", lambda o: write_insns(table, insns, o)),
        ("Tables.inc", lambda o: write_tables(table, insns, o)),
        ("isa.md", lambda o: write_docs(table, insns, o)),
    ):
        out = []
        writer(out)
        path, text = os.path.join(sys.argv[2], name), "\n".join(out) + "\n"
        if not os.path.exists(path) or open(path).read() != text:  # an unchanged file triggers no compilation
            with open(path, "w") as f:
                f.write(text)


if __name__ == "__main__":
    main()
