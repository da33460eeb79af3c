// For fuzzers that see MLIR: Debian's libMLIR and libLLVM are built without sanitizers, so what containers and
// allocators in their headers tell the address sanitizer is half of the story and must be ignored. Uniqued storage
// lives as long as the process.
#ifndef PTO_MLIR_UNITTESTS_FUZZMLIR_H
#define PTO_MLIR_UNITTESTS_FUZZMLIR_H

#include "llvm/Support/Signals.h"

#include <array>
#include <csignal>

extern "C" const char *__asan_default_options() {
  return "detect_container_overflow=0:allow_user_poisoning=0:detect_leaks=0:detect_odr_violation=0";
}

/// LLVM installs signal handlers with its first temporary file, over libFuzzer's, which keep the input of an abort.
/// It installs them once: here, and they are taken back.
extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  std::array<struct sigaction, NSIG> before = {};
  for (int signal = 1; signal < NSIG; ++signal)
    sigaction(signal, nullptr, &before[signal]);
  llvm::sys::AddSignalHandler([](void *) {}, nullptr);
  for (int signal = 1; signal < NSIG; ++signal)
    sigaction(signal, &before[signal], nullptr);
  return 0;
}

#endif
