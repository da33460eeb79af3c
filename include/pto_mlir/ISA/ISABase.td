//===- ISABase.td - The schema of the instruction table -------------------===//
//
// Plain TableGen, read by lib/ISA/gen_isa.py from `llvm-tblgen --dump-json`.
// The encoding of each operand kind is in docs/commands.md.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_ISA_BASE
#define PTO_MLIR_ISA_BASE

// --- element types ----------------------------------------------------------

class ElementType<string n, int v, int b> {
  string name = n;
  int value = v;
  int width = b; // bits of an element
}
def F32 : ElementType<"f32", 0, 32>;
def F16 : ElementType<"f16", 1, 16>;
def BF16 : ElementType<"bf16", 2, 16>;
def I8 : ElementType<"i8", 3, 8>;
def U8 : ElementType<"u8", 4, 8>;
def I16 : ElementType<"i16", 5, 16>;
def U16 : ElementType<"u16", 6, 16>;
def I32 : ElementType<"i32", 7, 32>;
def U32 : ElementType<"u32", 8, 32>;
def I64 : ElementType<"i64", 9, 64>;
def U64 : ElementType<"u64", 10, 64>;
def F8E4M3FN : ElementType<"f8E4M3FN", 11, 8>;
def F8E5M2 : ElementType<"f8E5M2", 12, 8>;
def HIF8 : ElementType<"hif8", 13, 8>;
def F4E2M1 : ElementType<"f4E2M1", 14, 4>;
def F4E1M2 : ElementType<"f4E1M2", 15, 4>;
def I4 : ElementType<"i4", 16, 4>;
def F64 : ElementType<"f64", 17, 64>;
def F8E8M0 : ElementType<"f8E8M0", 18, 8>; // a power of two: the scale of a group in an MX operand

// --- layouts, pads ----------------------------------------------------------

class Layout<string n, int v, string s> {
  string name = n;
  int value = v;
  string summary = s;
}
def ND : Layout<"ND", 0, "row-major">;
def DN : Layout<"DN", 1, "column-major">;
def NZ : Layout<"NZ", 2, "box columns outer, 512-byte boxes, rows outer inside">;
def ZN : Layout<"ZN", 3, "box rows outer, 512-byte boxes, columns outer inside">;
def ZZ : Layout<"ZZ", 4, "box rows outer, 512-byte boxes, rows outer inside">;
def NN : Layout<"NN", 5, "box columns outer, 512-byte boxes, columns outer inside">;
def NZ16 : Layout<"NZ16", 6, "NZ with boxes of 16x16 elements (L0C)">;

class Pad<string n, int v> {
  string name = n;
  int value = v;
}
def PadNull : Pad<"null", 0>;
def PadZero : Pad<"zero", 1>;
def PadMax : Pad<"max", 2>;
def PadMin : Pad<"min", 3>;

// --- machine ----------------------------------------------------------------

class Pipe<string n, int v> {
  string name = n;
  int value = v;
}
def PIPE_S : Pipe<"S", 0>;
def PIPE_V : Pipe<"V", 1>;
def PIPE_M : Pipe<"M", 2>;
def PIPE_MTE1 : Pipe<"MTE1", 3>;
def PIPE_MTE2 : Pipe<"MTE2", 4>;
def PIPE_MTE3 : Pipe<"MTE3", 5>;
// As the pipe of a row: any engine executes it.
def PIPE_ALL : Pipe<"ALL", 6>;
def PIPE_FIX : Pipe<"FIX", 10>;

class CoreKind<string n, int v, list<Pipe> p> {
  string name = n;
  int value = v;
  list<Pipe> pipes = p;
}
def AIC : CoreKind<"AIC", 0, [PIPE_S, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_M, PIPE_FIX]>;
def AIV : CoreKind<"AIV", 1, [PIPE_S, PIPE_V, PIPE_MTE2, PIPE_MTE3]>;

