// Division that rounds down or up, minima and maxima with what they do to NaN, numbers as bits.
#include "Helpers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace pto_mlir::cpp {

StringRef helperOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<arith::FloorDivSIOp>([](auto) { return "floordiv"; })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([](auto) { return "ceildiv"; })
      .Case<arith::MinSIOp, arith::MinUIOp>([](auto) { return "min"; })
      .Case<arith::MaxSIOp, arith::MaxUIOp>([](auto) { return "max"; })
      .Case<arith::MinimumFOp>([](auto) { return "minimum"; })
      .Case<arith::MaximumFOp>([](auto) { return "maximum"; })
      .Case<arith::MinNumFOp>([](auto) { return "minnum"; })
      .Case<arith::MaxNumFOp>([](auto) { return "maxnum"; })
      .Case<arith::RemFOp>([](auto) { return "remainder_of"; })
      .Case<arith::BitcastOp>([](auto) { return "bits_as"; })
      .Default(StringRef());
}

namespace {
struct Helper {
  StringRef name, parameters, body;
};
} // namespace

static constexpr const char *kPair = "<typename A, typename B> static AICORE inline auto ";

void printHelpers(ModuleOp module, llvm::raw_ostream &os) {
  static const Helper helpers[] = {{"floordiv", "(A a, B b)", "return a / b - (a % b != 0 && (a % b < 0) != (b < 0));"},
                                   {"ceildiv", "(A a, B b)", "return a / b + (a % b != 0 && (a % b < 0) == (b < 0));"},
                                   {"min", "(A a, B b)", "return b < a ? b : a;"},
                                   {"max", "(A a, B b)", "return a < b ? b : a;"},
                                   {"minimum", "(A a, B b)", "return a != a || b != b ? a + b : b < a ? b : a;"},
                                   {"maximum", "(A a, B b)", "return a != a || b != b ? a + b : a < b ? b : a;"},
                                   {"minnum", "(A a, B b)", "return a != a ? b : b < a ? b : a;"},
                                   {"maxnum", "(A a, B b)", "return a != a ? b : a < b ? b : a;"},
                                   {"remainder_of", "(A a, B b)", "return (A)__builtin_fmod(a, b);"}};
  auto called = [&](StringRef name) {
    return module.walk([&](Operation *op) { return WalkResult(failure(helperOf(op) == name)); }).wasInterrupted();
  };
  for (const Helper &helper : helpers)
    if (called(helper.name))
      os << "template " << kPair << helper.name << helper.parameters << " { " << helper.body << " }\n";
  if (called("bits_as"))
    os << "template <typename To, typename From> static AICORE inline To bits_as(From from) {\n"
          "  static_assert(sizeof(To) == sizeof(From));\n"
          "  To to;\n"
          "  __builtin_memcpy(&to, &from, sizeof(To));\n"
          "  return to;\n"
          "}\n";
}

} // namespace pto_mlir::cpp
