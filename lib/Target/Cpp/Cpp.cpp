// A module as a file of C++.
#include "pto_mlir/Target/Cpp/Cpp.h"
#include "FunctionEmitter.h"
#include "Helpers.h"
#include "StylePolicy.h"

using namespace mlir;

namespace pto_mlir::cpp {

std::optional<Style> styleNamed(StringRef name) {
  if (name == "today")
    return Style::Today;
  if (name == "seed")
    return Style::Seed;
  return std::nullopt;
}

const StylePolicy &policyOf(Style style) {
  static const StylePolicy today = {.indent = 2,
                                    .prologue = false,
                                    .argumentArray = false,
                                    .runTimeExtents = false,
                                    .unitPadding = false,
                                    .deducedVariables = false,
                                    .guardsCores = true,
                                    .drainsAtEnd = true,
                                    .bfloat16 = "bfloat16_t"};
  static const StylePolicy seed = {.indent = 4,
                                   .prologue = true,
                                   .argumentArray = true,
                                   .runTimeExtents = true,
                                   .unitPadding = true,
                                   .deducedVariables = true,
                                   .guardsCores = false,
                                   .drainsAtEnd = false,
                                   .bfloat16 = "bfloat16"};
  return style == Style::Today ? today : seed;
}

/// A program that defines both collects the numbers by itself.
static constexpr StringLiteral kProfileMacros = R"(
#ifndef PTO_PROFILE_BEGIN
#ifdef __CPU_SIM
#define PTO_PROFILE_CLOCK() __builtin_readcyclecounter()
#else
#define PTO_PROFILE_CLOCK() get_sys_cnt()
#endif
#define PTO_PROFILE_BEGIN(site) uint64_t pto_begin_##site = PTO_PROFILE_CLOCK()
#define PTO_PROFILE_END(site, name) \
  pipe_barrier(PIPE_ALL); \
  cce::printf(name " #" #site ": %lu ticks\n", (unsigned long)(PTO_PROFILE_CLOCK() - pto_begin_##site))
#endif
)";

LogicalResult print(ModuleOp module, const Options &options, llvm::raw_ostream &os) {
  const StylePolicy &policy = policyOf(options.style);
  os << "#include \"pto/pto-inst.hpp\"\n\nusing namespace pto;\n";
  std::string functions;
  llvm::raw_string_ostream stream(functions);
  CodeWriter out(stream, policy.indent);
  auto defined = llvm::make_filter_range(module.getOps<func::FuncOp>(), [](func::FuncOp f) { return !f.isExternal(); });
  for (func::FuncOp func : defined)
    if (!SymbolTable::symbolKnownUseEmpty(func, module) && failed(FunctionEmitter(out, policy, options).declare(func)))
      return failure();
  for (func::FuncOp func : defined) {
    out.line("");
    if (failed(FunctionEmitter(out, policy, options).emit(func)))
      return failure();
  }
  if (policy.bfloat16 != "bfloat16_t" && StringRef(functions).contains(policy.bfloat16))
    os << "using " << policy.bfloat16 << " = bfloat16_t;\n";
  printHelpers(module, os);
  if (options.profiling)
    os << kProfileMacros;
  os << functions;
  return success();
}

} // namespace pto_mlir::cpp