class Memory<string n, int v, CoreKind c, string s> {
  string name = n;
  int value = v;
  CoreKind core = c;
  string summary = s;
}
def UB : Memory<"UB", 0, AIV, "unified buffer, vector tiles">;
def L1 : Memory<"L1", 1, AIC, "staging buffer of the cube core">;
def L0A : Memory<"L0A", 2, AIC, "left operand of the cube">;
def L0B : Memory<"L0B", 3, AIC, "right operand of the cube">;
def L0C : Memory<"L0C", 4, AIC, "accumulator of the cube">;
def BT : Memory<"BT", 5, AIC, "bias table">;
def FB : Memory<"FB", 6, AIC, "fixpipe buffer, scales">;
def SA : Memory<"SA", 7, AIC, "scales of the left operand of an MX product">;
def SB : Memory<"SB", 8, AIC, "scales of the right operand of an MX product">;

class MemorySize<Memory m, int b, int a> {
  Memory memory = m;
  int bytes = b;
  int alignment = a; // of a tile's address
}

// Features of an architecture besides memory sizes.
class ArchFeature<string n, int v, string s> {
  string name = n;
  int value = v; // bit number
  string summary = s;
}
def LaneFlags
    : ArchFeature<"LaneFlags", 0, "each engine raises and awaits the cross-core flags of one vector core; elsewhere S awaits those of the block">;
def DirectTiles : ArchFeature<"DirectTiles", 1, "tiles go from core to core without global memory: L0C to UB, UB to L1">;
def VectorScatter : ArchFeature<"VectorScatter", 2, "V scatters; elsewhere S does">;
// Rules of the public assembler that not every architecture has.
def ColumnMajorOperands
    : ArchFeature<"ColumnMajorOperands", 3, "block gathers, transpositions and quantisation take column-major tiles">;
def MoreTypes : ArchFeature<"MoreTypes", 4,
                            "selections, comparisons, gathers and triangles take bytes, words and bf16 where others do not">;
def ScaledProducts : ArchFeature<"ScaledProducts", 5, "products of fp8, also with scales">;
def FreeTransfers
    : ArchFeature<"FreeTransfers", 6,
                  "loads into any memory, stores of accumulators of any width but not of L1, moves between other shapes">;
def NoExpandScratch : ArchFeature<"NoExpandScratch", 7, "maximum, minimum and exp of a difference by rows take no tmp">;
def DistinctReciprocal : ArchFeature<"DistinctReciprocal", 8, "a reciprocal is not written over its source">;
def AddedOps : ArchFeature<"AddedOps", 9, "gathers and scatters in global memory, histograms, random numbers, packing, addresses of scales">;

// An engine that an architecture lacks, and the one that carries out its instructions.
class CarriedEngine<Pipe m, Pipe c> {
  Pipe missing = m;
  Pipe carrier = c;
}

// One row per architecture. Architecture-dependent code reads this row (ArchInfo in Table.h) and never compares names.
class Arch<string n, int v, list<MemorySize> m> {
  string name = n;
  int value = v;
  list<MemorySize> memories = m;
  // The row whose type lists and assembler rules apply; also the public assembler's name for this architecture.
  string rules = n;
  // First byte and size of the part of UB that instructions may use as scratch; the memory planner stays below it.
  int scratchBegin = ?;
  int scratchBytes = ?;
  // Memory sizes that the public assembler plans with, where they differ from those of a core.
  list<MemorySize> assemblerMemories = [];
  int blocks = ?;      // of a chip: each has one cube core and
  int vectorCores = 2; // this many vector cores
  Layout leftLayout = ?; // of L0A
  int eventIds = 8;    // flags between two engines of a core
  int crossFlags = 16; // of a core; with LaneFlags the cube core has as many for each vector core
  list<CarriedEngine> missing = [];
  list<ArchFeature> features = [];
  bit testOnly = 0; // not a chip: neither documented nor in the enumeration
}

// --- operands ---------------------------------------------------------------

