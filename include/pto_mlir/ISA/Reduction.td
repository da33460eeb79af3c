//===- Reduction.td - Reductions of rows and of columns --------------------===//

#ifndef PTO_MLIR_ISA_REDUCTION
#define PTO_MLIR_ISA_REDUCTION

include "pto_mlir/ISA/Costs.td"
include "pto_mlir/ISA/ISABase.td"
include "pto_mlir/ISA/Elementwise.td"

def RowReduceTypes : SameType<[F16, F32, I16, I32], [I8, U8, U16, U32, I64, U64]>;
def ColReduceTypes : SameType<[F16, F32, I16, I32], [I8, U8, U16, U32, BF16, I64, U64]>;

class RowReduce<int op, string m, string expr>
    : Insn<op, m, PIPE_V, (ops TileOut<"dst", [UB], [DN, ND]>, TileIn<"src", [UB]>), RowReduceTypes, ShapeRowReduce> {
  let summary = "dst[i, 0] = " # expr;
}
def TROWSUM : RowReduce<0xc0, "trowsum", "sum over j of src[i, j]">, Priced<RateRowsum> {
  let description = "f16 accumulates in f32 and is rounded once.";
}
def TROWMAX : RowReduce<0xc1, "trowmax", "max over j of src[i, j]">, Priced<RateRowmax>;
def TROWMIN : RowReduce<0xc2, "trowmin", "min over j of src[i, j]">, Priced<RateRowmax>;

def TROWPROD : RowReduce<0xc3, "trowprod", "product over j of src[i, j]">, Priced<RateRowprod> {
  let description = "Left to right, rounded to the type of dst at every step.";
}

// (dst, src)
def ArgTypes : Types<[[I32, F32], [I32, F16], [U32, F32], [U32, F16]],
    [[I32, I8], [I32, U8], [I32, I16], [I32, U16], [I32, I32], [I32, U32], [U32, I8], [U32, U8], [U32, I16], [U32, U16], [U32, I32], [U32, U32]]>;
class RowArg<int op, string m, string expr>
    : Insn<op, m, PIPE_V, (ops TileOut<"dst", [UB], [DN, ND]>, TileIn<"src", [UB]>), ArgTypes, ShapeRowReduce>, Priced<RateRowmax> {
  let summary = "dst[i, 0] = the first j at which src[i, j] is " # expr;
}
def TROWARGMAX : RowArg<0xc4, "trowargmax", "greatest">;
def TROWARGMIN : RowArg<0xc5, "trowargmin", "least">;

// (dst, values, src)
def ArgValueTypes : Types<!foreach(c, ArgTypes.combinations, !listconcat(c, [!cast<ElementType>(!head(!tail(c)))])),
                          !foreach(c, ArgTypes.a5only, !listconcat(c, [!cast<ElementType>(!head(!tail(c)))]))>;
class RowArgValues<int op, string m, string expr>
    : Insn<op, m, PIPE_V, (ops TileOut<"dst", [UB], [DN, ND]>, TileOut<"values", [UB], [DN, ND]>, TileIn<"src", [UB]>), ArgValueTypes, ShapeRowReduce>, Priced<RateRowmax> {
  let summary = "dst[i, 0] = the first j at which src[i, j] is " # expr # ", values[i, 0] = that element";
}
def TROWARGMAX_VALUES : RowArgValues<0xc6, "trowargmax_values", "greatest">;
def TROWARGMIN_VALUES : RowArgValues<0xc7, "trowargmin_values", "least">;

class ColReduce<int op, string m, string expr>
    : Insn<op, m, PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>), ColReduceTypes, ShapeColReduce> {
  let summary = "dst[0, j] = " # expr;
}
def TCOLSUM : ColReduce<0xc8, "tcolsum", "sum over i of src[i, j]">, Priced<RateColsum> {
  let description = "Rows ascending, in the type of dst: f16 rounds at every step.";
}
def TCOLMAX : ColReduce<0xc9, "tcolmax", "max over i of src[i, j]">, Priced<RateColmax>;
def TCOLMIN : ColReduce<0xca, "tcolmin", "min over i of src[i, j]">, Priced<RateColmax>;
def TCOLPROD : ColReduce<0xcb, "tcolprod", "product over i of src[i, j]">, Priced<RateColmax> {
  let description = "Rows ascending, in the type of dst.";
}
class ColArg<int op, string m, string expr>
    : Insn<op, m, PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>), ArgTypes, ShapeColReduce>, Priced<RateColmax> {
  let summary = "dst[0, j] = the first i at which src[i, j] is " # expr;
}
def TCOLARGMAX : ColArg<0xcc, "tcolargmax", "greatest">;
def TCOLARGMIN : ColArg<0xcd, "tcolargmin", "least">;

class ColArgValues<int op, string m, string expr>
    : Insn<op, m, PIPE_V, (ops TileOut<"dst", [UB]>, TileOut<"values", [UB]>, TileIn<"src", [UB]>), ArgValueTypes, ShapeColReduce>, Priced<RateColmax> {
  let summary = "dst[0, j] = the first i at which src[i, j] is " # expr # ", values[0, j] = that element";
}
def TCOLARGMAX_VALUES : ColArgValues<0xd8, "tcolargmax_values", "greatest">;
def TCOLARGMIN_VALUES : ColArgValues<0xd9, "tcolargmin_values", "least">;

def TPAIRREDUCESUM : Insn<0xce, "tpairreducesum", PIPE_V, (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>), FloatTypes, ShapeSame>, Touches<[AccBox, AccValid]> {
  let summary = "dst[i, j] = src[i, 2 j] + src[i, 2 j + 1]";
  let description = "With an odd number of columns the last one is copied. The rest of dst's box becomes 0.";
}
def THISTOGRAM : Insn<0xcf, "thistogram", PIPE_V,
    (ops TileOut<"dst", [UB]>, TileIn<"src", [UB]>, TileIn<"filter", [UB], [DN, ND], [U8]>, Number<"byte">), Types<[], [[U32, U16], [U32, U32]]>> {
  let summary = "dst[i, b] = the number of j for which byte `byte` of src[i, j] is at most b";
  let description = "b < 256. Only elements whose higher bytes equal those of filter are counted: for u16 filter[i, 0], for u32 filter[0, 0] (byte 3), "
                    "filter[1, 0] (byte 2), filter[2, 0] (byte 1).";
}

#endif
