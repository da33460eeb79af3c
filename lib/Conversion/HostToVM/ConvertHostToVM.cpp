// convert-host-to-vm: lowers @main on tensors to a host program on buffers.
#include "StatePlan.h"
#include "pto_mlir/Conversion/HostToVM/Passes.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/State.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Dialect/VM/IR/VM.h"

#define DEBUG_TYPE "convert-host-to-vm"
#include "pto_mlir/Dialect/DebugLog.h"

using namespace mlir;

namespace pto_mlir {
#define GEN_PASS_DEF_CONVERTHOSTTOVM
#include "pto_mlir/Conversion/HostToVM/Passes.h.inc"

namespace {

struct ConvertHostToVM : impl::ConvertHostToVMBase<ConvertHostToVM> {
  using ConvertHostToVMBase::ConvertHostToVMBase;

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || !main->hasAttr("top.workspace_bytes")) {
      getOperation().emitError("expects a function @main that plan-global-memory has placed");
      return signalPassFailure();
    }
    for (Operation &op : main.getBody().front())
      if (auto launch = dyn_cast<top::LaunchOp>(op); launch && !launch.getPlacesAttr()) {
        launch.emitError("has no places; run plan-global-memory");
        return signalPassFailure();
      }
    PTO_DEBUG("@main: " << llvm::range_size(main.getBody().front().getOps<top::LaunchOp>()) << " launches");
    convert(main);
  }

private:
  void convert(func::FuncOp main) {
    OpBuilder builder(main);
    Location loc = main.getLoc();
    unsigned inputs = top::inputNumber(main, main.getNumArguments()),
             outputs = top::outputNumber(main, main.getNumResults());
    Attribute state = main->getAttr(vm::kStateAttr);
    auto program = builder.create<vm::FuncOp>(loc, main.getName(), inputs, outputs);
    Block *entry = builder.createBlock(&program.getBody());
    auto buffer = vm::BufferType::get(&getContext());
    if (state)
      program->setAttr(vm::kStateAttr, state);
    for (unsigned i = 0; i < inputs + outputs + 1 + (state ? 1 : 0); ++i)
      entry->addArgument(buffer, loc);
    int64_t workspaceBytes = cast<IntegerAttr>(main->getAttr("top.workspace_bytes")).getInt();
    Value workspace;
    if (workspaceBytes)
      workspace = builder.create<vm::AllocOp>(loc, buffer, builder.getI64IntegerAttr(workspaceBytes));

    SmallVector<Attribute> kept, absorbed;
    llvm::StringSet<> keptNames; // a tensor available in two layouts is recorded once
    for (Operation &op : main.getBody().front()) {
      if (keepAll)
        recordReshape(&op, builder, kept, keptNames);
      auto launch = dyn_cast<top::LaunchOp>(op);
      if (!launch)
        continue;
      SmallVector<Value> buffers;
      SmallVector<int64_t> offsets, bytes;
      SmallVector<Type> types(launch.getInputs().getTypes());
      llvm::append_range(types, launch.getResultTypes());
      for (auto [attr, type] : llvm::zip_equal(launch.getPlacesAttr().getAsRange<top::PlaceAttr>(), types)) {
        bool whole = attr.getRegion() == top::Region::Input || attr.getRegion() == top::Region::Output;
        buffers.push_back(select(attr, entry, inputs, outputs, workspace));
        offsets.push_back(whole ? 0 : attr.getOffset());
        bytes.push_back(attr.getSpan() ? attr.getSpan() : top::tensorBytes(cast<RankedTensorType>(type)).value_or(0));
      }
      auto call = builder.create<vm::LaunchOp>(launch.getLoc(), ("device." + launch.getKernel()).str(), buffers,
                                               offsets, bytes);
      if (launch.getScalarsAttr())
        call.setScalarsAttr(launch.getScalarsAttr());
      if (launch.getNamesAttr()) {
        SmallVector<Attribute> names;
        llvm::copy_if(launch.getNamesAttr(), std::back_inserter(names),
                      [](Attribute name) { return !cast<StringAttr>(name).empty(); });
        if (names.size() > 1) // a single name is in the location
          call->setAttr("vm.tensors", builder.getArrayAttr(names));
      }
      if (keepAll)
        record(launch, builder, kept, keptNames);
      if (auto names = launch.getAbsorbedAttr())
        absorbed.append(names.begin(), names.end());
      recordIndex(launch, builder, kept, keptNames);
    }
    builder.create<vm::WaitOp>(loc);
    builder.create<vm::ReturnOp>(loc);

    program->setAttr("vm.inputs", describe(main, builder, main.getNumArguments(), /*results=*/false));
    program->setAttr("vm.outputs", describe(main, builder, main.getNumResults(), /*results=*/true));
    if (auto symbols = main->getAttr(top::kSymbolsAttr))
      program->setAttr("vm.symbols", symbols);
    program->setAttr("vm.kept", builder.getArrayAttr(kept));
    program->setAttr("vm.absorbed", builder.getArrayAttr(absorbed));
    main.erase();
  }

