// SPDX-License-Identifier: MIT
// The same bits from every method of stereo and of motion detection on every target.
#include "parity.hpp"

namespace parafield {
namespace {

constexpr Size sizes[] = {{1, 1}, {1, 9},   {9, 1},   {2, 2},    {3, 40},
                          {7, 5}, {33, 17}, {64, 48}, {101, 67}, {290, 37}};

/// Random methods and the presets at every size, in pixel formats that take turns.
template <class Task, class Options>
std::vector<ParityCase<Task>> cases(Options options_of) {
  std::vector<ParityCase<Task>> list;
  unsigned seed = 1;
  for_each_method<typename Task::Method>([&]<class Method>(const Method&) {
    for (const Size size : sizes) {
      const auto add = [&](const Method& method) {
        list.push_back({fitted(method, size), size, every_format[seed % 9], seed, options_of(seed)});
        ++seed;
      };
      for (const auto& preset : presets(Method{})) add(restrained(preset.method));
      std::mt19937 random(seed);
      for (int i = 0; i < 9; ++i) add(random_method<Method>(random));
    }
  });
  return as_many_as_asked(list);
}

EnergyReport report_of(unsigned seed) {
  return seed % 4 == 0 ? EnergyReport::none : seed % 4 == 1 ? EnergyReport::sweeps : EnergyReport::result;
}

/// Belief propagation in 16 bits, where matches outside the image cost more than any difference: four such
/// costs of level 1 exceed 16 bits.
BeliefPropagation<StereoEnergy> outside_costs_most() {
  BeliefPropagation<StereoEnergy> method;
  method.energy.disparities = 20;
  method.energy.cost = {
      .data = DataTerm::mix, .rgb = true, .weight = 0.5f, .truncation = 112.5f, .texture_aware = true};
  method.energy.smoothness = {.beta = 0.7f, .smoothness_truncation = 17};
  method.energy.checks = {};
  method.precision = Precision::fast;
  return method;
}

std::vector<ParityCase<Stereo>> stereo_cases() {
  auto list = cases<Stereo>([](unsigned seed) { return StereoOptions{.energies = report_of(seed)}; });
  list.push_back({outside_costs_most(), {101, 67}, PixelFormat::rgb_u8, unsigned(list.size() + 1), {}});
  for (ParityCase<Stereo>& each : list)
    if (const auto* method = std::get_if<BeliefPropagation<StereoEnergy>>(&each.method))
      each.options.sigma = each.options.outlier = each.options.cause =
          method->energy.checks.lr_check > 0 && each.seed % 2 == 0;
  return list;
}
std::vector<ParityCase<Detection>> detection_cases() {
  return cases<Detection>([](unsigned seed) { return DetectionOptions{.energies = report_of(seed)}; });
}

using StereoParity = Parity<Stereo>;
TEST_P(StereoParity, HostFrames) { expect_parity_of_host_frames(stereo_cases()); }
TEST_P(StereoParity, DeviceFrames) { expect_parity_of_device_frames(stereo_cases()); }
INSTANTIATE_TEST_SUITE_P(Targets, StereoParity, every_target(), target_name);

using DetectionParity = Parity<Detection>;
TEST_P(DetectionParity, HostFrames) { expect_parity_of_host_frames(detection_cases()); }
TEST_P(DetectionParity, DeviceFrames) { expect_parity_of_device_frames(detection_cases()); }
INSTANTIATE_TEST_SUITE_P(Targets, DetectionParity, every_target(), target_name);

}  // namespace
}  // namespace parafield
