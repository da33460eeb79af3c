// For fuzzers that see MLIR: Debian's libMLIR and libLLVM are built without sanitizers, so what containers and
// allocators in their headers tell the address sanitizer is half of the story and must be ignored. Uniqued storage
// lives as long as the process.
#ifndef PTO_MLIR_UNITTESTS_FUZZMLIR_H
#define PTO_MLIR_UNITTESTS_FUZZMLIR_H

extern "C" const char *__asan_default_options() {
  return "detect_container_overflow=0:allow_user_poisoning=0:detect_leaks=0:detect_odr_violation=0";
}

#endif
