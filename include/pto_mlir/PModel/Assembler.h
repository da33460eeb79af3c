// Assembles new .pmodel files from nets of existing ones.
#ifndef PTO_MLIR_PMODEL_ASSEMBLER_H
#define PTO_MLIR_PMODEL_ASSEMBLER_H

#include "pto_mlir/PModel/Reader.h"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace pto_mlir::pmodel {

/// A source model: from a file, or in memory. Weights of an in-memory model are owned by the caller and must outlive
/// `write`.
struct ModelPart {
  std::shared_ptr<const ModelDesc> model;
  std::shared_ptr<const WeightLayout> layout;
  std::string name;                      ///< for messages
  std::shared_ptr<const ModelFile> file; ///< its weights are checked when copied; null for an in-memory model

  ModelPart(std::shared_ptr<const ModelFile> file);
  ModelPart(ModelDesc model, std::string name);
};

/// Collects net variants from models and writes them to one file. Kernels and weights used by a variant are copied;
/// equal ones are stored once, and different ones with the same name are renamed. Weight offsets in the programs are
/// relocated.
class ModelAssembler {
public:
  /// Adds a variant; a net of a name already present gets it as another variant. Fails if the files are for different
  /// processors or numbers of cores, or if inputs and outputs of the variants differ other than in shape. `name`
  /// renames the net; empty = its own.
  Status add(const ModelPart &part, size_t net, size_t variant, const std::string &name = "");
  /// Adds host programs of a file with the nets that they call and the kernels that they submit; both are renamed on a
  /// name clash. Programs of one name form one model.
  Status addPrograms(std::shared_ptr<const ModelFile> file, const std::vector<size_t> &programs);
  /// Adds a program that calls nets already added.
  void addProgram(HostProgramDesc program) { model.programs.push_back(std::move(program)); }
  /// Writes the file. Weights are copied from the source files, which stay open until then.
  Result<WriteSummary> write(const std::string &path);

private:
  /// An added variant with the source of its weights.
  struct Source {
    size_t net, variant;
    ModelPart part;
    std::vector<uint32_t> weightMap; // old weight -> new
  };
  /// Takes processor and cores of the first file; fails for others.
  Status adopt(const ModelDesc &from, const std::string &name);
  uint32_t addKernel(const KernelDesc &kernel);
  uint32_t addWeight(const WeightDesc &weight, uint64_t hash);
  /// Adds the weights read by the variant to the new model.
  Status collectWeights(Source &source, const VariantDesc &variant);
  /// Adds the variant's group of state, or finds the equal one of that name.
  Status addState(const ModelPart &part, VariantDesc &variant);
  Status relocate(const Source &source, const WeightLayout &layout);

  ModelDesc model;
  std::vector<Source> sources;
  std::vector<uint64_t> weightHashes;
  std::unordered_map<std::string, uint32_t> kernelNames, weightNames;
  std::unordered_map<std::string, unsigned> kernelNumbers, weightNumbers; ///< of the next such name
};

/// Combines all nets and host programs of `paths` into `output`. With `program` the file is a single model that runs
/// the nets.
Result<WriteSummary> combineModels(const std::vector<std::string> &paths, const std::string &output,
                                   std::optional<HostProgramDesc> program = std::nullopt);

/// Writes every variant of every net as a file of its own into `folder`: <stem>_net<i>_variant<j>.pmodel; and every
/// host program together with the nets that it calls, which get no files of their own: <stem>_program<i>.pmodel.
/// Returns the paths.
Result<std::vector<std::string>> extractModels(const std::string &path, const std::string &folder);

} // namespace pto_mlir::pmodel

#endif
