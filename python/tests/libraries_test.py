# SPDX-License-Identifier: MIT
"""Arrays of PyTorch, CuPy, JAX and others: the same bits as NumPy's, and results of the same library."""

import contextlib
import pickle

import numpy as np
import pytest

import parafield as pf


class Torch:
    """Tensors of PyTorch in host memory."""

    device = "cpu"

    def __init__(self):
        self.module = pytest.importorskip("torch")
        self.type = self.module.Tensor

    def array(self, values):
        return self.module.tensor(values)  # a copy

    def numpy(self, tensor):
        return tensor.cpu().numpy()


# Tests name the GPU: without a name, PyTorch and CuPy take the thread's current one, which other libraries
# change.
class TorchCuda(Torch):
    """Tensors on the last GPU."""

    def __init__(self):
        super().__init__()
        if not self.module.cuda.is_available():
            pytest.skip("PyTorch finds no CUDA device")
        self.device = f"cuda:{self.module.cuda.device_count() - 1}"

    def array(self, values):
        return self.module.tensor(values, device=self.device)


class CuPy:
    """Arrays on the first GPU, which is the current one during a test: CuPy works on arrays of the current GPU."""

    device = "cuda:0"

    def __init__(self):
        self.module = pytest.importorskip("cupy")
        self.type = self.module.ndarray

    def current(self):
        return self.module.cuda.Device(0)

    def array(self, values):
        return self.module.array(values)

    def numpy(self, array):
        return array.get()


class Jax:
    device = "cpu"

    def __init__(self):
        self.module = pytest.importorskip("jax").numpy
        self.type = pytest.importorskip("jax").Array

    def array(self, values):
        import jax

        return jax.device_put(values, jax.devices("cpu")[0])

    def numpy(self, array):
        return np.asarray(array)


class Other:
    """An array that speaks DLPack, and nothing else."""

    device = "cpu"
    type = np.ndarray  # its library has no arrays for results

    class Array:
        def __init__(self, values):
            self.values = np.array(values)
            self.values.flags.writeable = False

        def __dlpack__(self, **arguments):
            return self.values.__dlpack__(**arguments)

        def __dlpack_device__(self):
            return self.values.__dlpack_device__()

        def __getattr__(self, name):  # the array API that a copy of a frame needs
            if name not in ("transpose", "shape"):
                raise AttributeError(name)
            return getattr(self.values, name)

    def array(self, values):
        return self.Array(values)

    def numpy(self, array):
        return array


@pytest.fixture(params=[Torch, TorchCuda, CuPy, Jax, Other], ids=lambda library: library.__name__)
def library(request):
    made = request.param()
    if made.device != "cpu" and (reason := pf.why_no_cuda()):
        pytest.skip(reason)
    with made.current() if isinstance(made, CuPy) else contextlib.nullcontext():
        yield made


def flow_of(*frames, **options):
    return pf.estimate_flow(*frames, "lucas-kanade", **options)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("color", [False, True], ids=["gray", "color"])
def test_same_bits(library, dtype, color, frames, color_frames, same):
    if dtype is np.uint16 and isinstance(library, Torch) and not hasattr(library.module, "uint16"):
        pytest.skip("this PyTorch has no uint16")
    plain = [frame.astype(dtype) for frame in (color_frames if color else frames[:2])]
    expected = flow_of(*plain, range=(0, 255), device="cpu")
    assert same(flow_of(*map(library.array, plain), range=(0, 255)), expected)
    stack = library.array(np.stack(plain))
    assert same(flow_of(stack, None, axes="nhwc" if color else "nhw", range=(0, 255))[0], expected)


def test_results_are_of_the_library(library, frames):
    flow = flow_of(*map(library.array, frames[:2]))
    for plane in (flow.u, flow.v, flow.uv, flow.valid, flow.confidence):
        assert isinstance(plane, library.type)
    assert flow.device == library.device
    assert flow.uv.shape == (2, 48, 64) and flow.u.shape == flow.valid.shape == (48, 64)
    assert [str(plane.dtype).removeprefix("torch.") for plane in (flow.u, flow.valid)] == ["float32", "bool"]
    expected = flow_of(*frames[:2], device="cpu")
    assert np.array_equal(library.numpy(flow.uv), expected.uv)
    assert np.array_equal(library.numpy(flow.v), expected.v)
    assert np.array_equal(library.numpy(flow.valid), expected.valid)
    assert np.array_equal(np.asarray(flow.cpu()), np.asarray(expected))
    if library.device != "cpu":
        with pytest.raises(pf.Error, match=r"cpu\(\)"):
            np.asarray(flow)


