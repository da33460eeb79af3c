// The IR from bytes that nobody has checked.
#include "Format.h"
#include "pto_mlir/Support/Utf8.h"
#include "pypto/ir/node_access.h"
#include "pypto/ir/serialize.h"
#include "pypto/ir/verify.h"

#include <algorithm>
#include <bit>

namespace pypto::ir {
namespace {

class Reader {
public:
  explicit Reader(std::string_view bytes) : bytes(bytes) {}

  NodePtr read() {
    CHECK(bytes.substr(0, kMagic.size()) == kMagic) << "not a stored PyPTO program";
    bytes.remove_prefix(kMagic.size());
    version = byte();
    CHECK(version >= kOldest && version <= kVersion)
        << "stored form " << version << ", this library reads " << unsigned(kOldest) << " to " << unsigned(kVersion);
    readStrings();
    for (uint64_t left = count(); left > 0; --left)
      readNode();
    CHECK(bytes.empty() && !nodes.empty()) << "bytes behind the last node";
    return nodes.back().node;
  }

private:
  struct Entry {
    NodePtr node;
    uint64_t visits; ///< nodes that a walk below it sees
  };

  uint8_t byte() {
    CHECK(!bytes.empty()) << "the stored program ends early";
    uint8_t value = static_cast<uint8_t>(bytes[0]);
    bytes.remove_prefix(1);
    return value;
  }
  uint64_t number() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      uint8_t part = byte();
      CHECK(shift < 63 || part <= 1) << "a number of more than 64 bits";
      value |= uint64_t(part & 0x7f) << shift;
      if (part < 0x80)
        return value;
    }
  }
  int64_t signedNumber() {
    uint64_t value = number();
    return int64_t(value >> 1 ^ -(value & 1));
  }
  /// Elements of a list, each of which takes a byte at least.
  uint64_t count() {
    uint64_t value = number();
    CHECK(value <= bytes.size()) << "a list is longer than the stored program";
    return value;
  }

  void readStrings() {
    uint64_t left = count();
    strings.reserve(left);
    for (; left > 0; --left) {
      uint64_t length = count();
      std::string text(bytes.substr(0, length));
      CHECK(pto_mlir::isUtf8(text) && text.find('\0') == text.npos) << "a string is no text";
      strings.push_back(std::make_shared<const std::string>(std::move(text)));
      bytes.remove_prefix(length);
    }
  }
  const std::shared_ptr<const std::string> &text(uint64_t index) const {
    CHECK(index < strings.size()) << "string " << index << " of " << strings.size();
    return strings[index];
  }

  int placeNumber() {
    int64_t value = signedNumber();
    CHECK(value >= -1 && value <= INT32_MAX) << "a place out of range";
    return int(value);
  }
  Span place() {
    uint64_t file = number();
    int at[4];
    for (int &value : at)
      value = placeNumber();
    return Span(file ? text(file - 1) : nullptr, at[0], at[1], at[2], at[3]);
  }

  template <class T> void make() {
    auto node = NodeAccess::New<T>();
    if constexpr (std::is_base_of_v<IRNode, T>)
      node->span_ = place();
    fields(*node);
    NodeAccess::Complete(*node);
    if constexpr (std::is_same_v<T, Function> || std::is_same_v<T, Program>)
      checkSize();
    if constexpr (std::is_same_v<T, Function>)
      VerifyFunction(node);
    if constexpr (std::is_same_v<T, Program>)
      VerifyProgram(node);
    made = std::move(node);
  }
  /// A unary or binary expression.
  void makeArithmetic(NodeKind kind) {
    Span span = place();
    ExprPtr left, right;
    DataType dtype;
    value(left);
    if (BinaryExpr::ClassOf(kind))
      value(right);
    value(dtype);
    if (BinaryExpr::ClassOf(kind))
      made = MakeBinary(kind, std::move(left), std::move(right), dtype, std::move(span));
    else
      made = MakeUnary(kind, std::move(left), dtype, std::move(span));
  }
  void checkSize() const {
    CHECK(visits <= kMostVisits) << "the stored program shares nodes more than " << kMostVisits << " times";
  }
  void readNode() {
    unsigned kind = byte();
    visits = 1;
    switch (static_cast<NodeKind>(kind)) {
#define PYPTO_KIND(Name, ...)                                                                                          \
  case NodeKind::Name:                                                                                                 \
    make<Name>();                                                                                                      \
    break;
      PYPTO_LEAF_EXPRS(PYPTO_KIND)
      PYPTO_STMTS(PYPTO_KIND)
      PYPTO_TYPES(PYPTO_KIND)
      PYPTO_OTHER_NODES(PYPTO_KIND)
#undef PYPTO_KIND
    default:
      CHECK(kind < kNumNodeKinds) << "node of unknown kind " << kind;
      makeArithmetic(static_cast<NodeKind>(kind));
    }
    checkSize();
    nodes.push_back({std::move(made), visits});
  }

