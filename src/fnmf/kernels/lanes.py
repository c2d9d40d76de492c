"""Short vectors as values of compiled code, for loops too short for LLVM to vectorise itself.

A line is ``LINE`` numbers, a quad is four. LLVM splits them into the registers the machine has.
Places in arrays are not checked and do not count from the end when negative.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, models, register_jitable, register_model

from fnmf.kernels.tiles import LINE, padded

QUAD = 4
# Multiply-adds are fused; the order of sums is the one written here.
_FUSED = ("contract",)
_INDEX = ir.IntType(32)


@register_jitable
def lines(size: int) -> int:
    """``size`` rounded up to whole lines."""
    return padded(size, LINE)


@register_jitable
def quads(size: int) -> int:
    """``size`` rounded up to whole quads."""
    return padded(size, QUAD)


class Lanes(types.Type):
    """A vector of ``count`` numbers."""

    def __init__(self, dtype: types.Type, count: int) -> None:
        self.dtype, self.count = dtype, count
        super().__init__(name=f"Lanes({dtype}, {count})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Lanes) -> None:
        element = dmm.lookup(fe_type.dtype).get_value_type()
        super().__init__(dmm, fe_type, ir.VectorType(element, fe_type.count))


def _address(context, builder, kind, array, places, target):  # type: ignore[no-untyped-def]
    """Pointer to array[places], the last place counting single numbers."""
    if kind.layout != "C":
        raise TypingError("Short vectors need arrays in C order: their numbers lie side by side.")
    struct = context.make_array(kind)(context, builder, array)
    strides = cgutils.unpack_tuple(builder, struct.strides)
    strides[-1] = ir.Constant(strides[-1].type, kind.dtype.bitwidth // 8)
    address = builder.ptrtoint(struct.data, strides[0].type)
    for place, stride in zip(places, strides, strict=True):
        address = builder.add(address, builder.mul(place, stride))
    return builder.inttoptr(address, target.as_pointer())


def _item(typing_context, array, place):  # type: ignore[no-untyped-def]
    """array[place] of a contiguous array."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        value_type = context.get_value_type(array.dtype)
        return builder.load(
            _address(context, builder, array, arguments[0], arguments[1:], value_type)
        )

    return array.dtype(array, types.intp), generate


item: Any = intrinsic(_item)


