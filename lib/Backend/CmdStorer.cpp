//===- CmdStorer.cpp - Routes commands to their engines -------------------===//

#include "pto_mlir/Backend/CmdStorer.h"

#include "pto_mlir/ISA/Table.h"

namespace pto_mlir::backend {

static int engineId(isa::CoreKind core, isa::Pipe pipe) { return int(unsigned(core) << 4 | unsigned(pipe)); }

StoreError CmdStorerInterface::fold(int engine, int port, EngineKey &key) {
  switch (engine) {
  case PTO_ENGINE_VDMA_AIC:
    engine = engineId(isa::CoreKind::AIC, isa::Pipe::MTE2);
    break;
  case PTO_ENGINE_VDMA_AIV:
    engine = engineId(isa::CoreKind::AIV, isa::Pipe::MTE2);
    break;
  case PTO_ENGINE_CDMA:
    if (port < 0 || port >= PTO_NUM_CDMA_PORTS)
      return "CDMA has no port " + std::to_string(port) + ", ports are 0 to " + std::to_string(PTO_NUM_CDMA_PORTS - 1);
    key = {engine, port};
    return std::nullopt;
  default:
    break;
  }
  if (engine < 0 || engine > 0x1f || !isa::hasPipe(isa::CoreKind(engine >> 4), isa::Pipe(engine & 15)))
    return "unknown engine " + std::to_string(engine);
  if (port != 0)
    return "engine " + std::to_string(engine) + " has no ports, got port " + std::to_string(port);
  key = {engine, 0};
  return std::nullopt;
}

StoreError CmdStorerInterface::store_cmd(int engineId, const uint32_t *cmd, size_t numWords, CMD_ID_NODE *node,
                                         int port) {
  EngineKey key{};
  if (StoreError error = fold(engineId, port, key))
    return error;
  EngineStorerPtr storer = get(key);
  if (!storer)
    return "the architecture has no engine " + std::to_string(engineId);
  return storer->store(cmd, numWords, node);
}

ConcreteCmdStorer::ConcreteCmdStorer(const isa::ArchInfo &arch) {
  using isa::CoreKind, isa::Pipe;
  auto add = [&](CoreKind core, Pipe pipe, EngineStorerPtr storer) {
    engines[{engineId(core, pipe), 0}] = std::move(storer);
  };
  for (CoreKind core : {CoreKind::AIC, CoreKind::AIV}) {
    add(core, Pipe::S, std::make_shared<ScalarEngineStorer>(arch, core));
    for (Pipe pipe : {Pipe::MTE1, Pipe::MTE2, Pipe::MTE3})
      if (isa::hasPipe(arch, core, pipe))
        add(core, pipe, std::make_shared<DMAEngineStorer>(arch, core, pipe));
  }
  add(CoreKind::AIV, Pipe::V, std::make_shared<VectorEngineStorer>(arch));
  add(CoreKind::AIC, Pipe::M, std::make_shared<CubeEngineStorer>(arch));
  add(CoreKind::AIC, Pipe::FIX, std::make_shared<FixpipeEngineStorer>(arch));
  for (int port = 0; port < PTO_NUM_CDMA_PORTS; ++port)
    engines[{PTO_ENGINE_CDMA, port}] = std::make_shared<CDMAEngineStorer>(port);
}

EngineStorerPtr ConcreteCmdStorer::get(EngineKey key) {
  auto it = engines.find(key);
  return it == engines.end() ? nullptr : it->second;
}

void ConcreteCmdStorer::store_cmd_end(unsigned dep) {
  for (auto &[key, engine] : engines)
    engine->store_cmd_end(dep);
}

EngineStorerPtr StorerDecorator::get(EngineKey key) {
  auto it = decorated.find(key);
  if (it != decorated.end())
    return it->second;
  EngineStorerPtr inner = component->get(key);
  if (!inner)
    return nullptr;
  return decorated[key] = decorate(key, std::move(inner));
}

// Each engine's own chain of decorators carries the end down to the concrete storer.
void StorerDecorator::store_cmd_end(unsigned dep) {
  for (auto &[key, engine] : decorated)
    engine->store_cmd_end(dep);
}

EngineStorerPtr VectorDumpStorerDecorator::decorate(EngineKey key, EngineStorerPtr engine) {
  return std::make_shared<VectorDumpEngineStorerDecorator>(std::move(engine), enabled, outputs[key]);
}

EngineStorerPtr StatisticsStorerDecorator::decorate(EngineKey key, EngineStorerPtr engine) {
  return std::make_shared<StatisticsEngineStorerDecorator>(std::move(engine), enabled, counts[key]);
}

EngineStorerPtr TraceStorerDecorator::decorate(EngineKey key, EngineStorerPtr engine) {
  return std::make_shared<TraceEngineStorerDecorator>(std::move(engine), enabled, lines[key]);
}

} // namespace pto_mlir::backend
