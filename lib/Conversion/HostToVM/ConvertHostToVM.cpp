// convert-host-to-vm: @main on tensors becomes a host program on buffers.
#include "pto_mlir/Conversion/HostToVM/Passes.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/Top/IR/Top.h"
#include "pto_mlir/Dialect/VM/IR/VM.h"

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
    convert(main);
  }

private:
  void convert(func::FuncOp main) {
    OpBuilder builder(main);
    Location loc = main.getLoc();
    unsigned inputs = main.getNumArguments(), outputs = main.getNumResults();
    auto program = builder.create<vm::FuncOp>(loc, main.getName(), inputs, outputs);
    Block *entry = builder.createBlock(&program.getBody());
    auto buffer = vm::BufferType::get(&getContext());
    for (unsigned i = 0; i < inputs + outputs + 1; ++i)
      entry->addArgument(buffer, loc);
    int64_t workspaceBytes = cast<IntegerAttr>(main->getAttr("top.workspace_bytes")).getInt();
    Value workspace;
    if (workspaceBytes)
      workspace = builder.create<vm::AllocOp>(loc, buffer, builder.getI64IntegerAttr(workspaceBytes));

    SmallVector<Attribute> kept, absorbed;
    llvm::StringSet<> keptNames; // a tensor that is held in two layouts is kept once
    for (Operation &op : main.getBody().front()) {
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
        bytes.push_back(top::tensorBytes(cast<RankedTensorType>(type)).value_or(0));
      }
      builder.create<vm::CallOp>(launch.getLoc(), ("device." + launch.getKernel()).str(), buffers, offsets, bytes);
      if (keepAll)
        record(launch, builder, kept, keptNames);
      if (auto names = launch.getAbsorbedAttr())
        absorbed.append(names.begin(), names.end());
    }
    builder.create<vm::WaitOp>(loc);
    builder.create<vm::ReturnOp>(loc);

    program->setAttr("vm.inputs", describe(main, builder, inputs, /*results=*/false));
    program->setAttr("vm.outputs", describe(main, builder, outputs, /*results=*/true));
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
    case top::Region::Workspace:
      return workspace;
    }
    return workspace;
  }

  /// {name, type} of each input or output.
  static ArrayAttr describe(func::FuncOp main, OpBuilder &builder, unsigned count, bool results) {
    SmallVector<Attribute> list;
    for (unsigned i = 0; i < count; ++i) {
      auto name = results ? main.getResultAttrOfType<StringAttr>(i, top::kNameAttr) : main.getArgAttrOfType<StringAttr>(i, top::kNameAttr);
      if (!name)
        name = builder.getStringAttr((results ? "output" : "input") + std::to_string(i));
      Type type = results ? main.getResultTypes()[i] : main.getArgumentTypes()[i];
      list.push_back(builder.getDictionaryAttr({builder.getNamedAttr("name", name), builder.getNamedAttr("type", TypeAttr::get(type))}));
    }
    return builder.getArrayAttr(list);
  }

  /// {name, type, layout, place} of each named result.
  static void record(top::LaunchOp launch, OpBuilder &builder, SmallVector<Attribute> &kept, llvm::StringSet<> &keptNames) {
    if (!launch.getNamesAttr())
      return;
    for (auto [i, name] : llvm::enumerate(launch.getNamesAttr().getAsRange<StringAttr>())) {
      if (name.getValue().empty() || !keptNames.insert(name.getValue()).second)
        continue;
      Attribute layout = launch.getLayoutsAttr() ? launch.getLayoutsAttr()[i] : builder.getStringAttr("");
      kept.push_back(builder.getDictionaryAttr(
          {builder.getNamedAttr("name", name), builder.getNamedAttr("type", TypeAttr::get(launch.getResult(i).getType())),
           builder.getNamedAttr("layout", layout),
           builder.getNamedAttr("place", launch.getPlacesAttr()[launch.getInputs().size() + i])}));
    }
  }
};

} // namespace
} // namespace pto_mlir
