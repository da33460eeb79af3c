// Runs an operation of the host on tensors of one element type.
#ifndef PTO_MLIR_UNITTESTS_HOSTOPS_RUNTENSOROP_H
#define PTO_MLIR_UNITTESTS_HOSTOPS_RUNTENSOROP_H

#include "pto_mlir/HostOps/TensorOps.h"

#include <utility>

namespace pto_mlir::hostops {

template <class T> struct Made {
  std::vector<int64_t> shape;
  std::vector<T> values;
  std::string error;
};

template <class T, class In>
Made<T> run(std::string_view name, ElementType from,
            std::vector<std::pair<std::vector<int64_t>, std::vector<In>>> operands, ElementType to,
            const Parameters &parameters = {}) {
  std::vector<TensorView> inputs;
  inputs.reserve(operands.size());
  for (const auto &[shape, values] : operands)
    inputs.push_back({from, shape, reinterpret_cast<const std::byte *>(values.data())});
  Made<T> made;
  Status status = runTensorOp({name, inputs, parameters, to, [&](const std::vector<int64_t> &shape) {
                                 size_t count = 1;
                                 for (int64_t size : shape)
                                   count *= size_t(size);
                                 made.shape = shape;
                                 made.values.resize(count);
                                 return reinterpret_cast<std::byte *>(made.values.data());
                               }});
  made.error = status ? "" : status.error();
  return made;
}

inline Made<int64_t> runInts(std::string_view name,
                             std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> operands,
                             const Parameters &parameters = {}) {
  return run<int64_t, int64_t>(name, ElementType::I64, std::move(operands), ElementType::I64, parameters);
}

} // namespace pto_mlir::hostops

#endif
