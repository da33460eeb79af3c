// Debug output of passes that are a set of patterns: every op that one replaces, and by what.
#ifndef PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_LOGREPLACED_H
#define PTO_MLIR_LIB_DIALECT_TOP_TRANSFORMS_LOGREPLACED_H

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "pto_mlir/Dialect/DebugLog.h"

namespace pto_mlir::top {

class LogReplaced : public mlir::RewriterBase::Listener {
public:
  /// `pass` must outlive this: its DEBUG_TYPE.
  explicit LogReplaced(const char *pass) : pass(pass) {}

  /// The driver's defaults, observed when somebody asked for the pass's debug output.
  mlir::GreedyRewriteConfig config() {
    mlir::GreedyRewriteConfig config;
    if (isDebugged(pass))
      config.listener = this;
    return config;
  }

  void notifyOperationReplaced(mlir::Operation *op, mlir::ValueRange values) override {
    debugLine(pass, [&](llvm::raw_ostream &os) {
      os << op->getName() << " at " << op->getLoc() << " becomes ";
      llvm::interleaveComma(values, os, [&](mlir::Value value) {
        if (mlir::Operation *by = value.getDefiningOp())
          os << by->getName();
        else
          os << "an argument";
      });
    });
  }

private:
  const char *pass;
};

} // namespace pto_mlir::top

#endif
