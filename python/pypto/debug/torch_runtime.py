"""What the source that torch_codegen makes is made of: one function for each operation, named after it.

Tensors and tiles are tensors of torch; a tensor in global memory is the caller's, and views share it. A tile that is
valid in part has the extent as its attribute `valid`. Half precision is computed in single precision, then rounded.
"""

import torch


def valid_of(x):
    return getattr(x, "valid", tuple(x.shape))


def marked(x, valid):
    """x, of which this extent is valid."""
    valid = tuple(max(0, min(int(v), n)) for v, n in zip(valid, x.shape))
    if valid != tuple(x.shape):
        x = x[...]  # the attribute is that of this name only
        x.valid = valid
    return x


def part(x):
    """What is valid of x."""
    return x[tuple(slice(0, n) for n in valid_of(x))]


def boxed(x, shape):
    """x at the beginning of zeros of this shape."""
    made = torch.zeros([int(n) for n in shape], dtype=x.dtype)
    made[tuple(slice(0, n) for n in x.shape)] = x
    return made


def zeroed(x):
    """x with zeros where it is not valid."""
    return x if valid_of(x) == tuple(x.shape) else boxed(part(x), x.shape)


def wide(x):
    if isinstance(x, torch.Tensor) and x.dtype in (torch.float16, torch.bfloat16):
        return x.float()
    return x


def elementwise(compute):
    def operation(*operands, dtype=None, **_):
        made = compute(*map(wide, operands))
        shape = tuple(made.shape)
        held = [valid_of(x) for x in operands if isinstance(x, torch.Tensor) and tuple(x.shape) == shape]
        made = made.to(dtype) if dtype is not None else made
        return marked(made, [min(each) for each in zip(*held)]) if held else made

    return operation


def quotient(a, b, *_):
    whole = not (torch.is_tensor(a) and a.is_floating_point()) and not isinstance(b, float)
    return torch.div(a, b, rounding_mode="trunc" if whole else None)


def larger(a, b, *_):
    return torch.maximum(a, b) if torch.is_tensor(b) else torch.clamp(a, min=b)


def smaller(a, b, *_):
    return torch.minimum(a, b) if torch.is_tensor(b) else torch.clamp(a, max=b)


add = adds = row_expand_add = col_expand_add = elementwise(lambda a, b, *_: a + b)
sub = subs = row_expand_sub = col_expand_sub = elementwise(lambda a, b, *_: a - b)
mul = muls = row_expand_mul = col_expand_mul = elementwise(lambda a, b, *_: a * b)
div = divs = row_expand_div = col_expand_div = elementwise(quotient)
maximum = maximums = row_expand_max = col_expand_max = elementwise(larger)
minimum = minimums = row_expand_min = col_expand_min = elementwise(smaller)
row_expand_expdif = col_expand_expdif = elementwise(lambda a, b, *_: torch.exp(a - b))
fmod = fmods = elementwise(lambda a, b: torch.fmod(a, b))
rem = rems = elementwise(lambda a, b, *_: torch.remainder(a, b))
and_ = ands = elementwise(lambda a, b: a & b)
or_ = ors = elementwise(lambda a, b: a | b)
xor = xors = elementwise(lambda a, b, *_: a ^ b)
shl = shls = elementwise(lambda a, b: a << b)
shr = shrs = elementwise(lambda a, b: a >> b)
not_ = elementwise(lambda x: ~x)
exp, sin, cos = elementwise(torch.exp), elementwise(torch.sin), elementwise(torch.cos)
log = elementwise(lambda x, *_: torch.log(x))
sqrt, abs_, neg, relu = elementwise(torch.sqrt), elementwise(torch.abs), elementwise(torch.neg), elementwise(torch.relu)
recip = elementwise(lambda x, *_: 1.0 / x)
rsqrt = elementwise(lambda x, *_: torch.rsqrt(x))
lrelu = elementwise(lambda x, slope: torch.where(x > 0, x, x * slope))
prelu = elementwise(lambda x, slope, *_: torch.where(x > 0, x, x * slope))
addc = addsc = elementwise(lambda a, b, c: a + b + c)
subc = subsc = elementwise(lambda a, b, c: a - b - c)
COMPARE = [torch.eq, torch.ne, torch.lt, torch.le, torch.gt, torch.ge]


