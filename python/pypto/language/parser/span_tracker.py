"""Places of nodes of the syntax tree, for tools that parse text of their own."""

from pypto.language.parser.source import Source
from pypto.pypto_core import ir


class SpanTracker:
    """Places in `source_file`, whose text begins `line_offset` lines and `col_offset` columns before what was parsed.
    `source_map` gives (file, line, column from 0) for lines that were made from others."""

    def __init__(self, source_file, source_lines, line_offset=0, col_offset=0, source_map=None):
        self.source_file, self.source_lines = source_file, source_lines
        self.line_offset, self.col_offset = line_offset, col_offset
        self.source_map = source_map or {}

    def get_span(self, node) -> ir.Span:
        """The place of a node; the unknown one for None."""
        span = Source(self.source_file, self.source_lines, 1 + self.line_offset, self.col_offset).span(node)
        file, line, column = self.source_map.get(span.begin_line, (None, 0, 0))
        return span if file is None else ir.Span(file, line, column + 1, line, column + 1)

    def get_multiline_span(self, first, last) -> ir.Span:
        """From the begin of one node to the end of another one."""
        begin, end = self.get_span(first), self.get_span(last)
        return ir.Span(begin.filename, begin.begin_line, begin.begin_column, end.end_line, end.end_column)
