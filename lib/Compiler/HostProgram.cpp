#include "HostProgram.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "pto_mlir/ByteCode/Serialize.h"
#include "pto_mlir/ByteCode/Text.h"
#include "pto_mlir/Dialect/Top/IR/Names.h"
#include "pto_mlir/Dialect/VM/IR/VM.h"
#include "pto_mlir/Dialect/VM/Transforms/ProgramText.h"

#include <map>

using namespace mlir;

namespace pto_mlir {

namespace {

/// Gives a program the bytes of its tensors that did not go through its text. Constants of two types may share some.
void provideTensors(bytecode::Module &program, const std::map<std::string, std::vector<uint8_t>> &tensors) {
  for (bytecode::Constant &constant : program.constants)
    if (auto *tensor = std::get_if<bytecode::TensorConstant>(&constant); tensor && tensor->isExternal)
      if (auto found = tensors.find(tensor->name); found != tensors.end())
        *tensor = {tensor->type, /*isExternal=*/false, "", found->second};
}

} // namespace

std::optional<pmodel::HostProgramDesc> hostProgram(ModuleOp module, const std::string &target,
                                                   std::vector<std::string> &errors, bool locations) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  pmodel::HostProgramDesc program;
  program.name = module.getSymName().value_or("net").str();
  auto nameOf = [](DictionaryAttr attrs, const Twine &otherwise) {
    auto name = attrs ? attrs.getAs<StringAttr>(top::kNameAttr) : StringAttr();
    return name ? name.str() : otherwise.str();
  };
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    (main.getArgAttr(i, vm::kPresetAttr) ? program.presets : program.inputs)
        .push_back(nameOf(main.getArgAttrDict(i), "input" + Twine(i)));
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    program.outputs.push_back(nameOf(main.getResultAttrDict(i), "output" + Twine(i)));
  // A program contains functions only, so clone @main without the nets.
  OwningOpRef<ModuleOp> alone = ModuleOp::create(module.getLoc());
  alone->getBody()->push_back(main->clone());
  vm::ProgramTextOptions options;
  options.target = target;
  options.reuseSlots = true;
  options.locations = locations;
  std::map<std::string, std::vector<uint8_t>> tensors;
  options.tensors = &tensors;
  auto text = vm::programText(*alone, options);
  if (!text)
    return std::nullopt;
  auto assembled = bytecode::assemble(*text);
  if (!assembled) {
    errors.push_back("the host program: " + assembled.error());
    return std::nullopt;
  }
  provideTensors(*assembled, tensors);
  program.code = bytecode::serialize(*assembled);
  return program;
}

} // namespace pto_mlir
