# SPDX-License-Identifier: MIT
"""The package as a whole: its names, their documentation, and what an import costs."""

import inspect
import json
import pickle
import subprocess
import sys
import types

import pytest

import parafield as pf

TASKS = (pf.flow, pf.stereo, pf.detection)


def run(program, *options):
    done = subprocess.run([sys.executable, *options, "-c", program], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


@pytest.mark.parametrize("name", sorted(pf.__all__))
def test_names_are_documented(name):
    if name == "extract":
        pytest.importorskip("av")
    value = getattr(pf, name)
    if name == "__version__":
        return
    assert value.__doc__ and value.__doc__.strip()
    if isinstance(value, types.ModuleType):
        return
    assert value.__name__ == name
    if isinstance(value, type):
        assert value.__module__.startswith("parafield") and "_core" not in value.__module__
        for member_name, member in vars(value).items():
            if member_name[0] != "_" and callable(member) and not isinstance(member, type):
                assert member.__doc__, f"{name}.{member_name}"
    elif name != "extract":
        assert pickle.loads(pickle.dumps(value)) is value


def test_all_names_are_listed():
    assert len(set(pf.__all__)) == len(pf.__all__) and set(pf.__all__) <= {*vars(pf), "extract"}
    public = {name for name, value in vars(pf).items()
              if name[0] != "_" and not isinstance(value, types.ModuleType)}
    assert public - {"TYPE_CHECKING", "Any"} <= set(pf.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        pf.nothing


def test_methods_of_one_task_are_in_the_package():
    names = [method.__name__ for task in TASKS for method in task.methods()]
    for task in TASKS:
        for method in task.methods():
            if names.count(method.__name__) == 1:
                assert getattr(pf, method.__name__) is method and method.__name__ in pf.__all__
            else:
                assert not hasattr(pf, method.__name__)  # it would not say which task


def test_arguments_are_documented():
    for function in (pf.estimate_flow, pf.estimate_disparity, pf.detect_motion, pf.find_tracks,
                     pf.render_scene,
                     pf.evaluate, pf.color_flow, pf.write_flow):
        assert f"{function.__name__}(" in function.__doc__ and "->" in function.__doc__
    for word in ("frame0", "method", "preset", "device", "axes", "range", "channels", "threads", "start",
                 "tracks",
                 "rotation", "fb_check", "Error", "NaN"):
        assert word in pf.estimate_flow.__doc__
    for estimator in (pf.FlowEstimator, pf.StereoEstimator, pf.MotionDetector):
        assert "typing." not in estimator.__doc__
        for name in ("reset", "cancel", "energies", "method", "shape", "device", "blocks",
                     "workspace_bytes"):
            assert inspect.getdoc(getattr(estimator, name)), name


def test_import_brings_nothing_large():
    """Libraries of arrays other than NumPy are imported only by those who use them."""
    program = """
import sys
before = set(sys.modules)
import parafield, json
import numpy
frame = numpy.arange(400, dtype=numpy.uint8).reshape(20, 20)
parafield.estimate_flow(frame, frame).uv
parafield.devices(), parafield.render_scene('layers', (8, 8))
print(json.dumps(sorted({name.split(".")[0] for name in set(sys.modules) - before})))
"""
    loaded = set(json.loads(run(program)))
    assert not loaded & {"torch", "cupy", "jax", "xarray", "dask", "distributed", "pandas", "scipy", "av",
                         "zarr", "PIL",
                         "matplotlib", "pysteps", "multiprocessing", "asyncio", "concurrent", "cv2"}


def test_import_is_fast():
    """Beside NumPy's import. The best of some, since the machine may be busy."""
    program = """
import time
import numpy
began = time.perf_counter()
import parafield
print(time.perf_counter() - began)
"""
    assert min(float(run(program)) for _ in range(5)) < 0.15


def test_programs_end_quietly():
    """Nothing is on standard error, whatever a program still holds."""
    run("""
import numpy, parafield as pf, threading

frames = pf.render_scene("layers", shape=(48, 64), frames=2).frames
flow = pf.estimate_flow(*frames)
planes = flow.uv, flow.valid
estimator = pf.FlowEstimator("icm", progress=lambda share: estimator.shape)
estimator(*frames)

class Frame:
    values = frames[0]
    def __array__(self, dtype=None, copy=None):
        return self.values

pf.estimate_flow(Frame(), frames[1])
method = pf.LucasKanade()
try:
    pf.estimate_flow(frames, frames)
except pf.Error as error:
    kept = error
threading.Thread(target=lambda: pf.estimate_flow(*frames)).start()
""")


def test_optimized_python():
    assert run("import parafield; print(parafield.LucasKanade())", "-OO") == "LucasKanade()\n"


def test_devices():
    cpu, *others = pf.devices()
    assert cpu.device == "cpu" and cpu.name and cpu.instruction_set
    assert cpu.threads >= 1 and cpu.memory > 2**20
    assert "cpu" in repr(cpu)
    assert [device.device for device in others] == [f"cuda:{i}" for i in range(len(others))]
    assert bool(others) == (pf.why_no_cuda() == "")


def test_clear_cache_may_be_called_any_time():
    for _ in range(3):
        pf.clear_cache()


def test_version():
    assert [part.isdigit() for part in pf.__version__.split(".")] == [True] * 3
