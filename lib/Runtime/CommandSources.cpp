#include "CommandSources.h"

#include "pto_mlir/ISA/Table.h"

#include <nlohmann/json.hpp>

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
        (engine.find("AIC") != std::string::npos) != (stream.coreKind == pmodel::CoreKind::AIC))
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
    // "kernel 'other', AIV0.0 MTE3 word 7" is of another launch.
    std::string_view before = std::string_view(message).substr(0, at - std::min(at, pipe.size() + 1 + owner.size()));
    std::string of = kernel;
    size_t quote = before.ends_with("', ") ? before.rfind('\'', before.size() - 4) : std::string::npos;
    if (quote != std::string::npos)
      of = before.substr(quote + 1, before.size() - 4 - quote);
    std::string source = find(of, (owner.starts_with("AI") ? owner : core) + " " + pipe, word);
    size_t behind = size_t(end - message.data());
    text += message.substr(done, behind - done) + (source.empty() ? "" : ", " + source);
    done = behind;
  }
  return text + message.substr(done);
}

namespace {
using Json = nlohmann::ordered_json; // an event keeps the order of its fields

/// The event on a line of a trace, a comma behind it aside; nothing where the line holds no event.
std::optional<Json> eventOf(std::string_view line) {
  line = line.substr(0, line.find_last_not_of(", \t\r") + 1);
  Json event = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  return event.is_object() && event.contains("ph") ? std::optional(std::move(event)) : std::nullopt;
}

/// A track or a process: pid alone, or pid and tid.
std::string trackOf(const Json &event, bool isThread) {
  return event.value("pid", Json()).dump() + (isThread ? " " + event.value("tid", Json()).dump() : "");
}

std::string textOf(const Json &object, const char *key) {
  auto field = object.is_object() ? object.find(key) : object.end();
  return field != object.end() && field->is_string() ? field->get<std::string>() : "";
}
} // namespace

void CommandSources::nameInTrace(const std::string &path) const {
  if (kernels.empty())
    return;
  std::string part = path + ".part", line;
  std::ifstream in(path);
  std::ofstream out(part);
  std::map<std::string, std::string> names; // of processes and threads
  while (in && out && std::getline(in, line)) {
    std::optional<Json> event = eventOf(line);
    const Json args = event ? event->value("args", Json::object()) : Json::object();
    std::string name = event && textOf(*event, "ph") == "M" ? textOf(*event, "name") : "";
    if (name == "process_name" || name == "thread_name") {
      names[trackOf(*event, name == "thread_name")] = textOf(args, "name");
    } else if (auto word = args.find("word"); word != args.end() && word->is_number_unsigned()) {
      std::string engine = names[trackOf(*event, false)] + " " + names[trackOf(*event, true)];
      std::string source = find(textOf(args, "kernel"), engine, word->get<uint64_t>());
      if (!source.empty()) {
        (*event)["args"]["source"] = source;
        line = event->dump(-1, ' ', false, Json::error_handler_t::replace) + (line.ends_with(',') ? "," : "");
      }
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
