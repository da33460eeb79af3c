// Reports on a .pmodel as text.
#ifndef PTO_MLIR_PMODEL_REPORT_H
#define PTO_MLIR_PMODEL_REPORT_H

#include "pto_mlir/PModel/Reader.h"

#include <string>

namespace pto_mlir::pmodel {

/// The output of `pmodel_tool --info`.
std::string infoReport(const ModelFile &file);
/// Global memory traffic of each launch: bytes read and written, the lower bound given by its arguments, and the load
/// balance (the average core's bytes over the most loaded one's). Fails when the file has no launch whose traffic can
/// be counted.
Result<std::string> trafficReport(const ModelFile &file);
/// One line per kernel: cycles by estimateCycles (PModel/Estimate.h), without the launch overhead, and the name.
std::string estimateReport(const ModelFile &file);
/// One line per weight: name, type, shape, offset in the file's weights section, bytes, hash.
std::string weightsReport(const ModelFile &file);
/// Programs and kernels as assembly.
std::string disassemblyReport(const ModelFile &file);

/// "512 B", "1.5 KiB", "30.0 MiB".
std::string bytesText(uint64_t bytes);

} // namespace pto_mlir::pmodel

#endif
