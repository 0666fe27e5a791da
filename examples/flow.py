# SPDX-License-Identifier: MIT
"""Flow of two frames by the C interface, from Python without a package: flow.py [libparafield.so]."""

import ctypes
import sys

library = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libparafield.so")
library.parafield_error_text.restype = ctypes.c_char_p


class Sized(ctypes.Structure):
    """A struct that begins with its size."""

    def __init__(self, **fields):
        super().__init__(size=ctypes.sizeof(self), **fields)


class Frame(Sized):
    _fields_ = [("size", ctypes.c_size_t), ("data", ctypes.c_void_p), ("pitch", ctypes.c_ssize_t)] + [
        (name, ctypes.c_int32) for name in ("width", "height", "format", "memory", "device")
    ]
    _fields_ += [("black", ctypes.c_float), ("white", ctypes.c_float), ("reserved", ctypes.c_int32)]


class Plane(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("pitch", ctypes.c_ssize_t)]


class Field(Sized):
    _fields_ = [("size", ctypes.c_size_t)]
    _fields_ += [(name, ctypes.c_int32) for name in ("width", "height", "memory", "device")]
    _fields_ += [(name, Plane) for name in ("u", "v", "d", "moving", "valid", "confidence")]


class Option(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


class Settings(Sized):
    _fields_ = [("size", ctypes.c_size_t)]
    _fields_ += [(name, ctypes.c_int32) for name in ("task", "width", "height", "option_count")]
    _fields_ += [("options", ctypes.POINTER(Option))]
    _fields_ += [(name, ctypes.c_void_p) for name in ("stream", "progress", "progress_data", "region")]
    _fields_ += [("region_pitch", ctypes.c_ssize_t)]


def check(code):
    if code != 0:
        sys.exit(library.parafield_error_text().decode())


width, height = 160, 120
FLOW = 1
options = (Option * 2)(Option(b"device", b"cpu"), Option(b"preset", b"fast"))
settings = Settings(task=FLOW, width=width, height=height, option_count=len(options), options=options)
estimator = ctypes.c_void_p()
check(library.parafield_create(ctypes.byref(settings), ctypes.byref(estimator)))

u, v = (ctypes.c_float * (width * height))(), (ctypes.c_float * (width * height))()
output = Field(width=width, height=height)
output.u.data, output.v.data = ctypes.addressof(u), ctypes.addressof(v)
complete = ctypes.c_int32()
for shift in 0, 3:  # a texture that moves by 3 px to the left
    pixels = bytes(
        ((x + shift) // 4 * 37 + y // 4 * 91 + (x + shift) // 4 * (y // 4) * 53) % 256
        for y in range(height)
        for x in range(width)
    )
    frame = Frame(data=ctypes.cast(pixels, ctypes.c_void_p), width=width, height=height)
    check(
        library.parafield_push(
            estimator, ctypes.byref(frame), ctypes.byref(output), ctypes.byref(complete)
        )
    )
check(library.parafield_destroy(estimator))
middle = height // 2 * width + width // 2
print(f"flow ({u[middle]:.1f}, {v[middle]:.1f}) px")
