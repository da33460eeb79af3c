// pto-mutate-flags MODEL.pmodel [MAX_KERNELS], pto-mutate-flags KERNELS.pmodel KERNEL BYTES...: a mutation test of the
// checked mode. Each flag instruction of each kernel, and each flag as a whole, cross-core flags included, is removed
// or moved past its neighbour, one mutant at a time. A mutant whose outputs change for some schedule of the engines
// must be reported by the checked mode; the unmodified kernels must not. Exits 1 if either does not hold.
#include "Machine/Device.h"
#include "Machine/Modes.h"
#include "pto_mlir/PModel/Program.h"
#include "pto_mlir/PModel/Reader.h"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <set>

using namespace pto_mlir;
using namespace pto_mlir::cmodel;

namespace {

isa::Arch architecture = isa::Arch::a3; // of the file

using Words = std::vector<std::vector<uint32_t>>; // per stream

struct Flag {
  size_t stream;
  uint32_t word, op;
  bool isSet;
  isa::Pipe src, dst;    // unused for cross-core flags
  std::set<int64_t> ids; // ids observed while the kernel ran
  bool cross = false;
};

/// The id operand of a flag instruction; null for others.
const isa::Value *idOf(const isa::DecodedInsn &insn) {
  switch (insn.opcode) {
  case isa::Opcode::SetFlag:
    return &insn.as<isa::SetFlag>().id;
  case isa::Opcode::WaitFlag:
    return &insn.as<isa::WaitFlag>().id;
  case isa::Opcode::CrossSet:
    return &insn.as<isa::CrossSet>().id;
  case isa::Opcode::CrossWait:
    return &insn.as<isa::CrossWait>().id;
  default:
    return nullptr;
  }
}

/// Records which ids the flag instructions use.
class Tracer : public Observer {
public:
  explicit Tracer(std::vector<Flag> &flags) : flags(flags) {}
  void before(Core &core, const Op &op) override {
    const isa::Value *id = idOf(op.insn);
    if (!id)
      return;
    const auto &streams = core.launch().kernel->streams;
    for (Flag &f : flags)
      if (&streams[f.stream] == core.engine().stream && f.word == op.word)
        f.ids.insert(id->isRegister ? core.engine().registers[id->value] : id->value);
  }

private:
  std::vector<Flag> &flags;
};

struct Subject {
  const pmodel::KernelDesc &desc;
  std::vector<std::vector<uint8_t>> arguments; // empty: written before it is read, if read at all
  std::vector<uint64_t> bytes;
  std::vector<bool> isStored;
};

struct Outcome {
  pto_status status = PTO_OK;
  std::string message;
  std::vector<std::vector<uint8_t>> outputs;
};

pto_kernel_desc describe(const Subject &s, const Words &words, std::vector<pto_stream> &streams) {
  for (size_t i = 0; i < words.size(); ++i)
    streams.push_back({uint32_t(s.desc.streams[i].coreKind), s.desc.streams[i].pipe, words[i].data(), words[i].size()});
  return {s.desc.name.c_str(), streams.data(), streams.size(), s.desc.numArgs};
}

Outcome run(const Subject &s, const Words &words, std::unique_ptr<Observer> observer) {
  Device device(architecture, 1, std::move(observer));
  Outcome outcome;
  std::vector<pto_stream> streams;
  uint32_t id = 0;
  if ((outcome.status = device.loadKernel(describe(s, words, streams), id)) != PTO_OK)
    return outcome;
  std::vector<pto_arg> args;
  for (size_t i = 0; i < s.bytes.size(); ++i) {
    args.push_back({device.memory.allocate(s.bytes[i]), s.bytes[i]});
    if (device.observer)
      device.observer->allocated(args[i].address, s.bytes[i]);
    if (s.arguments[i].empty())
      continue;
    std::memcpy(reinterpret_cast<void *>(args[i].address), s.arguments[i].data(), s.bytes[i]);
    if (device.observer)
      device.observer->copiedToDevice(args[i].address, s.bytes[i]);
  }
  if ((outcome.status = device.launch(id, s.desc.blocks, args, {})) == PTO_OK)
    outcome.status = device.synchronize();
  outcome.message = device.lastError;
  for (size_t i = 0; i < args.size(); ++i)
    if (s.isStored[i]) {
      auto *data = reinterpret_cast<const uint8_t *>(args[i].address);
      outcome.outputs.emplace_back(data, data + args[i].bytes);
    }
  return outcome;
}

Outcome run(const Subject &s, const Words &words, const std::string &mode) {
  return run(s, words, std::move(*makeObserver(mode, architecture)));
}

struct Mutation {
  std::string what;
  Words words;
};

class Mutator {
public:
  Mutator(const Subject &subject) : s(subject) {
    for (const pmodel::StreamDesc &stream : s.desc.streams)
      original.emplace_back(stream.words.begin(), stream.words.end());
    std::vector<pto_stream> streams;
    broken = buildKernel(describe(s, original, streams), architecture, kernel);
    for (size_t i = 0; i < kernel.streams.size(); ++i)
      for (uint32_t k = 0; k < kernel.streams[i].ops.size(); ++k) {
        const Op &op = kernel.streams[i].ops[k];
        if (op.insn.opcode == isa::Opcode::SetFlag)
          flags.push_back({i, op.word, k, true, op.insn.as<isa::SetFlag>().src, op.insn.as<isa::SetFlag>().dst, {}});
        if (op.insn.opcode == isa::Opcode::WaitFlag)
          flags.push_back({i, op.word, k, false, op.insn.as<isa::WaitFlag>().src, op.insn.as<isa::WaitFlag>().dst, {}});
        if (op.insn.opcode == isa::Opcode::CrossSet || op.insn.opcode == isa::Opcode::CrossWait)
          flags.push_back({i, op.word, k, op.insn.opcode == isa::Opcode::CrossSet, {}, {}, {}, true});
      }
    run(s, original, std::make_unique<Tracer>(flags));
  }

