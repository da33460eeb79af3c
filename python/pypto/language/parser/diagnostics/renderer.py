"""An error as text: message, place, the source line with a caret, hint, note."""

import linecache
import re

_RED, _BLUE, _PLAIN = "\033[1;31m", "\033[1;34m", "\033[0m"


_DOTTED = re.compile(r"\w+(\.\w+)*")
_TAILS = ("\n\nC++ Traceback", "\n\nNo stack trace available")
_CHECK = "Check failed:"


def concise_error_message(error, strip_trailing_span=False) -> str:
    """The text of an error without what the public back end's checks add: a C++ stack, the condition that failed and,
    with `strip_trailing_span`, the place that stands in brackets before that."""
    text = str(error)
    for tail in _TAILS:
        text = text.partition(tail)[0]
    text, check, _ = text.partition(_CHECK)
    if not check:
        return text
    text = text.rstrip("\n")
    if strip_trailing_span:
        text = re.sub(r"\s*\[[^\[\]]*:-?\d+:-?\d+\]$", "", text)
    return text.strip() or "a check without a text failed; PTO_BACKTRACE=1 shows where"


class ErrorRenderer:
    """`use_color`: None for no colours."""

    def __init__(self, use_color=None):
        self.use_color = bool(use_color)

    def _paint(self, colour, text):
        return f"{colour}{text}{_PLAIN}" if self.use_color else text

    @staticmethod
    def _line(span, source_lines):
        """The line of a place: of its file, else of the text that was read; None where neither is to be had."""
        number = span["begin_line"]
        held = linecache.getline(str(span["filename"]), number) if number > 0 else ""
        if held:
            return held.rstrip("\r\n")
        return source_lines[number - 1] if source_lines and 0 < number <= len(source_lines) else None

    @staticmethod
    def _calculate_token_length(line, start):
        """How many characters the name at `start` has, with its dots; 1 for what is no name."""
        found = _DOTTED.match(line, start)
        return len(found[0]) if found else 1

    def render(self, error) -> str:
        lines = [self._paint(_RED, "Error") + f": {error.message}"]
        if error.span is not None:
            span = error.span
            place = f"{span['filename']}:{span['begin_line']}:{span['begin_column']}"
            lines.append(self._paint(_BLUE, "  -->") + f" {place}")
            line = self._line(span, error.source_lines)
            if line is not None:
                number, start = str(span["begin_line"]), max(span["begin_column"] - 1, 0)
                pad = " " * len(number)
                caret = " " * start + self._paint(_RED, "^" * self._calculate_token_length(line, start))
                lines += [f"{pad} |", f"{number} | {line}", f"{pad} | {caret}"]
        if error.hint:
            lines.append(f"  = help: {error.hint}")
        if error.note:
            lines.append(f"  = note: {error.note}")
        return "\n".join(lines)
