//===- PTOBase.td - the pto dialect ------------------------------------------===//
#ifndef PTO_MLIR_DIALECT_PTO_IR_PTOBASE_TD
#define PTO_MLIR_DIALECT_PTO_IR_PTOBASE_TD

include "mlir/IR/OpBase.td"

def PTO_Dialect : Dialect {
  let name = "pto";
  let cppNamespace = "::pto_mlir::pto";
  let summary = "Tiles, memory spaces and pipes of the PTO tile ISA";
  let description = [{
    The text of this dialect is the `.pto` language of the PTO assembler: mnemonics, types, attributes and the order of
    clauses are those that the assembler accepts. Where the ISA has an instruction that the assembler's dialect lacks
    (`pto.timg2col`, `pto.tmuladddst`), the op carries the ISA's own name.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// The architecture that `left` tiles are parsed for: it says how they are laid out, whatever the text says. Set
    /// before parsing, as the assembler does (`detectTargetArch`).
    void setParseFor(const Target &arch) { parseFor = &arch; }
    const Target *getParseFor() const { return parseFor; }

  private:
    void registerTypes();
    void registerAttributes();
    const Target *parseFor = nullptr; // the default one

  public:
  }];
}

#endif