  static Value select(top::PlaceAttr place, Block *entry, unsigned inputs, unsigned outputs, Value workspace) {
    switch (place.getRegion()) {
    case top::Region::Input:
      return entry->getArgument(place.getOffset());
    case top::Region::Output:
      return entry->getArgument(inputs + place.getOffset());
    case top::Region::Weights:
      return entry->getArgument(inputs + outputs);
    case top::Region::State:
      return entry->getArgument(inputs + outputs + 1);
    case top::Region::Workspace:
      return workspace;
    }
    return workspace;
  }

  /// One dictionary per input or output: {name, type}, {model_type} if the model's element type differs, and
  /// {index_bound} for an index input or one that arithmetic bounds ({arithmetic_bound}), {sizes} where a size is known
  /// at run time only.
  static ArrayAttr describe(func::FuncOp main, OpBuilder &builder, unsigned count, bool results) {
    SmallVector<Attribute> list;
    for (unsigned i = 0; i < count; ++i) {
      if (results ? main.getResultAttr(i, top::kStateOfAttr) != nullptr : top::isStateArgument(main, i))
        continue;
      auto name = results ? main.getResultAttrOfType<StringAttr>(i, top::kNameAttr)
                          : main.getArgAttrOfType<StringAttr>(i, top::kNameAttr);
      if (!name)
        name = builder.getStringAttr((results ? "output" : "input") + std::to_string(i));
      Type type = results ? main.getResultTypes()[i] : main.getArgumentTypes()[i];
      SmallVector<NamedAttribute> entries{builder.getNamedAttr("name", name),
                                          builder.getNamedAttr("type", TypeAttr::get(type))};
      auto model = results ? main.getResultAttrOfType<TypeAttr>(i, top::kTypeAttr)
                           : main.getArgAttrOfType<TypeAttr>(i, top::kTypeAttr);
      if (model)
        entries.push_back(builder.getNamedAttr("model_type", model));
      if (auto bound = results ? IntegerAttr() : main.getArgAttrOfType<IntegerAttr>(i, top::kIndexBoundAttr))
        entries.push_back(builder.getNamedAttr("index_bound", bound));
      if (!results && main.getArgAttr(i, top::kArithmeticBoundAttr))
        entries.push_back(builder.getNamedAttr("arithmetic_bound", builder.getUnitAttr()));
      if (auto sizes = results ? main.getResultAttrOfType<AffineMapAttr>(i, top::kSizesAttr)
                               : main.getArgAttrOfType<AffineMapAttr>(i, top::kSizesAttr))
        entries.push_back(builder.getNamedAttr("sizes", sizes));
      list.push_back(builder.getDictionaryAttr(entries));
    }
    return builder.getArrayAttr(list);
  }

  /// Records {name, type, layout, place} of each named result.
  static void record(top::LaunchOp launch, OpBuilder &builder, SmallVector<Attribute> &kept,
                     llvm::StringSet<> &keptNames) {
    if (!launch.getNamesAttr())
      return;
    for (auto [i, name] : llvm::enumerate(launch.getNamesAttr().getAsRange<StringAttr>())) {
      if (name.getValue().empty() || !keptNames.insert(name.getValue()).second)
        continue;
      Attribute layout = launch.getLayoutsAttr() ? launch.getLayoutsAttr()[i] : builder.getStringAttr("");
      kept.push_back(keptTensor(builder, name, launch.getResult(i).getType(), layout,
                                launch.getPlacesAttr()[launch.getInputs().size() + i]));
    }
  }