  template <class T> void fields(T &node) {
    T::Fields([&](const char *, auto member, unsigned flags) {
      if (version >= FirstVersion(flags))
        value(node.*member);
    });
  }

  template <class T> void value(std::shared_ptr<const T> &child) {
    uint64_t index = number();
    if (index == 0)
      return;
    CHECK(index <= nodes.size()) << "a node refers to one behind it";
    const Entry &entry = nodes[index - 1];
    if constexpr (!std::is_same_v<T, Node>)
      CHECK(IsA<T>(entry.node)) << "a " << KindName(entry.node->kind()) << " where it does not belong";
    child = std::static_pointer_cast<const T>(entry.node);
    visits = std::min(visits + entry.visits, kMostVisits + 1);
  }
  template <class T> void value(std::vector<T> &values) {
    uint64_t size = count();
    values.reserve(size);
    for (; size > 0; --size) {
      T each{};
      value(each);
      values.push_back(std::move(each));
    }
  }
  template <class T> void value(std::optional<T> &held) {
    bool there = false;
    value(there);
    if (there)
      value(held.emplace());
  }
  void value(std::pair<std::string, Attr> &attr) {
    value(attr.first);
    alternative<0>(byte(), attr.second);
  }
  template <size_t I> void alternative(size_t index, Attr &attr) {
    if constexpr (I == std::variant_size_v<Attr>) {
      CHECK(false) << "an attribute of unknown kind " << index;
    } else {
      if (index != I)
        return alternative<I + 1>(index, attr);
      std::variant_alternative_t<I, Attr> held{};
      value(held);
      attr = std::move(held);
    }
  }
  void value(std::string &held) { held = *text(number()); }
  void value(int64_t &held) { held = signedNumber(); }
  void value(uint64_t &held) { held = number(); }
  void value(bool &held) {
    uint8_t truth = byte();
    CHECK(truth <= 1) << "a truth value of " << unsigned(truth);
    held = truth;
  }
  void value(double &held) {
    uint64_t bits = 0;
    for (int i = 0; i < 8; ++i)
      bits |= uint64_t(byte()) << 8 * i;
    held = std::bit_cast<double>(bits);
  }
  void value(DataType &dtype) {
    unsigned code = byte();
    auto found = DataType::FromCode(code);
    CHECK(found) << "element type " << code;
    dtype = *found;
  }
  void value(EnumValue &held) {
    unsigned kind = byte();
    CHECK(kind < NumEnums()) << "enumeration " << kind;
    held = {static_cast<EnumKind>(kind), enumerator(static_cast<EnumKind>(kind))};
  }
  uint8_t enumerator(EnumKind kind) {
    uint8_t number = byte();
    CHECK(number < NumValues(kind)) << EnumName(kind) << " " << unsigned(number);
    return number;
  }
  void value(std::monostate &) {}
  template <class T> void value(T &held) {
    if constexpr (FieldStruct<T>)
      fields(held);
    else
      held = static_cast<T>(enumerator(EnumTraits<T>::kKind));
  }

  std::string_view bytes;
  std::vector<std::shared_ptr<const std::string>> strings;
  std::vector<Entry> nodes;
  NodePtr made;
  uint64_t visits = 0;
  unsigned version = 0;
};

} // namespace

NodePtr deserialize(std::string_view bytes) {
  try {
    return Reader(bytes).read();
  } catch (const TypeError &error) { // of a node's own checks
    throw ValueError(error.what());
  }
}

} // namespace pypto::ir
