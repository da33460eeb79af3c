#include "pto_mlir/PModel/Builder.h"
#include "pto_mlir/Support/MathExtras.h"

#include "Layout.h"
#include "Metadata.h"
#include "pto_mlir/PModel/Verifier.h"
#include "pto_mlir/Support/TemporaryFile.h"

#include <cstring>

namespace pto_mlir::pmodel {

namespace {

std::vector<uint32_t> packCommands(const ModelDesc &model, const KernelMerge &merge) {
  std::vector<uint32_t> words;
  for (uint32_t kernel : merge.stored)
    for (const StreamDesc &stream : model.kernels[kernel].streams)
      words.insert(words.end(), stream.words.begin(), stream.words.end());
  return words;
}

std::vector<uint8_t> packPrograms(const ModelDesc &model) {
  std::vector<uint8_t> code;
  for (const NetDesc &net : model.nets)
    for (const VariantDesc &variant : net.variants)
      code.insert(code.end(), variant.program.code.begin(), variant.program.code.end());
  return code;
}

/// Places the sections behind metadata of the given size.
void placeSections(SectionPlan &plan, uint64_t metadataSize) {
  plan.commandsBegin = roundUp(sizeof(FileHeader) + metadataSize, sectionAlignment);
  plan.programsBegin = roundUp(plan.commandsBegin + plan.commandsSize, sectionAlignment);
  plan.weightsBegin = roundUp(plan.programsBegin + plan.programsSize, sectionAlignment);
}

FileHeader makeHeader(const ModelDesc &model, const flatbuffers::DetachedBuffer &metadata, uint64_t fileSize) {
  FileHeader header = {};
  std::memcpy(header.magic, fileMagic, sizeof(header.magic));
  header.formatMajor = formatMajor;
  header.formatMinor = writtenMinor(model);
  header.metadataBegin = sizeof(FileHeader);
  header.metadataSize = metadata.size();
  header.metadataHash = contentHash(metadata.data(), metadata.size());
  header.fileSize = fileSize;
  header.headerHash = contentHash(&header, offsetof(FileHeader, headerHash));
  return header;
}

/// Writes the weight blobs in layout order; skips a blob that shares an earlier one's offset.
Status writeWeights(TemporaryFile &file, const ModelDesc &model, const WeightLayout &layout, uint64_t begin) {
  for (size_t i = 0; i < model.weights.size(); ++i) {
    uint64_t offset = begin + layout.offsets[i];
    if (offset < file.size())
      continue;
    if (Status status = file.padTo(offset); !status)
      return status;
    if (Status status = file.write(model.weights[i].data, model.weights[i].size); !status)
      return status;
  }
  return file.padTo(begin + layout.totalBytes);
}

} // namespace

Result<WriteSummary> writeModel(const ModelDesc &model, const WeightLayout &layout, const std::string &path) {
  if (Status status = verifyModel(model, layout); !status)
    return Failure{path + ": " + status.error()};

  KernelMerge merge = mergeKernels(model);
  std::vector<uint32_t> commands = packCommands(model, merge);
  std::vector<uint8_t> programs = packPrograms(model);
  SectionPlan plan;
  plan.commandsSize = commands.size() * 4;
  plan.programsSize = programs.size();
  plan.weightsSize = layout.totalBytes;
  plan.commandsHash = contentHash(commands.data(), plan.commandsSize);
  plan.programsHash = contentHash(programs.data(), programs.size());
  // Section offsets depend on the size of the metadata, which contains them in fixed-size fields: build it twice.
  placeSections(plan, writeMetadata(model, merge, layout, plan).size());
  flatbuffers::DetachedBuffer metadata = writeMetadata(model, merge, layout, plan);

  uint64_t fileSize = plan.weightsBegin + plan.weightsSize;
  FileHeader header = makeHeader(model, metadata, fileSize);
  TemporaryFile file(path);
  auto write = [&]() -> Status {
    if (Status status = file.open(); !status)
      return status;
    if (Status status = file.write(&header, sizeof(header)); !status)
      return status;
    if (Status status = file.write(metadata.data(), metadata.size()); !status)
      return status;
    if (Status status = file.padTo(plan.commandsBegin); !status)
      return status;
    if (Status status = file.write(commands.data(), plan.commandsSize); !status)
      return status;
    if (Status status = file.padTo(plan.programsBegin); !status)
      return status;
    if (Status status = file.write(programs.data(), programs.size()); !status)
      return status;
    if (Status status = file.padTo(plan.weightsBegin); !status)
      return status;
    if (Status status = writeWeights(file, model, layout, plan.weightsBegin); !status)
      return status;
    return file.commit();
  };
  if (Status status = write(); !status)
    return status.failure();

  WriteSummary summary;
  summary.fileBytes = fileSize;
  summary.metadataBytes = metadata.size();
  summary.commandBytes = plan.commandsSize;
  summary.programBytes = plan.programsSize;
  summary.weightBytes = plan.weightsSize;
  summary.numKernels = merge.stored.size();
  return summary;
}

Result<WriteSummary> writeModel(const ModelDesc &model, const std::string &path) {
  return writeModel(model, layoutWeights(model.weights), path);
}

} // namespace pto_mlir::pmodel