def cast(x, target_type=None, mode="round", dtype=None):
    whole = not dtype.is_floating_point and x.is_floating_point()
    values = wide(x)
    if whole and mode == "round":  # halves away from zero
        values = torch.sign(values) * torch.floor(values.abs() + 0.5)
    elif whole:
        values = {"floor": torch.floor, "ceil": torch.ceil, "trunc": torch.trunc}.get(mode, torch.round)(values)
    return marked(values.to(dtype), valid_of(x))


def tile_cmp(lhs, rhs, cmp_type=0, dtype=None):
    return elementwise(COMPARE[cmp_type])(lhs, rhs)


def tensor_cmp(lhs, rhs, cmp_type=0, dtype=None):
    return elementwise(COMPARE[cmp_type])(lhs, rhs, dtype=dtype)


tile_cmps, tensor_cmps = tile_cmp, tensor_cmp


def sel(mask, a, b, tmp=None, dtype=None):
    return elementwise(torch.where)(mask, a, b, dtype=dtype)


def sels(mask, src, tmp=None, scalar=0, dtype=None):
    return elementwise(lambda m, x: torch.where(m, x, torch.full_like(x, scalar)))(mask, src, dtype=dtype)


def parts(compute):
    def operation(lhs, rhs, dtype=None):
        made, both = lhs.clone(), [min(a, b) for a, b in zip(valid_of(lhs), valid_of(rhs))]
        part(marked(made, valid_of(rhs))).copy_(part(rhs))
        part(marked(made, valid_of(lhs))).copy_(part(lhs))
        computed = compute(wide(part(marked(lhs, both))), wide(part(marked(rhs, both))))
        part(marked(made, both)).copy_(computed)
        return marked(made, [max(a, b) for a, b in zip(valid_of(lhs), valid_of(rhs))])

    return operation


part_add, part_mul = parts(torch.add), parts(torch.mul)
part_max, part_min = parts(torch.maximum), parts(torch.minimum)


def reduction(axis, compute):
    """Of the valid elements, along an axis that stays with extent 1."""

    def operation(x, *_, dtype=None, **__):
        shape, valid = list(x.shape), list(valid_of(x))
        shape[axis] = valid[axis] = 1
        made = torch.zeros(shape, dtype=dtype or x.dtype)
        part(marked(made, valid)).copy_(compute(wide(part(x)), axis))
        return marked(made, valid)

    return operation


def reductions(compute):
    return reduction(-1, compute), reduction(-2, compute)


row_sum, col_sum = reductions(lambda x, axis: x.sum(axis, keepdim=True))
row_max, col_max = reductions(lambda x, axis: x.amax(axis, keepdim=True))
row_min, col_min = reductions(lambda x, axis: x.amin(axis, keepdim=True))
row_prod, col_prod = reductions(lambda x, axis: x.prod(axis, keepdim=True))
row_argmax, col_argmax = reductions(lambda x, axis: x.argmax(axis, keepdim=True))
row_argmin, col_argmin = reductions(lambda x, axis: x.argmin(axis, keepdim=True))


def matmul(lhs, rhs, *, a_trans=False, b_trans=False, dtype=None, **_):
    a, b = (x.transpose(-1, -2) if turned else x for x, turned in ((zeroed(lhs), a_trans), (zeroed(rhs), b_trans)))
    made = (wide(a) if a.is_floating_point() else a.double()) @ (wide(b) if b.is_floating_point() else b.double())
    rows, cols = valid_of(lhs)[-1 if a_trans else -2], valid_of(rhs)[-2 if b_trans else -1]
    made = made.to(dtype) if dtype is not None else made
    return marked(made, [*made.shape[:-2], rows, cols])


def matmul_acc(acc, lhs, rhs, init_cond=None, *, dtype=None, **keywords):
    product = matmul(lhs, rhs, dtype=dtype or acc.dtype, **keywords)
    return product if init_cond else marked(acc + product, valid_of(product))


def matmul_bias(lhs, rhs, bias, dtype=None, **_):
    return add(matmul(lhs, rhs, dtype=dtype), bias, dtype=dtype)


gemv, gemv_acc, gemv_bias, batch_matmul, batch_matmul_acc = matmul, matmul_acc, matmul_bias, matmul, matmul_acc


def window(x, offset, shape):
    return x[tuple(slice(int(o), int(o) + int(n)) for o, n in zip(offset, shape))]


