// Search for plug-ins, and the errors of incompatible ones.
#include "pto_mlir/Runtime/Device.h"

#include <gmock/gmock.h>

#include <cstdlib>

using namespace pto_mlir;
using namespace pto_mlir::runtime;
using ::testing::HasSubstr;

namespace {

std::string openError(const std::string &device) {
  DeviceOptions options;
  options.device = device;
  auto opened = Device::open(options);
  return opened ? "" : opened.error();
}

TEST(Device, MissingPluginNamesWhereItWasLookedFor) {
  setenv("PTO_MLIR_LIB_DIR", "/nowhere", 1);
  std::string error = openError("nosuchdevice");
  unsetenv("PTO_MLIR_LIB_DIR");
  EXPECT_THAT(error, HasSubstr("device 'nosuchdevice': no plug-in found (tried /nowhere/libpto_nosuchdevice.so, "));
  EXPECT_THAT(openError("/nowhere/libx.so"), HasSubstr("(tried /nowhere/libx.so)"));
}

TEST(Device, PluginThatIsNoLibraryLacksTheEntryOrHasAnotherAbiIsRefused) {
  EXPECT_THAT(openError("/proc/self/maps"), HasSubstr("cannot load /proc/self/maps"));
  EXPECT_THAT(openError(PTO_TEST_NO_ENTRY), HasSubstr("lacks the symbol pto_device_get_api"));
  EXPECT_THAT(openError(PTO_TEST_WRONG_ABI),
              HasSubstr("has device ABI " + std::to_string(PTO_DEVICE_ABI_VERSION + 41) + ", this runtime needs " +
                        std::to_string(PTO_DEVICE_ABI_VERSION)));
}

} // namespace