class Enum<string n, list<string> v, bit o = 0> {
  string name = n;    // of the C++ enum
  list<string> values = v;
  bit open = o;       // values past the last name are legal, printed as numbers
}
// Marks a field as holding one of the enumerations of the table itself.
class TableEnum<string n> : Enum<n, []>;
def NoEnum : Enum<"", []>; // a plain number
def PipeEnum : TableEnum<"Pipe">;
def MemoryEnum : TableEnum<"Memory">;

// Part of an attribute word. The first field of a word occupies the highest bits, the last one ends at bit 0.
class Field<string n, int w, Enum e = NoEnum> {
  string name = n;
  int width = w;
  Enum enumeration = e;
}

class Operand<string n, string k> {
  string name = n;
  string kind = k;
}
class Int<string n> : Operand<n, "Int">;
class Scalar<string n> : Operand<n, "Scalar">;
class Wide<string n> : Operand<n, "Wide">;
class Dst<string n> : Operand<n, "Dst">;
class Packed<string n, list<Field> f> : Operand<n, "Attr"> {
  list<Field> fields = f;
}
class Attr<string n, Enum e> : Packed<n, [Field<n, 32, e>]>;
class Number<string n> : Packed<n, [Field<n, 32>]>;

// A tile. If `memories` has several entries, the row has an attribute `space` of MemoryEnum that selects one of them.
// `types`: the legal types of an operand that is not part of the row's type combinations.
class TileOperand<string n, string d, list<Memory> m, list<Layout> l, list<ElementType> t> : Operand<n, "Tile"> {
  string direction = d;
  list<Memory> memories = m;
  list<Layout> layouts = l;
  list<ElementType> types = t;
}
class TileIn<string n, list<Memory> m, list<Layout> l = [ND], list<ElementType> t = []> : TileOperand<n, "in", m, l, t>;
class TileOut<string n, list<Memory> m, list<Layout> l = [ND], list<ElementType> t = []> : TileOperand<n, "out", m, l, t>;
class TileInOut<string n, list<Memory> m, list<Layout> l = [ND], list<ElementType> t = []> : TileOperand<n, "inout", m, l, t>;

class ViewOperand<string n, string d> : Operand<n, "View"> {
  string direction = d;
  list<Memory> memories = [];
  list<Layout> layouts = [ND, DN, NZ];
  list<ElementType> types = [];
}
class ViewIn<string n> : ViewOperand<n, "in">;
class ViewOut<string n> : ViewOperand<n, "out">;

// --- legal element types ----------------------------------------------------

// One entry per combination, one type per tile or view operand (those without `types` of their own), in operand order.
class Types<list<list<ElementType>> both, list<list<ElementType>> a5 = [], list<list<ElementType>> a3 = []> {
  bit same = 0;
  list<list<ElementType>> combinations = both; // on every architecture
  list<list<ElementType>> a5only = a5;
  list<list<ElementType>> a3only = a3;
}
// All operands of the combination have the same type.
class SameType<list<ElementType> both, list<ElementType> a5 = [], list<ElementType> a3 = []>
    : Types<!foreach(t, both, [t]), !foreach(t, a5, [t]), !foreach(t, a3, [t])> {
  let same = 1;
}
def NoTypes : Types<[]>;

// --- relations between valid shapes, verified where static -------------------

class Shape<string n, string s> {
  string name = n;
  string summary = s;
}
def ShapeAny : Shape<"any", "no relation">;
def ShapeSame : Shape<"same", "all tiles have the same valid shape">;
def ShapeRowReduce : Shape<"rowReduce", "dst has src's valid rows and one valid column">;
def ShapeColReduce : Shape<"colReduce", "dst has one valid row and src's valid columns">;
def ShapeRowExpand : Shape<"rowExpand", "the last tile has a value per row of dst, the others dst's valid shape">;
def ShapeColExpand : Shape<"colExpand", "the last tile has dst's valid columns and at least one valid row, of which the first is used; the others have dst's valid shape">;
def ShapeTranspose : Shape<"transpose", "dst's valid shape is the transpose of src's">;
def ShapeMatmul : Shape<"matmul", "[m, k] x [k, n] -> [m, n]; a bias has one row of n columns">;

