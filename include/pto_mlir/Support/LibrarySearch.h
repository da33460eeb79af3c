//===- LibrarySearch.h - Where our own loadable libraries lie ----*- C++ -*-===//
#ifndef PTO_MLIR_SUPPORT_LIBRARYSEARCH_H
#define PTO_MLIR_SUPPORT_LIBRARYSEARCH_H

#include <string>
#include <vector>

namespace pto_mlir {

/// The places where `file` (`libpto_cmodel.so`) may be, best first: $PTO_MLIR_LIB_DIR, then around the executable or
/// extension module that this code was linked into. Nothing is opened; the paths need not exist.
std::vector<std::string> libraryCandidates(const std::string &file);

/// The first of `candidates` that exists, or "".
std::string firstExisting(const std::vector<std::string> &candidates);

} // namespace pto_mlir

#endif // PTO_MLIR_SUPPORT_LIBRARYSEARCH_H