def test_uv_is_a_view(library, frames):
    if isinstance(library, Jax):
        pytest.skip("JAX has no views")
    flow = flow_of(*map(library.array, frames[:2]))
    flow.uv[1, 3, 4] = 77
    assert float(flow.v[3, 4]) == 77
    flow.u[5, 6] = 78
    assert float(flow.uv[0, 5, 6]) == 78
    assert np.asarray(flow.cpu())[3, 4, 1] == 77


def test_stacks(library, frames, same):
    first, second = np.stack(frames[:3]), np.stack(frames[1:4])
    flows = flow_of(library.array(first), library.array(second), axes="nhw")
    assert flows.shape == (3, 48, 64) and len(flows) == 3 and flows.uv.shape == (3, 2, 48, 64)
    for i, flow in enumerate(flows):
        assert same(flow, flow_of(frames[i], frames[i + 1]))
        assert isinstance(flow.u, library.type)
        assert np.array_equal(library.numpy(flow.u), library.numpy(flows.u)[i])


def test_every_task(library, frames, sides, same):
    left, right = map(library.array, sides)
    assert same(pf.estimate_disparity(left, right), pf.estimate_disparity(*sides))
    moving = pf.detect_motion(*map(library.array, frames[:2]))
    assert same(moving, pf.detect_motion(*frames[:2])) and isinstance(moving.moving, library.type)
    estimator = pf.FlowEstimator("lucas-kanade")
    pushed = [estimator.push(library.array(frame)) for frame in frames[:3]]
    plain = pf.FlowEstimator("lucas-kanade")
    expected = [plain.push(frame) for frame in frames[:3]]
    assert pushed[0] is expected[0] is None
    assert same(pushed[1], expected[1]) and same(pushed[2], expected[2])
    tracks = pf.find_tracks(*map(library.array, frames[:2]))
    assert np.array_equal(tracks, pf.find_tracks(*frames[:2]))


def test_start(library, frames, same):
    given = flow_of(*map(library.array, frames[:2]))
    expected = flow_of(*frames[:2], start=flow_of(*frames[:2]))
    assert same(flow_of(*map(library.array, frames[:2]), start=given), expected)


def test_layouts(library, frames, color_frames, same):
    if isinstance(library, Other):
        pytest.skip("it has no other layouts")
    plain = frames[:2]
    turned = [library.array(np.ascontiguousarray(frame.T)) for frame in plain]
    assert same(flow_of(*(frame.T for frame in turned)), flow_of(*plain))
    wide = [library.array(np.repeat(frame, 2, axis=1)) for frame in plain]
    assert same(flow_of(*(frame[:, ::2] for frame in wide)), flow_of(*plain))
    cut = [library.array(np.pad(frame, 3)) for frame in plain]
    assert same(flow_of(*(frame[3:-3, 3:-3] for frame in cut)), flow_of(*plain))
    chw = [library.array(np.ascontiguousarray(frame.transpose(2, 0, 1))) for frame in color_frames]
    assert same(flow_of(*chw, axes="chw"), flow_of(*color_frames))
    bgr = [library.array(np.ascontiguousarray(frame[..., ::-1]).astype(np.float32)) for frame in color_frames]
    assert same(flow_of(*bgr, channels="bgr", range=(0, 255)),
                flow_of(*(frame.astype(np.float32) for frame in color_frames), range=(0, 255)))


def test_results_outlive_everything(library, frames, same):
    def planes():
        images = list(map(library.array, frames[:2]))
        estimator = pf.FlowEstimator("lucas-kanade")
        return estimator(*images).uv, flow_of(*images).valid

    uv, valid = planes()
    pf.clear_cache()
    for _ in range(3):
        flow_of(*map(library.array, frames[2:4]))
    expected = flow_of(*frames[:2])
    assert np.array_equal(library.numpy(uv), expected.uv)
    assert np.array_equal(library.numpy(valid), expected.valid)


