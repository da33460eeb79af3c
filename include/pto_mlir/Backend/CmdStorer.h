//===- CmdStorer.h - Routes commands to their engines ---------------------===//
//
// `store_cmd` maps virtual engines to real ones, checks the port and forwards the command to the engine's storer. A
// decorator at this level wraps every engine's storer in its engine-level decorator.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_BACKEND_CMDSTORER_H
#define PTO_MLIR_BACKEND_CMDSTORER_H

#include "pto_mlir/Backend/EngineStorer.h"

namespace pto_mlir::backend {

/// A real engine and its port (0 for all but CDMA).
struct EngineKey {
  int engine;
  int port;
  friend bool operator<(const EngineKey &a, const EngineKey &b) {
    return a.engine != b.engine ? a.engine < b.engine : a.port < b.port;
  }
};

/// Receives the commands of all engines of a kernel.
class CmdStorerInterface {
public:
  virtual ~CmdStorerInterface() = default;

  /// Stores one command. An unknown engine, an illegal port, or a command of another engine is an error.
  StoreError store_cmd(int engineId, const uint32_t *cmd, size_t numWords, CMD_ID_NODE *node, int port);
  /// Ends the stream of every engine with commands; flushes all decorators.
  virtual void store_cmd_end(unsigned dep) = 0;
  /// The storer of a real engine, wrapped in this level's decorators; null when there is no such engine.
  virtual EngineStorerPtr get(EngineKey key) = 0;

  /// Maps a virtual engine to the real one and checks the port.
  static StoreError fold(int engineId, int port, EngineKey &key);
};

/// Holds the concrete storer of every engine of an architecture.
class ConcreteCmdStorer : public CmdStorerInterface {
public:
  explicit ConcreteCmdStorer(const isa::ArchInfo &arch = isa::defaultArch());
  void store_cmd_end(unsigned dep) override;
  EngineStorerPtr get(EngineKey key) override;

private:
  std::map<EngineKey, EngineStorerPtr> engines;
};

/// Wraps the storer of every engine in an engine-level decorator.
class StorerDecorator : public CmdStorerInterface {
public:
  explicit StorerDecorator(std::shared_ptr<CmdStorerInterface> component) : component(std::move(component)) {}
  /// A disabled decorator only forwards.
  void setEnabled(bool on) { enabled = on; }
  void store_cmd_end(unsigned dep) override;
  EngineStorerPtr get(EngineKey key) override;

protected:
  virtual EngineStorerPtr decorate(EngineKey key, EngineStorerPtr engine) = 0;
  bool enabled = true;

private:
  std::shared_ptr<CmdStorerInterface> component;
  std::map<EngineKey, EngineStorerPtr> decorated;
};

/// Collects the words of each engine, the input of the Builder.
class VectorDumpStorerDecorator : public StorerDecorator {
public:
  using StorerDecorator::StorerDecorator;
  const std::map<EngineKey, std::vector<uint32_t>> &streams() const { return outputs; }

protected:
  EngineStorerPtr decorate(EngineKey key, EngineStorerPtr engine) override;

private:
  std::map<EngineKey, std::vector<uint32_t>> outputs;
};

/// Counts the commands of each engine.
class StatisticsStorerDecorator : public StorerDecorator {
public:
  using StorerDecorator::StorerDecorator;
  const std::map<EngineKey, EngineStatistics> &statistics() const { return counts; }

protected:
  EngineStorerPtr decorate(EngineKey key, EngineStorerPtr engine) override;

private:
  std::map<EngineKey, EngineStatistics> counts;
};

/// Disassembles the commands of each engine.
class TraceStorerDecorator : public StorerDecorator {
public:
  using StorerDecorator::StorerDecorator;
  const std::map<EngineKey, std::string> &texts() const { return lines; }

protected:
  EngineStorerPtr decorate(EngineKey key, EngineStorerPtr engine) override;

private:
  std::map<EngineKey, std::string> lines;
};

} // namespace pto_mlir::backend

#endif