def tensor_slice(x, shape, offset, valid_shape=None, drop_dims=None, pad_value=None, clamp=False, dtype=None):
    """The window of x, which shares its memory where it lies inside; what lies outside is zero, and not valid."""
    if clamp:
        offset = [max(0, min(int(o), n - int(s))) for o, n, s in zip(offset, x.shape, shape)]
    made = window(x, offset, shape)
    valid = [max(0, min(int(v) - int(o), n)) for v, o, n in zip(valid_of(x), offset, made.shape)]
    if tuple(made.shape) != tuple(int(n) for n in shape):
        made = boxed(made, shape)
        made.copied = True
    if valid_shape is not None:
        valid = [min(int(v), n) for v, n in zip(valid_shape, valid)]
    copied = getattr(made, "copied", False)
    made = marked(made, valid)
    if drop_dims:
        kept = [axis for axis in range(made.dim()) if axis not in drop_dims]
        valid = [valid_of(made)[axis] for axis in kept]
        made = marked(made.reshape([made.shape[axis] for axis in kept]), valid)
    if copied:
        made.copied = True
    return made


def tile_slice(x, *arguments, **keywords):
    made = tensor_slice(x, *arguments, **keywords)
    return marked(made.clone(), valid_of(made))


def load(tensor, offsets, shapes, valid_shape=None, clamp=False, dtype=None, **_):
    return tile_slice(tensor, shapes, offsets, valid_shape, clamp=clamp)


def extract(src, row, col, shape, dtype=None, **_):
    return tile_slice(src, shape, [row, col])


def put(target, source, offset, atomic=None, shapes=None):
    """The valid part of source to the window of target."""
    if getattr(target, "copied", False):
        raise ValueError("a view that reaches past its tensor is written, which the torch form cannot show")
    value = part(source)
    extents = list(shapes or value.shape)
    if len(extents) != target.dim() or value.dim() != len(extents):
        extents = [1] * (target.dim() - value.dim()) + list(value.shape)[-target.dim() :]
    held = window(target, offset, extents)
    value = value.reshape([min(a, b) for a, b in zip(extents, value.shape)] if value.dim() == len(extents) else extents)
    value = window(value, [0] * held.dim(), held.shape)
    held = window(held, [0] * held.dim(), value.shape)
    if str(atomic) in ("Add", "AtomicType.Add"):
        held += value
    else:
        held.copy_(value)
    return target


def store(tile, offsets, out, shapes=None, atomic=None, **_):
    return put(out, tile, offsets, atomic, shapes)


def tensor_assemble(target, source, offset, atomic=None, dtype=None):
    return put(target, source, offset, atomic)


def tile_assemble(target, source, offset, atomic=None, dtype=None):
    return marked(put(target.clone(), source, offset, atomic), valid_of(target))


def gather_row(dst, src, dst_offset, src_offset, shapes, valid_shape=None, transpose=False, dtype=None):
    rows = window(src, src_offset, valid_shape or shapes)
    return marked(put(dst.clone(), rows.transpose(-1, -2) if transpose else rows, dst_offset), valid_of(dst))


def create(shape, dtype=None, init_value=None, **_):
    made = torch.zeros([int(n) for n in shape], dtype=dtype)
    return made if init_value is None else made.fill_(init_value)


create_tensor = create_l1 = create


def full(shape, value, dtype=None, **_):
    return torch.full([int(n) for n in shape], value, dtype=dtype)


def expands(target, scalar, dtype=None):
    return marked(torch.full_like(target, scalar), valid_of(target))


def row_expand(target, row_vec, dtype=None):
    return marked(row_vec.expand(target.shape).clone(), valid_of(target))


def expand_clone(src, target, dtype=None):
    return row_expand(target, src)


def col_expand(target, col_vec, dtype=None):
    return row_expand(target, col_vec)


def ci(start, shape, descending=False, dtype=None):
    count = torch.arange(int(shape[-1]))
    return (start + (-count if descending else count)).to(dtype).expand([int(n) for n in shape]).clone()


def concat(a, b, dtype=None):
    made = torch.cat([part(a), part(b)], -1)
    return marked(
        torch.cat([made, torch.zeros_like(a), torch.zeros_like(b)], -1)[..., : a.shape[-1] + b.shape[-1]], made.shape
    )


