// SPDX-License-Identifier: MIT
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "estimation.hpp"

namespace parafield::python {
namespace {

const char* const flow_doc = R"(The flow from frame0 to frame1.

frame0(x) matches frame1(x + flow(x)). Frames are arrays of NumPy, PyTorch, CuPy, JAX or anything else that
speaks DLPack or the buffer protocol: uint8, uint16 or float32, in host memory or on a CUDA device. They are
read in place. The result's arrays are of the same library, in the same place.

Parameters
----------
frame0, frame1 : arrays H x W, H x W x 3 or H x W x 4, or with `axes` any of its orders
    Stacks of N frames give N results. frame0 alone is a list of the frames that the method takes, or a stack
    in time, which gives the flow from each frame to the next.
method : name or value
    "lucas-kanade", or LucasKanade(levels=4). parafield.flow has all methods.
preset : name
    Named values of the method's parameters: "accurate" has the lowest error.
device : "auto", "cpu", "cuda" or "cuda:1"
    Not given: the device that the frames are on; for frames in host memory the best one.
axes : "hw", "hwc", "chw", "nhw", "nhwc" or "nchw"
    Order of the axes. Not given: H x W, or H x W x C with 1, 3 or 4 channels. It is never guessed: other
    shapes need it.
range : (black, white)
    Values of black and white. Not given: (0, 255) of uint8. Of uint16 and float32 what the values of the
    frames suggest; a RangeWarning says what, if it is not (0, 65535) of uint16 or (0, 255) of float32. On a
    CUDA device it has to be given, since looking at the values would wait for them.
channels : "rgb" or "bgr"
    Order of the colors. Not given: rgb.
threads : int
    Threads of the CPU, 0 = one for each core.
start : FlowField or array H x W x 2
    First guess of the flow, for methods that use one.
tracks : array N x 4
    Known motion of features (x, y, u, v), for direct-interpolation and multi-hypothesis.
rotation : CameraRotation
    How the camera turned, for the same methods.
**parameters
    Parameters of the method and options of flow: fb_check, speckle, fill, final_median.

A pixel that is NaN or masked (numpy.ma) has no weight, and its flow is not valid. On a CUDA device the call
returns before the work is done; it is on the stream that the frames' library uses now. Raises Error.)";

const char* const disparity_doc = R"(The disparities of the left image of a rectified pair.

x_right = x_left - d. Arguments are those of estimate_flow. parafield.stereo has all methods. With
disparities = 0, the default, the images say how many there are: of a stack the largest number that a pair
needs (examine_pair). For frames on a CUDA device the call waits for them then. Raises Error.)";

const char* const detection_doc = R"(Where something moves between two frames of a still camera.

Arguments are those of estimate_flow. parafield.detection has all methods. Raises Error.)";

/// Reads the frames of a call: `frame0` and `frame1`, or the frames of a list `frame0`, or a stack `frame0`
/// of consecutive frames. A stack without `frame1` is allowed only if `in_time`, which is set for tasks whose
/// frames are consecutive in time.
std::vector<FrameStack> read_call_frames(nb::handle frame0, nb::handle frame1, const char* name0,
                                         const char* name1, const FrameLayout& layout, bool in_time) {
  std::vector<FrameStack> frames;
  frames.reserve(2);
  if (!frame1.is_none()) {
    frames.push_back(read_frames(frame0, name0, layout));
    frames.push_back(read_frames(frame1, name1, layout));
  } else if (nb::isinstance<nb::list>(frame0) || nb::isinstance<nb::tuple>(frame0)) {
    int i = 0;
    for (const nb::handle frame : frame0)
      frames.push_back(read_frames(frame, std::string(name0) + "[" + std::to_string(i++) + "]", layout));
    if (frames.empty()) fail(name0, " is an empty list");
    if (frames.size() == 1) fail(name0, " is a list of 1 frame");
  } else {
    frames.push_back(read_frames(frame0, name0, layout));
    if (!in_time) fail(name1, " is missing");
    if (!frames[0].stacked)
      fail(name1, " is missing. For a stack of frames say axes=\"nhw\" or axes=\"nhwc\"");
  }
  match(frames, layout);
  return frames;
}

}  // namespace

