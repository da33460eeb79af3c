//===- Costs.td - Costs of the instructions, and the chips -----------------===//
//
// Each number names its source; docs/timing.md lists the documents. Fitted rates name the published row that they are fitted to.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_ISA_COSTS
#define PTO_MLIR_ISA_COSTS

include "pto_mlir/ISA/ISABase.td"
include "pto_mlir/ISA/Archs.td"

// --- vector instructions of a3: head, cycles per 256 bytes, tail -----------------

class PerIntrinsic<string h, string w, string t, string intrinsics, CostForm f = CostRepeats>
    : Rate<f, h, w, "0", t, "pto-isa cost model, A2/A3 cycles per intrinsic: " # intrinsics>;
class Counting<string h, string w, string t, string intrinsics> : PerIntrinsic<h, w, t, intrinsics> {
  let counts = 1;
}
def RateAdd : Counting<"10", "2", "14", "vadd, vsub, vmax, vmin">;
def RateMul : Counting<"10", "2", "15", "vmul">;
def RateDiv : Counting<"11", "4", "19", "vdiv">;
def RateAnd : Counting<"8", "2", "12", "vand, vor">;
def RateNot : PerIntrinsic<"8", "2", "12", "vnot">;
def RateXor : Counting<"8", "8", "12", "vor, vand, vnot, vand, as the chip has no exclusive or">;
def RateRem : Counting<"45", "10", "66", "vdiv, floor, vmul, vsub one after the other">;
def RatePow : Counting<"36", "6", "53", "vln, vmul, vexp one after the other">;
def RateGather : PerIntrinsic<"24", "2", "20", "vgather, with the barrier behind it">;
def RateGatherMask : PerIntrinsic<"14", "14", "20", "vreducev2">;
def RateAdds : PerIntrinsic<"13", "1", "18", "vadds">;
def RateMuls : PerIntrinsic<"11", "1", "15", "vmuls, vlrelu">;
def RateMaxs : PerIntrinsic<"10", "1", "13", "vmaxs, vrelu">;
def RateMins : PerIntrinsic<"14", "1", "16", "vmins">;
def RateAbs : PerIntrinsic<"13", "1", "16", "vabs">;
def RateCopy : PerIntrinsic<"11", "1", "13", "vcopy, vector_dup">;
def RateExp : PerIntrinsic<"13", "2", "18", "vexp">;
def RateLog : PerIntrinsic<"13", "2", "20", "vln">;
def RateSqrt : PerIntrinsic<"14", "2", "25", "vsqrt">;
def RateRsqrt : PerIntrinsic<"10", "1", "14", "vrsqrt">;
def RateSelect : PerIntrinsic<"13", "2", "14", "vsel">;
def RateCompare : PerIntrinsic<"14", "2", "22", "vcmpv", CostWidest>;
def RateConvert : Rate<CostWidest, "14", "1", "0", "18",
    "pto-isa cost model, A2/A3 cycles per intrinsic: vconv, whose 2 per repeat are 1 in its test of TCVT 4x64 (33 cycles)">;
// The column is broadcast to blocks first (vbrcb: 18 cycles); then the operation runs row by row.
def RateRowExpandAdd : Counting<"10", "2", "32", "vbrcb, then vadd, vsub, vmax, vmin">;
def RateRowExpandMul : Counting<"10", "2", "33", "vbrcb, then vmul">;
def RateRowExpandDiv : Counting<"11", "4", "37", "vbrcb, then vdiv">;
def RateRowExpandExpdif : Counting<"23", "4", "50", "vbrcb, then vsub, vexp">;
def RateColExpandExpdif : Counting<"23", "4", "32", "vsub, vexp">;

class Fitted<CostForm f, string h, string w, string m, string t, string insn>
    : Rate<f, h, w, m, t, "pto-isa cost model, A2/A3 fits per instruction: " # insn>;
def RateDivs : Fitted<CostRepeats, "20", "5", "0", "25", "TDIVS">;
def RateRowsum : Fitted<CostRows, "20", "7", "1.45", "33", "TROWSUM">;
def RateRowprod : Fitted<CostRows, "20", "9", "2.3", "33", "TROWSUM, with vmul for vadd">;
def RateRowmax : Fitted<CostRows, "14", "7", "1.45", "27", "TROWMAX">;
def RateRowexpand : Fitted<CostSpread, "15", "14", "15", "20", "TROWEXPAND">;
def RateColsum : Fitted<CostRows, "8", "19", "2.1", "12", "TCOLSUM">;
def RateColmax : Fitted<CostRows, "5", "17.5", "2.1", "7", "TCOLMAX">;
def RateMrgsort : PerIntrinsic<"20", "78", "0", "vmrgsort4 of four blocks of 32 records", CostKilobytes>;
def RateSort32 : Rate<CostSorts, "6", "80", "0", "0",
    "fitted to top-k f32 4800 x 1024: what merges and extraction leave of 5.5k cycles a row; docs/timing.md">;

