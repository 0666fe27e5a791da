// SPDX-License-Identifier: MIT
// Estimators that share a device take other kernels than one alone, with the same results.
#include <optional>

#include "core/device_use.hpp"
#include "tasks/any_case.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

constexpr int frame_count = 12;

class SharedDeviceOn : public OnDevice {
 protected:
  bool on_gpu() const { return device().kind == Device::Kind::cuda; }

  /// Hashes of the results of a sequence's frames, pushed and called. Other estimators have work on the device
  /// from frame `begin` to frame `end` - 1.
  std::vector<std::uint64_t> hashes(const FlowMethod& method, const std::vector<FrameBuffer>& frames,
                                    int begin, int end) const {
    const Size size = frames[0].size();
    FlowEstimator estimator(method, size, {.device = device()});
    const Memory memory = on_gpu() ? Memory::cuda(device().index) : Memory::host();
    const FrameBuffer there[] = {frames[0].to(memory),
                                 frames[1].to(memory)};  // nobody waits for their results
    std::optional<std::vector<FlowEstimator>> others;
    std::vector<std::uint64_t> results;
    for (int i = 0; i < frame_count; ++i) {
      if (i == begin) {
        others.emplace();
        for (int k = 1; k < DeviceUse::several; ++k)
          others->emplace_back(LucasKanade{}, size, FlowOptions{.device = device()});
      }
      if (i == end) others.reset();
      if (others) {
        for (FlowEstimator& other : *others) other(there[0], there[1]);
        if (on_gpu()) EXPECT_TRUE(DeviceUse(device().index).begin_solve()) << "the device is shared";
      }
      // A call makes the sequence begin again.
      const int length = std::visit([](const auto& one) { return int(one.frames); }, method);
      const bool calls = i % 6 == 5 && length == 2;
      const FlowField* result = calls ? &estimator(frames[std::size_t(i - 1)], frames[std::size_t(i)])
                                      : estimator.push(frames[std::size_t(i)]);
      results.push_back(result ? hash_of(*result) : 0);
    }
    return results;
  }
};

TEST_P(SharedDeviceOn, AMethodGivesTheResultsOfOneAlone) {
  const Size size = on_gpu() ? Size{333, 217} : Size{70, 52};  // a CPU has no other kernels
  const Scene scene = render_scene("layers", {.size = size, .frames = frame_count});
  std::vector<std::pair<std::string, FlowMethod>> methods;
  for (const auto& preset : presets(AdaptiveRidge{})) methods.emplace_back(preset.name, preset.method);
  methods.emplace_back("always matches", AdaptiveRidge{.matches = UseOfMatches::always});
  for (const auto& preset : presets(LucasKanade{}))
    methods.emplace_back("lucas-kanade " + std::string(preset.name), preset.method);
  methods.emplace_back("direct-interpolation", DirectInterpolation{});
  for (const auto& [name, method] : methods) {
    const std::vector<std::uint64_t> alone = hashes(method, scene.frames, frame_count, frame_count);
    EXPECT_EQ(alone, hashes(method, scene.frames, 4, 9)) << name;
    EXPECT_EQ(alone, hashes(method, scene.frames, 0, frame_count)) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, SharedDeviceOn, every_device(), device_name);

}  // namespace
}  // namespace parafield