  std::vector<Mutation> mutations() {
    std::vector<Mutation> result;
    auto name = [&](const Flag &f) {
      return std::string(f.isSet ? "set " : "wait ") +
             (f.cross ? "across cores" : std::string(isa::pipeName(f.src)) + " -> " + isa::pipeName(f.dst)) +
             " at word " + std::to_string(f.word) + " of " + isa::pipeName(kernel.streams[f.stream].pipe);
    };
    for (const Flag &f : flags) {
      Words words = original;
      erase(words, f);
      result.push_back({"without the " + name(f), std::move(words)});
      if (Words moved = original; move(moved, f))
        result.push_back({"moved: the " + name(f), std::move(moved)});
    }
    for (const std::vector<size_t> &group : groups()) {
      Words words = original;
      for (size_t i : group)
        erase(words, flags[i]);
      result.push_back({"without any " + name(flags[group[0]]), std::move(words)});
    }
    return result;
  }

  Words original;
  std::string broken;

private:
  /// Replaces the instruction by a move of the same number of words into an unused register.
  void erase(Words &words, const Flag &f) {
    std::vector<uint32_t> nothing;
    isa::encode(isa::Mov{63, 0}, nothing);
    // A cross-core wait has fewer words: replace it by a barrier, which never blocks here.
    std::vector<uint32_t> brief;
    isa::encode(isa::Barrier{isa::Pipe::ALL}, brief);
    const auto &with = kernel.streams[f.stream].ops[f.op].insn.numWords == brief.size() ? brief : nothing;
    if (with.size() == kernel.streams[f.stream].ops[f.op].insn.numWords)
      std::copy(with.begin(), with.end(), words[f.stream].begin() + f.word);
  }
  /// Moves a set before the preceding tile instruction, and a wait after the following one.
  bool move(Words &words, const Flag &f) {
    const std::vector<Op> &ops = kernel.streams[f.stream].ops;
    size_t first = f.isSet ? f.op - 1 : f.op;
    if ((f.isSet && f.op == 0) || first + 1 >= ops.size())
      return false;
    const Op &neighbour = f.isSet ? ops[f.op - 1] : ops[f.op + 1];
    if (isa::infoOf(neighbour.insn.opcode).pipe == isa::Pipe::ALL || neighbour.insn.opcode == isa::Opcode::LoadScalar)
      return false;
    auto begin = words[f.stream].begin() + ops[first].word;
    std::rotate(begin, begin + ops[first].insn.numWords,
                begin + ops[first].insn.numWords + ops[first + 1].insn.numWords);
    return true;
  }
  /// Groups of flag instructions of one pair of engines with a common id.
  std::vector<std::vector<size_t>> groups() {
    std::vector<size_t> leader(flags.size());
    std::iota(leader.begin(), leader.end(), size_t(0));
    auto find = [&](size_t i) {
      while (leader[i] != i)
        i = leader[i];
      return i;
    };
    for (size_t i = 0; i < flags.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        bool shared = flags[i].cross == flags[j].cross && flags[i].src == flags[j].src &&
                      flags[i].dst == flags[j].dst &&
                      std::any_of(flags[i].ids.begin(), flags[i].ids.end(),
                                  [&](int64_t id) { return flags[j].ids.count(id) > 0; });
        if (shared)
          leader[find(i)] = find(j);
      }
    std::map<size_t, std::vector<size_t>> byLeader;
    for (size_t i = 0; i < flags.size(); ++i)
      byLeader[find(i)].push_back(i);
    std::vector<std::vector<size_t>> result;
    result.reserve(byLeader.size());
    for (auto &[first, members] : byLeader)
      result.push_back(std::move(members));
    return result;
  }