// --- access patterns: the bytes that an operand reads or writes --------------
// `dst` is the first tile, `src` the first tile that is only read. Rectangles are rows x columns from (0, 0).

class AccessPattern<string n, string s> {
  string name = n;
  string summary = s;
}
// Tiles.
def AccValid : AccessPattern<"valid", "its valid region">;
def AccBox : AccessPattern<"box", "its whole box">;
def AccWholeBoxes : AccessPattern<"wholeBoxes", "its valid region; the rest of the layout's boxes is overwritten and undefined">;
def AccWholeGroups : AccessPattern<"wholeGroups", "its valid rows, as whole groups of C0 columns">;
def AccLoaded : AccessPattern<"loaded", "its valid region, in a boxed layout up to the end of the last C0 group">;
def AccLane : AccessPattern<"lane", "dst's extent, each element affects one element of dst">;
def AccSrcLane : AccessPattern<"srcLane", "src's extent, each element affects one bit of dst">;
def AccIndexed : AccessPattern<"indexed", "elements selected by index: counts as its whole box">;
def AccAsDst : AccessPattern<"asDst", "dst's extent">;
def AccAsSrc : AccessPattern<"asSrc", "src's extent">;
def AccDstRows : AccessPattern<"dstRows", "dst's rows x its valid columns">;
def AccDstCols : AccessPattern<"dstCols", "its valid rows x dst's columns">;
def AccTransposed : AccessPattern<"transposed", "dst's extent, transposed">;
def AccRowStatistic : AccessPattern<"rowStatistic", "a column of dst's rows">;
def AccColStatistic : AccessPattern<"colStatistic", "a row of dst's columns">;
def AccSrcColStatistic : AccessPattern<"srcColStatistic", "a row of src's columns">;
def AccPartColStatistic : AccessPattern<"partColStatistic", "a row of `cols` columns">;
def AccRightOperand : AccessPattern<"rightOperand", "valid columns of the operand before it x dst's columns">;
def AccDstWindow : AccessPattern<"dstWindow", "dst's extent from (`row`, `col`)">;
def AccSrcWindow : AccessPattern<"srcWindow", "src's extent from (`row`, `col`)">;
def AccPart : AccessPattern<"part", "`rows` x `cols` from (`row`, `col`)">;
def AccSrcPart : AccessPattern<"srcPart", "`rows` x `cols` from (`srcRow`, `srcCol`)">;
def AccPeerPart : AccessPattern<"peerPart", "`rows` x `cols` from (`row`, `col`), in the L1 of the block's cube core">;
def AccVectorCores : AccessPattern<"vectorCores", "its valid region, in the UB of the vector cores selected by `cores`">;
def AccMaskOfSrc : AccessPattern<"maskOfSrc", "one bit per element of src, whole elements of the mask">;
def AccMaskOfDst : AccessPattern<"maskOfDst", "one bit per element of dst">;
def AccBlockOffsets : AccessPattern<"blockOffsets", "dst's rows x one offset per 32 bytes of a row">;
def AccPicked : AccessPattern<"picked", "as many elements as the pattern selects, contiguous">;
def AccElement : AccessPattern<"element", "element number `index`">;
def AccImage : AccessPattern<"image", "the pixels under the window">;
// Views.
def AccTileExtent : AccessPattern<"tileExtent", "the extent of the first tile">;
def AccOneElement : AccessPattern<"oneElement", "its first element">;
def AccWholeView : AccessPattern<"wholeView", "the whole view">;
def AccUnknown : AccessPattern<"unknown", "elements selected by index: not tracked">;
def AccTileIndices : AccessPattern<"tileIndices", "one per element of the first tile, or per row of it">;

// The pattern of each tile and view operand of a row, in operand order. Rows without it get those of their shape relation (gen_isa.py).
class Touches<list<AccessPattern> a> {
  list<AccessPattern> accesses = a;
}

// --- costs --------------------------------------------------------------------
// Numbers are strings, because TableGen has integers only. `source` names the origin of a number (docs/timing.md lists the documents).