def test_copies_and_pickles(library, frames, same):
    flow = flow_of(*map(library.array, frames[:2]))
    copied = flow.copy()
    assert same(copied, flow) and copied.device == library.device and isinstance(copied.u, library.type)
    assert same(pickle.loads(pickle.dumps(flow)), flow)
    assert type(pickle.loads(pickle.dumps(flow)).u) is np.ndarray
    if not isinstance(library, Jax):
        flow.u[:] = 0
        assert not same(copied, flow)


def test_wrong_types_name_the_argument(library, frames):
    if isinstance(library, Other):
        pytest.skip("it has NumPy's types")
    wrong = library.array(frames[1].astype(np.int32))
    with pytest.raises(pf.Error, match="frame1 .*int32.*uint8"):
        flow_of(library.array(frames[0]), wrong)
    with pytest.raises(pf.Error, match="frame0 .*48 x 64 x 2"):
        flow_of(library.array(np.zeros((48, 64, 2), np.uint8)), wrong)


def test_jax_arrays_that_were_deleted(frames):
    library = Jax()
    images = list(map(library.array, frames[:2]))
    images[1].delete()
    with pytest.raises(pf.Error, match="frame1.*deleted"):
        flow_of(*images)


def test_jax_values_that_are_not_ready(frames, same):
    """JAX computes in the background; the frames' values are waited for."""
    jax = pytest.importorskip("jax")

    library = Jax()
    slow = jax.jit(lambda frame: sum(jax.numpy.sort(frame + i, axis=0)[0, 0] for i in range(300)) * 0 + frame)
    images = [slow(library.array(frame)) for frame in frames[:2]]
    assert same(flow_of(*images), flow_of(*frames[:2]))
    seen = []
    jax.jit(lambda frame: seen.append(pytest.raises(pf.Error, flow_of, frame, frame)) or 0)(images[0])
    assert "frame0" in str(seen[0].value)  # a tracer has no values


def test_torch_tensors_without_plain_memory(frames):
    torch = pytest.importorskip("torch")
    frame = torch.tensor(frames[0])
    freed = frame.clone()
    freed.untyped_storage().resize_(0)
    meta = torch.empty((48, 64), dtype=torch.uint8, device="meta")
    gradient = frame.float().requires_grad_() * 2
    for wrong in (freed, frame.to_sparse(), meta, gradient, frame.to(torch.bfloat16),
                  frame.to(torch.complex64)):
        with pytest.raises(pf.Error, match="^frame1[^\n]*$"):
            flow_of(frame, wrong)
    assert flow_of(frame, frame).valid.any()


def test_torch_views_that_negate(frames, same):
    torch = pytest.importorskip("torch")
    first, second = (torch.tensor(frame).float() for frame in frames[:2])
    negated = torch.complex(second, second).conj().imag
    assert negated.is_neg()
    assert same(flow_of(-first, negated), flow_of(-first, -second))


def test_dlpack_of_older_libraries(frames, same):
    """They know no versions."""

    class Old(Other.Array):
        def __dlpack__(self, stream=None):
            return self.values.copy().__dlpack__(stream=stream)

    assert same(flow_of(*map(Old, frames[:2])), flow_of(*frames[:2]))


def test_frames_of_two_libraries(frames, same):
    torch = pytest.importorskip("torch")
    mixed = flow_of(torch.tensor(frames[0]), frames[1])
    assert same(mixed, flow_of(*frames[:2])) and isinstance(mixed.u, torch.Tensor)


def test_frames_in_two_places(cuda, frames):
    library = CuPy()
    with pytest.raises(pf.Error, match="frame0 is on cuda:0 and frame1 in host memory"):
        flow_of(library.array(frames[0]), frames[1])
    with pytest.raises(pf.Error, match="device cannot be cpu"):
        flow_of(*map(library.array, frames[:2]), device="cpu")
    with pytest.raises(pf.Error, match="range="):
        flow_of(*(library.array(frame.astype(np.float32)) for frame in frames[:2]))
