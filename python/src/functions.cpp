// SPDX-License-Identifier: MIT
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "estimation.hpp"
#include "signatures.hpp"

namespace parafield::python {
namespace {

const char* const flow_doc = R"(The flow from frame0 to frame1.

frame0(x) matches frame1(x + flow(x)). Frames are arrays of NumPy, PyTorch, CuPy, JAX or any library that
supports DLPack or the buffer protocol: uint8, uint16 or float32, in host memory or on a CUDA device. They are
read in place. The result's arrays are of the same library, in the same memory.

Parameters
----------
frame0, frame1 : arrays H x W, H x W x 3 or H x W x 4, or in another order given by `axes`
    Stacks of N frames give N results. Without frame1, frame0 is a list of the frames that the method takes,
    or a stack of consecutive frames, which gives the flow from each frame to the next.
method : name or value
    "lucas-kanade", or LucasKanade(levels=4); by default adaptive-ridge. parafield.flow has all methods.
preset : name
    Named values of the method's parameters: "accurate" has the lowest error.
device : "auto", "cpu", "cuda" or "cuda:1"
    By default the device that the frames are on, or the best one for frames in host memory.
axes : "hw", "hwc", "chw", "nhw", "nhwc" or "nchw"
    Order of the axes. By default H x W, or H x W x C with 1, 3 or 4 channels. Other shapes need `axes`,
    because their order is never guessed.
range : (black, white)
    Values of black and white. By default (0, 255) for uint8. For uint16 and float32 the default follows from
    the bulk of the frames' values, with a RangeWarning unless it is (0, 65535) for uint16, or (0, 255) or
    (0, 1) for float32; of frames on a CUDA device, the call waits for them. Low contrast of uint8 is
    stretched, with a RangeWarning, for flow and disparity in host memory. Give a range to avoid all this.
channels : "rgb" or "bgr"
    Order of the colors, by default rgb.
threads : int
    Number of CPU threads; 0 means one per core.
start : FlowField or array H x W x 2
    First guess of the flow, for methods that use one.
tracks : array N x 4
    Known motion of features (x, y, u, v), for direct-interpolation and multi-hypothesis.
rotation : CameraRotation
    The camera's rotation between the frames, for the same methods.
**parameters
    Parameters of the method, and the options of flow: fb_check, speckle, fill, final_median,
    min_confidence. covariance=True, outlier=True and cause=True add error bars to the result.

A pixel that is NaN or masked (numpy.ma) has no weight, and its flow is invalid. On a CUDA device the call
returns before the work is done; the work is on the current stream of the frames' library. Raises Error.)";

const char* const disparity_doc = R"(The disparities of the left image of a rectified pair.

x_right = x_left - d. Arguments are as in estimate_flow; error bars are sigma=True, outlier=True and cause=True. parafield.stereo has all methods. With
disparities = 0, the default, the number of disparities is found in the images (see examine_pair); for a stack
it is the largest number that a pair needs. To find it, the call waits for frames on a CUDA device.
Raises Error.)";

const char* const detection_doc = R"(Where something moves between two frames of a still camera.

Arguments are as in estimate_flow, without the options of flow. MotionDetector describes background, freeze
and region. parafield.detection has all methods. Raises Error.)";

/// Removes an argument from `parameters` and returns its value; None if it was not given.
nb::object take(nb::dict& parameters, const char* name) {
  return parameters.size() == 0 ? nb::none() : parameters.attr("pop")(name, nb::none());
}

/// Binds the function that estimates a task's results.
template <class Task>
void bind_call(nb::module_& module, const char* name, const char* name0, const char* name1,
               const std::string& more, const char* doc) {
  const nb::none none;
  const std::string text =
      std::string(name) + "(" + name0 + ", " + name1 +
      " = None, method, preset, device, *, axes: typing.Literal[\"hw\", \"hwc\", \"chw\", \"nhw\", "
      "\"nhwc\", \"nchw\"] | None = None, range, channels, threads, start = None, " +
      more + "**parameters) -> " + TaskPlanes<Task>::result;
  module.def(
      name,
      [name0, name1](nb::handle frame0, nb::handle frame1, nb::handle method, nb::handle preset,
                     nb::handle device, nb::handle axes, nb::handle range, nb::handle channels,
                     nb::handle threads, nb::handle start, const nb::kwargs& given) {
        nb::dict parameters = nb::borrow<nb::dict>(given);
        nb::object tracks = nb::none(), rotation = nb::none();
        if (std::is_same_v<Task, Flow>) {
          tracks = take(parameters, "tracks");
          rotation = take(parameters, "rotation");
        }
        const auto request = request_of_call<Task>(method, preset, device, threads, parameters);
        FrameLayout layout = read_layout(axes, range, channels);
        layout.stretches = !std::is_same_v<Task, Detection>;
        layout.use = layout.stretches ? RangeUse::matching : RangeUse::detection;
        std::vector<FrameStack> frames = read_call_frames(frame0, frame1, name0, name1, layout);
        if (frames.size() == 1 && !(Task::streams && frames[0].stacked))
          fail(name1, " is missing",
               Task::streams ? ". For a stack of frames say axes=\"nhw\" or axes=\"nhwc\"" : "");
        match(frames, layout);
        return solve<Task>(*request, frames, read_known<Task>(start, tracks, rotation, frames[0]));
      },
      nb::arg(name0).none(), nb::arg(name1) = none, nb::arg("method") = none, nb::arg("preset") = none,
      nb::arg("device") = none, nb::kw_only(), nb::arg("axes") = none, nb::arg("range") = none,
      nb::arg("channels") = none, nb::arg("threads") = none, nb::arg("start") = none, nb::arg("parameters"),
      signature(text), doc);
}

}  // namespace

std::vector<FrameStack> read_call_frames(nb::handle frame0, nb::handle frame1, const std::string& name0,
                                         const std::string& name1, const FrameLayout& layout) {
  std::vector<FrameStack> frames;
  if (!frame1.is_none() || !(nb::isinstance<nb::list>(frame0) || nb::isinstance<nb::tuple>(frame0))) {
    frames.push_back(read_frames(frame0, name0, layout));
    if (!frame1.is_none()) frames.push_back(read_frames(frame1, name1, layout));
    return frames;
  }
  for (const nb::handle frame : frame0)
    frames.push_back(read_frames(frame, name0 + "[" + std::to_string(frames.size()) + "]", layout));
  if (frames.empty()) fail(name0, " is an empty list");
  if (frames.size() == 1) fail(name0, " is a list of 1 frame");
  return frames;
}

void bind_functions(nb::module_& module) {
  bind_call<Flow>(module, "estimate_flow", "frame0", "frame1",
                  "tracks = None, rotation: CameraRotation | None = None, ", flow_doc);
  bind_call<Stereo>(module, "estimate_disparity", "left", "right", "", disparity_doc);
  bind_call<Detection>(module, "detect_motion", "frame0", "frame1", detection_arguments, detection_doc);
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
      "Frees the cached estimators and the pooled memory of results.\n\n"
      "The functions cache up to 32 estimators and 4 GiB for each task, because making an estimator takes "
      "longer than a solve.");
}

}  // namespace parafield::python
