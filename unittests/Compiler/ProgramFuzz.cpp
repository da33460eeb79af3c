// A libFuzzer target: bytes as the text of a .pto, compiled as pto-compile does. What compiles to text must be read
// again, and what fails must say why and leave nothing behind. Mutations change tokens: of a changed byte the lexer
// makes an error nearly always.
#include "../FuzzMLIR.h"
#include "pto_mlir/Compiler/CompilePTO.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

struct Range {
  size_t begin, end;
};

bool isWord(char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

/// Words (with their sigil) and single characters, without whitespace.
std::vector<Range> tokensOf(const std::string &text) {
  std::vector<Range> tokens;
  for (size_t i = 0; i < text.size();) {
    size_t begin = i++;
    if (isspace(static_cast<unsigned char>(text[begin])))
      continue;
    if (isWord(text[begin]) ||
        ((text[begin] == '%' || text[begin] == '!' || text[begin] == '#' || text[begin] == '@') && i < text.size() &&
         isWord(text[i])))
      while (i < text.size() && isWord(text[i]))
        ++i;
    tokens.push_back({begin, i});
  }
  return tokens;
}

std::string replaceToken(const std::string &text, const std::vector<std::string> &pool, std::mt19937 &random) {
  std::vector<Range> tokens = tokensOf(text);
  if (tokens.empty())
    return text;
  auto pick = [&](size_t count) { return random() % count; };
  Range token = tokens[pick(tokens.size())];
  std::string old = text.substr(token.begin, token.end - token.begin), made;
  static const char *const extremes[] = {
      "0", "-1",      "1",     "31",  "65536", "4294967296", "9223372036854775807", "99999999999999999999",
      "?", "1.0e400", "index", "f16", "i1"};
  switch (pick(6)) {
  case 0:
    break;
  case 1:
    made = pool[pick(pool.size())];
    break;
  case 2: {
    // A token of the same kind from this text.
    std::vector<Range> same;
    for (Range other : tokens)
      if (bool(isdigit(text[other.begin])) == bool(isdigit(old[0])) &&
          bool(isalpha(text[other.begin])) == bool(isalpha(old[0])) && (isalnum(old[0]) || text[other.begin] == old[0]))
        same.push_back(other);
    Range other = same[pick(same.size())];
    made = text.substr(other.begin, other.end - other.begin);
    break;
  }
  case 3:
    made = extremes[pick(std::size(extremes))];
    break;
  case 4:
    made = old + " " + old;
    break;
  default: {
    // Delete or duplicate a line.
    size_t begin = text.rfind('\n', token.begin), end = text.find('\n', token.end);
    begin = begin == std::string::npos ? 0 : begin;
    end = end == std::string::npos ? text.size() : end;
    std::string line = text.substr(begin, end - begin);
    return text.substr(0, begin) + (pick(2) ? line + line : "") + text.substr(end);
  }
  }
  return text.substr(0, token.begin) + made + text.substr(token.end);
}

std::vector<std::string> &pool() {
  static std::vector<std::string> words = {"pto.tadd", "!pto.tile_buf", "none"};
  return words;
}

/// A file name of this process, in memory if the system has such a folder.
std::string fileNamed(const char *ending) {
  static const std::string folder =
      std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path().string();
  return folder + "/program-fuzz-" + std::to_string(getpid()) + ending;
}

void stop(const char *what) {
  fprintf(stderr, "%s\n", what);
  __builtin_trap(); // libFuzzer saves the input
}

} // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t limit, unsigned seed) {
  std::mt19937 random(seed);
  if (random() % 16 == 0)
    return LLVMFuzzerMutate(data, size, limit);
  std::string text(reinterpret_cast<char *>(data), size);
  for (unsigned i = 0, count = 1 + random() % 3; i < count; ++i)
    text = replaceToken(text, pool(), random);
  if (text.empty() || text.size() > limit)
    return LLVMFuzzerMutate(data, size, limit);
  memcpy(data, text.data(), text.size());
  return text.size();
}

/// Crossover: inserts lines of one text into the other.
extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t firstSize, const uint8_t *second,
                                            size_t secondSize, uint8_t *out, size_t limit, unsigned seed) {
  std::mt19937 random(seed);
  std::string a(reinterpret_cast<const char *>(first), firstSize),
      b(reinterpret_cast<const char *>(second), secondSize);
  auto lineAt = [](const std::string &text, size_t place) { return std::min(text.find('\n', place), text.size()); };
  size_t into = lineAt(a, random() % (a.size() + 1)), from = lineAt(b, random() % (b.size() + 1));
  size_t until = lineAt(b, std::min(b.size(), from + 1 + random() % 400));
  std::string text = a.substr(0, into) + b.substr(from, until - from) + a.substr(into);
  text.resize(std::min(text.size(), limit));
  memcpy(out, text.data(), text.size());
  return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  if (pool().size() < 20000)
    for (Range token : tokensOf(text))
      if (pool().size() < 20000)
        pool().push_back(text.substr(token.begin, token.end - token.begin));
  size_t hash = std::hash<std::string>()(text);
  pto_mlir::ProgramOptions options;
  options.input = fileNamed(".in.pto");
  options.output = fileNamed(hash & 1 ? ".out.pto" : ".out.pmodel");
  options.processor = std::vector<std::string>{"", "a3", "a5", ""}[hash >> 1 & 3];
  options.level = 1 + (hash >> 3) % 3;
  options.insertSync = (hash >> 8 & 7) != 0;
  options.relaxed = (hash >> 11 & 7) == 0;
  std::ofstream(options.input, std::ios::binary) << text;
  std::filesystem::remove(options.output);
  pto_mlir::Errors errors;
  auto summary = pto_mlir::compileProgram(options, errors);
  bool written = std::filesystem::exists(options.output);
  if (summary ? !written : written || errors.empty())
    stop(summary ? "succeeds without a file" : written ? "fails and leaves a file" : "fails without a reason");
  if (!summary || !(hash & 1))
    return 0;
  // Planned text has addresses, so it is read at level 3.
  options.input = options.output;
  options.output = fileNamed(".again.pto");
  options.level = 3;
  options.relaxed = false;
  if (!pto_mlir::compileProgram(options, errors)) {
    for (const std::string &line : errors)
      fprintf(stderr, "%s\n", line.c_str());
    stop("is not read again");
  }
  return 0;
}
