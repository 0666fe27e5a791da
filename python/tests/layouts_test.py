# SPDX-License-Identifier: MIT
"""Frames of NumPy and of buffers, in every layout, give the bits of contiguous ones."""

import array
import mmap
import tracemalloc

import numpy as np
import pytest

import parafield as pf


def flow_of(frame0, frame1, **options):
    return pf.estimate_flow(frame0, frame1, "lucas-kanade", **options)


def padded(frame):
    """The same values in a larger array: rows have gaps."""
    large = np.full((frame.shape[0] + 5, frame.shape[1] + 7, *frame.shape[2:]), 99, frame.dtype)
    large[2:-3, 3:-4] = frame
    return large[2:-3, 3:-4]


def read_only(frame):
    copy = frame.copy()
    copy.flags.writeable = False
    return copy


def unaligned(frame):
    """The same values at an odd address."""
    memory = np.zeros(frame.nbytes + 1, np.uint8)
    view = memory[1:].view(frame.dtype).reshape(frame.shape)
    view[...] = frame
    assert not view.flags.aligned or frame.dtype.itemsize == 1
    return view


LAYOUTS = {
    "rows with gaps": padded,
    "every second column": lambda frame: np.repeat(frame, 2, axis=1)[:, ::2],
    "every second row": lambda frame: np.repeat(frame, 2, axis=0)[::2],
    "rows reversed": lambda frame: frame[::-1].copy()[::-1],
    "columns reversed": lambda frame: frame[:, ::-1].copy()[:, ::-1],
    "transposed": lambda frame: np.ascontiguousarray(frame.swapaxes(0, 1)).swapaxes(0, 1),
    "Fortran": np.asfortranarray,
    "read-only": read_only,
    "at an odd address": unaligned,
    "a channel of its own": lambda frame: frame[..., None] if frame.ndim == 2 else frame,
    "a subclass": lambda frame: frame.view(type("Picture", (np.ndarray,), {})),
}


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_gray(layout, dtype, frames, same):
    plain = [frame.astype(dtype) for frame in frames[:2]]
    assert same(flow_of(*map(LAYOUTS[layout], plain)), flow_of(*plain))
    assert same(flow_of(LAYOUTS[layout](plain[0]), plain[1]), flow_of(*plain))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_color(layout, dtype, color_frames, same):
    plain = [frame.astype(dtype) for frame in color_frames]
    options = {"method": pf.flow.Icm(rgb=True, sweeps=2)}  # it compares colors, not luma
    assert same(pf.estimate_flow(*map(LAYOUTS[layout], plain), **options),
                pf.estimate_flow(*plain, **options))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_orders_of_channels(dtype, color_frames, same):
    plain = [frame.astype(dtype) for frame in color_frames]
    method = pf.flow.Icm(rgb=True, sweeps=2)
    expected = pf.estimate_flow(*plain, method)
    alpha = [np.concatenate([frame, np.full_like(frame[..., :1], i)], axis=2)
             for i, frame in enumerate(plain)]
    bgr = [np.ascontiguousarray(frame[..., ::-1]) for frame in plain]
    bgra = [np.ascontiguousarray(frame[..., [2, 1, 0, 3]]) for frame in alpha]
    chw = [np.ascontiguousarray(frame.transpose(2, 0, 1)) for frame in plain]
    for images, options in [(alpha, {}), (bgr, {"channels": "bgr"}), (bgra, {"channels": "bgr"}),
                            (chw, {"axes": "chw"}), (plain, {"axes": "hwc"}),
                            ([frame[::-1] for frame in chw], {"axes": "chw", "channels": "bgr"}),
                            ([frame[..., ::-1] for frame in bgr], {"channels": "rgb"})]:
        assert same(pf.estimate_flow(*images, method, **options), expected), options
    assert not same(pf.estimate_flow(*bgr), pf.estimate_flow(*plain))


def test_stacks_in_every_order(color_frames, same):
    stack = np.stack([*color_frames, color_frames[0]])
    expected = [flow_of(stack[i], stack[i + 1]) for i in range(2)]
    for axes, order in {"nhwc": (0, 1, 2, 3), "nchw": (0, 3, 1, 2)}.items():
        turned = np.ascontiguousarray(stack.transpose(order))
        flows = flow_of(turned, None, axes=axes)
        assert all(same(flow, one) for flow, one in zip(flows, expected, strict=True))
        backwards = flow_of(turned[::-1], None, axes=axes)
        assert same(backwards[0], flow_of(stack[2], stack[1]))
        repeated = flow_of(np.broadcast_to(turned[0], (2, *turned.shape[1:])), turned[1:], axes=axes)
        assert same(repeated[0], expected[0])
    gray = stack[..., 1]  # every third value
    assert same(flow_of(gray, None, axes="nhw")[1], flow_of(gray[1].copy(), gray[2].copy()))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_buffers(dtype, frames, same):
    plain = [frame.astype(dtype) for frame in frames[:2]]
    expected = flow_of(*plain)
    code = {"uint8": "B", "uint16": "H", "float32": "f"}[np.dtype(dtype).name]
    for kind in (bytes, bytearray, lambda data: array.array(code, data)):
        views = [memoryview(kind(frame.tobytes())).cast("B").cast(code, frame.shape) for frame in plain]
        assert same(flow_of(*views), expected)
    assert type(flow_of(*views).u) is np.ndarray
    assert same(flow_of(*(view[::-1][::-1] for view in views)), expected)
    mapped = mmap.mmap(-1, plain[0].nbytes)
    mapped[:] = plain[0].tobytes()
    assert same(flow_of(memoryview(mapped).cast(code, plain[0].shape), plain[1]), expected)


