"""Every pto op names its rows of the instruction table or says why it has none; what follows from the rows is
generated."""

import copy
import json
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "lib/Dialect/PTO/IR"))
import gen_insns  # noqa: E402

BUILT = ROOT / "build/include/pto_mlir"
PTO = json.loads((BUILT / "Dialect/PTO/IR/PTO.json").read_text())
ISA = json.loads((BUILT / "ISA/ISA.json").read_text())
OPS = sorted(PTO["!instanceof"]["PTO_Op"])
DERIVED = [name for name in OPS if PTO[name]["derived"]]


@pytest.mark.parametrize("name", OPS)
def test_op_names_its_rows_or_says_why_it_has_none(name):
    op = PTO[name]
    assert bool(op["rows"]) != bool(op["noInsn"]), f"{name}: rows {op['rows']}, reason '{op['noInsn']}'"
    for row in op["rows"]:
        assert row in ISA["!instanceof"]["Insn"], f"{name} names row {row}"


def test_every_op_of_the_dialect_is_looked_at():
    of_dialect = {name for name in PTO["!instanceof"]["Op"] if PTO[name]["opDialect"]["def"] == "PTO_Dialect"}
    assert of_dialect == set(OPS)


@pytest.mark.parametrize("name", DERIVED)
def test_derived_op_has_no_lines_of_its_own(name):
    """Its code generation is generated once; the hand-written part of the generator does not know it."""
    cpp = "pto::" + name.removeprefix("PTO_")
    generated = (BUILT / "Dialect/PTO/IR/InsnCodegen.inc").read_text()
    assert generated.count(f"{cpp}::attachInterface<") == 1
    for path in sorted((ROOT / "lib/Backend/Codegen").glob("*.cpp")):
        assert f"{cpp}::attachInterface<" not in path.read_text(), path.name


@pytest.mark.parametrize(
    "name, change, message",
    [
        ("PTO_TExpOp", {"rows": []}, "texp: expects one of PTO_Insn"),
        ("PTO_TExpOp", {"noInsn": "no reason"}, "texp: expects one of PTO_Insn"),
        ("PTO_TExpOp", {"rows": ["TEXPO"]}, "texp: names row 'TEXPO', which the instruction table .* does not have"),
        ("PTO_TCmpOp", {"names": []}, "tcmp: has no operand or attribute 'mode' for 'mode' of its row TCMP"),
        ("PTO_TExpOp", {"names": ["src=from"]}, "texp: has no operand or attribute 'from' for 'src'"),
        ("PTO_TExpOp", {"names": ["source=src"]}, "texp: binds 'source', which its row TEXP does not have"),
        ("PTO_TCmpOp", {"names": ["mode="]}, "tcmp: has no operand or attribute '' for 'mode'"),
        ("PTO_TExpOp", {"rows": ["TMOV_BT"], "names": ["col=dst"]}, "texp: is not executed by PIPE_MTE1"),
        ("PTO_TExpOp", {"refusedA5": ["i64"]}, "texp: refuses i64 on a5, which its row does not read there"),
        ("PTO_TAddOp", {"refusedA3": ["i64"]}, "tadd: refuses i64 on a3, which its row does not read there"),
        ("PTO_TMovOp", {"ownTypes": "", "rows": ["TADD"]}, "tmov: does not name the tiles of its row TADD"),
        ("PTO_BarrierOp", {"cpp": []}, "barrier: expects PTO_Cpp, PTO_NoCpp or PTO_CppByEmitter"),
        (
            "PTO_TCmpOp",
            {"cpp": ["TCMP($to, $src0)"]},
            "tcmp: has no operand or attribute 'to', which its C\\+\\+ names",
        ),
    ],
)
def test_op_and_row_that_do_not_fit_are_refused(name, change, message):
    changed = copy.deepcopy(PTO)
    changed[name].update(change)
    with pytest.raises(gen_insns.RowError, match=message):
        gen_insns.generate(changed, ISA)


def test_element_types_follow_the_row():
    """What an op's line for the verifier holds: the opcode of its row and the types that it refuses, as bits."""
    lines = gen_insns.generate(PTO, ISA)["InsnTypes.inc"]
    assert '{"pto.texp", isa::Opcode::TExp, 0x0, 0x0,' in lines
    i64, u64 = (1 << ISA[name]["value"] for name in ("I64", "U64"))
    assert f'{{"pto.tadd", isa::Opcode::TAdd, 0x0, {i64 | u64:#x},' in lines
    assert '"pto.tmov"' not in lines and PTO["PTO_TMovOp"]["ownTypes"]


def test_calls_of_the_library_follow_the_definition():
    """The mnemonic with the destination first, once more with optional scratch; or what the definition says."""
    lines = gen_insns.generate(PTO, ISA)["InsnCpp.inc"]
    assert '{"pto.tmatmul.acc", "", {"TMATMUL_ACC($dst, $acc, $lhs, $rhs)"},' in lines
    assert '{"pto.trsqrt", "", {"TRSQRT($dst, $src)", "TRSQRT($dst, $src, $tmp)"},' in lines
    assert '{"pto.tcmp", "", {"TCMP($dst, $src0, $src1, $cmpMode)"},' in lines
    assert '{"pto.tprint", "nothing is printed' in lines and "pto.alloc_tile" not in lines
