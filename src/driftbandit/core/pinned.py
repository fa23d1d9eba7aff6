"""What stays the same from call to call, handed to compiled code once and found there by its address.

Python hands over arrays one by one: for the hundred of an AdaptiveUCB that takes 2 µs, longer than most kernels run.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.core import types
from numba.extending import NativeValue, intrinsic, models, register_model, typeof_impl, unbox

from driftbandit.core.compile import COMPILED, bind, kernel


class Pinned(NamedTuple):
    """A named tuple whose arrays stay where they are."""

    handle: Any  # what kernels are called with: an address, or without the compiler the tuple itself
    value: Any
    copy: Any  # what is at the address: the tuple as compiled code holds it


def pin(value: Any) -> Pinned:
    """Kernels called with its handle get the value from ``unpin``, as long as the result is kept."""
    if not COMPILED:
        return Pinned(value, value, None)
    write = bind(copy_to, value, 0)
    copy = np.empty(write(value, 0), np.uint8)
    write(value, copy.ctypes.data)
    return Pinned(copy.ctypes.data, value, copy)


class Address(types.RawPointer):
    """Numba's type of a handle. As of a tuple of one, to those who ask which named tuples are in a type."""

    def __init__(self, of: Any) -> None:
        self.of, self.types = of, (of,)
        super().__init__(f"Address({of})")


register_model(Address)(models.OpaqueModel)


@typeof_impl.register(Pinned)
def _type_of(pinned: Pinned, context: Any) -> Address:
    return Address(typeof_impl(pinned.value, context))


@unbox(Address)
def _unbox(kind: Any, handle: Any, c: Any) -> Any:
    return NativeValue(c.pyapi.long_as_voidptr(handle), is_error=c.pyapi.c_api_error())


@intrinsic
def _read(context: Any, handle: Any) -> Any:
    def read(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        model = context.data_model_manager[handle.of]
        return model.load_from_data_pointer(builder, builder.bitcast(args[0], model.get_data_type().as_pointer()))

    return handle.of(handle), read


@intrinsic
def _write(context: Any, value: Any, address: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        model = context.data_model_manager[value]
        place = builder.inttoptr(args[1], model.get_data_type().as_pointer())
        builder.store(model.as_data(builder, args[0]), place)
        return context.get_dummy_value()

    return types.none(value, address), write


@intrinsic
def _size(context: Any, value: Any) -> Any:
    def size(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kept = context.data_model_manager[value].get_data_type()
        return context.get_constant(types.int64, context.get_abi_sizeof(kept))

    return types.int64(value), size


@kernel
def copy_to(value: Any, address: int) -> int:
    """Copy a value to an address, unless that is 0; return how many bytes it takes."""
    if address != 0:
        _write(value, address)
    return int(_size(value))


def _itself(handle: Any) -> Any:
    return handle


unpin = _read if COMPILED else _itself