  /// Records a named reshape: another shape of the memory written by a launch.
  static void recordReshape(Operation *op, OpBuilder &builder, SmallVector<Attribute> &kept,
                            llvm::StringSet<> &keptNames) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      return;
    Value value = op->getResult(0), root = value;
    StringRef name = top::getTensorName(value);
    // A reshape in two steps has the name on both; the last one has the final shape.
    bool isStep = llvm::any_of(value.getUsers(), [&](Operation *user) {
      return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user) &&
             top::getTensorName(user->getResult(0)) == name;
    });
    root = memoryOf(root);
    auto launch = root.getDefiningOp<top::LaunchOp>();
    if (name.empty() || isStep || !launch || !keptNames.insert(name).second)
      return;
    unsigned result = cast<OpResult>(root).getResultNumber();
    kept.push_back(keptTensor(
        builder, builder.getStringAttr(name), value.getType(), builder.getStringAttr(top::getTensorLayout(value)),
        placeIn(cast<top::PlaceAttr>(launch.getPlacesAttr()[launch.getInputs().size() + result]), value)));
  }

  static Attribute *keptAs(StringRef name, MutableArrayRef<Attribute> kept) {
    return llvm::find_if(kept,
                         [&](Attribute attr) { return cast<DictionaryAttr>(attr).getAs<StringAttr>("name") == name; });
  }

  /// What an index without a name is called: one name for each place.
  static std::string nameOfIndex(top::LaunchOp launch, Attribute place, MutableArrayRef<Attribute> kept,
                                 const llvm::StringSet<> &keptNames) {
    StringRef result = top::getTensorName(launch.getResult(0));
    std::string first = ("the index of " + (result.empty() ? launch.getKernel() : result)).str(), name = first;
    for (unsigned number = 2; keptNames.contains(name); ++number) {
      Attribute *known = keptAs(name, kept);
      if (known != kept.end() && cast<DictionaryAttr>(*known).get("place") == place)
        break;
      name = first + " (" + std::to_string(number) + ")";
    }
    return name;
  }

  /// Records the computed index of a gather with its bound, in all builds.
  static void recordIndex(top::LaunchOp launch, OpBuilder &builder, SmallVector<Attribute> &kept,
                          llvm::StringSet<> &keptNames) {
    auto index = launch->getAttrOfType<DenseI64ArrayAttr>(top::kComputedIndexAttr);
    if (!index)
      return;
    Value value = launch->getOperand(index[0]);
    std::string name = top::getTensorName(value).str();
    if (name.empty())
      name = nameOfIndex(launch, launch.getPlacesAttr()[index[0]], kept, keptNames);
    int64_t rows = index[1];
    if (!keptNames.insert(name).second) {
      Attribute *known = keptAs(name, kept);
      if (known == kept.end())
        return;
      NamedAttrList entries(cast<DictionaryAttr>(*known));
      if (auto other = dyn_cast_or_null<IntegerAttr>(entries.get("index_bound")))
        rows = std::min(rows, other.getInt());
      entries.set("index_bound", builder.getI64IntegerAttr(rows));
      *known = entries.getDictionary(builder.getContext());
      return;
    }
    NamedAttrList entries(keptTensor(builder, builder.getStringAttr(name), value.getType(), builder.getStringAttr(""),
                                     launch.getPlacesAttr()[index[0]]));
    entries.set("index_bound", builder.getI64IntegerAttr(rows));
    kept.push_back(entries.getDictionary(builder.getContext()));
  }

  static DictionaryAttr keptTensor(OpBuilder &builder, StringAttr name, Type type, Attribute layout, Attribute place) {
    return builder.getDictionaryAttr({builder.getNamedAttr("name", name),
                                      builder.getNamedAttr("type", TypeAttr::get(type)),
                                      builder.getNamedAttr("layout", layout), builder.getNamedAttr("place", place)});
  }
};

} // namespace
} // namespace pto_mlir
