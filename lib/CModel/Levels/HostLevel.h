#ifndef PTO_MLIR_CMODEL_HOSTLEVEL_H
#define PTO_MLIR_CMODEL_HOSTLEVEL_H

namespace pto_mlir::cmodel {

/// Whether this machine supports x86-64-v3. CMake uses it as well (ProbeHostLevel.cpp).
inline bool hostRunsX8664V3() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt") &&
         __builtin_cpu_supports("movbe");
#else
  return false;
#endif
}

} // namespace pto_mlir::cmodel

#endif
