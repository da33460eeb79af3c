// Where in the source a node comes from.
#ifndef PYPTO_IR_SPAN_H
#define PYPTO_IR_SPAN_H

#include <memory>
#include <string>

namespace pypto::ir {

/// Lines and columns count from 1; -1 where unknown. Spans of one file share its name.
class Span {
public:
  Span() = default;
  Span(std::string filename, int begin_line, int begin_column, int end_line = -1, int end_column = -1)
      : Span(std::make_shared<const std::string>(std::move(filename)), begin_line, begin_column, end_line, end_column) {
  }
  Span(std::shared_ptr<const std::string> filename, int begin_line, int begin_column, int end_line, int end_column)
      : begin_line_(begin_line), begin_column_(begin_column), end_line_(end_line), end_column_(end_column),
        filename_(std::move(filename)) {}

  static Span unknown() { return Span(); }
  bool is_valid() const { return filename_ && begin_line_ > 0; }
  /// "" when unknown.
  const std::string &filename() const;
  const std::shared_ptr<const std::string> &shared_filename() const { return filename_; }
  /// "file.py:3:5", or "unknown".
  std::string to_string() const;

  friend bool operator==(const Span &a, const Span &b);

  int begin_line_ = -1;
  int begin_column_ = -1;
  int end_line_ = -1;
  int end_column_ = -1;

private:
  std::shared_ptr<const std::string> filename_;
};

} // namespace pypto::ir

#endif // PYPTO_IR_SPAN_H
