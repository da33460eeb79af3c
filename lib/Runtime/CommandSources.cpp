#include "CommandSources.h"

#include "pto_mlir/ISA/Table.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>

namespace pto_mlir::runtime {

void CommandSources::add(const pmodel::KernelDesc &kernel) {
  if (kernel.sources.empty())
    return;
  Kernel &kept = kernels[kernel.name] = {kernel.sources, {}};
  for (const pmodel::StreamDesc &stream : kernel.streams)
    kept.streams.push_back({stream.coreKind, stream.pipe, {}, 0, stream.sources});
}

std::string CommandSources::find(const std::string &name, const std::string &engine, uint64_t word) const {
  auto kernel = kernels.find(name);
  size_t space = engine.rfind(' ');
  if (kernel == kernels.end() || space == std::string::npos)
    return "";
  std::optional<uint32_t> found;
  for (const pmodel::StreamDesc &stream : kernel->second.streams) {
    const char *pipe = isa::pipeName(isa::Pipe(stream.pipe));
    if (!pipe || engine.substr(space + 1) != pipe ||
        engine.starts_with("AIC") != (stream.coreKind == pmodel::CoreKind::AIC))
      continue;
    for (auto [first, source] : stream.sources)
      if (first <= word)
        found = source;
  }
  return found ? kernel->second.texts[*found] : "";
}

std::string CommandSources::name(const std::string &message, const std::string &kernel, const std::string &core) const {
  constexpr std::string_view mark = " word ";
  auto wordBefore = [&](size_t end) {
    size_t space = end == 0 ? std::string::npos : message.rfind(' ', end - 1);
    size_t begin = space == std::string::npos ? 0 : space + 1;
    return message.substr(begin, end - begin);
  };
  std::string text;
  size_t done = 0;
  for (size_t at = message.find(mark); at != std::string::npos; at = message.find(mark, at + 1)) {
    uint64_t word = 0;
    auto [end, error] = std::from_chars(message.data() + at + mark.size(), message.data() + message.size(), word);
    if (error != std::errc())
      continue;
    std::string pipe = wordBefore(at), owner = at > pipe.size() ? wordBefore(at - pipe.size() - 1) : "";
    std::string source = find(kernel, (owner.starts_with("AI") ? owner : core) + " " + pipe, word);
    size_t behind = size_t(end - message.data());
    text += message.substr(done, behind - done) + (source.empty() ? "" : ", " + source);
    done = behind;
  }
  return text + message.substr(done);
}

namespace {
/// The value of `key` in the JSON line of an event: a number, or a string without its quotes; empty when absent.
std::string fieldOf(const std::string &line, const std::string &key) {
  size_t at = line.rfind("\"" + key + "\": ");
  if (at == std::string::npos)
    return "";
  at += key.size() + 4;
  if (line[at] == '"')
    return line.substr(at + 1, line.find('"', at + 1) - at - 1);
  return line.substr(at, line.find_first_not_of("0123456789", at) - at);
}

std::string escaped(const std::string &text) {
  std::string result;
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result;
}
} // namespace

void CommandSources::nameInTrace(const std::string &path) const {
  if (kernels.empty())
    return;
  std::string part = path + ".part", line;
  std::ifstream in(path);
  std::ofstream out(part);
  std::map<std::string, std::string> names; // of processes by pid, of threads by pid and tid
  while (in && out && std::getline(in, line)) {
    std::string pid = fieldOf(line, "pid"), tid = fieldOf(line, "tid"), word = fieldOf(line, "word");
    uint64_t number = 0;
    if (line.find("\"ph\": \"M\"") != std::string::npos) {
      names[tid.empty() ? pid : pid + " " + tid] = fieldOf(line, "name");
    } else if (std::from_chars(word.data(), word.data() + word.size(), number).ec == std::errc()) {
      std::string source = find(fieldOf(line, "kernel"), names[pid] + " " + names[pid + " " + tid], number);
      size_t end = line.rfind("}}");
      if (!source.empty() && end != std::string::npos)
        line.insert(end, ", \"source\": \"" + escaped(source) + "\"");
    }
    out << line << '\n';
  }
  bool good = in.eof() && out.flush().good();
  out.close();
  std::error_code ignored;
  if (good)
    std::filesystem::rename(part, path, ignored);
  else
    std::filesystem::remove(part, ignored);
}

} // namespace pto_mlir::runtime
