// SPDX-License-Identifier: MIT
#include "found_disparities.hpp"

#include <nanobind/stl/string.h>

#include <atomic>

#include "cameras.hpp"
#include "interrupt.hpp"
#include "structs.hpp"

namespace parafield::python {
namespace {

const char* const examine_doc = R"(What a coarse search finds out about a rectified pair.

It looks at a width of at most 128 px, for disparities of both signs up to 0.4 of the width. Arguments are
those of estimate_disparity; `min_disparity` is the least disparity, which `disparities` counts from. Frames
on a CUDA device are waited for. Raises Error.)";

}  // namespace

void synchronize(const Device& device, Stream stream) {
  Timer timer(device, stream);
  timer.start();
  timer.stop();  // waits
}

std::optional<Request<Stereo>> with_disparities(const Request<Stereo>& request, const Array& array,
                                                const Device& device, int count,
                                                const std::function<std::vector<Frame>(int)>& pair_of) {
  if (std::visit([](const auto& chosen) { return chosen.energy.disparities > 0; }, request.method)) return {};
  Request<Stereo> found = request;
  std::atomic<bool> cancelled = false;
  std::string warning;
  const auto work = [&] {
    if (!array.memory.on_host()) synchronize(device, Stream{array.stream});
    // An estimator that only examines frames in host memory needs no threads.
    const auto lease = EstimatorCache<Stereo>::take(request, pair_of(0)[0].size(),
                                                    array.memory.on_host() ? Device::cpu(1) : device, {});
    lease->reset();
    for (int i = 0; i < count && !cancelled; ++i) {
      const std::vector<Frame> pair = pair_of(i);
      const PairFindings findings = lease->examine(pair[0], pair[1]);
      for (const std::string& text : pair_warnings(findings, {}))
        if (warning.empty()) warning = (count > 1 ? "pair " + std::to_string(i) + ": " : "") + text;
    }
    found.method = lease->method();
  };
  run_without_lock(count > 1, work, [&] { cancelled = true; });
  if (!warning.empty()) warn_of_pair(warning);
  found.key = key_of(found);
  return found;
}

void bind_examination(nb::module_& module) {
  nb::class_<PairFindings> type(module, "PairFindings", "What examine_pair finds out.");
  type.def_ro("disparities", &PairFindings::disparities, "Number of disparities that the pair needs.")
      .def_ro("matched", &PairFindings::matched,
              "Share, 0 to 1, of the left image's pixels whose matches agree in both directions.")
      .def_ro("negative", &PairFindings::negative,
              "Share, 0 to 1, of the matched pixels whose match lies to the right in the right image.")
      .def_ro(
          "correlation", &PairFindings::correlation,
          "Correlation, -1 to 1, of the values that matched pixels have in the left and in the right image.")
      .def_prop_ro("swapped", &PairFindings::swapped,
                   "Whether the views seem to be swapped: most of the matches lie to the right.")
      .def_prop_ro(
          "blank", &PairFindings::blank,
          "Whether next to nothing is matched, as in a black pair, or the matches are more noise than "
          "texture, as those of covered cameras: then disparities says nothing.")
      .def("__repr__", [](const PairFindings& self) {
        return "PairFindings(disparities=" + std::to_string(self.disparities) +
               ", matched=" + detail::text_of(self.matched) + ", negative=" + detail::text_of(self.negative) +
               ", correlation=" + detail::text_of(self.correlation) + ")";
      });
  bind_fields_state(type, &PairFindings::disparities, &PairFindings::matched, &PairFindings::negative,
                    &PairFindings::correlation);
  const nb::none none;
  module.def(
      "examine_pair",
      [](nb::handle left, nb::handle right, nb::handle min_disparity, nb::handle axes, nb::handle range,
         nb::handle channels) {
        const int least = read_whole_number(min_disparity, "min_disparity", -4096, 4096);
        const FrameLayout layout = read_layout(axes, range, channels);
        const std::vector<FrameStack> frames = read_pair(left, right, layout, "examine_pair");
        const nb::gil_scoped_release released;
        const Array& array = frames[0].array;
        if (!array.memory.on_host()) synchronize(Device::cuda(array.memory.device), Stream{array.stream});
        return examine_pair(frames[0].first, frames[1].first, least);
      },
      nb::arg("left").none(), nb::arg("right").none(), nb::arg("min_disparity") = 0, nb::kw_only(),
      nb::arg("axes") = none, nb::arg("range") = none, nb::arg("channels") = none,
      nb::sig("def examine_pair(left: typing.Any, right: typing.Any, min_disparity: int = 0, *, axes: "
              "typing.Literal[\"hw\", \"hwc\", \"chw\"] | None = None, range: tuple[float, float] | None = "
              "None, channels: typing.Literal[\"rgb\", \"bgr\"] | None = None) -> PairFindings"),
      examine_doc);
}

}  // namespace parafield::python