def move(tile, dtype=None, **_):
    return marked(tile.clone() if dtype is None else tile.to(dtype), valid_of(tile))


def pad_number(name, dtype):
    if isinstance(name, (int, float)):
        return name
    if dtype.is_floating_point:
        least, most = float("-inf"), float("inf")
    else:
        least, most = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    return {"max": most, "min": least}.get(name, 0)


def fillpad_expand(x, shape, pad_value="zero", dtype=None):
    made = torch.full([int(n) for n in shape], pad_number(pad_value, x.dtype), dtype=x.dtype)
    made[tuple(slice(0, n) for n in valid_of(x))] = part(x)
    return made


def fillpad(x, pad_value="zero", dtype=None):
    return fillpad_expand(x, x.shape, pad_value)


fillpad_inplace = fillpad


def read(x, indices, dtype=None):
    at = [int(i) for i in indices]
    return (x[tuple(at)] if len(at) == x.dim() else x.reshape(-1)[at[0]]).item()


def tensor_write(x, indices, value, dtype=None):
    x[tuple(int(i) for i in indices)] = value
    return x


def tile_write(x, indices, value, dtype=None):
    return marked(tensor_write(x.clone(), indices, value), valid_of(x))


def dim(tensor, axis, dtype=None):
    return tensor.shape[axis]


def set_validshape(x, rows, cols, dtype=None):
    return marked(x[...] if not hasattr(x, "valid") else x.view(x.shape), [*x.shape[:-2], rows, cols])


def tensor_reshape(x, shape, dtype=None):
    valid = valid_of(x)
    made = x.reshape([int(n) for n in shape])
    if valid == tuple(x.shape):
        return made
    ones = [n for n in x.shape if n != 1], [int(n) for n in shape if n != 1]
    if ones[0] != ones[1]:
        raise ValueError(f"the valid extent {valid} of {tuple(x.shape)} is none of {tuple(shape)}")
    rest = iter([v for v, n in zip(valid, x.shape) if n != 1])
    return marked(made, [next(rest) if n != 1 else 1 for n in made.shape])


def tile_reshape(x, shape, dtype=None):
    made = tensor_reshape(x, shape)
    return marked(made.clone(), valid_of(made))


def view(tensor, shape=None, valid_shape=None, dtype=None, **_):
    made = tensor if shape is None else tensor_reshape(tensor, shape)
    return made if valid_shape is None else marked(made, valid_shape)


def tensor_transpose(x, axis1, axis2, tmp_tile=None, dtype=None):
    valid = list(valid_of(x))
    valid[axis1], valid[axis2] = valid[axis2], valid[axis1]
    return marked(x.transpose(axis1, axis2), valid)


def tile_transpose(x, axis1, axis2, tmp_tile=None, dtype=None):
    made = tensor_transpose(x, axis1, axis2)
    return marked(made.clone(), valid_of(made))


def transpose_view(tile, dtype=None):
    return tile_transpose(tile, -2, -1)


def reinterpret_view(x, shape=None, dtype=None):
    made = x.contiguous().view(dtype)
    return made if shape is None else made.reshape([int(n) for n in shape])


def tile_gather(src, idx, tmp=None, dtype=None):
    return src.reshape(-1)[idx.long()]


def scatter_update(input, dim, index, src, dtype=None):
    rows = index.reshape(-1).long()
    input[rows] = src.reshape(len(rows), *input.shape[1:])
    return input


def array_create(extent, dtype=None):
    return [0] * int(extent)


def array_get_element(array, index, dtype=None):
    return array[int(index)]


def array_update_element(array, index, value, dtype=None):
    return [value if i == int(index) else each for i, each in enumerate(array)]


def check(x, shape, name):
    """x; AssertionError where its shape is not the one that the program says."""
    assert tuple(x.shape) == tuple(shape), f"{name} has shape {tuple(x.shape)}, not {tuple(shape)}"
    return x


class Blocks:
    """The block that runs, of how many."""

    index, count = 0, 1


def get_block_idx(dtype=None):
    return Blocks.index


def get_block_num(dtype=None):
    return Blocks.count


def blocks(count):
    for Blocks.index in range(int(count)):
        Blocks.count = int(count)
        yield Blocks.index
    Blocks.index, Blocks.count = 0, 1
