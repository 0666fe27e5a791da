// SPDX-License-Identifier: MIT
// Estimators for throughput use other kernels on CUDA, with the same results.
#include "targets.hpp"
#include "tasks/any_case.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

class ThroughputOn : public OnDevice {
 protected:
  bool on_gpu() const { return device().kind == Device::Kind::cuda; }

  /// Hashes of the results of a sequence's frames, pushed and called.
  std::vector<std::uint64_t> hashes(const FlowMethod& method, const std::vector<FrameBuffer>& frames,
                                    bool throughput) const {
    FlowEstimator estimator(method, frames[0].size(), {.device = device(), .throughput = throughput});
    std::vector<std::uint64_t> results;
    for (const FrameBuffer& frame : frames)
      if (const FlowField* flow = estimator.push(frame)) results.push_back(hash_of(*flow));
    if (frames_of(method) == 2) results.push_back(hash_of(estimator(frames[0], frames[1])));
    return results;
  }
};

TEST_P(ThroughputOn, GivesTheResultsOfLatency) {
  const Size size = on_gpu()    ? Size{333, 217}
                    : sanitized ? Size{40, 30}
                                : Size{70, 52};  // a CPU has no other kernels
  const Scene scene = render_scene("layers", {.size = size, .frames = 8});
  std::vector<std::pair<std::string, FlowMethod>> methods;
  for (const auto& preset : presets(AdaptiveRidge{}))
    if (!sanitized || methods.empty()) methods.emplace_back(preset.name, preset.method);
  methods.emplace_back("always matches", AdaptiveRidge{.matches = UseOfMatches::always});
  for (const auto& preset : presets(LucasKanade{}))
    if (!sanitized || preset.name == "default")
      methods.emplace_back("lucas-kanade " + std::string(preset.name), preset.method);
  methods.emplace_back("direct-interpolation", DirectInterpolation{});
  for (const auto& [name, method] : methods) {
    const auto expected = hashes(method, scene.frames, false);
    EXPECT_GE(expected.size(), 4u);
    EXPECT_EQ(hashes(method, scene.frames, true), expected) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ThroughputOn, every_device(), device_name);

}  // namespace
}  // namespace parafield
