// What a net remembers from run to run.
#ifndef PTO_MLIR_RUNTIME_MODELSTATE_H
#define PTO_MLIR_RUNTIME_MODELSTATE_H

#include "pto_mlir/PModel/Model.h"
#include "pto_mlir/Runtime/HostTensor.h"
#include "pto_mlir/Support/Result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pto_mlir::runtime {

/// The tensors of a net's group of state, in device memory, with the number of positions written. Made by
/// Session::newState; keeps the device alive. Thread-safe, but while a run uses a state every other use of it is an
/// error, as is a second run.
class ModelState {
public:
  ~ModelState();

  const pmodel::StateGroupDesc &group() const;
  /// Positions that runs have added.
  uint64_t position() const;
  /// Goes back to `position`, which must not be beyond the present one. Rows behind it are written again by later runs.
  /// Tensors that every run replaces cannot go back: with one, only the present position and 0 are allowed, and 0 is
  /// `reset`.
  Status truncate(uint64_t position);
  /// Position 0, and every tensor its initial value.
  Status reset();
  /// Writes the tensors and the position (an i64 named "state.position") as safetensors.
  Status save(const std::string &path) const;
  /// Reads what `save` wrote. The file must have exactly the group's tensors, in their types and shapes. A failure
  /// changes nothing.
  Status load(const std::string &path);
  /// A second state with the same contents.
  Result<std::unique_ptr<ModelState>> fork() const;

  /// A copy of every tensor, as stored.
  Result<std::vector<HostTensor>> tensors() const;
  /// Sets every tensor, and the position. Each must have its type and shape; a failure changes nothing.
  Status assign(const std::vector<InputTensor> &tensors, uint64_t position);

  struct Impl;

private:
  friend class Session;
  explicit ModelState(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace pto_mlir::runtime

#endif
