// One pto function as C++. The parts: Expressions.cpp (scalars), Calls.cpp (ops of the library), Tiles.cpp, Views.cpp
// (declarations), Queues.cpp, Statements.cpp (blocks and control flow), Functions.cpp (heads and prologues).
#ifndef PTO_MLIR_LIB_TARGET_CPP_FUNCTIONEMITTER_H
#define PTO_MLIR_LIB_TARGET_CPP_FUNCTIONEMITTER_H

#include "CodeWriter.h"
#include "Names.h"
#include "StylePolicy.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pto_mlir/Dialect/PTO/IR/PTO.h"
#include "pto_mlir/Target/Cpp/Cpp.h"

namespace pto_mlir::cpp {

class FunctionEmitter {
public:
  FunctionEmitter(CodeWriter &out, const StylePolicy &policy, const Options &options)
      : out(out), policy(policy), options(options) {}

  llvm::LogicalResult emit(mlir::func::FuncOp func);
  /// Its declaration, for functions that call it.
  llvm::LogicalResult declare(mlir::func::FuncOp func);

private:
  /// A tensor in global memory. Extents and strides are texts; what is constant is also a number.
  struct View {
    std::string pointer;
    llvm::SmallVector<std::string> shape, strides;
    llvm::SmallVector<std::optional<int64_t>> staticShape, staticStrides;
    mlir::Type element;
    pto::Layout layout;
  };
  /// A GlobalTensor of the prologue; unless `whole`, it is moved to a window before each access.
  struct Tensor {
    std::string name;
    bool whole;
  };

  // Functions.cpp
  llvm::FailureOr<std::string> head(mlir::func::FuncOp func, bool named);
  llvm::LogicalResult parameters(mlir::func::FuncOp func);
  llvm::LogicalResult unpackArguments(mlir::func::FuncOp func);
  llvm::LogicalResult prologue(mlir::func::FuncOp func);
  llvm::LogicalResult body(mlir::func::FuncOp func);

  // Statements.cpp
  llvm::LogicalResult block(mlir::Block &block);
  llvm::LogicalResult statement(mlir::Operation *op);
  llvm::LogicalResult section(mlir::Operation *op, llvm::StringRef guard);
  llvm::LogicalResult call(mlir::func::CallOp op);
  llvm::LogicalResult returns(mlir::func::ReturnOp op);

  // ControlFlow.cpp
  llvm::LogicalResult loop(mlir::scf::ForOp op);
  llvm::LogicalResult whileLoop(mlir::scf::WhileOp op);
  llvm::LogicalResult branch(mlir::scf::IfOp op);
  llvm::LogicalResult declareCarried(mlir::Value value, llvm::StringRef name, mlir::Value init);
  llvm::LogicalResult assignAll(llvm::ArrayRef<std::string> targets, mlir::ValueRange values);

  // Expressions.cpp
  /// The text of a scalar's op; nothing for ops that are none.
  std::optional<std::string> expression(mlir::Operation *op);
  std::optional<std::string> conversion(mlir::Operation *op); // and comparisons
  /// Keeps the text, or declares a variable with it: for named values and long texts.
  llvm::LogicalResult define(mlir::Value value, std::string text);
  llvm::LogicalResult defineVariable(mlir::Value value, const llvm::Twine &text);
  std::string castTo(mlir::Type type, const llvm::Twine &text) const;

  // CoreSync.cpp
  llvm::LogicalResult raiseSemaphore(pto::SyncSetOp op);
  llvm::LogicalResult awaitSemaphore(pto::SyncWaitOp op);

  // Queues.cpp
  llvm::LogicalResult openQueue(mlir::Operation *op);
  llvm::LogicalResult queueCall(mlir::Operation *op, llvm::StringRef callee, mlir::Value queue, mlir::Value tile,
                                int64_t split);
  llvm::LogicalResult popTile(pto::TPopOp op);

  // Calls.cpp
  llvm::LogicalResult libraryCall(mlir::Operation *op);
  /// The call with what the options add around it.
  llvm::LogicalResult observedCall(mlir::Operation *op);
  /// What stands before the access: the address of a tensor that is moved to a window.
  void moveTensors(mlir::Operation *op);

  // Tiles.cpp
  llvm::LogicalResult allocTile(pto::AllocTileOp op);
  llvm::LogicalResult aliasTile(mlir::Operation *op, mlir::Value source);
  llvm::LogicalResult partOfTile(mlir::Operation *op, mlir::Value source, mlir::Value row, mlir::Value col);
  llvm::LogicalResult setValidShape(pto::SetValidShapeOp op);
  /// Declares a tile and keeps its name; `address` may be empty.
  llvm::LogicalResult declareTile(mlir::Value tile, pto::TileBufType type, llvm::StringRef rows, llvm::StringRef cols,
                                  llvm::StringRef address);
  std::string addressOf(mlir::Value tile) const;

  // Views.cpp
  llvm::LogicalResult makeView(pto::MakeTensorViewOp op);
  llvm::LogicalResult partition(pto::PartitionViewOp op);
  llvm::LogicalResult viewDim(pto::GetTensorViewDimOp op);
  llvm::LogicalResult declareTensor(llvm::StringRef name, const View &window, llvm::StringRef pointer);
  llvm::LogicalResult prologueTensor(pto::MakeTensorViewOp op);
  std::string windowPointer(pto::PartitionViewOp op, const View &view) const;
  llvm::FailureOr<View> windowOf(pto::PartitionViewOp op, const View &view);

  /// An error at the op that makes or carries `value`, to be continued with the reason.
  static mlir::InFlightDiagnostic refuse(mlir::Value value);
  /// The text that stands for a value. A value without one is a mistake of the emitter, which `emit` reports.
  llvm::StringRef text(mlir::Value value) const;
  std::string typeText(mlir::Value value) const;
  std::string nameFor(mlir::Value value) { return names.fresh(sourceName(value)); }

  CodeWriter &out;
  const StylePolicy &policy;
  const Options &options;
  unsigned sites = 0; // of profiling
  Names names;
  mutable bool lost = false;                          // a value had no text
  llvm::DenseMap<mlir::Value, std::string> texts;     // variables and expressions
  llvm::DenseMap<mlir::Value, std::string> typeTexts; // of tiles and tensors
  llvm::DenseMap<mlir::Value, std::string> addresses; // of tiles, where they are known
  llvm::DenseMap<mlir::Value, View> views;
  llvm::DenseMap<mlir::Value, Tensor> prologueTensors; // by make_tensor_view
  llvm::DenseMap<mlir::Value, std::string> windows;    // of partitions of such tensors: the pointer to move them to
};

} // namespace pto_mlir::cpp

#endif
