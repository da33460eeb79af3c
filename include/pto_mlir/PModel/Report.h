// What a .pmodel holds, as text for people.
#ifndef PTO_MLIR_PMODEL_REPORT_H
#define PTO_MLIR_PMODEL_REPORT_H

#include "pto_mlir/PModel/Reader.h"

#include <string>

namespace pto_mlir::pmodel {

/// The page of `pmodel_tool --info`.
std::string infoReport(const ModelFile &file);
/// Global memory traffic of each launch: bytes read and written, the least that its arguments
/// allow, and the average core's share of the most loaded one's. Fails for a file without launches whose traffic could
/// be counted.
Result<std::string> trafficReport(const ModelFile &file);
/// What each kernel takes by the estimate of PModel/Estimate.h: cycles without the launch, and its name.
std::string estimateReport(const ModelFile &file);
/// One line per weight: name, type, shape, offset in the file's weights section, bytes, hash.
std::string weightsReport(const ModelFile &file);
/// Programs and kernels as assembly.
std::string disassemblyReport(const ModelFile &file);

/// "512 B", "1.5 KiB", "30.0 MiB".
std::string bytesText(uint64_t bytes);

} // namespace pto_mlir::pmodel

#endif