  const Subject &s;
  Kernel kernel;
  std::vector<Flag> flags;
};

struct Totals {
  unsigned kernels = 0, mutations = 0, reported = 0, harmless = 0, redundantFlags = 0, missed = 0, falseReports = 0;
};

void check(const Subject &s, Totals &totals) {
  Mutator mutator(s);
  if (!mutator.broken.empty())
    return;
  Outcome right = run(s, mutator.original, "functional"), unmutated = run(s, mutator.original, "checked");
  if (right.status != PTO_OK)
    return; // random arguments are not valid inputs of this kernel
  ++totals.kernels;
  if (unmutated.status != PTO_OK || unmutated.outputs != right.outputs) {
    ++totals.falseReports;
    std::printf("%s: as it is: %s\n", s.desc.name.c_str(), unmutated.message.c_str());
  }
  for (const Mutation &m : mutator.mutations()) {
    Outcome checked = run(s, m.words, "checked");
    if (checked.status == PTO_ERROR_BAD_KERNEL)
      continue;
    ++totals.mutations;
    if (checked.status != PTO_OK) {
      ++totals.reported;
      continue;
    }
    bool harmful = false;
    for (int seed = 0; seed < 6 && !harmful; ++seed) {
      Outcome other = run(s, m.words, "shuffled:" + std::to_string(seed));
      harmful = other.status != PTO_OK || other.outputs != right.outputs;
    }
    (harmful ? totals.missed : totals.harmless) += 1;
    if (m.what.starts_with("without any")) {
      ++totals.redundantFlags;
      std::printf("%s: needless: %s\n", s.desc.name.c_str(), m.what.c_str());
    }
    if (harmful)
      std::printf("%s: not reported: %s\n", s.desc.name.c_str(), m.what.c_str());
  }
}

Subject subjectOf(const pmodel::KernelDesc &kernel, const std::vector<uint64_t> &bytes) {
  std::vector<bool> loaded(kernel.numArgs), stored(kernel.numArgs);
  for (const pmodel::StreamDesc &stream : kernel.streams)
    for (size_t at = 0; at < stream.words.size();) {
      isa::DecodedInsn insn;
      if (isa::decode(stream.words.data() + at, stream.words.size() - at, insn))
        break;
      at += insn.numWords;
      if (insn.opcode == isa::Opcode::TLoad)
        loaded[insn.as<isa::TLoad>().src.arg] = true;
      if (insn.opcode == isa::Opcode::LoadScalar)
        loaded[insn.as<isa::LoadScalar>().src.arg] = true;
      if (insn.opcode == isa::Opcode::TStore)
        stored[insn.as<isa::TStore>().dst.arg] = true;
      if (insn.opcode == isa::Opcode::TStoreAcc)
        stored[insn.as<isa::TStoreAcc>().dst.arg] = true;
    }
  Subject s{kernel, {}, {}, stored};
  std::minstd_rand random(7);
  for (uint32_t i = 0; i < kernel.numArgs; ++i) {
    s.bytes.push_back(bytes[i]);
    std::vector<uint8_t> data;
    if (loaded[i] || !stored[i]) {
      // Small values for every type: the bits of small f32 numbers are small f16 numbers as well.
      data.resize(s.bytes[i]);
      for (size_t b = 0; b + 4 <= data.size(); b += 4) {
        uint32_t bits = 0x3c003c00u + uint32_t(random() & 0x03ff03ff);
        std::memcpy(&data[b], &bits, 4);
      }
    }
    s.arguments.push_back(std::move(data));
  }
  return s;
}

} // namespace

