// The top dialect, its tensor types and the base class of its ops.
#ifndef PTO_MLIR_DIALECT_TOP_IR_TOPBASE_TD
#define PTO_MLIR_DIALECT_TOP_IR_TOPBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Top_Dialect : Dialect {
  let name = "top";
  let cppNamespace = "::pto_mlir::top";
  let summary = "the framework's graph: tensors and operations, independent of the chip";
  let description = [{
    One op per ONNX-level operation on ranked, static tensors. The location of a result carries the ONNX tensor name
    (`pto_mlir/Dialect/Top/IR/Names.h`). Weights are not stored in the IR: `top.weight` names an entry of the `WeightStore` owned by the
    loaded dialect.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::quant::QuantizationDialect"];
  let useDefaultAttributePrinterParser = 1;
  // Attributes are kept in one dictionary, so that importers and passes rebuild ops generically.
  let usePropertiesForAttributes = 0;
  let extraClassDeclaration = [{
    /// The weights of all modules of this context.
    WeightStore &weights() { return *weightStore; }

    mlir::Type parseType(mlir::DialectAsmParser &parser) const override;
    void printType(mlir::Type type, mlir::DialectAsmPrinter &printer) const override;

  private:
    std::shared_ptr<WeightStore> weightStore = std::make_shared<WeightStore>();
    void registerAttributes();
    void registerTypes();

  public:
  }];
}

def Top_Float : AnyTypeOf<[F16, BF16, F32, F64, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ], "a floating-point type">;
// Stored and converted only (NarrowFloats.h).
def Top_NarrowFloat : Type<CPred<"::pto_mlir::top::isNarrowFloat($_self)">, "float4 or a power of two in 8 bits">;
// Moved and compared for equality, by the host.
def Top_String : Type<CPred<"::llvm::isa<::pto_mlir::top::StringType>($_self)">, "a string">;
def Top_Element : AnyTypeOf<[Top_Float, Top_NarrowFloat, Top_String, I1, I<2>, UI<2>, I<4>, UI<4>, I8, UI8, I16, UI16, I32, UI32, I64, UI64], "a number, boolean or string">;

// MLIR's quantised types, stored in 8 bits (Quantised.h); where they may be, docs/quantised-types.md.
def Top_QuantisedElement : Type<CPred<"::pto_mlir::top::isTopQuantised($_self)">, "a quantised type of 8 bits">;

def Top_Tensor : StaticShapeTensorOf<[Top_Element]>;
def Top_QuantisedTensor : StaticShapeTensorOf<[Top_QuantisedElement]>;
def Top_AnyTensor : StaticShapeTensorOf<[Top_Element, Top_QuantisedElement]>;
def Top_FloatTensor : StaticShapeTensorOf<[Top_Float]>;

// Dimension order of a feature map. NHWC: channels last, filters KH x KW x Cin/G x Cout.
def Top_LayoutAttr : ConfinedAttr<DefaultValuedStrAttr<StrAttr, "NCHW">, [AttrConstraint<CPred<
    "::llvm::is_contained({\"NCHW\", \"NHWC\"}, ::llvm::cast<::mlir::StringAttr>($_self).getValue())">,
    "is NCHW or NHWC">]>;

class Top_Op<string mnemonic, list<Trait> traits = []> : Op<Top_Dialect, mnemonic, traits>;

// A pure tensor op whose result type is inferred from operands and attributes (inferReturnTypes in lib/Dialect/Top/IR).
class Top_TensorOp<string mnemonic, list<Trait> traits = []>
    : Top_Op<mnemonic, [Pure, InferTypeOpAdaptor] # traits> {
  let results = (outs Top_AnyTensor:$output);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif // PTO_MLIR_DIALECT_TOP_IR_TOPBASE_TD
