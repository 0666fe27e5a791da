// SPDX-License-Identifier: MIT
// Every method of flow gives the same bits on every target.
#include "parity.hpp"

namespace parafield {
namespace {

std::vector<ParityCase<Flow>> cases() {
  constexpr Size sizes[] = {{1, 1}, {1, 9},   {9, 1},   {2, 2},    {3, 40},
                            {7, 5}, {33, 17}, {64, 48}, {101, 67}, {257, 130}};
  std::vector<ParityCase<Flow>> list;
  unsigned seed = 1;
  const auto add = [&](const auto& method, Size size) {
    FlowOptions options{.fb_check = seed % 4 == 0 && method.frames == 2 ? 0.7f : 0.0f};
    if (seed % 5 == 1) options.speckle = 6;
    if (seed % 7 == 2) options.fill = true;
    if (seed % 6 == 3) options.final_median = seed % 12 == 3 ? 3 : 5;
    if (seed % 3 == 1) options.energies = EnergyReport::sweeps;
    if (std::is_same_v<std::decay_t<decltype(method)>, AdaptiveRidge> && seed % 2 == 0)
      options.covariance = options.outlier = options.cause = true;
    list.push_back({fitted(method, size), size, every_format[seed % 9], seed, options});
    ++seed;
  };
  for_each_method<FlowMethod>([&]<class Method>(const Method&) {
    constexpr bool costly = LabelMethod<Method>, guided = requires(Method method) { method.tracking; };
    for (const Size size : sizes) {
      if ((costly || guided) && size.width > 110) continue;
      for (const auto& preset : presets(Method{})) add(restrained(preset.method), size);
      std::mt19937 random(seed);
      for (int i = 0; i < ((costly || guided) && size.width > 60 ? 2 : 6); ++i)
        add(random_method<Method>(random), size);
    }
    if (costly) {
      add(restrained(Method{}), {290, 37});  // wider than a chunk of sites or tiles
      return;
    }
    if (guided) {
      for (const auto& preset : presets(Method{})) add(restrained(preset.method), {290, 37});
      return;
    }
    for (const auto& preset : presets(Method{})) add(preset.method, {449, 303});
    add(Method{}, {1300, 70});  // wider than one tile of the CPU
  });
  return as_many_as_asked(list);
}

using FlowParity = Parity<Flow>;
TEST_P(FlowParity, HostFrames) { expect_parity_of_host_frames(cases()); }
TEST_P(FlowParity, DeviceFrames) { expect_parity_of_device_frames(cases()); }
INSTANTIATE_TEST_SUITE_P(Targets, FlowParity, every_target(), target_name);

}  // namespace
}  // namespace parafield
