// Hand-assembled models shared by several tests.
#ifndef PTO_MLIR_UNITTESTS_PMODEL_TESTMODEL_H
#define PTO_MLIR_UNITTESTS_PMODEL_TESTMODEL_H

#include "pto_mlir/PModel/Model.h"

#include <optional>
#include <string>
#include <vector>

namespace pto_mlir::testing {

/// y = max(x, 0) on an f32 tensor of rows x cols (cols <= 1024), arguments (x, y). Rows are distributed over the cores;
/// each is loaded to UB, computed and stored, the three engines synchronised by flags. Without `rows` their number is
/// the launch's scalar 0.
pmodel::KernelDesc reluKernel(const std::string &name, std::optional<unsigned> rows, unsigned cols,
                              unsigned blocks = 1);

/// y = a + b, arguments (a, b, y), structured like reluKernel.
pmodel::KernelDesc addKernel(const std::string &name, std::optional<unsigned> rows, unsigned cols, unsigned blocks = 1);

/// y = max(x + bias, 0) through the workspace; x and y are `rows` x `cols`, the bias is a weight of that shape. Keeps
/// the sum as debug tensor "sum", whose ONNX layout is cols x rows. `bias` must outlive the description.
pmodel::ModelDesc biasReluModel(unsigned rows, unsigned cols, const std::vector<float> &bias, unsigned blocks = 1);

/// The model of biasReluModel without debug tensors, for any number of rows in a range: symbol "rows", a scalar of both
/// launches.
pmodel::ModelDesc sizedModel(unsigned least, unsigned greatest, unsigned multiple, unsigned cols,
                             const std::vector<float> &bias, unsigned blocks = 1);

/// A net with state, on tensors of rows x cols: total += x and last = max(x, 0), y = max(total, 0). "total" is in two
/// places and begins as zero, "last" in one and begins as the weight "begin". A run adds a position, at most 3.
pmodel::ModelDesc accumulatorModel(unsigned rows, unsigned cols, const std::vector<float> &begin);

/// A host program "twice" that applies `net` twice to a tensor of VM type `type`.
pmodel::HostProgramDesc twiceProgram(const std::string &net, const std::string &type, const std::string &target = "a3");

/// A file name in the temporary folder of the test.
std::string temporaryPath(const std::string &name);
std::vector<char> readFile(const std::string &path);
void writeFile(const std::string &path, const std::vector<char> &bytes);

} // namespace pto_mlir::testing

#endif
