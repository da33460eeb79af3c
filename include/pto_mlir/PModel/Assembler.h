// Makes new models out of parts of existing ones.
#ifndef PTO_MLIR_PMODEL_ASSEMBLER_H
#define PTO_MLIR_PMODEL_ASSEMBLER_H

#include "pto_mlir/PModel/Reader.h"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace pto_mlir::pmodel {

/// A model in a file, or one that was just made, whose weights somebody else keeps until the end.
struct ModelPart {
  std::shared_ptr<const ModelDesc> model;
  std::shared_ptr<const WeightLayout> layout;
  std::string name;                      ///< for messages
  std::shared_ptr<const ModelFile> file; ///< whose weights are to be checked; null for one that was just made

  ModelPart(std::shared_ptr<const ModelFile> file);
  ModelPart(ModelDesc model, std::string name);
};

/// Collects net variants from models and writes them as one file. Kernels and weights come along when a variant uses
/// them, equal ones once; different ones of one name are renamed. Weight offsets in the programs follow their weights.
class ModelAssembler {
public:
  /// Adds a variant; one whose net has a name that is there already becomes a variant of that net. Fails when the files
  /// are for different processors or numbers of cores, or the nets disagree. `name` is the net's new name; empty = its
  /// own.
  Status add(const ModelPart &part, size_t net, size_t variant, const std::string &name = "");
  /// Adds host programs of a file with the nets that they call; a net whose name is taken gets another one. Programs of
  /// one name become one model.
  Status addPrograms(std::shared_ptr<const ModelFile> file, const std::vector<size_t> &programs);
  /// A program that makes one model of nets that are there.
  void addProgram(HostProgramDesc program) { model.programs.push_back(std::move(program)); }
  /// Writes what was added. Weights are read from the source files, so these stay open until now.
  Result<WriteSummary> write(const std::string &path);

private:
  /// An added program, with where its weights came from.
  struct Source {
    size_t net, variant;
    ModelPart part;
    std::vector<uint32_t> weightMap; // old weight -> new
  };
  uint32_t addKernel(const KernelDesc &kernel);
  uint32_t addWeight(const WeightDesc &weight, uint64_t hash);
  /// Weights that the variant reads, into the new model.
  Status collectWeights(Source &source, const VariantDesc &variant);
  Status relocate(const Source &source, const WeightLayout &layout);

  ModelDesc model;
  std::vector<Source> sources;
  std::vector<uint64_t> weightHashes;
  std::unordered_map<std::string, uint32_t> kernelNames, weightNames;
};

/// Joins all nets and host programs of `paths` into `output`. With a program the file is one model, which runs the
/// nets.
Result<WriteSummary> combineModels(const std::vector<std::string> &paths, const std::string &output,
                                   std::optional<HostProgramDesc> program = std::nullopt);

/// Writes every variant of every net as a file of its own into `folder`: <stem>_net<i>_variant<j>.pmodel; and every
/// host program with the nets that it calls, which are written so only: <stem>_program<i>.pmodel. Returns the paths.
Result<std::vector<std::string>> extractModels(const std::string &path, const std::string &folder);

} // namespace pto_mlir::pmodel

#endif
