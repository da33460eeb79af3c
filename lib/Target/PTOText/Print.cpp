//===- Print.cpp - the text of a module of pto functions -----------------------------------===//
//
// Lays out modules, functions, sections, loops and branches; other ops use their own assembly format.
//
//===----------------------------------------------------------------------===//

#include "pto_mlir/Target/PTOText/PTOText.h"

#include "SeedStyle.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Support/FileUtilities.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

namespace pto_mlir::ptotext {
namespace {

class Printer {
public:
  Printer(ModuleOp module, llvm::raw_ostream &os, Style style) : os(os), style(style), names(module) {}

  void print(ModuleOp module) {
    os << "module";
    if (module.getSymName())
      os << " @" << *module.getSymName();
    printAttributes(llvm::to_vector(module->getDiscardableAttrs()));
    block(*module.getBody());
    os << "\n";
  }

private:
  void line() { os.indent(2 * depth); }
  void operand(Value value) { value.printAsOperand(os, names); }

  void printAttributes(ArrayRef<NamedAttribute> attributes) {
    if (attributes.empty())
      return;
    os << " attributes {";
    llvm::interleaveComma(attributes, os, [&](NamedAttribute attribute) {
      os << attribute.getName().getValue();
      if (!isa<UnitAttr>(attribute.getValue()))
        os << " = " << attribute.getValue();
    });
    os << "}";
  }

  /// Prints ` {`, the ops except an empty terminator, and `}`.
  void block(Block &body) {
    os << " {\n";
    ++depth;
    bool ordered = style == Style::Seed && isa<func::FuncOp>(body.getParentOp());
    for (Operation *op : ordered ? printedOrder(body) : llvm::to_vector(llvm::make_pointer_range(body)))
      if (!isa<scf::YieldOp>(op) || op->getNumOperands() != 0)
        print(op);
    --depth;
    line();
    os << "}";
  }

  void print(Operation *op) {
    if (auto module = dyn_cast<ModuleOp>(op)) {
      line();
      print(module);
      return;
    }
    bool laidOut = true;
    if (auto func = dyn_cast<func::FuncOp>(op); func && isPlain(func)) {
      line();
      printFunction(func);
    } else if (isa<func::ReturnOp>(op) && op->getNumOperands() == 0) {
      line();
      os << "return";
    } else if (isa<pto::SectionCubeOp, pto::SectionVectorOp>(op) && op->getDiscardableAttrs().empty()) {
      line();
      os << op->getName().getStringRef();
      block(op->getRegion(0).front());
    } else if (auto loop = dyn_cast<scf::ForOp>(op); loop && isPlain(loop)) {
      line();
      printLoop(loop);
    } else if (auto branch = dyn_cast<scf::IfOp>(op);
               branch && op->getNumResults() == 0 && op->getDiscardableAttrs().empty()) {
      line();
      printBranch(branch);
    } else {
      laidOut = false;
    }
    if (laidOut)
      os << "\n";
    else
      printByItself(op);
  }

  /// Prints the op in its assembly format, each line indented.
  void printByItself(Operation *op) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    op->print(stream, names);
    if (style == Style::Seed)
      text = seedSpelling(op, text, names);
    SmallVector<StringRef> lines;
    StringRef(text).rtrim('\n').split(lines, '\n');
    for (StringRef part : lines) {
      if (!part.empty())
        line();
      os << part << "\n";
    }
  }

  /// A definition of one block whose ops all belong to a dialect that is named in text.
  static bool isPlain(func::FuncOp func) {
    if (func.isExternal() || !func.getBody().hasOneBlock() || func.getNumResults() != 0 || func.getArgAttrsAttr())
      return false;
    return !func.walk([](Operation *op) {
                  return isa<BuiltinDialect>(op->getDialect()) ? WalkResult::interrupt() : WalkResult::advance();
                })
                .wasInterrupted();
  }
  static bool isPlain(scf::ForOp loop) {
    return loop->getNumResults() == 0 && loop.getInductionVar().getType().isIndex() &&
           loop->getDiscardableAttrs().empty();
  }

  void printFunction(func::FuncOp func) {
    os << "func.func ";
    if (std::optional<StringRef> visibility = func.getSymVisibility())
      os << *visibility << " ";
    os << "@" << func.getSymName() << "(";
    llvm::interleaveComma(func.getArguments(), os, [&](BlockArgument argument) {
      operand(argument);
      os << ": " << argument.getType();
    });
    os << ")";
    printAttributes(llvm::to_vector(func->getDiscardableAttrs()));
    block(func.getBody().front());
  }

  void printLoop(scf::ForOp loop) {
    os << "scf.for ";
    operand(loop.getInductionVar());
    os << " = ";
    operand(loop.getLowerBound());
    os << " to ";
    operand(loop.getUpperBound());
    os << " step ";
    operand(loop.getStep());
    block(*loop.getBody());
  }

  void printBranch(scf::IfOp branch) {
    os << "scf.if ";
    operand(branch.getCondition());
    block(*branch.thenBlock());
    if (!branch.elseBlock())
      return;
    os << " else";
    block(*branch.elseBlock());
  }

  llvm::raw_ostream &os;
  Style style;
  AsmState names;
  unsigned depth = 0;
};

} // namespace

void print(ModuleOp module, llvm::raw_ostream &os, Style style) {
  if (style == Style::Seed)
    module.walk([](func::FuncOp func) {
      if (!func.isExternal())
        orderForSeed(func);
    });
  Printer(module, os, style).print(module);
}

std::string writeFile(ModuleOp module, StringRef path) {
  std::string problem;
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(path, &problem);
  if (!file)
    return problem;
  print(module, file->os());
  file->keep();
  return "";
}

} // namespace pto_mlir::ptotext
