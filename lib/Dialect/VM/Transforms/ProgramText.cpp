#include "pto_mlir/Dialect/VM/Transforms/ProgramText.h"
#include "pto_mlir/Support/FreeName.h"
#include "pto_mlir/Support/PackedBits.h"
#include "pto_mlir/Support/Quoted.h"

#include "Slots.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "pto_mlir/Dialect/VM/IR/VMProgram.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace pto_mlir::vm {

namespace {

/// The shortest decimal with a point that reads back as the same double; otherwise its bits.
std::string floatText(const APFloat &number) {
  APFloat value = number;
  bool losesInfo = false;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  if (!value.isFinite())
    return "0x" + llvm::utohexstr(value.bitcastToAPInt().getZExtValue(), /*LowerCase=*/true);
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.17g", value.convertToDouble());
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

/// "i32", "tensor<2x?xf32>": the VM's spelling of a type; nullopt if it has none.
std::optional<std::string> typeText(Type type) {
  if (type.isIndex())
    return "i64";
  if (isa<TaskType>(type))
    return "task";
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    std::string text = "tensor<";
    for (int64_t size : tensor.getShape())
      text += (ShapedType::isDynamic(size) ? std::string("?") : std::to_string(size)) + "x";
    Type element = tensor.getElementType();
    if (auto integer = dyn_cast<IntegerType>(element); integer && integer.isUnsigned())
      return text + "u" + std::to_string(integer.getWidth()) + ">";
    // Floats and integers that only tensors have are spelled as MLIR does.
    if (isa<FloatType>(element) || element.isSignlessInteger(2) || element.isSignlessInteger(4)) {
      llvm::raw_string_ostream(text) << element << ">";
      return text;
    }
    // Element types of the top dialect have the file's names.
    if (element.getDialect().getNamespace() == "top") {
      std::string own;
      llvm::raw_string_ostream(own) << element;
      return text + StringRef(own).substr(StringRef("!top.").size()).str() + ">";
    }
    auto name = typeText(element);
    return name ? std::optional(text + *name + ">") : std::nullopt;
  }
  if (type.isSignlessInteger(1) || type.isSignlessInteger(8) || type.isSignlessInteger(16) ||
      type.isSignlessInteger(32) || type.isSignlessInteger(64))
    return "i" + std::to_string(type.getIntOrFloatBitWidth());
  if (type.isF32() || type.isF64())
    return type.isF32() ? "f32" : "f64";
  return std::nullopt;
}

class Writer {
public:
  Writer(ModuleOp module, const ProgramTextOptions &options) : module(module), options(options) {}

  std::optional<std::string> run() {
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    if (functions.empty()) {
      writeFunction("main", module.getBodyRegion(), {}, {});
    } else {
      for (func::FuncOp function : functions) {
        if (function.isExternal())
          function.emitError("a program has no functions without a body");
        else
          writeFunction(function.getName(), function.getBody(), function.getArgumentTypes(), function.getResultTypes());
        failed |= function.isExternal();
      }
      for (Operation &op : *module.getBody())
        if (!isa<func::FuncOp>(op)) {
          op.emitError("stands beside functions; a program is a list of functions, or ops of the module itself");
          failed = true;
        }
    }
    if (failed)
      return std::nullopt;
    std::string text = ".vm 1\n.target " + quoted(options.target) + "\n";
    for (auto [index, constant] : llvm::enumerate(constants))
      text += ".const " + std::to_string(index) + " = " + constant + "\n";
    return text + code;
  }

private:
  void error(Operation *op, const Twine &message) {
    op->emitError(message);
    failed = true;
  }

  std::string typeOf(Operation *op, Type type) {
    auto text = typeText(type);
    if (!text)
      error(op, "the VM has no type for a value of it");
    return text.value_or("i32");
  }
  std::string typeList(Operation *op, TypeRange types) {
    std::string text = "(";
    for (auto [i, type] : llvm::enumerate(types))
      text += (i ? ", " : "") + typeOf(op, type);
    return text + ")";
  }
  /// The index of a constant; equal constants share one.
  std::string constant(const std::string &text) {
    auto [entry, isNew] = indexOf.try_emplace(text, constants.size());
    if (isNew)
      constants.push_back(text);
    return std::to_string(entry->second);
  }
  void line(const std::string &text) { code += "  " + text + "\n"; }

