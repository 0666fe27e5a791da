// SPDX-License-Identifier: MIT
#include <thread>

#include "frei0r/plugin.hpp"

namespace parafield::test {
namespace {

TEST(FreiPluginThreads, InstancesDrawAtTheSameTime) {
  const Plugin flow("parafield_flow"), motion("parafield_motion");
  const std::vector<FrameBuffer> frames =
      std::move(render_scene("balloons", {.size = {64, 48}, .frames = 3}).frames);
  const auto video = [&](const Plugin& plugin) {
    Instance instance(plugin, frames[0].size());
    instance.set(0, "overlay");
    std::vector<Pixels> shown;
    for (int i = 0; i < int(frames.size()); ++i) shown.push_back(instance(i, rgba_of(frames[i])));
    return shown;
  };
  const auto flow_alone = video(flow), motion_alone = video(motion);
  std::vector<std::vector<Pixels>> together(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] { together[i] = video(i % 2 == 0 ? flow : motion); });
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(together[i], i % 2 == 0 ? flow_alone : motion_alone);
}

}  // namespace
}  // namespace parafield::test
