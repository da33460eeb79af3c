//===- LibrarySearch.h - Paths of encoders and plug-ins -*- C++ -*-===//
#ifndef PTO_MLIR_SUPPORT_LIBRARYSEARCH_H
#define PTO_MLIR_SUPPORT_LIBRARYSEARCH_H

#include <string>
#include <vector>

namespace pto_mlir {

/// Candidate paths of `file` (`libpto_cmodel.so`) in order of preference: $PTO_MLIR_LIB_DIR, then folders relative to
/// the executable or extension module that contains this code. The paths need not exist.
std::vector<std::string> libraryCandidates(const std::string &file);

/// The first of `candidates` that exists, or "".
std::string firstExisting(const std::vector<std::string> &candidates);

} // namespace pto_mlir

#endif // PTO_MLIR_SUPPORT_LIBRARYSEARCH_H