  void writeFunction(StringRef name, Region &body, TypeRange parameters, TypeRange results) {
    Operation *parent = body.getParentOp();
    slots = options.reuseSlots ? allocateSlots(body) : numberSlots(body);
    blocks.clear();
    for (Block &block : body)
      blocks[&block] = blocks.size();
    code += ".func @" + name.str() + typeList(parent, parameters) + " -> " + typeList(parent, results) + " slots" +
            typeList(parent, slots.types) + " {\n";
    for (Block &block : body) {
      if (!block.isEntryBlock())
        code += "B" + std::to_string(blocks[&block]) + ":\n";
      for (Operation &op : block) {
        size_t begin = code.size();
        writeOp(&op, &block == &body.back() && &op == &block.back());
        // Locations are attached to instructions only.
        if (options.locations && code.size() > begin)
          code.insert(begin, locationLine(op.getLoc()));
      }
    }
    code += "}\n";
  }

  static std::string locationLine(Location loc) {
    std::string text;
    if (auto name = dyn_cast<NameLoc>(loc))
      text = name.getName().str();
    else if (auto file = dyn_cast<FileLineColLoc>(loc))
      text = (file.getFilename().getValue() + ":" + Twine(file.getLine())).str();
    else
      return "";
    return "  .loc " + quoted(text) + "\n";
  }

  /// The shortest instruction that loads or stores a slot.
  std::string access(StringRef what, Value value) {
    char kind = isa<RankedTensorType>(value.getType()) ? 'a' : isa<FloatType>(value.getType()) ? 'f' : 'i';
    unsigned slot = slots.of.lookup(value);
    return std::string(1, kind) + what.str() + (slot < 4 ? "_" : " ") + std::to_string(slot);
  }
  void push(Value value) {
    if (Slots::isConstant(value))
      writeConstant(value.getDefiningOp());
    else
      line(access("load", value));
  }
  void pushAll(ValueRange values) {
    for (Value value : values)
      push(value);
  }
  void storeAll(ValueRange values) {
    for (Value value : llvm::reverse(values))
      line(access("store", value));
  }

  void writeConstant(Operation *op) {
    auto value = op->getAttr("value");
    Type type = op->getResult(0).getType();
    if (isa<RankedTensorType>(type)) {
      line("ldc tensor, " + constant(tensorConstant(op, value, type)));
    } else if (auto integer = dyn_cast<IntegerAttr>(value)) {
      int64_t number = type.isInteger(1) ? integer.getValue().getZExtValue() : integer.getInt();
      if (type.isInteger(32) && number >= -1 && number <= 5)
        line(number < 0 ? "iconst_m1" : "iconst_" + std::to_string(number));
      else if (type.isInteger(32))
        line("ldc scalar, " + constant(std::to_string(number) + " : i32"));
      else
        line("iconst " + typeOf(op, type) + ", " + std::to_string(number));
    } else {
      line("ldc scalar, " + constant(floatText(cast<FloatAttr>(value).getValue()) + " : " + typeOf(op, type)));
    }
  }

  std::string tensorConstant(Operation *op, Attribute value, Type type) {
    std::string typeName = typeOf(op, type);
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
      AsmResourceBlob *blob = resource.getRawHandle().getBlob();
      if (!blob)
        return "external " + quoted(resource.getRawHandle().getKey()) + " : " + typeName;
      return bytesText(blob->getData()) + " : " + typeName;
    }
    auto dense = dyn_cast<DenseElementsAttr>(value);
    if (!dense) {
      error(op, "a read-only tensor is dense<..> or dense_resource<..>");
      return "";
    }
    std::string bytes;
    if (cast<RankedTensorType>(type).getElementType().isInteger(1)) {
      for (bool bit : dense.getValues<bool>())
        bytes += char(bit);
    } else {
      ArrayRef<char> raw = dense.getRawData();
      for (int64_t i = 0, n = dense.isSplat() ? dense.getNumElements() : 1; i < n; ++i)
        bytes.append(raw.begin(), raw.end());
      if (unsigned width = dense.getElementType().getIntOrFloatBitWidth(); width < 8) {
        std::string packed(ceilDiv(bytes.size() * width, 8), 0);
        packBits(bytes.data(), width, bytes.size(), packed.data());
        bytes = packed;
      }
    }
    return bytesText(ArrayRef(bytes.data(), bytes.size())) + " : " + typeName;
  }

