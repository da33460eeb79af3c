#include "pto_mlir/Runtime/Npy.h"
#include "pto_mlir/Support/TemporaryFile.h"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace pto_mlir::runtime {

namespace {

struct TypeName {
  const char *text;
  ElementType type;
};
// The first entry of a type is the spelling that is written.
constexpr TypeName typeNames[] = {{"<f4", ElementType::F32}, {"<f2", ElementType::F16}, {"<f8", ElementType::F64},
                                  {"|i1", ElementType::I8},  {"|u1", ElementType::U8},  {"<i2", ElementType::I16},
                                  {"<u2", ElementType::U16}, {"<i4", ElementType::I32}, {"<u4", ElementType::U32},
                                  {"<i8", ElementType::I64}, {"<u8", ElementType::U64}, {"|b1", ElementType::Boolean},
                                  {"<i1", ElementType::I8},  {"<u1", ElementType::U8},  {"?", ElementType::Boolean}};

/// Reads the header's Python dictionary literal: exactly the keys descr, fortran_order and shape.
class HeaderParser {
public:
  explicit HeaderParser(const std::string &text) : text(text) {}

  Status parse(NpyArray &array) {
    bool seenType = false, seenOrder = false, seenShape = false;
    if (!take('{'))
      return Failure{"its header is not a dictionary"};
    while (!take('}')) {
      std::string key;
      if (!quoted(key) || !take(':'))
        return Failure{"its header is malformed"};
      Status status;
      if (key == "descr" && !seenType)
        seenType = true, status = parseType(array);
      else if (key == "fortran_order" && !seenOrder)
        seenOrder = true, status = parseOrder();
      else if (key == "shape" && !seenShape)
        seenShape = true, status = parseShape(array);
      else
        return Failure{"its header has an unexpected key '" + key + "'"};
      if (!status)
        return status;
      if (!take(',') && !peek('}'))
        return Failure{"its header is malformed"};
    }
    if (!seenType || !seenOrder || !seenShape)
      return Failure{"its header lacks descr, fortran_order or shape"};
    return {};
  }

private:
  void skip() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n'))
      ++at;
  }
  bool peek(char c) {
    skip();
    return at < text.size() && text[at] == c;
  }
  bool take(char c) {
    if (!peek(c))
      return false;
    ++at;
    return true;
  }
  bool takeWord(const char *word) {
    skip();
    if (text.compare(at, std::strlen(word), word) != 0)
      return false;
    at += std::strlen(word);
    return true;
  }
  bool quoted(std::string &value) {
    skip();
    if (at >= text.size() || (text[at] != '\'' && text[at] != '"'))
      return false;
    size_t end = text.find(text[at], at + 1);
    if (end == std::string::npos)
      return false;
    value = text.substr(at + 1, end - at - 1);
    at = end + 1;
    return true;
  }

  Status parseType(NpyArray &array) {
    std::string name;
    if (!quoted(name))
      return Failure{"structured arrays are not supported"};
    for (const TypeName &row : typeNames)
      if (name == row.text) {
        array.type = row.type;
        return {};
      }
    return Failure{"element type '" + name + "' is not supported"};
  }

  Status parseOrder() {
    if (takeWord("False"))
      return {};
    return Failure{takeWord("True") ? "column-major arrays are not supported" : "its header is malformed"};
  }

  Status parseShape(NpyArray &array) {
    if (!take('('))
      return Failure{"its shape is malformed"};
    while (!take(')')) {
      skip();
      uint64_t size = 0;
      auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), size);
      if (error != std::errc() || array.shape.size() == 32)
        return Failure{"its shape is malformed"};
      at = end - text.data();
      array.shape.push_back(size);
      if (!take(',') && !peek(')'))
        return Failure{"its shape is malformed"};
    }
    return {};
  }

  const std::string &text;
  size_t at = 0;
};

Result<NpyArray> parseNpy(const std::vector<char> &bytes) {
  if (bytes.size() < 10 || std::memcmp(bytes.data(), "\x93NUMPY", 6) != 0)
    return Failure{"is not an .npy file"};
  unsigned major = static_cast<unsigned char>(bytes[6]);
  if (major < 1 || major > 3)
    return Failure{"has .npy version " + std::to_string(major) + ", expects 1 to 3"};
  size_t begin = major == 1 ? 10 : 12, length = 0;
  if (bytes.size() < begin)
    return Failure{"is truncated"};
  for (size_t i = begin; i-- > 8;)
    length = length << 8 | static_cast<unsigned char>(bytes[i]);
  if (length > bytes.size() - begin)
    return Failure{"is truncated"};
  NpyArray array;
  if (Status status = HeaderParser(std::string(bytes.data() + begin, length)).parse(array); !status)
    return status.failure();
  auto expected = tensorBytes(array.type, array.shape);
  size_t left = bytes.size() - begin - length;
  if (!expected || *expected != left)
    return Failure{"holds " + std::to_string(left) + " bytes of data, its header promises " +
                   (expected ? std::to_string(*expected) : "more than fit")};
  array.data.assign(bytes.end() - left, bytes.end());
  return array;
}

const char *typeText(ElementType type) {
  for (const TypeName &row : typeNames)
    if (row.type == type)
      return row.text;
  return elementBits(type) == 16 ? "<u2" : "|u1";
}

} // namespace

Result<NpyArray> readNpy(const std::string &path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file)
    return Failure{path + ": cannot open: " + std::strerror(errno)};
  auto size = file.tellg();
  // Opening a directory succeeds, but its size is meaningless.
  if (size < 0 || size > std::streamoff(1) << 46)
    return Failure{path + ": cannot read"};
  std::vector<char> bytes(static_cast<size_t>(size));
  file.seekg(0);
  if (!file.read(bytes.data(), bytes.size()))
    return Failure{path + ": cannot read"};
  auto array = parseNpy(bytes);
  if (!array)
    return Failure{path + ": " + array.error()};
  return array;
}

Status writeNpy(const std::string &path, const NpyArray &array) {
  std::string shape;
  if (isPacked(array.type))
    shape = std::to_string(array.data.size()) + ","; // packed 4-bit elements: written as a flat array
  else
    for (uint64_t size : array.shape)
      shape += std::to_string(size) + ",";
  std::string header =
      std::string("{'descr': '") + typeText(array.type) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  std::string prefix("\x93NUMPY\x01\x00", 8);
  prefix += static_cast<char>(header.size() & 0xff);
  prefix += static_cast<char>(header.size() >> 8);

  TemporaryFile file(path);
  if (Status status = file.open(); !status)
    return status;
  for (const std::string &text : {prefix, header})
    if (Status status = file.write(text.data(), text.size()); !status)
      return status;
  if (Status status = file.write(array.data.data(), array.data.size()); !status)
    return status;
  return file.commit();
}

} // namespace pto_mlir::runtime
