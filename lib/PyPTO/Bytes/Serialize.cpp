// The IR to bytes, from the fields that each class names.
#include "pypto/ir/serialize.h"
#include "Format.h"
#include "pypto/ir/node_access.h"

#include <bit>
#include <unordered_map>

namespace pypto::ir {
namespace {

class Writer {
public:
  std::string finish(const NodePtr &root) {
    add(root.get());
    std::string head(kMagic);
    head += char(kVersion);
    number(head, strings.size());
    for (const std::string *text : strings) {
      number(head, text->size());
      head += *text;
    }
    number(head, numbers.size());
    return head + nodes;
  }

private:
  static void number(std::string &out, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      out += char(value | 0x80);
    out += char(value);
  }
  static uint64_t zigzag(int64_t value) { return uint64_t(value) << 1 ^ uint64_t(value >> 63); }

  /// Writes what a node refers to, then the node; its number + 1.
  uint64_t add(const Node *node) {
    if (!node)
      return 0;
    auto found = numbers.find(node);
    if (found != numbers.end())
      return found->second + 1;
    std::string own;
    own += char(node->kind());
    Dispatch(*node, [&](const auto &held) {
      using T = std::remove_cvref_t<decltype(held)>;
      if constexpr (std::is_base_of_v<IRNode, T>)
        place(own, held.span_);
      fields(own, held);
    });
    nodes += own;
    uint64_t id = numbers.size();
    numbers.emplace(node, id);
    return id + 1;
  }

  uint64_t textNumber(const std::string &text) {
    auto [found, added] = stringNumbers.try_emplace(text, strings.size());
    if (added)
      strings.push_back(&found->first);
    return found->second;
  }

  void place(std::string &out, const Span &span) {
    number(out, span.shared_filename() ? textNumber(span.filename()) + 1 : 0);
    for (int value : {span.begin_line_, span.begin_column_, span.end_line_, span.end_column_})
      number(out, zigzag(value));
  }

  template <class T> void fields(std::string &out, const T &node) {
    T::Fields([&](const char *, auto member, unsigned) { value(out, node.*member); });
  }

  template <class T> void value(std::string &out, const std::shared_ptr<const T> &child) {
    number(out, add(child.get()));
  }
  template <class T> void value(std::string &out, const std::vector<T> &values) {
    number(out, values.size());
    for (const T &each : values)
      value(out, each);
  }
  template <class T> void value(std::string &out, const std::optional<T> &held) {
    out += char(held.has_value());
    if (held)
      value(out, *held);
  }
  void value(std::string &out, const std::pair<std::string, Attr> &attr) {
    value(out, attr.first);
    out += char(attr.second.index());
    std::visit([&](const auto &held) { value(out, held); }, attr.second);
  }
  void value(std::string &out, const std::string &text) { number(out, textNumber(text)); }
  void value(std::string &out, int64_t held) { number(out, zigzag(held)); }
  void value(std::string &out, uint64_t held) { number(out, held); }
  void value(std::string &out, bool held) { out += char(held); }
  void value(std::string &out, double held) {
    uint64_t bits = std::bit_cast<uint64_t>(held);
    for (int i = 0; i < 8; ++i)
      out += char(bits >> 8 * i);
  }
  void value(std::string &out, DataType dtype) { out += char(dtype.GetCode()); }
  void value(std::string &out, EnumValue held) {
    out += char(held.kind);
    out += char(held.value);
  }
  void value(std::string &, std::monostate) {}
  template <class T> void value(std::string &out, const T &held) {
    if constexpr (FieldStruct<T>)
      fields(out, held);
    else
      out += char(held); // an enumeration
  }

  std::string nodes;
  std::unordered_map<const Node *, uint64_t> numbers;
  std::unordered_map<std::string, uint64_t> stringNumbers;
  std::vector<const std::string *> strings;
};

} // namespace

std::string serialize(const NodePtr &node) {
  CHECK(node) << "nothing to serialize";
  return Writer().finish(node);
}

} // namespace pypto::ir