  std::string bytesText(ArrayRef<char> bytes) {
    constexpr size_t kMostInText = 1024;
    if (!options.tensors || bytes.size() <= kMostInText)
      return "bytes \"" + llvm::toHex(StringRef(bytes.data(), bytes.size()), /*LowerCase=*/true) + "\"";
    // Equal tensors are one. A name has the hash of its bytes, and a number where two differ that have one hash.
    ArrayRef<uint8_t> data(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
    std::string name = freeName("tensor " + llvm::utohexstr(llvm::xxh3_64bits(data)), [&](const std::string &each) {
      auto held = options.tensors->find(each);
      return held != options.tensors->end() && ArrayRef(held->second) != data;
    });
    options.tensors->try_emplace(name, data.begin(), data.end());
    return "external " + quoted(name);
  }

  std::string attributeText(Operation *op, NamedAttribute entry) {
    Attribute value = entry.getValue();
    if (auto text = dyn_cast<StringAttr>(value))
      return quoted(text.getValue());
    if (auto number = dyn_cast<FloatAttr>(value))
      return floatText(number.getValue());
    if (auto flag = dyn_cast<BoolAttr>(value))
      return flag.getValue() ? "1" : "0";
    if (auto number = dyn_cast<IntegerAttr>(value))
      return std::to_string(number.getValue().getSExtValue());
    if (auto list = dyn_cast<DenseI64ArrayAttr>(value)) {
      std::string text = "[";
      for (auto [i, number] : llvm::enumerate(list.asArrayRef()))
        text += (i ? ", " : "") + std::to_string(number);
      return text + "]";
    }
    if (auto list = dyn_cast<ArrayAttr>(value)) {
      std::string text = "[";
      for (auto [i, item] : llvm::enumerate(list)) {
        if (!isa<IntegerAttr, FloatAttr>(item))
          break;
        text += (i ? ", " : "") + attributeText(op, NamedAttribute(entry.getName(), item));
      }
      if (llvm::all_of(list, [](Attribute item) { return isa<IntegerAttr, FloatAttr>(item); }))
        return text + "]";
    }
    error(op, "attribute '" + entry.getName().getValue() +
                  "' can be no part of a kernel's name: expects a number, a text or a list of numbers");
    return "0";
  }

  void writeCall(CallOp call) {
    pushAll(call.getOperands());
    if (!call.isKernel()) {
      line("call @" + call.getCallee().str());
    } else {
      std::string key = "kernel @" + call.getCallee().str() + " " + typeList(call, call.getOperandTypes()) + " -> " +
                        typeList(call, call.getResultTypes());
      SmallVector<NamedAttribute> attributes(call->getDiscardableAttrs());
      llvm::sort(attributes,
                 [](NamedAttribute a, NamedAttribute b) { return a.getName().getValue() < b.getName().getValue(); });
      for (auto [i, entry] : llvm::enumerate(attributes))
        key += (i ? ", " : " {") + quoted(entry.getName().getValue()) + " = " + attributeText(call, entry);
      key += attributes.empty() ? "" : "}";
      if (auto queue = call.getQueue())
        line("launch " + constant(key) + ", " + std::to_string(*queue));
      else
        line("invokestatic " + constant(key));
    }
    storeAll(call.getResults());
  }

  /// All operands are pushed before an argument is overwritten, so that values can be swapped.
  void branchTo(Block *target, ValueRange operands) {
    pushAll(operands);
    SmallVector<Value> arguments(target->getArguments());
    storeAll(arguments);
    line("goto B" + std::to_string(blocks[target]));
  }

  void writeSubmit(SubmitOp submit) {
    pushAll(submit->getOperands()); // the tasks last
    std::string key = "kernel @" + submit.getCallee().str() + " " + typeList(submit, submit.getArguments().getTypes()) +
                      " {\"directions\" = " + quoted(submit.getDirections()) +
                      (submit.getRanked() ? ", \"ranked\" = 1}" : "}");
    line("submit " + constant(key) + ", " + std::to_string(submit.getAfter().size()));
    storeAll(submit->getResults());
  }

  void writeOp(Operation *op, bool isLast) {
    auto simple = [&](const std::string &instruction) {
      pushAll(op->getOperands());
      line(instruction);
      storeAll(op->getResults());
    };
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](CallOp call) { writeCall(call); })
        .Case([&](SubmitOp submit) { writeSubmit(submit); })
        .Case([&](JoinOp join) { simple("join " + std::to_string(join.getAfter().size())); })
        .Case([&](ReserveOp reserve) { simple("reserve " + typeOf(op, reserve.getType())); })
        .Case([&](ViewOp view) { simple("view " + typeOf(op, view.getType())); })
        .Case([&](BinaryOp binary) { simple(binary.getKind().str()); })
        .Case([&](CompareOp compare) {
          simple((isa<FloatType>(compare.getLhs().getType()) ? "fcmp " : "icmp ") +
                 std::to_string(compare.getPredicate()));
        })
        .Case([&](NegateOp) { simple("fneg"); })
        .Case([&](ConvertOp convert) {
          simple((convert.getIsUnsigned() ? "convu " : "conv ") + typeOf(op, convert.getType()));
        })
        .Case([&](SelectOp) { simple("select"); })
        .Case([&](NewOp make) { simple("newtensor " + typeOf(op, make.getType())); })
        .Case([&](ReshapeOp reshape) { simple("reshape " + typeOf(op, reshape.getType())); })
        .Case([&](vm::CastOp cast) { simple("cast " + typeOf(op, cast.getType())); })
        .Case([&](DimOp dim) { simple("dim " + std::to_string(dim.getDimension())); })
        .Case([&](LoadOp) { simple("tload"); })
        .Case([&](StoreOp store) {
          push(store.getTarget());
          pushAll(store.getIndices());
          push(store.getValue());
          line("tstore");
        })
        .Case([&](CopyOp) { simple("tcopy"); })
        .Case([&](WaitQueueOp wait) { line("wait_queue " + std::to_string(wait.getQueue())); })
        .Case([&](BarrierOp) { line("barrier"); })
        .Case([&](AssertOp check) {
          push(check.getCondition());
          line("assert " + constant("text " + quoted(check.getMessage())));
        })
        .Case([&](BranchOp branch) { branchTo(branch.getTarget(), branch.getOperands()); })
        .Case([&](CondBranchOp branch) {
          std::string other = "E" + std::to_string(numElses++);
          push(branch.getCondition());
          line("ifeq " + other);
          branchTo(branch.getTrueTarget(), branch.getTrueOperands());
          code += other + ":\n";
          branchTo(branch.getFalseTarget(), branch.getFalseOperands());
        })
        .Case<ReturnOp, func::ReturnOp>([&](auto) {
          pushAll(op->getOperands());
          // Falling off the end of the code returns.
          if (!isLast || op->getNumOperands())
            line("return");
        })
        .Default([&](Operation *) {
          if (!op->hasTrait<OpTrait::ConstantLike>() || op->getName().getDialectNamespace() != "vm")
            error(op, "'" + op->getName().getStringRef() +
                          "' is no op of a VM program; the passes convert-*-to-vm make them");
        });
  }

  ModuleOp module;
  ProgramTextOptions options;
  std::vector<std::string> constants;
  llvm::StringMap<unsigned> indexOf;
  std::string code;
  Slots slots;
  DenseMap<Block *, unsigned> blocks;
  unsigned numElses = 0;
  bool failed = false;
};

} // namespace

std::optional<std::string> programText(ModuleOp module, const ProgramTextOptions &options) {
  return Writer(module, options).run();
}

} // namespace pto_mlir::vm
