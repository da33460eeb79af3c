// The names that values have in a text, kept as locations.
#include "pto_mlir/Target/Cpp/Cpp.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace pto_mlir::cpp {

/// `%row` at the beginning of the range is `row`.
static StringAttr nameAt(llvm::SMRange range, MLIRContext *context) {
  StringRef name(range.Start.getPointer(), range.End.getPointer() - range.Start.getPointer());
  name.consume_front("%");
  return StringAttr::get(context, name.take_while([](char c) { return c != '#' && c != ':'; }));
}

OwningOpRef<ModuleOp> parseWithNames(llvm::SourceMgr &sources, const ParserConfig &config) {
  AsmParserState state;
  Block block;
  LocationAttr loc;
  if (failed(parseAsmSourceFile(sources, &block, config, &state)))
    return nullptr;
  loc = FileLineColLoc::get(config.getContext(),
                            sources.getMemoryBuffer(sources.getMainFileID())->getBufferIdentifier(), 0, 0);
  auto named = [&](llvm::SMRange range, Location loc) { return NameLoc::get(nameAt(range, config.getContext()), loc); };
  for (const AsmParserState::OperationDefinition &definition : state.getOpDefs())
    if (definition.resultGroups.size() == 1)
      definition.op->setLoc(named(definition.resultGroups.front().definition.loc, definition.op->getLoc()));
  for (const AsmParserState::BlockDefinition &definition : state.getBlockDefs())
    for (auto [argument, place] : llvm::zip(definition.block->getArguments(), definition.arguments))
      argument.setLoc(named(place.loc, argument.getLoc()));
  return mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(&block, config.getContext(), loc);
}

} // namespace pto_mlir::cpp