def _loader(count: int, name: str) -> Any:
    def typed(typing_context, array, row, column):  # type: ignore[no-untyped-def]
        lanes = Lanes(array.dtype, count)

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            value_type = context.get_value_type(lanes)
            place = _address(context, builder, array, arguments[0], arguments[1:], value_type)
            return builder.load(place, align=array.dtype.bitwidth // 8)

        return lanes(array, types.intp, types.intp), generate

    typed.__name__ = name
    return intrinsic(typed)


load_line = _loader(LINE, "load_line")
load_quad = _loader(QUAD, "load_quad")


def _store(typing_context, array, row, column, values):  # type: ignore[no-untyped-def]
    """array[row, column:] = values, as many as there are; they may be of lower precision."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        whole, *places, vector = arguments
        if values.dtype != array.dtype:
            element = context.get_value_type(array.dtype)
            vector = builder.fpext(vector, ir.VectorType(element, values.count))
        place = _address(context, builder, array, whole, places, vector.type)
        builder.store(vector, place, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, values), generate


store: Any = intrinsic(_store)


def _masked(builder, name, result, value_type, arguments):  # type: ignore[no-untyped-def]
    kinds = [argument.type for argument in arguments]
    element = "f32" if isinstance(value_type.element, ir.FloatType) else "f64"
    full = f"llvm.masked.{name}.v{value_type.count}{element}.p0"
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, kinds), full)
    return builder.call(function, arguments)


def _first(builder, value_type, count):  # type: ignore[no-untyped-def]
    """Which lanes are among the first ``count``."""
    lanes = ir.VectorType(_INDEX, value_type.count)
    numbers = ir.Constant(lanes, [*range(value_type.count)])
    limit = _broadcast(builder, builder.trunc(count, _INDEX), lanes)
    return builder.icmp_signed("<", numbers, limit)


def _load_part(typing_context, array, row, column):  # type: ignore[no-untyped-def]
    """A line of array[row, column:], with zeros past the end of the row."""
    lanes = Lanes(array.dtype, LINE)

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return _read(context, builder, array, arguments, context.get_value_type(lanes))

    return lanes(array, types.intp, types.intp), generate


def _read(context, builder, kind, arguments, value_type):  # type: ignore[no-untyped-def]
    place, mask = _part(context, builder, kind, arguments, value_type)
    parts = (place, ir.Constant(_INDEX, kind.dtype.bitwidth // 8), mask)
    return _masked(builder, "load", value_type, value_type, (*parts, ir.Constant(value_type, None)))


def _store_part(typing_context, array, row, column, values):  # type: ignore[no-untyped-def]
    """array[row, column:] = values, rounded, without those past the end of the row."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        vector = arguments[3]
        if values.dtype != array.dtype:
            element = context.get_value_type(array.dtype)
            vector = builder.fptrunc(vector, ir.VectorType(element, values.count))
        place, mask = _part(context, builder, array, arguments[:3], vector.type)
        size = ir.Constant(_INDEX, array.dtype.bitwidth // 8)
        _masked(builder, "store", ir.VoidType(), vector.type, (vector, place, size, mask))
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, values), generate


def _part(context, builder, kind, arguments, value_type):  # type: ignore[no-untyped-def]
    """Where a line begins and which of its numbers belong to the row."""
    array, *places = arguments
    struct = context.make_array(kind)(context, builder, array)
    width = cgutils.unpack_tuple(builder, struct.shape)[1]
    mask = _first(builder, value_type, builder.sub(width, places[1]))
    return _address(context, builder, kind, array, places, value_type), mask


def _kept(typing_context, values, count):  # type: ignore[no-untyped-def]
    """The first ``count`` values, with zeros behind."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        vector, number = arguments
        mask = _first(builder, vector.type, number)
        return builder.select(mask, vector, ir.Constant(vector.type, None))

    return values(values, types.intp), generate


kept: Any = intrinsic(_kept)
load_part: Any = intrinsic(_load_part)
store_part: Any = intrinsic(_store_part)


def _broadcast(builder, scalar, value_type):  # type: ignore[no-untyped-def]
    empty = ir.Constant(value_type, ir.Undefined)
    single = builder.insert_element(empty, scalar, ir.Constant(_INDEX, 0))
    places = ir.Constant(ir.VectorType(_INDEX, value_type.count), None)
    return builder.shuffle_vector(single, empty, places)


def _add(builder, total, product):  # type: ignore[no-untyped-def]
    """A sum in double precision may have terms in single precision."""
    if product.type != total.type:
        product = builder.fpext(product, total.type)
    return builder.fadd(total, product, flags=_FUSED)


def _add_scaled(typing_context, total, scale, values):  # type: ignore[no-untyped-def]
    """total + scale · values, for a number ``scale``."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        start, scalar, vector = arguments
        product = builder.fmul(_broadcast(builder, scalar, vector.type), vector, flags=_FUSED)
        return _add(builder, start, product)

    return total(total, values.dtype, values), generate


def _add_product(typing_context, total, left, right):  # type: ignore[no-untyped-def]
    """total + left ∘ right."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return _add(builder, arguments[0], builder.fmul(*arguments[1:], flags=_FUSED))

    return total(total, left, right), generate


def _add_gap(typing_context, total, left, row, right, other, column, scale):  # type: ignore[no-untyped-def]
    """total + (scale · (left[row] − right[other]))² from ``column`` on; every step is rounded."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        sums, first, i, second, j, place, factor = arguments
        pair = []
        for kind, array, own in ((left, first, i), (right, second, j)):
            single = ir.VectorType(context.get_value_type(kind.dtype), total.count)
            value = _read(context, builder, kind, (array, own, place), single)
            pair.append(value if single == sums.type else builder.fpext(value, sums.type))
        gap = builder.fmul(builder.fsub(*pair), _broadcast(builder, factor, sums.type))
        return builder.fadd(sums, builder.fmul(gap, gap))

    return total(total, left, types.intp, right, types.intp, types.intp, total.dtype), generate


add_gap: Any = intrinsic(_add_gap)
add_scaled: Any = intrinsic(_add_scaled)
add_product: Any = intrinsic(_add_product)


def _smaller(builder, left, right):  # type: ignore[no-untyped-def]
    return builder.select(builder.fcmp_ordered("<", left, right), left, right)


def _elementwise(operation: Callable[[Any, Any, Any], Any], name: str, number: bool = False) -> Any:
    def typed(typing_context, left, right):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return operation(builder, *arguments)

        return (left.dtype if number else left)(left, right), generate

    typed.__name__ = name
    return intrinsic(typed)


times = _elementwise(lambda builder, a, b: builder.fmul(a, b, flags=_FUSED), "times")
# A product in these is rounded before it is added.
plus = _elementwise(ir.IRBuilder.fadd, "plus")
minus = _elementwise(ir.IRBuilder.fsub, "minus")
divided = _elementwise(lambda builder, a, b: builder.fdiv(a, b), "divided")
larger = _elementwise(lambda b, x, y: b.select(b.fcmp_ordered(">", x, y), x, y), "larger")
smaller = _elementwise(_smaller, "smaller")


def _any_below(typing_context, values, limit):  # type: ignore[no-untyped-def]
    """Whether any value is below a number."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        vector, limits = arguments[0], _broadcast(builder, arguments[1], arguments[0].type)
        below, bits = builder.fcmp_ordered("<", vector, limits), ir.IntType(values.count)
        return builder.icmp_unsigned("!=", builder.bitcast(below, bits), ir.Constant(bits, 0))

    return types.boolean(values, values.dtype), generate


any_below: Any = intrinsic(_any_below)


def _no_quad(typing_context):  # type: ignore[no-untyped-def]
    """Four zeros in double precision."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return ir.Constant(context.get_value_type(signature.return_type), None)

    return Lanes(types.float64, QUAD)(), generate


no_quad: Any = intrinsic(_no_quad)


def _filled(typing_context, value, like):  # type: ignore[no-untyped-def]
    """``value`` in all lanes."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return _broadcast(builder, arguments[0], arguments[1].type)

    return like(like.dtype, like), generate


filled: Any = intrinsic(_filled)


def _folded(builder, values, operation=ir.IRBuilder.fadd, neighbours=False):  # type: ignore[no-untyped-def]
    """Halves joined to halves, or each value to its neighbour."""
    while (count := values.type.count) > 1:
        order = sorted(range(count), key=lambda place: place % 2 if neighbours else 0)
        halves = (order[: count // 2], order[count // 2 :])
        places = (ir.Constant(ir.VectorType(_INDEX, count // 2), half) for half in halves)
        values = operation(builder, *(builder.shuffle_vector(values, values, p) for p in places))
    return builder.extract_element(values, ir.Constant(_INDEX, 0))


def _of_one(operation: Callable[..., Any], name: str, number: bool = False) -> Any:
    """What becomes of values: others, or one number."""

    def typed(typing_context, values):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return operation(builder, *arguments)

        return (values.dtype if number else values)(values), generate

    typed.__name__ = name
    return intrinsic(typed)


def _root(builder, vector):  # type: ignore[no-untyped-def]
    element = "f32" if isinstance(vector.type.element, ir.FloatType) else "f64"
    kind = ir.FunctionType(vector.type, [vector.type])
    name = f"llvm.sqrt.v{vector.type.count}{element}"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [vector])


def _without_least(builder, vector):  # type: ignore[no-untyped-def]
    """Infinity in place of the smallest, wherever it stands."""
    smallest = _broadcast(builder, _folded(builder, vector, _smaller), vector.type)
    far = ir.Constant(vector.type, [float("inf")] * vector.type.count)
    return builder.select(builder.fcmp_ordered(">", vector, smallest), vector, far)


root = _of_one(_root, "root")
nothing = _of_one(lambda builder, vector: ir.Constant(vector.type, None), "nothing")
without_least = _of_one(_without_least, "without_least")
summed = _of_one(_folded, "summed", True)
paired = _of_one(lambda builder, v: _folded(builder, v, neighbours=True), "paired", True)
least = _of_one(lambda builder, v: _folded(builder, v, _smaller), "least", True)
dot = _elementwise(lambda builder, a, b: _folded(builder, builder.fmul(a, b)), "dot", True)
