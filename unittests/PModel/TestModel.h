// Hand-assembled models shared by several tests.
#ifndef PTO_MLIR_UNITTESTS_PMODEL_TESTMODEL_H
#define PTO_MLIR_UNITTESTS_PMODEL_TESTMODEL_H

#include "pto_mlir/PModel/Model.h"

#include <string>
#include <vector>

namespace pto_mlir::testing {

/// y = max(x, 0) on an f32 tensor of rows x cols (cols <= 1024), arguments (x, y). Rows are distributed over the cores;
/// each is loaded to UB, computed and stored, the three engines synchronised by flags.
pmodel::KernelDesc reluKernel(const std::string &name, unsigned rows, unsigned cols, unsigned blocks = 1);

/// y = a + b, arguments (a, b, y), structured like reluKernel.
pmodel::KernelDesc addKernel(const std::string &name, unsigned rows, unsigned cols, unsigned blocks = 1);

/// y = max(x + bias, 0) through the workspace; x and y are `rows` x `cols`, the bias is a weight of that shape. Keeps
/// the sum as debug tensor "sum", whose ONNX layout is cols x rows. `bias` must outlive the description.
pmodel::ModelDesc biasReluModel(unsigned rows, unsigned cols, const std::vector<float> &bias, unsigned blocks = 1);

/// A file name in the temporary folder of the test.
std::string temporaryPath(const std::string &name);
std::vector<char> readFile(const std::string &path);
void writeFile(const std::string &path, const std::vector<char> &bytes);

} // namespace pto_mlir::testing

#endif
