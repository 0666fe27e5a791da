// SPDX-License-Identifier: MIT
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "pictures.hpp"
#include "states.hpp"
#include "texts.hpp"

namespace parafield::python {
namespace {

/// Binds the fields of a struct of numbers, its state and its repr.
template <class Struct, class... Values>
void bind_numbers(nb::class_<Struct>& type, const char* name,
                  const std::pair<const char*, Values Struct::*>&... fields) {
  (type.def_ro(fields.first, fields.second), ...);
  bind_fields_state(type, fields.second...);
  type.def("__repr__", [name, fields...](const Struct& self) {
    return joined(name, {named(fields.first, self.*fields.second)...});
  });
}

void bind_scores(nb::module_& module) {
  auto flow = nb::class_<FlowScores>(
      module, "FlowScores",
      "Errors of a flow field. NaN if no pixel counts.\n\n"
      "aae and aae_std are in degrees, epe and epe_std in px. r1, r3 and r5 are shares, 0 to 1, of pixels "
      "with an endpoint error above 1, 3 and 5 px. auc and auc_best are areas under the sparsification "
      "curve, px, NaN unless the confidence was to be scored. density is the share whose estimate is valid.");
  bind_numbers(flow, "FlowScores", std::pair("aae", &FlowScores::aae),
               std::pair("aae_std", &FlowScores::aae_std), std::pair("epe", &FlowScores::epe),
               std::pair("epe_std", &FlowScores::epe_std), std::pair("r1", &FlowScores::r1),
               std::pair("r3", &FlowScores::r3), std::pair("r5", &FlowScores::r5),
               std::pair("auc", &FlowScores::auc), std::pair("auc_best", &FlowScores::auc_best),
               std::pair("density", &FlowScores::density), std::pair("pixels", &FlowScores::pixels),
               std::pair("unknown", &FlowScores::unknown), std::pair("missing", &FlowScores::missing));
  auto disparity = nb::class_<DisparityScores>(
      module, "DisparityScores",
      "Errors of a disparity field. NaN if no pixel counts.\n\n"
      "bad_0_5, bad_1, bad_2 and bad_4 are shares, 0 to 1, of pixels with an error above so many px. average "
      "and rms are in px. auc and auc_best are areas under the sparsification curve, px, NaN unless the "
      "confidence was to be scored. d1_all is KITTI's share.");
  bind_numbers(disparity, "DisparityScores", std::pair("bad_0_5", &DisparityScores::bad_0_5),
               std::pair("bad_1", &DisparityScores::bad_1), std::pair("bad_2", &DisparityScores::bad_2),
               std::pair("bad_4", &DisparityScores::bad_4), std::pair("average", &DisparityScores::average),
               std::pair("rms", &DisparityScores::rms), std::pair("auc", &DisparityScores::auc),
               std::pair("auc_best", &DisparityScores::auc_best),
               std::pair("d1_all", &DisparityScores::d1_all), std::pair("density", &DisparityScores::density),
               std::pair("pixels", &DisparityScores::pixels), std::pair("unknown", &DisparityScores::unknown),
               std::pair("missing", &DisparityScores::missing));
  auto mask = nb::class_<MaskScores>(
      module, "MaskScores",
      "Scores of a motion mask, as CDnet has them. `+` gives the scores of several frames together.");
  bind_numbers(mask, "MaskScores", std::pair("precision", &MaskScores::precision),
               std::pair("recall", &MaskScores::recall), std::pair("f1", &MaskScores::f1),
               std::pair("iou", &MaskScores::iou), std::pair("pwc", &MaskScores::pwc),
               std::pair("true_positives", &MaskScores::true_positives),
               std::pair("false_positives", &MaskScores::false_positives),
               std::pair("false_negatives", &MaskScores::false_negatives),
               std::pair("true_negatives", &MaskScores::true_negatives),
               std::pair("unscored", &MaskScores::unscored));
  mask.def(
      "__add__", [](MaskScores self, const MaskScores& other) { return self += other; }, nb::is_operator());
}

/// The argument `mask` of evaluate: which pixels count.
struct Counting {
  std::optional<Field<Detection>> field;

