// The C functions of Runtime/DeviceABI.h. Exceptions are translated into status codes.
#include "Levels/Api.h"

#include "Machine/Device.h"
#include "Machine/Modes.h"
#include "pto_mlir/ISA/Table.h"

#include <cstring>
#include <new>
#include <thread>

using namespace pto_mlir;
using namespace pto_mlir::cmodel;

struct pto_device_context {
  Device device;
};

namespace {

thread_local std::string openError;

template <class F> pto_status guarded(pto_device_context *context, F &&f) {
  if (!context)
    return PTO_ERROR_INVALID;
  try {
    return f(context->device);
  } catch (const std::bad_alloc &) {
    return context->device.error(PTO_ERROR_OUT_OF_MEMORY, "out of host memory");
  } catch (const std::exception &e) {
    return context->device.error(PTO_ERROR_INVALID, e.what());
  }
}

pto_status openContext(const pto_device_options *options, pto_device_context **context) try {
  if (!options || !context) {
    openError = "open needs options and a place for the context";
    return PTO_ERROR_INVALID;
  }
  const isa::ArchInfo *arch = options->processor ? isa::findArch(options->processor) : &isa::defaultArch();
  if (!arch) {
    openError = "unknown processor '" + std::string(options->processor) + "'; the cmodel knows " + isa::archNames();
    return PTO_ERROR_INVALID;
  }
  auto observer = makeObserver(options->mode ? options->mode : "functional", arch->arch);
  if (!observer) {
    openError = "unknown mode '" + std::string(options->mode) + "'; the cmodel knows " + modeNames();
    return PTO_ERROR_INVALID;
  }
  unsigned threads = options->num_threads ? options->num_threads : std::max(1u, std::thread::hardware_concurrency());
  *context = new pto_device_context{Device(arch->arch, std::min(threads, 256u), std::move(*observer))};
  return PTO_OK;
} catch (const std::bad_alloc &) {
  openError = "out of host memory";
  return PTO_ERROR_OUT_OF_MEMORY;
}

void closeContext(pto_device_context *context) { delete context; }

pto_status allocate(pto_device_context *context, uint64_t bytes, uint64_t *address) {
  return guarded(context, [&](Device &d) {
    if (!address)
      return d.error(PTO_ERROR_INVALID, "alloc needs a place for the address");
    *address = d.memory.allocate(bytes);
    if (*address && d.observer)
      d.observer->allocated(*address, bytes);
    return *address
               ? PTO_OK
               : d.error(PTO_ERROR_OUT_OF_MEMORY, "no room for " + std::to_string(bytes) + " bytes of device memory");
  });
}

pto_status release(pto_device_context *context, uint64_t address) {
  return guarded(context, [&](Device &d) {
    if (!d.memory.release(address))
      return d.error(PTO_ERROR_INVALID, "free of an address that is no allocation");
    if (d.observer)
      d.observer->released(address);
    return PTO_OK;
  });
}

pto_status copyToDevice(pto_device_context *context, uint64_t address, const void *data, uint64_t bytes) {
  return guarded(context, [&](Device &d) {
    if (!d.memory.contains(address, bytes))
      return d.error(PTO_ERROR_INVALID, "copy of " + std::to_string(bytes) + " bytes leaves its allocation");
    if (bytes > 0)
      std::memcpy(reinterpret_cast<void *>(address), data, bytes);
    if (d.observer)
      d.observer->copiedToDevice(address, bytes);
    return PTO_OK;
  });
}

pto_status copyFromDevice(pto_device_context *context, void *data, uint64_t address, uint64_t bytes) {
  return guarded(context, [&](Device &d) {
    if (!d.memory.contains(address, bytes))
      return d.error(PTO_ERROR_INVALID, "copy of " + std::to_string(bytes) + " bytes leaves its allocation");
    if (d.observer && !d.isWatched)
      if (std::string wrong = d.observer->copiesFromDevice(address, bytes); !wrong.empty())
        return d.error(PTO_ERROR_INVALID, std::move(wrong));
    if (bytes > 0)
      std::memcpy(data, reinterpret_cast<const void *>(address), bytes);
    return PTO_OK;
  });
}

pto_status loadKernel(pto_device_context *context, const pto_kernel_desc *desc, uint32_t *kernel) {
  return guarded(context, [&](Device &d) {
    if (!desc || !kernel || (desc->num_streams && !desc->streams))
      return d.error(PTO_ERROR_INVALID, "load_kernel needs a description and a place for the number");
    return d.loadKernel(*desc, *kernel);
  });
}

pto_status unloadKernel(pto_device_context *context, uint32_t kernel) {
  return guarded(context, [&](Device &d) { return d.unloadKernel(kernel); });
}

pto_status launch(pto_device_context *context, uint32_t kernel, uint32_t blocks, const pto_arg *args, size_t numArgs,
                  const int64_t *scalars, size_t numScalars) {
  return guarded(context, [&](Device &d) { return d.launch(kernel, blocks, {args, numArgs}, {scalars, numScalars}); });
}

// Called by several threads: accesses only state of the context that runCore synchronises.
pto_status runCore(pto_device_context *context, uint32_t kernel, uint32_t blocks, uint32_t core, const pto_arg *args,
                   size_t numArgs, const int64_t *scalars, size_t numScalars, pto_fault *fault) try {
  if (!context || !fault)
    return PTO_ERROR_INVALID;
  return context->device.runCore(kernel, blocks, core, {args, numArgs}, {scalars, numScalars}, *fault);
} catch (const std::bad_alloc &) {
  *fault = {"out of memory", "", "", 0, 0, "out of host memory"};
  return PTO_ERROR_OUT_OF_MEMORY;
}

pto_status runRanks(pto_device_context *context, const pto_rank_launch *launches, size_t count, pto_fault *fault) try {
  if (!context || !fault || (count && !launches))
    return PTO_ERROR_INVALID;
  return context->device.runRanks({launches, count}, *fault);
} catch (const std::bad_alloc &) {
  *fault = {"out of memory", "", "", 0, 0, "out of host memory"};
  return PTO_ERROR_OUT_OF_MEMORY;
}

pto_status mayOverlap(pto_device_context *context, uint32_t task, const uint32_t *others, size_t count) {
  return guarded(context, [&](Device &d) {
    if (count && !others)
      return d.error(PTO_ERROR_INVALID, "may_overlap needs the numbers of the tasks");
    if (d.observer)
      d.observer->nextLaunch(task, {others, count});
    return PTO_OK;
  });
}

pto_status synchronize(pto_device_context *context) {
  return guarded(context, [&](Device &d) { return d.synchronize(); });
}

pto_status coreSeconds(pto_device_context *context, double *seconds, size_t count) {
  return guarded(context, [&](Device &d) {
    if (!seconds)
      return d.error(PTO_ERROR_INVALID, "core_seconds needs a place for the seconds");
    return d.coreSeconds({seconds, count});
  });
}

pto_status rankSeconds(pto_device_context *context, double *begins, double *ends, size_t count) {
  return guarded(context, [&](Device &d) {
    if (count && (!begins || !ends))
      return d.error(PTO_ERROR_INVALID, "rank_seconds needs places for the seconds");
    return d.rankSeconds({begins, count}, {ends, count});
  });
}

pto_status watchRanks(pto_device_context *context, void (*seen)(void *, size_t, int), void *user) {
  return guarded(context, [&](Device &d) {
    d.rankWatch = nullptr;
    if (seen)
      d.rankWatch = [=](size_t launch, bool ended) { seen(user, launch, ended); };
    return PTO_OK;
  });
}

pto_status profile(pto_device_context *context, pto_profile *out, int reset) {
  return guarded(context, [&](Device &d) {
    if (out)
      *out = d.profile;
    if (reset)
      d.profile = {};
    return PTO_OK;
  });
}

pto_status kernelProfile(pto_device_context *context, uint32_t kernel, pto_profile *out, int reset) {
  return guarded(context, [&](Device &d) {
    if (!out)
      return d.error(PTO_ERROR_INVALID, "kernel_profile needs a place for the profile");
    return d.kernelProfile(kernel, *out, reset);
  });
}

void lastFault(pto_device_context *context, pto_fault *fault) {
  if (fault)
    *fault = context ? context->device.fault : pto_fault{};
}

const char *lastError(pto_device_context *context) {
  return context ? context->device.lastError.c_str() : openError.c_str();
}

const pto_device_api api = {PTO_DEVICE_ABI_VERSION,
                            "cmodel",
                            openContext,
                            closeContext,
                            allocate,
                            release,
                            copyToDevice,
                            copyFromDevice,
                            loadKernel,
                            unloadKernel,
                            launch,
                            synchronize,
                            profile,
                            kernelProfile,
                            lastFault,
                            lastError,
                            runCore,
                            coreSeconds,
                            runRanks,
                            mayOverlap,
                            rankSeconds,
                            watchRanks};

} // namespace

const pto_device_api *pto_mlir::cmodel::levelApi() { return &api; }
