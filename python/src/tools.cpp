// SPDX-License-Identifier: MIT
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <atomic>

#include "interrupt.hpp"
#include "pictures.hpp"
#include "signatures.hpp"
#include "structs.hpp"

namespace parafield::python {
namespace {

void bind_scores(nb::module_& module) {
  nb::class_<FlowScores> flow(
      module, "FlowScores",
      "Errors of a flow field. NaN if no pixel counts.\n\n"
      "aae and aae_std are in degrees, epe and epe_std in px. r1, r3 and r5 are the shares, 0 to 1, of "
      "pixels "
      "with an endpoint error above 1, 3 and 5 px. auc and auc_best are areas under the sparsification "
      "curve, "
      "px, NaN unless evaluate() was asked for them. density is the share of pixels with a valid estimate.");
  bind_members(flow, "FlowScores", StructField("aae", &FlowScores::aae),
               StructField("aae_std", &FlowScores::aae_std), StructField("epe", &FlowScores::epe),
               StructField("epe_std", &FlowScores::epe_std), StructField("r1", &FlowScores::r1),
               StructField("r3", &FlowScores::r3), StructField("r5", &FlowScores::r5),
               StructField("auc", &FlowScores::auc), StructField("auc_best", &FlowScores::auc_best),
               StructField("density", &FlowScores::density), StructField("pixels", &FlowScores::pixels),
               StructField("unknown", &FlowScores::unknown), StructField("missing", &FlowScores::missing));
  using Disparity = DisparityScores;
  nb::class_<Disparity> disparity(
      module, "DisparityScores",
      "Errors of a disparity field. NaN if no pixel counts.\n\n"
      "bad_0_5, bad_1, bad_2 and bad_4 are the shares, 0 to 1, of pixels with an error above 0.5, 1, 2 and 4 "
      "px. average and rms are in px. auc and auc_best are areas under the sparsification curve, px, NaN "
      "unless evaluate() was asked for them. d1_all is KITTI's share of outliers.");
  bind_members(disparity, "DisparityScores", StructField("bad_0_5", &Disparity::bad_0_5),
               StructField("bad_1", &Disparity::bad_1), StructField("bad_2", &Disparity::bad_2),
               StructField("bad_4", &Disparity::bad_4), StructField("average", &Disparity::average),
               StructField("rms", &Disparity::rms), StructField("auc", &Disparity::auc),
               StructField("auc_best", &Disparity::auc_best), StructField("d1_all", &Disparity::d1_all),
               StructField("density", &Disparity::density), StructField("pixels", &Disparity::pixels),
               StructField("unknown", &Disparity::unknown), StructField("missing", &Disparity::missing));
  using Bars = ErrorBarScores;
  nb::class_<Bars> bars(
      module, "ErrorBarScores",
      "How well error bars describe errors. NaN without pixels, or without the plane that a score needs.\n\n"
      "inside68 and inside95 are the shares, 0 to 1, of pixels whose error is inside the 68 % and 95 % "
      "ellipses (intervals for disparities), without flagged pixels. ause is the area between the "
      "sparsification curve of the expected error and the best one, px. brier1 and brier3 are mean squared "
      "errors of the probabilities of errors above 1 and 3 px, ece1 and ece3 their expected calibration "
      "errors. flagged is the share of pixels with outlier >= 0.5, above1 the share of errors above 1 px.");
  bind_members(bars, "ErrorBarScores", StructField("inside68", &Bars::inside68),
               StructField("inside95", &Bars::inside95), StructField("ause", &Bars::ause),
               StructField("brier1", &Bars::brier1), StructField("brier3", &Bars::brier3),
               StructField("ece1", &Bars::ece1), StructField("ece3", &Bars::ece3),
               StructField("flagged", &Bars::flagged), StructField("above1", &Bars::above1),
               StructField("pixels", &Bars::pixels));
  nb::class_<MaskScores> mask(
      module, "MaskScores",
      "Scores of a motion mask, as CDnet defines them. `+` gives the scores of several frames together.");
  bind_members(mask, "MaskScores", StructField("precision", &MaskScores::precision),
               StructField("recall", &MaskScores::recall), StructField("f1", &MaskScores::f1),
               StructField("iou", &MaskScores::iou), StructField("pwc", &MaskScores::pwc),
               StructField("true_positives", &MaskScores::true_positives),
               StructField("false_positives", &MaskScores::false_positives),
               StructField("false_negatives", &MaskScores::false_negatives),
               StructField("true_negatives", &MaskScores::true_negatives),
               StructField("unscored", &MaskScores::unscored));
  mask.def(
      "__add__", [](MaskScores self, const MaskScores& other) { return self += other; }, nb::is_operator());
}

template <class Task>
nb::object scores_of(nb::handle estimate, nb::handle truth, nb::handle mask, bool valid_only,
                     bool confidence) {
  const Field<Task> first = field_of<Task>(estimate, "estimate"), second = field_of<Task>(truth, "truth");
  const MaskArgument counting(mask, "mask");
  const auto scores = [&] {
    const nb::gil_scoped_release released;
    return evaluate(first.result(0), second.result(0),
                    {.mask = counting.view(), .valid_only = valid_only, .confidence = confidence});
  }();
  return nb::cast(scores);
}

template <class Task>
ErrorBarScores bar_scores(nb::handle estimate, nb::handle truth, nb::handle mask, bool valid_only) {
  const Field<Task> first = field_of<Task>(estimate, "estimate"), second = field_of<Task>(truth, "truth");
  const MaskArgument counting(mask, "mask");
  const nb::gil_scoped_release released;
  return evaluate_error_bars(first.result(0), second.result(0),
                             {.mask = counting.view(), .valid_only = valid_only});
}

nb::object mask_scores(nb::handle estimate, const In<Frame>& labels, nb::handle mask, bool confidence) {
  const Field<Detection> moving = field_of<Detection>(estimate, "estimate");
  const MaskArgument counting(mask, "mask");
  return nb::cast(evaluate(moving.result(0), labels, {.mask = counting.view(), .confidence = confidence}));
}

/// Whether an object is a mask: a MotionMask or an array of bool.
bool is_mask(nb::handle object) {
  if (nb::isinstance<Field<Detection>>(object)) return true;
  const std::string type = nb::hasattr(object, "dtype") ? str_text(nb::getattr(object, "dtype")) : "";
  return type == "bool" || type == "torch.bool";
}

nb::object evaluate_any(nb::handle estimate, nb::handle truth, nb::handle mask, bool valid_only,
                        bool confidence) {
  const auto is = [&]<class Task>(Task) {
    return nb::isinstance<Field<Task>>(estimate) || nb::isinstance<Field<Task>>(truth);
  };
  if (is(Detection{})) {
    if (is_mask(truth))
      return mask_scores(estimate, picture_of(field_of<Detection>(truth, "truth")), mask, confidence);
    return mask_scores(estimate, read_host_frame(truth, "truth").first, mask, confidence);
  }
  const bool flow = is(Flow{}) || (!is(Stereo{}) && nb::hasattr(estimate, "ndim") &&
                                   estimate.attr("ndim").equal(nb::int_(3)));
  if (flow) return scores_of<Flow>(estimate, truth, mask, valid_only, confidence);
  return scores_of<Stereo>(estimate, truth, mask, valid_only, confidence);
}

void bind_scenes(nb::module_& module) {
  nb::class_<SceneInfo> info(module, "SceneInfo", "Name and description of a scene.");
  info.def_ro("name", &SceneInfo::name)
      .def_ro("help", &SceneInfo::help)
      .def("__repr__",
           [](const SceneInfo& self) { return "SceneInfo(name='" + std::string(self.name) + "')"; });
  bind_state(
      info, [](const SceneInfo& self) { return std::tuple(std::string(self.name)); },
      [](const std::tuple<std::string>& state) {
        const auto found = std::ranges::find(scenes(), std::get<0>(state), &SceneInfo::name);
        if (found == scenes().end())
          fail("the pickled scene '", std::get<0>(state), "' is unknown to this version");
        return *found;
      });
  module.def(
      "scenes", [] { return std::vector<SceneInfo>(scenes().begin(), scenes().end()); },
      nb::sig("def scenes() -> list[SceneInfo]"), "Every scene that render_scene can render.");
  struct PythonScene {
    nb::list frames, flow, occluded, depth, disparity, moving;
  };
  nb::class_<PythonScene> type(
      module, "Scene",
      "A rendered sequence with its exact truth. Every field is a list.\n\n"
      "frames: arrays H x W (H x W x 3 in color), uint8. flow[i]: FlowField from frame i to i + 1 (in clouds "
      "to i + 2; square has none). occluded[i]: bool, true where frame i + 1 does not show a pixel of frame "
      "i. "
      "depth, disparity and moving are empty if the scene has none.");
  type.def_ro("frames", &PythonScene::frames, signature("frames(self) -> list[array[uint8]]"))
      .def_ro("flow", &PythonScene::flow, signature("flow(self) -> list[FlowField]"))
      .def_ro("occluded", &PythonScene::occluded, signature("occluded(self) -> list[array[bool_]]"))
      .def_ro("depth", &PythonScene::depth, signature("depth(self) -> list[array[float32]]"))
      .def_ro("disparity", &PythonScene::disparity, signature("disparity(self) -> list[DisparityField]"))
      .def_ro("moving", &PythonScene::moving, signature("moving(self) -> list[array[bool_]]"));
  bind_fields_state(type, &PythonScene::frames, &PythonScene::flow, &PythonScene::occluded,
                    &PythonScene::depth, &PythonScene::disparity, &PythonScene::moving);
  define<
      "render_scene(name: str, shape: tuple[int, int] = (480, 640), frames: int = 2, seed: int = 1, "
      "*, fine: bool = True, color: bool = False, pace: str = 'steady', conditions: str = 'steady') "
      "-> Scene">(
      module,
      [](const std::string& name, std::pair<int, int> shape, int frames, std::uint64_t seed, bool fine,
         bool color, const std::string& pace, const std::string& conditions) {
        std::atomic<bool> cancelled = false;
        const SceneOptions options{.size = {shape.second, shape.first},
                                   .frames = frames,
                                   .seed = seed,
                                   .fine = fine,
                                   .color = color,
                                   .pace = pace_named(pace),
                                   .conditions = conditions_named(conditions),
                                   .progress = [&](double) {
                                     if (cancelled)
                                       throw Error(ErrorCode::cancelled, "the call was cancelled");
                                   }};
        Scene scene;
        run_without_lock(
            true, [&] { scene = render_scene(name, options); }, [&] { cancelled = true; });
        PythonScene result;
        for (const auto& frame : scene.frames) result.frames.append(frame_array(frame));
        for (const auto& flow : scene.flow) result.flow.append(nb::cast(numpy_field<Flow>(flow)));
        for (const auto& mask : scene.occluded) result.occluded.append(mask_array(mask));
        for (const auto& depth : scene.depth) result.depth.append(plane_array(depth.view()));
        for (const auto& field : scene.disparity)
          result.disparity.append(nb::cast(numpy_field<Stereo>(field)));
        for (const auto& mask : scene.moving) result.moving.append(mask_array(mask));
        return result;
      },
      R"(Renders a scene with its truth: the same bytes on every machine.

shape : (height, width)
pace : "steady", "accelerating", "shaking" or "stop-and-go"
    How the motion of a flat scene changes from pair to pair of frames.
conditions : str
    In the scene "square". "swaying": leaves sway; "drifting", "jumping": the light changes; "stopping": a car
    stops for 100 frames; "noisy": noise; "waving": more leaves, which move more; "shadowed": strong shadows;
    "leaving": parked cars leave; "shaking": the camera shakes; "lamp": a lamp lights half of the scene;
    "thermal": thermal images; "steady": none of these.)");
}

void bind_devices(nb::module_& module) {
  nb::class_<DeviceInfo> type(module, "DeviceInfo", "Facts about a device.");
  type.def_prop_ro(
          "device", [](const DeviceInfo& self) { return to_string(self.device); },
          "The argument that selects it: \"cpu\" or \"cuda:0\".")
      .def_ro("name", &DeviceInfo::name, "Name of the processor or the GPU.")
      .def_ro("instruction_set", &DeviceInfo::instruction_set)
      .def_ro("threads", &DeviceInfo::threads)
      .def_ro("memory", &DeviceInfo::memory, "Bytes.")
      .def("__repr__", [](const DeviceInfo& self) {
        return joined("DeviceInfo", {named("device", to_string(self.device)), named("name", self.name)});
      });
  bind_state(
      type,
      [](const DeviceInfo& self) {
        return std::tuple(self.device.kind == Device::Kind::cuda, self.device.index, self.device.threads,
                          self.name, self.instruction_set, self.threads, self.memory);
      },
      [](const auto& state) {  // not checked, because the device may belong to another machine
        const auto& [cuda, index, most, name, instruction_set, threads, memory] = state;
        return DeviceInfo{.device = {cuda ? Device::Kind::cuda : Device::Kind::cpu, index, most},
                          .name = name,
                          .instruction_set = instruction_set,
                          .threads = threads,
                          .memory = memory};
      });
  module.def("devices", &devices, nb::sig("def devices() -> list[DeviceInfo]"),
             "Every usable device, the CPU first.");
  module.def("why_no_cuda", &why_no_cuda, "The reason why no CUDA device can be used; empty if one can.");
}

/// The array that depth_of or depth_sigma_of returns.
template <auto* compute>
nb::object depth_plane(nb::handle disparity, double focal_length, double baseline, double offset) {
  const Field<Stereo> field = field_of<Stereo>(disparity, "disparity");
  return plane_array(compute(field.result(0), focal_length, baseline, offset).view());
}

}  // namespace

void bind_tools(nb::module_& module) {
  bind_scores(module);
  define<
      "evaluate(estimate, truth, mask = None, *, valid_only: bool = False, confidence: bool = False) "
      "-> typing.Any">(module, &evaluate_any,
                       R"(Scores of an estimate against the truth: FlowScores, DisparityScores or MaskScores.

Both are fields of this package or arrays: H x W x 2 is flow, H x W is disparity. A MotionMask is scored
against CDnet's labels, or against another mask, which may be an array of bool.

Pixels that are false in `mask` do not count. With `valid_only`, only pixels with a valid estimate count. With
`confidence`, auc and auc_best tell how well the estimate's confidence ranks its errors: auc is the mean over
k of the mean error, px, of the k pixels with the highest confidence; auc_best is the smallest value that any
order can reach.)");
  define<"evaluate_error_bars(estimate, truth, mask = None, *, valid_only: bool = False) -> ErrorBarScores">(
      module,
      [](nb::handle estimate, nb::handle truth, nb::handle mask, bool valid_only) {
        if (nb::isinstance<Field<Stereo>>(estimate))
          return bar_scores<Stereo>(estimate, truth, mask, valid_only);
        if (!nb::isinstance<Field<Flow>>(estimate))
          fail("estimate is of type ", type_text(estimate), "; it must be a FlowField or a DisparityField");
        return bar_scores<Flow>(estimate, truth, mask, valid_only);
      },
      "Scores of the error bars of a FlowField or DisparityField against the truth.");
  bind_scenes(module);
  define<
      "depth_of(disparity, focal_length: float, baseline: float, offset: float = 0) -> "
      "array[float32]">(
      module, &depth_plane<&depth_of>,
      "Depths, H x W: focal_length * baseline / (d + offset), in the unit of `baseline`.\n\n"
      "Depth is infinite where the disparity is invalid or d + offset is not above 0.");
  define<
      "depth_sigma_of(disparity, focal_length: float, baseline: float, offset: float = 0) -> "
      "array[float32]">(
      module, &depth_plane<&depth_sigma_of>,
      "Standard deviations of the depths of depth_of, H x W, in the unit of `baseline`.\n\n"
      "The disparity must have a sigma. Infinite where the depth is.");
  module.def(
      "pinned_empty",
      [](nb::handle shape, nb::handle type) {
        const nb::module_ numpy = nb::module_::import_("numpy");
        const nb::object kind = numpy.attr("dtype")(type);
        const nb::object count = numpy.attr("prod")(shape, nb::arg("dtype") = "int64");
        const auto bytes = std::size_t(nb::cast<std::int64_t>(nb::int_(count * kind.attr("itemsize"))));
        if (bytes < 1) fail("an array of the shape ", repr_text(shape), " has no values");
        const auto storage = make_storage({}, bytes, why_no_cuda().empty());
        return nb::object(array_in(storage, storage->data, nb::dtype<std::uint8_t>(), {bytes}, {1})
                              .attr("view")(kind)
                              .attr("reshape")(shape));
      },
      nb::arg("shape"), nb::arg("dtype") = "float32",
      nb::sig("def pinned_empty(shape: int | tuple[int, ...], dtype: object = \"float32\") -> "
              "numpy.typing.NDArray[typing.Any]"),
      "A NumPy array in pinned memory, which a GPU can copy while it works. Its values are not set. Without "
      "a "
      "GPU it is an ordinary array.");
  bind_devices(module);
}

}  // namespace parafield::python
