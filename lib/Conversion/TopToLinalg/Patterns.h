//===- Patterns.h - the lowerings, by op ------------------------*- C++ -*-===//
//
// One function per file of this folder; ConvertTopToLinalg.cpp lists them.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_LIB_CONVERSION_TOPTOLINALG_PATTERNS_H
#define PTO_MLIR_LIB_CONVERSION_TOPTOLINALG_PATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace pto_mlir::top_to_linalg {

void populateBinary(mlir::RewritePatternSet &patterns);
void populateCast(mlir::RewritePatternSet &patterns);
void populateNarrowFloats(mlir::RewritePatternSet &patterns);
void populateLogic(mlir::RewritePatternSet &patterns);
void populateMatMul(mlir::RewritePatternSet &patterns);
void populatePower(mlir::RewritePatternSet &patterns);
void populateReduce(mlir::RewritePatternSet &patterns);
void populateUnary(mlir::RewritePatternSet &patterns);
void populateTrigonometry(mlir::RewritePatternSet &patterns);
void populateAttention(mlir::RewritePatternSet &patterns);
void populateBatchNorm(mlir::RewritePatternSet &patterns);
void populateConv(mlir::RewritePatternSet &patterns);
void populateConvTranspose(mlir::RewritePatternSet &patterns);
void populateLayerNorm(mlir::RewritePatternSet &patterns);
void populatePool(mlir::RewritePatternSet &patterns);
void populateRecurrent(mlir::RewritePatternSet &patterns);
void populateSoftmax(mlir::RewritePatternSet &patterns);
void populateConcat(mlir::RewritePatternSet &patterns);
void populateExpand(mlir::RewritePatternSet &patterns);
void populateGather(mlir::RewritePatternSet &patterns);
void populatePad(mlir::RewritePatternSet &patterns);
void populatePermute(mlir::RewritePatternSet &patterns);
void populateReshape(mlir::RewritePatternSet &patterns);
void populateResize(mlir::RewritePatternSet &patterns);
void populateSelect(mlir::RewritePatternSet &patterns);
void populateSlice(mlir::RewritePatternSet &patterns);
void populateStateWrite(mlir::RewritePatternSet &patterns);

} // namespace pto_mlir::top_to_linalg

#endif // PTO_MLIR_LIB_CONVERSION_TOPTOLINALG_PATTERNS_H