  explicit Counting(nb::handle mask) {
    if (!mask.is_none()) field = field_of<Detection>(mask, "mask");
  }
  EvaluationOptions options(bool valid_only, bool confidence) const {
    EvaluationOptions options{.valid_only = valid_only, .confidence = confidence};
    if (field) options.mask = {field->moving, field->size.width, field->size.height, field->size.width};
    return options;
  }
};

template <class Task>
nb::object scores_of(nb::handle estimate, nb::handle truth, nb::handle mask, bool valid_only,
                     bool confidence) {
  const Field<Task> first = field_of<Task>(estimate, "estimate"), second = field_of<Task>(truth, "truth");
  const Counting counting(mask);
  const auto scores = [&] {
    const nb::gil_scoped_release released;
    return evaluate(first.result(0), second.result(0), counting.options(valid_only, confidence));
  }();
  return nb::cast(scores);
}

nb::object mask_scores(nb::handle estimate, const In<Frame>& labels, nb::handle mask, bool confidence) {
  const Field<Detection> moving = field_of<Detection>(estimate, "estimate");
  return nb::cast(evaluate(moving.result(0), labels, Counting(mask).options(false, confidence)));
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
  nb::class_<SceneInfo> info(module, "SceneInfo", "Name of a scene, and what it shows.");
  info.def_ro("name", &SceneInfo::name)
      .def_ro("help", &SceneInfo::help)
      .def("__repr__",
           [](const SceneInfo& self) { return "SceneInfo(name='" + std::string(self.name) + "')"; });
  bind_state(
      info, [](const SceneInfo& self) { return std::tuple(std::string(self.name)); },
      [](const std::tuple<std::string>& state) {
        const auto found = std::ranges::find(scenes(), std::get<0>(state), &SceneInfo::name);
        if (found == scenes().end())
          fail("the pickled scene '", std::get<0>(state), "' is none of this version");
        return *found;
      });
  module.def(
      "scenes", [] { return std::vector<SceneInfo>(scenes().begin(), scenes().end()); },
      nb::sig("def scenes() -> list[SceneInfo]"), "Every scene that render_scene knows.");
  struct PythonScene {
    nb::list frames, flow, occluded, depth, disparity, moving;
  };
  nb::class_<PythonScene> type(
      module, "Scene",
      "A rendered sequence with its exact truth. Every field is a list.\n\n"
      "frames: arrays H x W (H x W x 3 in color), uint8. flow[i]: FlowField from frame i to i + 1 (in clouds "
      "i + 2; square has none). "
      "occluded[i]: bool, where frame i + 1 does not show a pixel of frame i. depth, disparity and moving "
      "are empty if the scene has none.");
  type.def_ro("frames", &PythonScene::frames,
              nb::sig("def frames(self) -> list[numpy.typing.NDArray[numpy.uint8]]"))
      .def_ro("flow", &PythonScene::flow, nb::sig("def flow(self) -> list[FlowField]"))
      .def_ro("occluded", &PythonScene::occluded,
              nb::sig("def occluded(self) -> list[numpy.typing.NDArray[numpy.bool_]]"))
      .def_ro("depth", &PythonScene::depth,
              nb::sig("def depth(self) -> list[numpy.typing.NDArray[numpy.float32]]"))
      .def_ro("disparity", &PythonScene::disparity, nb::sig("def disparity(self) -> list[DisparityField]"))
      .def_ro("moving", &PythonScene::moving,
              nb::sig("def moving(self) -> list[numpy.typing.NDArray[numpy.bool_]]"));
  bind_fields_state(type, &PythonScene::frames, &PythonScene::flow, &PythonScene::occluded,
                    &PythonScene::depth, &PythonScene::disparity, &PythonScene::moving);
  module.def(
      "render_scene",
      [](const std::string& name, std::pair<int, int> shape, int frames, std::uint64_t seed, bool fine,
         bool color, const std::string& pace, const std::string& conditions) {
        const SceneOptions options{.size = {shape.second, shape.first},
                                   .frames = frames,
                                   .seed = seed,
                                   .fine = fine,
                                   .color = color,
                                   .pace = pace_named(pace),
                                   .conditions = conditions_named(conditions)};
        Scene scene;
        {
          const nb::gil_scoped_release released;
          scene = render_scene(name, options);
        }
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
      nb::arg("name"), nb::arg("shape") = std::pair(480, 640), nb::arg("frames") = 2, nb::arg("seed") = 1,
      nb::kw_only(), nb::arg("fine") = true, nb::arg("color") = false, nb::arg("pace") = "steady",
      nb::arg("conditions") = "steady",
      nb::sig("def render_scene(name: str, shape: tuple[int, int] = (480, 640), frames: int = 2, seed: int = "
              "1, *, fine: bool = True, color: bool = False, pace: str = 'steady', conditions: str = "
              "'steady') -> Scene"),
      "Renders a scene with its truth: the same bytes on every machine. `shape` is (height, width). `pace` "
      "is "
      "'steady', 'accelerating', 'shaking' or 'stop-and-go': how the motion of a flat scene changes from "
      "pair to pair of frames. `conditions` of the scene 'square' are 'steady', 'swaying' (leaves), "
      "'drifting' or "
      "'jumping' (light), 'stopping' (a car stops for 100 frames) or 'noisy'.");
}

void bind_devices(nb::module_& module) {
  nb::class_<DeviceInfo> type(module, "DeviceInfo", "Facts about a device.");
  type.def_prop_ro(
          "device", [](const DeviceInfo& self) { return to_string(self.device); },
          "Its name as an argument: \"cpu\" or \"cuda:0\".")
      .def_ro("name", &DeviceInfo::name, "The name that the processor or the GPU gives itself.")
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

}  // namespace

void bind_tools(nb::module_& module) {
  bind_scores(module);
  module.def(
      "evaluate", &evaluate_any, nb::arg("estimate").none(), nb::arg("truth").none(),
      nb::arg("mask") = nb::none(), nb::kw_only(), nb::arg("valid_only") = false,
      nb::arg("confidence") = false,
      nb::sig("def evaluate(estimate: typing.Any, truth: typing.Any, mask: typing.Any = None, *, valid_only: "
              "bool = False, confidence: bool = False) -> typing.Any"),
      "Scores of an estimate against the truth: FlowScores, DisparityScores or MaskScores.\n\n"
      "Each is a field of the library or an array: H x W x 2 is flow, H x W are disparities. A MotionMask is "
      "scored against labels as CDnet draws them, or another mask, which may be an array of bool. Pixels "
      "that are false in `mask` do not count; with `valid_only` only those count that the estimate calls "
      "valid.\n\n"
      "With `confidence`, auc and auc_best say how the estimate's confidence ranks its errors: auc is the "
      "mean over k of the mean error, px, of the k pixels of highest confidence, auc_best the least that an "
      "order "
      "can give.");
  bind_scenes(module);
  module.def(
      "depth_of",
      [](nb::handle disparity, double focal_length, double baseline, double offset) {
        const Field<Stereo> field = field_of<Stereo>(disparity, "disparity");
        return plane_array(depth_of(field.result(0), focal_length, baseline, offset).view());
      },
      nb::arg("disparity").none(), nb::arg("focal_length"), nb::arg("baseline"), nb::arg("offset") = 0.0,
      nb::sig(
          "def depth_of(disparity: typing.Any, focal_length: float, baseline: float, offset: float = 0) -> "
          "numpy.typing.NDArray[numpy.float32]"),
      "Depths, H x W: focal_length * baseline / (d + offset), in the unit of `baseline`.\n\n"
      "Depth is infinity where the disparity is not valid, or where d + offset is not above 0.");
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
      "A NumPy array in pinned memory, which a GPU copies while it works. Its values are not set. Without a "
      "GPU "
      "it is an array like others.");
  bind_devices(module);
}

}  // namespace parafield::python
