"""State of a net in tests: an .npz has what the ONNX model takes, the rows so far; a net has room for all rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .errors import UserError

POSITION = "state.position"


@dataclass(frozen=True)
class NetState:
    """An input that lives between runs: its shape, numpy type, the output with its new value ("" for none), and the
    axis of its rows; None where every run replaces the whole tensor."""

    name: str
    shape: list[int]
    dtype: str
    output: str
    axis: int | None


def inputs_of(net: dict) -> list[tuple[str, list[int | None], str]]:
    """The inputs and states of a net (compiler.describe), as load_inputs takes them: rows of states that grow are as
    many as the file has."""
    free = [
        (s.name, [None if net["has_position"] and i == s.axis else size for i, size in enumerate(s.shape)], s.dtype)
        for s in net["states"]
    ]
    return net["inputs"] + free


def split(net: dict, feed: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], int]:
    """Inputs, states with room for all rows, and the position. A state that the feed lacks is zero."""
    states, positions = {}, set()
    for state in net["states"]:
        value = feed.get(state.name)
        whole = np.zeros(state.shape, state.dtype)
        if value is None:
            positions.add(0) if state.axis is not None else None
        elif state.axis is None or value.shape == whole.shape:
            whole = value
        else:
            rows = value.shape[state.axis]
            positions.add(rows)
            whole[(slice(None),) * state.axis + (slice(rows),)] = value
        states[state.name] = whole
    if net["has_position"] and len(positions) > 1:
        raise UserError(f"the states have different numbers of rows: {', '.join(map(str, sorted(positions)))}")
    inputs = {name: value for name, value in feed.items() if name not in states}
    return inputs, states, positions.pop() if net["has_position"] and positions else 0


def presents(net: dict, values: dict[str, np.ndarray], position: int) -> dict[str, np.ndarray]:
    """`values` with the rows that exist after a run from `position`, as the model's outputs."""
    values = dict(values)
    for state in net["states"]:
        if net["has_position"] and state.axis is not None and state.output in values:
            rows = slice(position + net["state_rows"])
            values[state.output] = values[state.output][(slice(None),) * state.axis + (rows,)]
    return values


def stored(value: np.ndarray, kind: str) -> np.ndarray:
    """An array in a state's storage type: bf16 as its 16 bits."""
    if kind == "bf16":
        bits = np.ascontiguousarray(value, np.float32).view(np.uint32)
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return value.astype(np.float16) if kind == "f16" else value


def loaded(value: np.ndarray, kind: str) -> np.ndarray:
    """The inverse: floats as f32."""
    if kind == "bf16":
        return (value.astype(np.uint32) << 16).view(np.float32)
    return value.astype(np.float32) if kind == "f16" else value


def run_session(session, net: dict, feed: dict[str, np.ndarray], debug: bool) -> dict[str, np.ndarray]:
    """Outputs of one run of a session from the states in `feed`, new values of states among them; with `debug` every
    kept tensor, too."""
    inputs, states, position = split(net, feed)
    names = [output.name for output in session.get_outputs()]
    state = session.new_state() if session.has_state else None

    def begin():
        if state is not None:
            kinds = {tensor.name: tensor.type for tensor in state.info()}
            state.assign({name: stored(value, kinds[name]) for name, value in states.items()}, position)

    begin()
    values = dict(zip(names, session.run(None, inputs, state)))
    if state is not None:
        now = state.tensors()
        values |= {t.output: loaded(now[t.name], t.type) for t in state.info() if t.output}
    if debug:
        begin()
        values = {**session.run_with_debug(inputs, state), **values}
    return presents(net, values, position)
