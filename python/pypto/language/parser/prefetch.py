"""pl.prefetch: read, checked and left out. The simulated device has no cache that a kernel could warm."""

from pypto.language.parser.diagnostics import OperandError
from pypto.pypto_core import ir


class Handle:
    """What a call under pl.prefetch gives: a context, a session or an event."""

    def __init__(self, type_):
        self.type = type_


_CONTEXT, _EVENT, _SESSION = ir.PrefetchAsyncContextType, ir.AsyncEventType, ir.AsyncSessionType
_CALLS = {  # what each call takes and gives
    "make_context": ((), _CONTEXT),
    "async_prefetch": ((("src", ir.TensorType), ("ctx", _CONTEXT)), _EVENT),
    "session": ((("ctx", _CONTEXT),), _SESSION),
    "wait": ((("event", _EVENT), ("session_handle", _SESSION)), None),
}
_SHOWN = {ir.TensorType: "a tensor", _CONTEXT: "a context", _EVENT: "an event", _SESSION: "a session"}
_MADE = {_CONTEXT: "make_context()", _EVENT: "async_prefetch(x, ctx)", _SESSION: "session(ctx)"}


class Prefetches:
    """Needs Expressions."""

    def prefetch(self, name, arguments, keywords, node):
        """The handle that a call gives; of a wait whether it is done."""
        params, given = _CALLS[name]
        names = [param for param, _ in params]
        values = dict(zip(names, arguments, strict=False))
        if len(arguments) > len(params) or set(keywords) - set(names) or set(keywords) & set(values):
            self.fail(OperandError, f"pl.prefetch.{name} takes ({', '.join(names)})", node)
        values.update(keywords)
        for param, wanted in params:
            value = values.get(param)
            if not isinstance(getattr(value, "type", None), wanted) and getattr(value, "type", None) is not wanted:
                hint = f"it is what `pl.prefetch.{_MADE[wanted]}` gives" if wanted in _MADE else ""
                self.fail(OperandError, f"pl.prefetch.{name}: {param} must be {_SHOWN[wanted]}", node, hint)
        if name == "async_prefetch":
            self.check_flat(values["src"].type.shape, node)
        return True if given is None else Handle(given)

    def check_flat(self, shape, node):
        known = [each.value if isinstance(each, ir.ConstInt) else None for each in shape]
        if None in known or any(each != 1 for each in known[:-1]):
            hint = "pass a view of one row, as in `x[0:1, :]`"
            self.fail(OperandError, "pl.prefetch.async_prefetch takes one row of a known length", node, hint)
