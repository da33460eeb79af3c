//===- Gather.td - Elements by index, by pattern, by order -----------------===//

#ifndef PTO_MLIR_ISA_GATHER
#define PTO_MLIR_ISA_GATHER

include "pto_mlir/ISA/Costs.td"
include "pto_mlir/ISA/ISABase.td"
include "pto_mlir/ISA/Elementwise.td"

def GatherTypes : SameType<[F16, F32, BF16, I16, U16, I32, U32], [I8, U8]>;

def TGATHER : Insn<0x100, "tgather", PIPE_V,
    (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>, TileIn<"indices", [UB], [ND], [I32, U32]>), GatherTypes>, Priced<RateGather>, Touches<[AccValid, AccIndexed, AccAsDst]> {
  let summary = "dst[i, j] = src element with row-major index indices[i, j] in its box";
  let description = "An index outside the box gives 0.";
}
def Pattern : Enum<"MaskPattern", ["p0101", "p1010", "p0001", "p0010", "p0100", "p1000", "p1111"]>;
def PatternAxis : Enum<"PatternAxis", ["cols", "rows"]>;
def PatternAttr : Packed<"attrs", [Field<"pattern", 8, Pattern>, Field<"axis", 8, PatternAxis>]>;
def TGATHER_MASK : Insn<0x101, "tgather_mask", PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>, PatternAttr), GatherTypes>, Priced<RateGatherMask>, Touches<[AccPicked, AccValid]> {
  let summary = "dst = the elements of src selected by the pattern, stored contiguously from the start of dst";
  let description = "The pattern's last digit stands for the first column: p0101 selects even columns, p1000 every fourth from the third. Rows of dst "
                    "are contiguous. With axis=rows the pattern selects rows, which become the first rows of dst.";
}
def TGATHERB : Insn<0x102, "tgatherb", PIPE_V,
    (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>, TileIn<"offsets", [UB], [ND], [U32, I32]>), GatherTypes>, Priced<RateGather>, Touches<[AccValid, AccIndexed, AccBlockOffsets]> {
  let summary = "block j of 32 bytes of row i of dst = the 32 bytes of src from byte offsets[i, j]";
  let description = "A block outside src leaves dst unchanged.";
}
def TSCATTER : Insn<0x103, "tscatter", PIPE_V,
    (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>, TileIn<"indices", [UB], [ND], [I32, U32]>), GatherTypes>, Priced<RateGather>, Touches<[AccBox, AccValid, AccAsSrc]> {
  let summary = "dst element with row-major index indices[i, j] in its box = src[i, j]";
  let description = "In row-major order, so the last element written to an index remains. An index outside the box is a fault.";
}

def TSCATTER_S : Insn<0x106, "tscatter_s", PIPE_S,
    (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>, TileIn<"indices", [UB], [ND], [I32, U32]>), GatherTypes>, Touches<[AccBox, AccValid, AccAsSrc]> {
  let summary = "tscatter, executed by engine S";
}
def TSCATTER_MASK : Insn<0x104, "tscatter_mask", PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>, PatternAttr), GatherTypes>, Touches<[AccValid, AccIndexed]> {
  let summary = "dst elements selected by the pattern = the elements of src in order; the rest of dst's valid region = 0";
  let description = "The inverse of tgather_mask: elements are taken from the start of src, across its rows without gaps; with axis=rows whole rows.";
}
def TGATHER_CMP : Insn<0x105, "tgather_cmp", PIPE_V,
    (ops TileOut<"dst", [UB], [ND], [I32, U32]>, TileOut<"counts", [UB], [ND, DN], [I32, U32]>, TileIn<"src", [UB]>, Scalar<"scalar">, Int<"offset">,
         Attr<"mode", Compare>), SameType<[F16, F32, I32], [I16]>> {
  let summary = "row i of dst = offset + each j for which src[i, j] mode scalar holds, ascending; counts[i, 0] = their number";
  let description = "At most as many as the row of dst has valid columns; elements after them are unchanged.";
}

// --- sorting -----------------------------------------------------------------
// A record has 8 bytes: an f32 score and its index, or an f16 score, two bytes of 0, and the index.

def SortTypes : SameType<[F32, F16]>;
def TSORT32 : Insn<0x108, "tsort32", PIPE_V,
    (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>, TileIn<"indices", [UB], [ND], [U32, I32]>), SortTypes>, Priced<RateSort32> {
  let summary = "dst = records of src and indices, each group of 32 of a row sorted by descending score, then ascending index";
}
def TMRGSORT : Insn<0x109, "tmrgsort", PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>, Int<"blockLength">), SortTypes>, Priced<RateMrgsort> {
  let summary = "dst = every four adjacent sorted blocks of src merged by descending score; ties keep the order of the blocks";
  let description = "One row; blockLength counts elements of the type, indices included. Elements after the last four whole blocks are unchanged.";
}

class MergeLists<int op, string m, dag o> : Insn<op, m, PIPE_V, o, SortTypes> {
  let summary = "dst = the records of the sorted lists merged by descending score; ties keep the order of the lists; counts = records taken";
  let description = "One row each. Stops when dst is full, every list is exhausted or, with `exhausted`, one is. counts holds 16 bits per list, the first "
                    "in the lowest bits.";
}
def TMRGSORT2 : MergeLists<0x10a, "tmrgsort2",
    (ops TileOut<"dst", [UB]>, Dst<"counts">, TileIn<"src0", [UB]>, TileIn<"src1", [UB]>, Attr<"exhausted", OnOff>)>;
def TMRGSORT3 : MergeLists<0x10b, "tmrgsort3",
    (ops TileOut<"dst", [UB]>, Dst<"counts">, TileIn<"src0", [UB]>, TileIn<"src1", [UB]>, TileIn<"src2", [UB]>, Attr<"exhausted", OnOff>)>;
def TMRGSORT4 : MergeLists<0x10c, "tmrgsort4",
    (ops TileOut<"dst", [UB]>, Dst<"counts">, TileIn<"src0", [UB]>, TileIn<"src1", [UB]>, TileIn<"src2", [UB]>, TileIn<"src3", [UB]>,
         Attr<"exhausted", OnOff>)>;

#endif
