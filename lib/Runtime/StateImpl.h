// The inside of a ModelState, for Session.
#ifndef PTO_MLIR_LIB_RUNTIME_STATEIMPL_H
#define PTO_MLIR_LIB_RUNTIME_STATEIMPL_H

#include "LoadedModel.h"
#include "pto_mlir/Runtime/ModelState.h"

#include <atomic>
#include <mutex>
#include <span>
#include <utility>

namespace pto_mlir::runtime {

struct ModelState::Impl {
  std::shared_ptr<LoadedModel> model;
  uint32_t number = 0; // of the group in the file
  DeviceBuffer buffer;
  uint64_t position = 0;
  std::vector<bool> swapped; // per tensor: its value is in the second place
  /// A run failed after it may have overwritten tensors that it replaces whole.
  bool isTorn = false;
  mutable std::atomic<bool> isUsed = false;

  const pmodel::StateGroupDesc &group() const { return model->file->model().states[number]; }
  /// Makes a state that has been reset.
  static Result<std::unique_ptr<ModelState>> make(std::shared_ptr<LoadedModel> model, uint32_t number);
  /// Device address of a tensor's value.
  uint64_t address(size_t tensor) const;
  /// The greatest position that any net of the file allows; UINT64_MAX without a limit.
  uint64_t limit() const;
  Status reset();
  /// A copy of every tensor.
  Result<std::vector<HostTensor>> read() const;
  /// Whether a run that adds `use.rows` positions may begin.
  Status mayRun(const pmodel::StateUseDesc &use) const;
  /// Tells the next run the position.
  Status writePosition() const;
  /// Prepares `vm` to run on this state.
  Status bind(VM &vm) const { return vm.bindState(buffer.address(), swapped); }
  /// Takes over what a run of these programs wrote, which `status` says has finished or failed.
  void finish(const Status &status, std::span<VM *const> vms, uint64_t rows);
};

/// Reserves a state for one user at a time.
class StateClaim {
public:
  /// Fails if the state is in use.
  static Result<StateClaim> take(const ModelState::Impl &state);
  StateClaim(StateClaim &&other) noexcept : flag(std::exchange(other.flag, nullptr)) {}
  ~StateClaim() {
    if (flag)
      *flag = false;
  }

private:
  explicit StateClaim(std::atomic<bool> *flag) : flag(flag) {}
  std::atomic<bool> *flag;
};

/// A claimed state whose device no run uses meanwhile.
class StateAccess {
public:
  /// Fails if the state is in use; waits for runs of other states.
  static Result<StateAccess> take(const ModelState::Impl &state);

private:
  StateAccess(StateClaim claim, std::unique_lock<std::recursive_mutex> lock)
      : claim(std::move(claim)), lock(std::move(lock)) {}
  StateClaim claim;
  std::unique_lock<std::recursive_mutex> lock;
};

} // namespace pto_mlir::runtime

#endif