// --- vector instructions of a5 ----------------------------------------------------

class Published<list<Curve> c, string insn, CurveChoice b = ByNothing> : CurveSet<b, c, "pto-isa cost model, A5 vector curves: " # insn>;
def CurveAdd : Published<[Curve<"1.247", "55.07", "1.875", "2.876", "44.34">], "TADD, TSUB">;
def CurveMul : Published<[Curve<"1.194", "56.29", "1.871", "2.912", "44.84">], "TMUL">;
def CurveScalar : Published<[Curve<"1.059", "53.14", "1.102", "4.531", "49.63">], "TMINS">;
def CurveUnary : Published<[Curve<"1.059", "55.14", "1.095", "4.565", "51.51">], "TNEG">;
def CurveExp : Published<[Curve<"1.967", "62.66", "1.855", "2.544", "60.60">, Curve<"3.762", "65.93", "3.998", "-0.12", "64.16">], "TEXP", ByHalf>;
def CurveSqrt : Published<[Curve<"1.967", "63.66", "1.855", "2.544", "61.60">, Curve<"3.762", "66.93", "3.998", "-0.12", "65.16">], "TSQRT", ByHalf>;
def CurveDiv : Published<[Curve<"1.908", "64.52", "1.869", "2.475", "62.94">, Curve<"3.549", "68.74", "3.998", "-0.12", "65.16">], "TDIVS, TRECIP", ByHalf>;
def CurveRsqrt : Published<[Curve<"4.029", "75.57", "4.0", "0.03", "76.5">, Curve<"8.107", "81.10", "8.011", "0.057", "80.7">], "TRSQRT", ByHalf>;
def CurveSelect : Published<[Curve<"2.098", "52.48", "2.462", "1.427", "48.62">], "TSEL f16">;
// For conversions to wider types the published curve of runs fits badly; they are costed as separate rows.
def CurveConvert : Published<[
    Curve<"1.320", "53.30", "1.290", "1.785", "52.47">, Curve<"12.32", "55.30", "87.64", "-30.0", "7.6">,
    Curve<"0.893", "89.90", "3.296", "1.943", "61.6">, Curve<"3.934", "81.02", "5.163", "-1.76", "69.1">,
    Curve<"1.270", "53.59", "1.270", "1.930", "51.66">, Curve<"1.320", "52.30", "2.258", "1.042", "55.18">,
    Curve<"1.213", "53.20", "1.279", "1.833", "51.81">], "TCVT", ByConversion>;

// --- products and tile transfers -----------------------------------------------------

def RateProduct : Rate<CostProduct, "6", "1", "2", "0", "pto-isa cost model, cube: mad">;
class Bandwidth<CostForm f, string w, string path, string m = "0"> : Rate<f, "0", w, m, "0", "pto-isa cost model, bandwidth table: " # path>;
def RateGlobal : Rate<CostGlobal, "0", "0", "0", "0", "the chip's paths">;
def RateDrain : Rate<CostDrain, "0", "0", "0", "0", "the chip's paths">;
def RateToL1 : Bandwidth<CostPayload, "135", "GM to L1">;
def RateFillL1 : Bandwidth<CostBoxes, "135", "GM to L1, as fast as L1 is written from outside">;
def RateToL0A : Bandwidth<CostExtract, "441", "L1 to L0A">;
def RateToL0B : Bandwidth<CostExtract, "220.5", "L1 to L0B">;
def RateToBT : Bandwidth<CostGranules, "32", "L1 to BT", "64">;
def RateToFB : Bandwidth<CostGranules, "32", "L1 to FB", "128">;
def RateFromL0C : Bandwidth<CostConverted, "128", "L0C to L1">;

// --- chips -------------------------------------------------------------------------

