// pto-opt --import-onnx: prints (or writes with its weights) the top module of an ONNX file.
#ifndef PTO_MLIR_LIB_TOOLS_IMPORTONNX_H
#define PTO_MLIR_LIB_TOOLS_IMPORTONNX_H

namespace pto_mlir {

/// Whether the first argument is --import-onnx.
bool wantsImport(int argc, char **argv);

/// `pto-opt --import-onnx M.onnx [--input-shapes S] [--output-names a,b] [--print-locs] [-o X.mlir]`; exit code 0, 1
/// (bad model) or 2 (wrong usage).
int runImport(int argc, char **argv);

} // namespace pto_mlir

#endif // PTO_MLIR_LIB_TOOLS_IMPORTONNX_H