void bind_functions(nb::module_& module) {
  const auto call = []<class Task>(nb::handle frame0, nb::handle frame1, const char* name0, const char* name1,
                                   nb::handle method, nb::handle preset, nb::handle device, nb::handle axes,
                                   nb::handle range, nb::handle channels, nb::handle threads,
                                   nb::handle start, nb::handle tracks, nb::handle rotation,
                                   const nb::dict& parameters) {
    const auto request = request_of_call<Task>(method, preset, device, threads, parameters);
    const auto frames =
        read_call_frames(frame0, frame1, name0, name1, read_layout(axes, range, channels), Task::streams);
    const Known<Task> known = read_known<Task>(start, tracks, rotation, frames[0]);
    return solve<Task>(*request, frames, known);
  };
  using nb::arg;
  const nb::none none;
  module.def(
      "estimate_flow",
      [call](nb::handle frame0, nb::handle frame1, nb::handle method, nb::handle preset, nb::handle device,
             nb::handle axes, nb::handle range, nb::handle channels, nb::handle threads, nb::handle start,
             nb::handle tracks, nb::handle rotation, const nb::kwargs& parameters) {
        return call.operator()<Flow>(frame0, frame1, "frame0", "frame1", method, preset, device, axes, range,
                                     channels, threads, start, tracks, rotation, parameters);
      },
      arg("frame0").none(), arg("frame1") = none, arg("method").none() = "adaptive-ridge",
      arg("preset") = none, arg("device") = none, nb::kw_only(), arg("axes") = none, arg("range") = none,
      arg("channels") = none, arg("threads") = none, arg("start") = none, arg("tracks") = none,
      arg("rotation") = none, arg("parameters"),
      nb::sig("def estimate_flow(frame0: typing.Any, frame1: typing.Any = None, method: str | object = "
              "\"adaptive-ridge\", preset: str | None = None, device: str | None = None, *, axes: "
              "typing.Literal[\"hw\", \"hwc\", \"chw\", \"nhw\", \"nhwc\", \"nchw\"] | None = None, range: "
              "tuple[float, float] | None = None, channels: typing.Literal[\"rgb\", \"bgr\"] | None = None, "
              "threads: int | None = None, start: typing.Any = None, tracks: typing.Any = None, rotation: "
              "CameraRotation | None = None, **parameters: bool | int | float | str) -> FlowField"),
      flow_doc);
  const auto define = [&]<class Task>(Task, const char* name, const char* name0, const char* name1,
                                      const char* doc) {
    const std::string signature =
        "def " + std::string(name) + "(" + name0 + ": typing.Any, " + name1 +
        ": typing.Any = None, method: str | object | None = None, preset: str | None = None, device: str | "
        "None = None, *, axes: typing.Literal[\"hw\", \"hwc\", \"chw\", \"nhw\", \"nhwc\", \"nchw\"] | None "
        "= None, range: tuple[float, float] | None = None, channels: typing.Literal[\"rgb\", \"bgr\"] | None "
        "= None, threads: int | None = None, start: typing.Any = None, **parameters: bool | int | float | "
        "str) -> " +
        TaskPlanes<Task>::result;
    module.def(
        name,
        [call, name0, name1](nb::handle frame0, nb::handle frame1, nb::handle method, nb::handle preset,
                             nb::handle device, nb::handle axes, nb::handle range, nb::handle channels,
                             nb::handle threads, nb::handle start, const nb::kwargs& parameters) {
          return call.template operator()<Task>(frame0, frame1, name0, name1, method, preset, device, axes,
                                                range, channels, threads, start, nb::none(), nb::none(),
                                                parameters);
        },
        arg(name0).none(), arg(name1) = none, arg("method") = none, arg("preset") = none,
        arg("device") = none, nb::kw_only(), arg("axes") = none, arg("range") = none, arg("channels") = none,
        arg("threads") = none, arg("start") = none, arg("parameters"), nb::sig(signature.c_str()), doc);
  };
  define(Stereo{}, "estimate_disparity", "left", "right", disparity_doc);
  define(Detection{}, "detect_motion", "frame0", "frame1", detection_doc);
  module.def(
      "clear_cache",
      [] {
        {
          const nb::gil_scoped_release released;
          EstimatorCache<Flow>::clear();
          EstimatorCache<Stereo>::clear();
          EstimatorCache<Detection>::clear();
        }
        empty_pool();
      },
      "Frees what calls keep for the next ones: estimators, and memory for results.\n\n"
      "Making an estimator takes longer than a solve, so the functions keep up to 32 of a task and 4 GiB.");
}

}  // namespace parafield::python
