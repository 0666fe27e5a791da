# SPDX-License-Identifier: MIT
"""Dense optical flow, stereo and motion detection on CPUs and CUDA GPUs.

    flow = parafield.estimate_flow(frame0, frame1)
    flow.u, flow.v, flow.valid

Frames are arrays of NumPy, PyTorch, CuPy or JAX, in host memory or on a CUDA device.
"""

import copyreg
from typing import TYPE_CHECKING, Any

from . import _core, detection, flow, stereo
from ._core import (
    CameraRotation,
    DeviceInfo,
    DisparityField,
    DisparityScores,
    Error,
    FeatureTracking,
    FlowEstimator,
    FlowField,
    FlowScores,
    MaskScores,
    MotionDetector,
    MotionMask,
    PairFindings,
    Scene,
    SceneInfo,
    StereoEstimator,
    beside,
    clear_cache,
    color_disparity,
    color_flow,
    depth_of,
    detect_motion,
    devices,
    draw_arrows,
    estimate_disparity,
    estimate_flow,
    evaluate,
    examine_pair,
    find_tracks,
    overlay_mask,
    read_disparity,
    read_flow,
    read_frame,
    read_frames,
    read_mask,
    read_tracks,
    render_scene,
    scenes,
    why_no_cuda,
    write_disparity,
    write_flow,
    write_frame,
    write_mask,
    write_tracks,
)
from .flow import (
    AdaptiveRidge,
    DirectInterpolation,
    GradientTensor,
    LucasKanade,
    MultiHypothesis,
    RidgeRegression,
)

if TYPE_CHECKING:
    from .archives import extract

__version__: str = _core.__version__

# Users know the classes as parafield.FlowField and parafield.flow.AdaptiveRidge, and pickles should.
for _class in vars(_core).values():
    if isinstance(_class, type):
        _class.__module__ = __name__
for _task in (flow, stereo, detection):
    for _class in _task.methods():
        _class.__module__ = _task.__name__
del _class, _task

# Functions are pickled by their names, as those of Python are: multiprocessing and Dask send them.
copyreg.pickle(type(_core.estimate_flow), lambda function: function.__qualname__)


def __getattr__(name: str) -> Any:
    if name == "extract":  # it starts processes, which few programs need
        from .archives import extract

        return extract
    raise AttributeError(f"module 'parafield' has no attribute {name!r}")


__all__ = [
    "AdaptiveRidge",
    "CameraRotation",
    "DeviceInfo",
    "DirectInterpolation",
    "DisparityField",
    "DisparityScores",
    "Error",
    "FeatureTracking",
    "FlowEstimator",
    "FlowField",
    "FlowScores",
    "GradientTensor",
    "LucasKanade",
    "MaskScores",
    "MotionDetector",
    "MotionMask",
    "MultiHypothesis",
    "PairFindings",
    "RidgeRegression",
    "Scene",
    "SceneInfo",
    "StereoEstimator",
    "__version__",
    "beside",
    "clear_cache",
    "color_disparity",
    "color_flow",
    "depth_of",
    "detect_motion",
    "detection",
    "devices",
    "draw_arrows",
    "estimate_disparity",
    "estimate_flow",
    "evaluate",
    "examine_pair",
    "extract",
    "find_tracks",
    "flow",
    "overlay_mask",
    "read_disparity",
    "read_flow",
    "read_frame",
    "read_frames",
    "read_mask",
    "read_tracks",
    "render_scene",
    "scenes",
    "stereo",
    "why_no_cuda",
    "write_disparity",
    "write_flow",
    "write_frame",
    "write_mask",
    "write_tracks",
]
