// Which op of the source a command comes from, as the model file says.
#ifndef PTO_MLIR_LIB_RUNTIME_COMMANDSOURCES_H
#define PTO_MLIR_LIB_RUNTIME_COMMANDSOURCES_H

#include "pto_mlir/PModel/Model.h"

#include <map>

namespace pto_mlir::runtime {

/// The tables of the kernels that a device has loaded. The device does not know them: what it says about commands is
/// completed here.
class CommandSources {
public:
  void add(const pmodel::KernelDesc &kernel);
  /// "pto.tload at k.pto:12:3": the op behind the command at `word` of `engine` ("AIV0.1 MTE2"); empty where the file
  /// does not say.
  std::string find(const std::string &kernel, const std::string &engine, uint64_t word) const;
  /// `message` with the op behind each command that it names: "MTE2 word 17" of `core`, "AIC0 FIX word 3" of another
  /// one.
  std::string name(const std::string &message, const std::string &kernel, const std::string &core) const;
  /// Adds "source" to the arguments of each command's span in a device's trace (Chrome format, an event per line). A
  /// file that cannot be read or written stays as it is.
  void nameInTrace(const std::string &path) const;

private:
  struct Kernel {
    std::vector<std::string> texts;
    std::vector<pmodel::StreamDesc> streams; // without the commands
  };
  std::map<std::string, Kernel> kernels;
};

} // namespace pto_mlir::runtime

#endif