def test_objects_that_become_arrays(frames, same):
    class Wrapped:
        def __init__(self, values):
            self.values = values

        def __array__(self, dtype=None, copy=None):
            return self.values

    assert same(flow_of(*map(Wrapped, frames[:2])), flow_of(*frames[:2]))
    image = pytest.importorskip("PIL.Image")
    assert same(flow_of(*map(image.fromarray, frames[:2])), flow_of(*frames[:2]))


def test_numbers_of_the_same_values(frames, same):
    expected = flow_of(*frames[:2])
    floats = [frame.astype(np.float32) for frame in frames[:2]]
    assert same(flow_of(*floats, range=(0, 255)), expected)
    assert same(flow_of(*floats), expected)  # the values suggest 0..255
    assert same(flow_of(*(frame.astype(np.uint16) for frame in frames[:2]), range=(0, 255)), expected)
    assert same(flow_of(*frames[:2], range=np.array([0, 255])), expected)


def test_frames_of_different_types(frames):
    for given in (None, (0, 255)):
        with pytest.raises(pf.Error, match="frame0 .* uint16 and frame1 .* float32; convert them"):
            flow_of(frames[0].astype(np.uint16), frames[1].astype(np.float32), range=given)


def test_masked_frames(frames, same):
    floats = [frame.astype(np.float32) for frame in frames[:2]]
    floats[0][10:14, 20:30] = np.nan
    expected = flow_of(*floats, range=(0, 255))
    assert not expected.valid[10:14, 20:30].any() and expected.valid.any()
    mask = np.zeros(frames[0].shape, bool)
    mask[10:14, 20:30] = True
    for dtype in (np.uint8, np.uint16, np.float32):
        masked = np.ma.masked_array(frames[0].astype(dtype), mask)
        assert same(flow_of(masked, frames[1].astype(dtype), range=(0, 255)), expected)
    assert same(flow_of(np.ma.masked_array(frames[0], mask), frames[1]), expected)
    nothing = [np.ma.masked_array(frame) for frame in frames[:2]]
    assert same(flow_of(*nothing), flow_of(*frames[:2]))
    assert same(flow_of(*(frame[:, ::-1] for frame in nothing)),
                flow_of(*(frame[:, ::-1] for frame in frames[:2])))


def test_masked_bytes_keep_their_range(frames, same):
    """Bytes of 0 and 1 are almost black, masked or not."""
    dark = [(frame > 128).astype(np.uint8) for frame in frames[:2]]
    assert same(flow_of(*map(np.ma.masked_array, dark)), flow_of(*dark))
    turned = [np.ma.masked_array(frame)[::-1] for frame in dark]
    assert same(flow_of(*turned), flow_of(*(frame[::-1] for frame in dark)))


def test_nan_of_one_channel_is_nan_of_the_pixel(color_frames):
    floats = [frame.astype(np.float32) for frame in color_frames]
    floats[0][5, 6, 2] = np.nan
    assert not flow_of(*floats).valid[5, 6]
    floats[0][:] = np.nan
    assert not flow_of(*floats).valid.any()


def test_readable_frames_are_not_copied(same):
    frames = [np.random.default_rng(seed).integers(0, 256, (1024, 1024), np.uint8) for seed in (1, 2)]
    large = np.zeros((1100, 1100), np.uint8)
    large[:1024, :1024] = frames[0]
    estimator = pf.FlowEstimator(pf.LucasKanade(levels=1, iterations=1))
    estimator(*frames)
    for images, copied in [(frames, False), ((large[:1024, :1024], frames[1]), False),
                           ((np.asfortranarray(frames[0]), frames[1]), True)]:
        tracemalloc.start()
        estimator(*images)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert (peak >= frames[0].nbytes) == copied


def test_changes_between_calls_are_seen(frames, same):
    estimator = pf.FlowEstimator("lucas-kanade")
    frame0, frame1 = (frame.copy() for frame in frames[:2])
    first = estimator(frame0, frame1)
    frame1[:] = frames[2]
    assert same(estimator(frame0, frame1), flow_of(frames[0], frames[2]))
    assert same(first, flow_of(*frames[:2]))


def test_frames_are_not_kept(frames):
    import weakref

    copies = [frame.copy() for frame in frames[:2]]
    watches = [weakref.ref(copy) for copy in copies]
    estimator = pf.FlowEstimator("lucas-kanade")
    result = estimator(*copies), flow_of(*copies), estimator.push(copies[0])
    del copies
    assert [watch() for watch in watches] == [None, None] and result[0].shape == (48, 64)