class Sourced<string v, string s> {
  string value = v; // a C++ expression
  string source = s;
}
class Chip<Arch a> {
  Arch arch = a;
  Sourced clock = ?;           // Hz
  Sourced launchSeconds = ?;   // per kernel that the host launches
  // Per task, in addition to its work: the core sees it 0.35 us after the dispatch, its scheduler sees the end 0.6 us after it.
  Sourced dispatchSeconds = Sourced<"0.95e-6", "public task runtime, measured on the chip; docs/rationale-task-runtime.md">;
  Sourced crossSeconds = ?;    // from raising a cross-core flag to the end of its wait
  Sourced l2BytesPerSecond = ?;  // shared by all cores
  Sourced hbmBytesPerSecond = ?; // shared by all cores
  Sourced l2Bytes = ?;
  // What L2 fetches from HBM and writes back to it at a time.
  Sourced lineBytes = Sourced<"512", "pto-isa cost model, performance simulator: lines of its L2; docs/timing.md">;
  // Bytes per second of one core without contention on the path, and seconds of latency before the first byte.
  Sourced toUB = ?;
  Sourced toL1 = ?;
  Sourced fromUB = ?;
  Sourced fromL1 = ?;
  Sourced fromL0C = ?;
  Sourced startToUB = Sourced<"60e-9", "pto-isa cost model, between the starts that its Hill fits give (36 to 115 ns)">;
  Sourced startToL1 = Sourced<"36e-9", "pto-isa cost model, start of the Hill fit of GM to L1">;
  Sourced startFromUB = Sourced<"58e-9", "pto-isa cost model, start of the Hill fit of UB to GM">;
  Sourced extractFactor = ?;   // what L1 to L0 takes, times what the bandwidth table says
  bit vectorCurves = 0;        // vector instructions take what the curves of their rows say
}
class Tabled<string v, string path> : Sourced<v, "pto-isa cost model, bandwidth table: " # path>;

def ChipA3 : Chip<A3> {
  let clock = Sourced<"1.8e9", "fitted to products 3072^3 to 7680^3 f16: cube peak at the published busy share; docs/timing.md">;
  let launchSeconds = Sourced<"5.9e-6", "pto-isa cost model, attention stages: launch">;
  let crossSeconds = Sourced<"0", "not published">;
  let l2BytesPerSecond = Sourced<"24 * 169e9", "fitted to products 1536^3 to 6144^3 f16; docs/timing.md">;
  let hbmBytesPerSecond = Sourced<"24 * 42.7e9", "fitted to products 1536^3 to 6144^3 f16; docs/timing.md">;
  let l2Bytes = Sourced<"192.0 * 1024 * 1024", "fitted to product 7680^3 f16, with random replacement; docs/timing.md">;
  let toUB = Tabled<"100.9 * gib", "GM to UB">;
  let toL1 = Sourced<"169e9", "fitted to products 1536^3 to 6144^3 f16; docs/timing.md">;
  let fromUB = Tabled<"188.46 * gib", "UB to GM">;
  let fromL1 = Tabled<"32 * gib", "L1 to GM">;
  let fromL0C = Sourced<"130e9", "fitted to products 1536^3 to 7680^3 f16: share of TSTORE; docs/timing.md">;
  let extractFactor = Sourced<"1.29", "fitted to products 3072^3 to 7680^3 f16: share of TEXTRACT; docs/timing.md">;
}
// Paths to and from UB are not published for a5: those of a3.
def ChipA5 : Chip<A5> {
  let vectorCurves = 1;
  let clock = Sourced<"1.65e9", "fitted to MX products 4096^3 to 8192^3 fp8: cube peak at the published busy share; docs/timing.md">;
  let launchSeconds = Sourced<"5.9e-6", "as a3">;
  let crossSeconds = Sourced<"0", "not published">;
  let l2BytesPerSecond = Sourced<"32 * 152e9", "fitted to MX products 4096^3 to 8192^3 fp8: share of TLOAD; docs/timing.md">;
  let hbmBytesPerSecond = Sourced<"32 * 61e9", "fitted to MX products 4096^3 to 8192^3 fp8: share of TLOAD; docs/timing.md">;
  let l2Bytes = Sourced<"192.0 * 1024 * 1024", "as a3">;
  let toUB = Tabled<"100.9 * gib", "GM to UB">;
  let toL1 = Sourced<"152e9", "fitted to MX products 4096^3 to 8192^3 fp8: share of TLOAD; docs/timing.md">;
  let fromUB = Tabled<"188.46 * gib", "UB to GM">;
  let fromL1 = Tabled<"32 * gib", "L1 to GM">;
  let fromL0C = Sourced<"109e9", "fitted to MX products 4096^3 to 8192^3 fp8: share of TSTORE; docs/timing.md">;
  let extractFactor = Sourced<"1.17", "fitted to MX products 4096^3 to 8192^3 fp8: share of TEXTRACT; docs/timing.md">;
}

#endif
