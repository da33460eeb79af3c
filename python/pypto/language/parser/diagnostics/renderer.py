"""An error as text: message, place, the source line with a caret, hint, note."""

_RED, _BLUE, _PLAIN = "\033[1;31m", "\033[1;34m", "\033[0m"


class ErrorRenderer:
    """`use_color`: None for no colours."""

    def __init__(self, use_color=None):
        self.use_color = bool(use_color)

    def _paint(self, colour, text):
        return f"{colour}{text}{_PLAIN}" if self.use_color else text

    def render(self, error) -> str:
        lines = [self._paint(_RED, "Error") + f": {error.message}"]
        if error.span is not None:
            span = error.span
            place = f"{span['filename']}:{span['begin_line']}:{span['begin_column']}"
            lines.append(self._paint(_BLUE, "  -->") + f" {place}")
            index = span["begin_line"] - 1
            if 0 <= index < len(error.source_lines):
                number = str(span["begin_line"])
                pad = " " * len(number)
                caret = " " * max(span["begin_column"] - 1, 0) + self._paint(_RED, "^")
                lines += [f"{pad} |", f"{number} | {error.source_lines[index]}", f"{pad} | {caret}"]
        if error.hint:
            lines.append(f"  = help: {error.hint}")
        if error.note:
            lines.append(f"  = note: {error.note}")
        return "\n".join(lines)
