"""What PyPTO's generators write, shown to the public tools: assembler and CPU simulator.

    compare_pypto.py [--ptoas PATH] [--pto-isa DIR] [--only NAME] [--write]

PATH is the public assembler, DIR a checkout of the public pto-isa repository; without one its columns are left out.
Each kernel of pypto_kernels.py in both styles: its .pto goes to the assembler, its C++ is compiled by clang++-19 with
the simulator's headers, run, and the output compared with our simulator's on the same numbers. --write keeps the table
as docs/pypto-verdicts.md. Exits 1 when something is refused or differs and KNOWN has no reason for it.
"""

import argparse
import ctypes
import subprocess
import sys
import tempfile
from pathlib import Path

import cpu_simulator
import numpy as np
import pypto_kernels
from pto_mlir import _compiler, runtime
from pypto import codegen, ir

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/pypto-verdicts.md"
STYLES = ("today", "seed")
# (kernel, column) -> why the public tool says otherwise.
KNOWN = {(name, ".pto seed"): "the seed's spelling is older than this assembler" for name in pypto_kernels.KERNELS}
KNOWN["carried_scalars", ".pto today"] = "the assembler has no arithmetic of floats on scalars"
KNOWN["assembled", ".pto today"] = "pto.subview is newer than this assembler"
COLUMNS = tuple(f"{kind} {style}" for kind in (".pto", "C++") for style in STYLES)
CALL = r"""
#include <utility>
template <class... A, size_t... I>
void unpacked(void (*f)(A...), int64_t *args, std::index_sequence<I...>) { f(reinterpret_cast<A>(args[I])...); }
template <class... A> void unpacked(void (*f)(A...), int64_t *args) {
  unpacked(f, args, std::index_sequence_for<A...>());
}
inline void unpacked(void (*f)(int64_t *), int64_t *args) { f(args); }
extern "C" void entry(int64_t *args) { unpacked(NAME, args); }
"""


def assembled(ptoas: Path, function, style: str, folder: Path) -> str:
    text = codegen.PTOCodegen().generate(ir.Program([function], "P"), style=style)
    (folder / "k.pto").write_text(text)
    command = [ptoas, "--pto-arch", "a3", "--enable-insert-sync", folder / "k.pto", "-o", folder / "k.cpp"]
    made = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    problem = next((line for line in made.stderr.splitlines() if "rror" in line), "fails")
    return "taken" if made.returncode == 0 else problem[problem.find("error") :].replace("|", "\\|")


def simulated(isa: Path, function, style: str, arrays, folder: Path):
    text = codegen.CodeGenerator(today=style == "today", plan=True).Generate(function)
    words = function.name.split("_")
    name = function.name if style == "today" else "run" + "".join(word[0].upper() + word[1:] for word in words)
    source, library = folder / f"{style}.cpp", folder / f"{style}.so"
    source.write_text(text + CALL.replace("NAME", name))
    if problem := cpu_simulator.build(isa, source, library, "-shared", "-fPIC"):
        return problem.split("error:")[-1].strip()
    words = (ctypes.c_int64 * len(arrays))(*(array.ctypes.data for array in arrays))
    ctypes.CDLL(str(library)).entry(words)
    return None


def verdict(mine: np.ndarray, other: np.ndarray) -> str:
    if mine.tobytes() == other.tobytes():
        return "same bits"
    wide = mine.astype(np.float64), other.astype(np.float64)
    return f"within {float((np.abs(wide[0] - wide[1]) / (1 + np.abs(wide[1]))).max()):.0e}"


def row(name: str, arguments, folder: Path) -> dict[str, str]:
    function, described = pypto_kernels.KERNELS[name]
    made = np.random.default_rng(0)
    arrays = [made.standard_normal(shape).astype(dtype) for shape, dtype in described]
    arrays[-1][:] = 0
    _compiler.compile_pypto(ir.serialize(ir.Program([function], "P")), str(folder / "k.pmodel"))
    mine = [array.copy() for array in arrays]
    runtime.Kernel(str(folder / "k.pmodel")).run(*mine)
    cells = {}
    for style in STYLES:
        if arguments.ptoas:
            cells[f".pto {style}"] = assembled(arguments.ptoas, function, style, folder)
        if arguments.pto_isa:
            theirs = [array.copy() for array in arrays]
            problem = simulated(arguments.pto_isa, function, style, theirs, folder)
            cells[f"C++ {style}"] = problem or verdict(mine[-1], theirs[-1])
    return cells


def agrees(cell: str) -> bool:
    return cell in ("taken", "same bits") or (cell.startswith("within ") and float(cell.split()[1]) <= 1e-4)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--ptoas", type=Path)
    parser.add_argument("--pto-isa", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    lines, unknown = [], 0
    for name in (name for name in pypto_kernels.KERNELS if arguments.only in name):
        with tempfile.TemporaryDirectory() as folder:
            cells = row(name, arguments, Path(folder))
        for column, cell in cells.items():
            unknown += not agrees(cell) and (name, column) not in KNOWN
        reasons = "; ".join(dict.fromkeys(KNOWN[name, column] for column in cells if (name, column) in KNOWN))
        lines.append(f"| `{name}` | {' | '.join(cells.get(column, '') for column in COLUMNS)} | {reasons} |")
        print(lines[-1], flush=True)
    if arguments.write:
        head = f"| kernel | {' | '.join(COLUMNS)} | reason |\n|{'---|' * (len(COLUMNS) + 2)}\n"
        PAGE.write_text(HEAD + head + "\n".join(lines) + "\n")
    return int(unknown > 0)


HEAD = """# PyPTO's texts before the public tools

Written by `scripts/compare_pypto.py --ptoas PATH --pto-isa DIR --write`: the kernels of `scripts/pypto_kernels.py` as
`.pto` and as C++, in both styles. The public assembler (commit a56b18c3) takes the `.pto`; the C++ is compiled against
the CPU simulator of the public ISA library (commit 3186c381), and its output compared with that of our simulator.

"""

if __name__ == "__main__":
    sys.exit(main())