int main(int argc, char **argv) {
  unsigned most = 1000;
  auto number = [](const char *text, auto &value) {
    auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
    return error == std::errc() && *end == 0;
  };
  bool isModel = argc == 2 || (argc == 3 && number(argv[2], most));
  std::vector<uint64_t> sizes(argc > 3 ? size_t(argc - 3) : 0);
  bool good = isModel || argc >= 3;
  for (size_t i = 0; i < sizes.size(); ++i)
    good = good && number(argv[i + 3], sizes[i]);
  if (!good) {
    std::fprintf(stderr, "usage: pto-mutate-flags MODEL.pmodel [MAX_KERNELS]\n       pto-mutate-flags KERNELS.pmodel "
                         "KERNEL BYTES_OF_EACH_ARGUMENT...\n");
    return 2;
  }
  auto file = pmodel::ModelFile::open(argv[1]);
  if (!file) {
    std::fprintf(stderr, "pto-mutate-flags: error: %s\n", file.error().c_str());
    return 1;
  }
  const pmodel::ModelDesc &model = (*file)->model();
  if (model.processor == "a5")
    architecture = isa::Arch::a5;
  Totals totals;
  if (isModel && model.nets.empty()) {
    std::fprintf(stderr, "pto-mutate-flags: error: %s has no net; name a kernel and the bytes of its arguments\n",
                 argv[1]);
    return 1;
  }
  if (isModel) {
    const pmodel::ProgramDesc &program = model.nets.at(0).variants.at(0).program;
    auto code = pmodel::decodeProgram(program.code);
    std::set<uint32_t> seen;
    for (const pmodel::VMInstruction &insn : *code)
      if (insn.opcode == pmodel::VMOpcode::CallDevice && seen.size() < most &&
          seen.insert(program.kernels[insn.kernel]).second) {
        std::vector<uint64_t> bytes;
        bytes.reserve(insn.arguments.size());
        for (const auto &argument : insn.arguments)
          bytes.push_back(argument.bytes);
        check(subjectOf(model.kernels[program.kernels[insn.kernel]], bytes), totals);
      }
  } else {
    for (const pmodel::KernelDesc &kernel : model.kernels)
      if (kernel.name == argv[2] && kernel.numArgs == sizes.size())
        check(subjectOf(kernel, sizes), totals);
    if (totals.kernels == 0) {
      std::fprintf(stderr, "pto-mutate-flags: error: %s has no kernel '%s' of %zu arguments that runs\n", argv[1],
                   argv[2], sizes.size());
      return 1;
    }
  }
  std::printf(
      "%u kernels, %u false reports; %u mutations: %u reported, %u change nothing, %u missed; %u needless flags\n",
      totals.kernels, totals.falseReports, totals.mutations, totals.reported, totals.harmless, totals.missed,
      totals.redundantFlags);
  return totals.missed || totals.falseReports;
}
