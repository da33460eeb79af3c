// Who watches cores while they run: the modes beside functional hang on this interface. Without an observer a core does
// not look for one between two instructions, so functional mode pays nothing.
#ifndef PTO_MLIR_CMODEL_OBSERVER_H
#define PTO_MLIR_CMODEL_OBSERVER_H

#include "pto_mlir/Runtime/DeviceABI.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pto_mlir::isa {
struct CorePlace;
}

namespace pto_mlir::cmodel {

using isa::CorePlace;

class Core;
struct LaunchState;
struct Op;

/// Calls come from one thread. The cores of a launch run one after the other, each from coreBegin to coreEnd; those of
/// a kernel with cross-core flags in groups, of which all begin, then take turns, then end.
class Observer {
public:
  virtual ~Observer() = default;

  // --- the host's side ---
  virtual void allocated(uint64_t, uint64_t) {}
  virtual void released(uint64_t) {}
  virtual void copiedToDevice(uint64_t, uint64_t) {}
  /// What is wrong with the host reading these bytes; empty when nothing is.
  virtual std::string copiesFromDevice(uint64_t, uint64_t) { return ""; }
  virtual void launchBegin(const LaunchState &) {}
  /// May add what the launch cost to `cost`.
  virtual void launchEnd(const LaunchState &, pto_profile &) {}
  /// How long each core of the last launch worked, in seconds of the device; empty when nobody measures that.
  virtual std::span<const double> coreSeconds() const { return {}; }

  // --- a core's side; all may call core.fault() ---
  /// These cores run together from here on; most often it is one.
  virtual void groupBegin(const std::vector<CorePlace> &) {}
  virtual void coreBegin(Core &) {}
  /// `op` is about to be executed by core.engine(), whose registers still hold its operands. Called again when it
  /// blocked.
  virtual void before(Core &, const Op &) {}
  /// `op` has been executed: it neither faulted nor blocked.
  virtual void after(Core &, const Op &) {}
  /// Does it find out by itself when a flag is raised too early? Then such an engine waits until the flag is lowered,
  /// if that ever happens.
  virtual bool judgesFlags() const { return false; }
  /// Shall another engine have its turn now?
  virtual bool pause(Core &) { return false; }
  /// All streams have ended, without a fault.
  virtual void coreEnd(Core &) {}
};

} // namespace pto_mlir::cmodel

#endif
