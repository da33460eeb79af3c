// A device behind the C ABI of DeviceABI.h: the cmodel or a card's driver, loaded as a plug-in.
#ifndef PTO_MLIR_RUNTIME_DEVICE_H
#define PTO_MLIR_RUNTIME_DEVICE_H

#include "pto_mlir/PModel/Model.h"
#include "pto_mlir/Runtime/DeviceABI.h"
#include "pto_mlir/Support/Result.h"

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pto_mlir::runtime {

/// The bytes of each pointer of a launch.
using LaunchMemory = std::vector<std::vector<std::byte>>;
/// What is told of a launch on one of several devices, before it begins and when it has ended.
using LaunchWatch = std::function<void(size_t launch, bool ended, const LaunchMemory &memory)>;

/// The engines of pto_profile, by number.
inline constexpr const char *kEngineNames[PTO_NUM_ENGINES] = {
    "AIC S", "AIC MTE1", "AIC MTE2", "AIC MTE3", "AIC M", "AIC FIX", "AIV S", "AIV V", "AIV MTE2", "AIV MTE3"};

/// How a device is opened.
struct DeviceOptions {
  /// "cmodel" names libpto_cmodel.so (looked for in PTO_MLIR_LIB_DIR, then around the running binary); a name with a
  /// '/' is the path of a plug-in.
  std::string device = "cmodel";
  std::string processor; ///< empty: the device's own default
  std::string mode = "functional";
  /// Host threads that simulate cores; 0 = as many as the machine has.
  uint32_t threads = 0;
};

/// The library paths tried for a device name, in order of preference.
std::vector<std::string> pluginCandidates(const std::string &device);

class CommandSources;

/// One context of a plug-in. Used by one thread at a time.
class Device {
public:
  /// Loads the plug-in and opens a context. Failures name the library and the missing symbol or the mismatched ABI
  /// version.
  static Result<std::unique_ptr<Device>> open(const DeviceOptions &options);
  ~Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const char *name() const { return api->name; }

  /// Allocates device memory and returns its address. `what` names the buffer in a failure. 0 bytes are allowed.
  Result<uint64_t> alloc(uint64_t bytes, const std::string &what);
  /// Releases an allocation; `address` is a result of `alloc`.
  void free(uint64_t address);
  /// Synchronous copies between host and device memory; `address` may point into an allocation.
  Status copyToDevice(uint64_t address, const void *data, uint64_t bytes);
  Status copyFromDevice(void *data, uint64_t address, uint64_t bytes);
  /// Verifies and loads a kernel. Returns its handle for `launch`.
  Result<uint32_t> loadKernel(const pmodel::KernelDesc &kernel);
  /// Queues a launch; launches run in order.
  Status launch(uint32_t kernel, uint32_t blocks, const std::vector<pto_arg> &arguments,
                const std::vector<int64_t> &scalars = {});
  /// Runs launches on several devices to their end; fails where there is but one device.
  Status runRanks(std::span<const pto_rank_launch> launches);
  /// Calls `seen` in later `runRanks`, before each launch begins and when it has ended; null: no more. Fails where the
  /// device does not say so.
  Status watchRanks(std::function<void(size_t launch, bool ended)> seen);
  /// When each of the `count` launches of the last `runRanks` began and ended, in device seconds since it began;
  /// nothing where the device does not measure its own time.
  Result<std::vector<std::pair<double, double>>> rankSeconds(size_t count);
  /// Whether `mayOverlap` has an effect: the device looks for races.
  bool looksForRaces() const { return racesFound; }
  /// Before a launch: its task, and the earlier ones that it may overlap (may_overlap in DeviceABI.h).
  Status mayOverlap(uint32_t task, std::span<const uint32_t> others);
  /// Waits for all launches. A fault is reported in one line: kernel, engine, instruction, kind, message, and the
  /// tensors that the kernel computes.
  Status synchronize();
  /// Whether `runCore` is supported: the plug-in exports it and the mode does not require whole launches.
  bool runsCores() const { return coreByCore; }
  /// Runs one core's share of a launch. Threads may call it and the copies concurrently (run_core in DeviceABI.h).
  /// Failures are those of `synchronize`.
  Status runCore(uint32_t kernel, uint32_t blocks, uint32_t core, const std::vector<pto_arg> &arguments,
                 const std::vector<int64_t> &scalars = {}) const;
  /// Whether `timedLaunch` is supported: the device measures its own time.
  bool timesCores() const { return coreTimes; }
  /// Seconds that a task occupies its core in addition to its work (ChipInfo::dispatchSeconds).
  double dispatchSeconds() const { return dispatch; }
  /// Launches and waits. Returns the busy time of each core in device seconds, numbered as in run_core.
  Result<std::vector<double>> timedLaunch(uint32_t kernel, uint32_t blocks, size_t cores,
                                          const std::vector<pto_arg> &arguments,
                                          const std::vector<int64_t> &scalars = {});
  /// Counters since the last reset, of the device and of one kernel; `reset` clears them.
  Result<pto_profile> profile(bool reset);
  Result<pto_profile> kernelProfile(uint32_t kernel, bool reset);

private:
  explicit Device(const pto_device_api *api);
  Failure failure(const char *what, pto_status status);
  std::string faultText(const pto_fault &fault) const;

  const pto_device_api *api;
  pto_device_context *context = nullptr;
  bool coreByCore = false, coreTimes = false, racesFound = false;
  std::function<void(size_t, bool)> rankWatch;
  double dispatch = 0;
  std::map<std::string, std::string> computes; // by kernel: the names of the tensors that it computes, for faults
  std::unique_ptr<CommandSources> sources;     // where commands come from
  std::string trace;                           // file of the device's trace; empty: none
};

/// An owning device allocation, freed by the destructor.
class DeviceBuffer {
public:
  DeviceBuffer() = default;
  /// Allocates `bytes` bytes on `device`, which must outlive the buffer. `what` names the buffer in a failure.
  static Result<DeviceBuffer> make(Device &device, uint64_t bytes, const std::string &what);
  DeviceBuffer(DeviceBuffer &&other) noexcept { swap(other); }
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceBuffer();

  uint64_t address() const { return begin; }
  uint64_t bytes() const { return size; }

private:
  void swap(DeviceBuffer &other) {
    std::swap(device, other.device);
    std::swap(begin, other.begin);
    std::swap(size, other.size);
  }
  Device *device = nullptr;
  uint64_t begin = 0, size = 0;
};

} // namespace pto_mlir::runtime

#endif
