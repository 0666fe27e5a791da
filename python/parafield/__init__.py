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
    CalibratedCamera,
    CameraRotation,
    DeviceInfo,
    DisparityField,
    DisparityScores,
    Error,
    ErrorBarScores,
    ErrorCause,
    FeatureTracking,
    FileWarning,
    FlowEstimator,
    FlowField,
    FlowScores,
    FramesWarning,
    HeightFilter,
    MaskScores,
    MotionDetector,
    MotionMask,
    PairFindings,
    PairWarning,
    RangeWarning,
    Rectification,
    RectifiedPair,
    Rectifier,
    RowAlignment,
    Scene,
    SceneInfo,
    StereoCalibration,
    StereoEstimator,
    StereoGeometry,
    arrow_scale,
    beside,
    check_pair,
    clear_cache,
    color_disparity,
    color_flow,
    depth_of,
    depth_sigma_of,
    detect_motion,
    devices,
    draw_arrows,
    estimate_disparity,
    estimate_flow,
    evaluate,
    evaluate_error_bars,
    examine_pair,
    filled,
    find_boxes,
    find_range,
    find_tracks,
    height_of,
    known_pixels,
    mark_unknown,
    measure_row_alignment,
    overlay_mask,
    pinned_empty,
    plan_rectification,
    points_of,
    read_alpha,
    read_calibration,
    read_disparity,
    read_flow,
    read_flows,
    read_frame,
    read_frames,
    read_mask,
    read_tracks,
    rectify,
    render_scene,
    scenes,
    why_no_cuda,
    why_no_netcdf,
    with_scale_arrow,
    write_depth,
    write_disparity,
    write_flow,
    write_frame,
    write_mask,
    write_points,
    write_tracks,
)
from .detection import AnnealingBackground, IcmBackground, WinnerTakesAllBackground
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

# Pickles and messages must name the classes as users do: parafield.FlowField, parafield.flow.AdaptiveRidge.
for _class in vars(_core).values():
    if isinstance(_class, type):
        _class.__module__ = __name__
for _task in (flow, stereo, detection):
    for _class in _task.methods():
        _class.__module__ = _task.__name__
del _class, _task

# Functions are pickled by name, like functions of Python, because multiprocessing and Dask send them.
copyreg.pickle(type(_core.estimate_flow), lambda function: function.__qualname__)


def __getattr__(name: str) -> Any:
    if name == "extract":  # it starts processes, which few programs need
        from .archives import extract

        return extract
    raise AttributeError(f"module 'parafield' has no attribute {name!r}")


__all__ = [
    "AdaptiveRidge",
    "AnnealingBackground",
    "CalibratedCamera",
    "CameraRotation",
    "DeviceInfo",
    "DirectInterpolation",
    "DisparityField",
    "DisparityScores",
    "Error",
    "ErrorBarScores",
    "ErrorCause",
    "FeatureTracking",
    "FileWarning",
    "FlowEstimator",
    "FlowField",
    "FlowScores",
    "FramesWarning",
    "GradientTensor",
    "HeightFilter",
    "IcmBackground",
    "LucasKanade",
    "MaskScores",
    "MotionDetector",
    "MotionMask",
    "MultiHypothesis",
    "PairFindings",
    "PairWarning",
    "RangeWarning",
    "Rectification",
    "RectifiedPair",
    "Rectifier",
    "RidgeRegression",
    "RowAlignment",
    "Scene",
    "SceneInfo",
    "StereoCalibration",
    "StereoEstimator",
    "StereoGeometry",
    "WinnerTakesAllBackground",
    "__version__",
    "arrow_scale",
    "beside",
    "check_pair",
    "clear_cache",
    "color_disparity",
    "color_flow",
    "depth_of",
    "depth_sigma_of",
    "detect_motion",
    "detection",
    "devices",
    "draw_arrows",
    "estimate_disparity",
    "estimate_flow",
    "evaluate",
    "evaluate_error_bars",
    "examine_pair",
    "extract",
    "filled",
    "find_boxes",
    "find_range",
    "find_tracks",
    "flow",
    "height_of",
    "known_pixels",
    "mark_unknown",
    "measure_row_alignment",
    "overlay_mask",
    "pinned_empty",
    "plan_rectification",
    "points_of",
    "read_alpha",
    "read_calibration",
    "read_disparity",
    "read_flow",
    "read_flows",
    "read_frame",
    "read_frames",
    "read_mask",
    "read_tracks",
    "rectify",
    "render_scene",
    "scenes",
    "stereo",
    "why_no_cuda",
    "why_no_netcdf",
    "with_scale_arrow",
    "write_depth",
    "write_disparity",
    "write_flow",
    "write_frame",
    "write_mask",
    "write_points",
    "write_tracks",
]
