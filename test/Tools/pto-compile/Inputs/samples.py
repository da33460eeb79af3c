"""Compiles one-line samples of .pto, each wrapped into a module that defines the values it uses.

usage: samples.py FILE.. -- pto-compile [options]
A line is `why | sample` or `why | sample | message`: with a message the sample must be refused with it, else it must
compile. ` ; ` in a sample stands for a line break. Lines that begin with `#` or are empty are skipped; `@a5`, `@level3`
and `@pmodel` in front of `why` choose the architecture, the level and what is made.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

TYPES = {
    "V": "!pto.tile_buf<vec, 32x32xf32>",
    "H": "!pto.tile_buf<vec, 32x32xf16>",
    "I": "!pto.tile_buf<vec, 32x32xi32>",
    "S": "!pto.tile_buf<vec, 32x32xi16>",
    "B": "!pto.tile_buf<vec, 32x32xi8>",
    "U": "!pto.tile_buf<vec, 32x32xui8>",
    "W": "!pto.tile_buf<vec, 32x32xui32>",
    "C": "!pto.tile_buf<vec, 32x1xf32, blayout=col_major>",
    "CI": "!pto.tile_buf<vec, 32x1xi32, blayout=col_major>",
    "R": "!pto.tile_buf<vec, 1x32xf32>",
    "RI": "!pto.tile_buf<vec, 1x32xi32>",
    "RH": "!pto.tile_buf<vec, 1x32xf16>",
    "MA": "!pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>",
    "MF": "!pto.tile_buf<mat, 32x32xf32, blayout=col_major, slayout=row_major>",
    "MI": "!pto.tile_buf<mat, 32x32xi8, blayout=col_major, slayout=row_major>",
    "L": "!pto.tile_buf<left, 32x32xf16, slayout=row_major>",
    "T": "!pto.tile_buf<right, 32x32xf16, slayout=col_major>",
    "A": "!pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>",
    "Z": "!pto.tile_buf<bias, 1x32xf32>",
    "F": "!pto.tile_buf<scaling, 1x32xf32>",
    "G": "!pto.partition_tensor_view<32x32xf32>",
    "GH": "!pto.partition_tensor_view<32x32xf16>",
    "GI": "!pto.partition_tensor_view<32x32xi32>",
    "GB": "!pto.partition_tensor_view<32x32xi8>",
    "D": "!pto.tensor_view<?x?xf32>",
    "P": "!pto.ptr<f32>",
}
ARGUMENTS = {
    "p": "!P",
    "ph": "!pto.ptr<f16>",
    "pi": "!pto.ptr<i32>",
    "pb": "!pto.ptr<i8>",
    "q": "i64",
    "n": "i32",
    "k": "i16",
    "e": "f32",
    "j": "f16",
}
VIEWS = {"g": ("p", "f32"), "gh": ("ph", "f16"), "gi": ("pi", "i32"), "gb": ("pb", "i8")}


def value_type(name):
    """The type alias of a tile, from its name: %ma1 is an !MA."""
    match = re.fullmatch(r"([a-z]+)\d*", name)
    alias = match and match.group(1).upper()
    return alias if alias in TYPES else None


def free_types(sample):
    """Types of the values %o.. that a sample uses but does not define, found next to them."""
    found = {}
    for values, types in re.findall(r"(?:ins|outs)\((%[^:{]*?)(?: \{[^}]*\})? : ((?:[^()]|\([^)]*\))*)\)", sample):
        parts = re.split(r", (?=[!a-z][^=]*$|!|i\d|f\d|index|vector)", types)
        for value, kind in zip(values.split(","), parts):
            found.setdefault(value.strip()[1:], kind.strip())
    return found


def wrap(sample, arch, level):
    text = sample.replace(" ; ", "\n    ")
    arguments = re.findall(r"\(%(\w+)\) = |iter_args\(%(\w+)|for %(\w+)", text)
    made = set(re.findall(r"%(\w+)\s*=", text)) | {name for names in arguments for name in names if name}
    used = [n for n in dict.fromkeys(re.findall(r"%(\w+)", text)) if n not in made]
    free = free_types(sample)
    body, constants, signature, address = [], {}, [], 0

    def constant(n):
        constants[n] = f"    %x{n} = arith.constant {n} : index"
        return f"%x{n}"

    for name in used:
        if re.fullmatch(r"x\d+", name):
            constant(int(name[1:]))
        elif re.fullmatch(r"n\d+", name):
            body.append(f"    %{name} = arith.constant {name[1:]} : i32")
        elif name in VIEWS:
            pointer, element = VIEWS[name]
            signature.append(pointer)
            constant(0), constant(1), constant(32)
            body.append(
                f"    %{name}v = pto.make_tensor_view %{pointer}, shape = [%x32, %x32], strides = [%x32, %x1] : "
                f"!pto.tensor_view<32x32x{element}>"
            )
            body.append(
                f"    %{name} = pto.partition_view %{name}v, offsets = [%x0, %x0], sizes = [%x32, %x32] : "
                f"!pto.tensor_view<32x32x{element}> -> !{name.upper()}"
            )
        elif name == "d":
            signature.append("p")
            constant(1), constant(32)
            body.append("    %d = pto.make_tensor_view %p, shape = [%x32, %x32], strides = [%x32, %x1] : !D")
        elif name in ARGUMENTS:
            signature.append(name)
        elif value_type(name) or name in free:
            kind = free[name] if name in free and not value_type(name) else "!" + value_type(name)
            place = ""
            if level == 3:
                body.append(f"    %{name}.at = arith.constant {address} : i64")
                place, address = f" addr = %{name}.at", address + 8192
            body.append(f"    %{name} = pto.alloc_tile{place} : {kind}")
    arguments = ", ".join(f"%{a}: {ARGUMENTS[a]}" for a in dict.fromkeys(signature))
    aliases = "\n".join(
        f"!{name} = {kind}"
        for name, kind in TYPES.items()
        if re.search(rf"!{name}\b", " ".join(body) + text + arguments)
    )
    lines = list(constants.values()) + body + ["    " + text]
    return (
        f'{aliases}\nmodule attributes {{pto.target_arch = "{arch}"}} {{\n  func.func @k({arguments}) {{\n'
        + "\n".join(lines)
        + "\n    return\n  }\n}\n"
    )


def main():
    split = sys.argv.index("--")
    files, command = sys.argv[1:split], sys.argv[split + 1 :]
    bad = count = 0
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "k.pto")
        for line in (line for file in files for line in pathlib.Path(file).read_text().splitlines()):
            if not line.strip() or line.startswith("#"):
                continue
            why, sample, *message = [part.strip() for part in line.split(" | ")]
            arch = "a5" if "@a5" in why else "a3"
            level = 3 if "@level3" in why else 2
            output = pathlib.Path(folder, "out.pmodel" if "@pmodel" in why else "out.pto")
            source.write_text(wrap(sample, arch, level))
            run = subprocess.run(
                [*command, str(source), "--level", str(level), "-o", str(output)], capture_output=True, text=True
            )
            good = run.returncode == 1 and message[0] in run.stderr if message else run.returncode == 0
            count += 1
            if not good:
                bad += 1
                expected = "be refused with: " + message[0] if message else "compile"
                print(f"{why}: expected to {expected}\n{run.stderr}{source.read_text()}")
    print(f"{count} samples, {bad} not as expected")
    return bad != 0


sys.exit(main())
