// Maps commands to source ops by the tables of the model file.
#ifndef PTO_MLIR_LIB_RUNTIME_COMMANDSOURCES_H
#define PTO_MLIR_LIB_RUNTIME_COMMANDSOURCES_H

#include "pto_mlir/PModel/Model.h"

#include <map>

namespace pto_mlir::runtime {

/// The source tables of the loaded kernels. The device reports command positions only; this class adds the source ops.
class CommandSources {
public:
  void add(const pmodel::KernelDesc &kernel);
  /// The source op of the command at `word` of `engine` ("AIV0.1 MTE2"), as "pto.tload at k.pto:12:3"; empty when
  /// unknown.
  std::string find(const std::string &kernel, const std::string &engine, uint64_t word) const;
  /// `message` with the source op appended to each command it mentions: "MTE2 word 17" of `core`, "AIC0 FIX word 3" of
  /// another core.
  std::string name(const std::string &message, const std::string &kernel, const std::string &core) const;
  /// Adds "source" to the arguments of each command's span in a device's trace (Chrome format, an event per line). A
  /// file that cannot be read or written is left unchanged.
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