class CostForm<string n, string s> {
  string name = n;
  string summary = s; // {h}, {w}, {m}, {t}: head, work, more, tail
}
def CostCycles : CostForm<"cycles", "{w} cycle(s)">;
def CostRepeats : CostForm<"repeats", "{h} + {w} per 256 bytes of dst + {t} cycles">;
def CostWidest : CostForm<"widest", "{h} + {w} per 256 bytes of the longest operand + {t} cycles">;
def CostRows : CostForm<"rows", "{h} + per row of src ({w}, {m} per further 256 bytes of it) + {t} cycles">;
def CostSpread : CostForm<"spread", "{h} + per row of dst ({w}, {m} where it has more than 256 bytes) + {t} cycles">;
def CostKilobytes : CostForm<"kilobytes", "{h} + {w} per 1024 bytes of src + {t} cycles">;
def CostSorts : CostForm<"sorts", "{h} + {w} per 32 elements of src + {t} cycles">;
def CostProduct : CostForm<"product", "{h} + {w} per step of 16 rows x 32 bytes of depth x 16 columns (f32: {m}) cycles">;
def CostGlobal : CostForm<"global", "bytes over its path to or from global memory">;
def CostDrain : CostForm<"drain", "bytes, as they are stored, over the path from L0C to global memory">;
def CostPayload : CostForm<"payload", "bytes of src at {w} GiB/s">;
def CostBoxes : CostForm<"boxes", "bytes of dst's whole boxes at {w} GiB/s">;
def CostExtract : CostForm<"extract", "bytes of dst's whole boxes at {w} GiB/s, times the chip's extract factor">;
def CostGranules : CostForm<"granules", "bytes of dst in transfers of {m} at {w} GiB/s">;
def CostConverted : CostForm<"converted", "src's elements in dst's type at {w} GiB/s">;

class Rate<CostForm f, string h, string w, string m, string t, string s> {
  CostForm form = f;
  string head = h; // start-up, hidden while the engine is busy with the previous instruction
  string work = w;
  string more = m;
  string tail = t; // drain, until the result is available
  bit counts = 0;  // 16 more cycles where a row ends inside 256 bytes
  string source = s;
}
// Cycles of a vector instruction on a5: for one run of repeats without gaps, and for rows of several repeats each.
class Curve<string pr, string f, string prr, string prw, string fr> {
  string perRepeat = pr;
  string fixed = f;
  string perRowRepeat = prr;
  string perRow = prw;
  string fixedOfRows = fr;
}
class CurveChoice<string n> {
  string name = n;
}
def ByNothing : CurveChoice<"one">;        // a single curve
def ByHalf : CurveChoice<"half">;          // the second one for a dst of f16
def ByConversion : CurveChoice<"conversion">; // 16 to 8 bits; others to 8 or fewer; from 4; from 8; wider; narrower; as wide
class CurveSet<CurveChoice b, list<Curve> c, string s> {
  CurveChoice by = b;
  list<Curve> curves = c;
  string source = s;
}
def NoCurves : CurveSet<ByNothing, [], "">; // same cost as on a3

def RateCycle : Rate<CostCycles, "0", "1", "0", "0", "pto-isa cost model, A2/A3 cycles per intrinsic: scalar and synchronisation">;
def RateDefault : Rate<CostRepeats, "6", "2", "0", "0", "pto-isa cost model, A2/A3 cycles per intrinsic: default">;

class Priced<Rate r, CurveSet c = NoCurves> {
  Rate cost = r;
  CurveSet a5Cost = c;
}

// --- the row ------------------------------------------------------------------

def ops;

class Insn<int op, string m, Pipe p, dag o, Types t = NoTypes, Shape s = ShapeAny> {
  int opcode = op;
  string mnemonic = m;
  Pipe pipe = p;
  dag operands = o;
  Types types = t;
  Shape shape = s;
  list<AccessPattern> accesses = [];
  Rate cost = !if(!eq(p.name, "V"), RateDefault, RateCycle);
  CurveSet a5Cost = NoCurves;
  string summary = "";
  string description = "";
}

#endif
