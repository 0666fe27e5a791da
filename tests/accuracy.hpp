// SPDX-License-Identifier: MIT
#pragma once
// Accuracy on real sequences, where they are, on the CPU and on CUDA.
#include <string>
#include <vector>

#include "parafield/parafield.hpp"
#include "support.hpp"
#include "targets.hpp"

namespace parafield {

struct Sequence {
  std::vector<const char*> frames;
  const char *truth, *mask = nullptr;
};

inline FlowScores score(const Device& device, const Sequence& sequence, const FlowMethod& method) {
  const std::filesystem::path folder = *test::data_folder();
  std::vector<FrameBuffer> held;
  for (const char* frame : sequence.frames) held.push_back(read_frame(folder / frame));
  const FlowField flow =
      estimate_flow(std::vector<Frame>(held.begin(), held.end()), method, {.device = device});
  Image<std::uint8_t> mask;
  if (sequence.mask) mask = read_mask(folder / sequence.mask);
  return evaluate(flow, read_flow(folder / sequence.truth), {.mask = mask});
}

/// Upper limits of the errors over every pixel with known truth.
struct Expected {
  Sequence sequence;
  double aae, epe;  // degrees, px
};

class Accuracy : public testing::TestWithParam<const char*> {
 protected:
  void expect(const FlowMethod& method, const std::vector<Expected>& list) {
    if (!test::data_folder()) GTEST_SKIP() << "skipped without the data folder; PARAFIELD_DATA names it";
    const Device device = parse_device(GetParam());
    if (device.kind == Device::Kind::cuda && !why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    for (const Expected& expected : list) {
      const FlowScores scores = score(device, expected.sequence, method);
      EXPECT_LE(scores.aae, expected.aae) << expected.sequence.truth;
      EXPECT_LE(scores.epe, expected.epe) << expected.sequence.truth;
    }
  }
};

#define PF_MIDDLEBURY(name)                                                           \
  Sequence {                                                                          \
    {"middlebury-flow/" name "/frame10.png", "middlebury-flow/" name "/frame11.png"}, \
        "middlebury-flow/" name "/flow10.flo"                                         \
  }
inline const Sequence rubber_whale = PF_MIDDLEBURY("RubberWhale"), grove2 = PF_MIDDLEBURY("Grove2"),
                      dimetrodon = PF_MIDDLEBURY("Dimetrodon"), venus = PF_MIDDLEBURY("Venus");
inline const Sequence no_clouds = {{"yosemite/noclouds/yos08.png", "yosemite/noclouds/yos09.png"},
                                   "yosemite/noclouds/yos08_nosky.flo"};
inline const Sequence clouds_ground = {{"yosemite/clouds/yos09.png", "yosemite/clouds/yos10.png"},
                                       "yosemite/clouds/flow09.flo",
                                       "yosemite/clouds/mask_ground.png"};
inline const Sequence street = {{"kitti-flow/k_000010/frame10.png", "kitti-flow/k_000010/frame11.png"},
                                "kitti-flow/k_000010/flow_noc.png"};
inline const Sequence whole_street = {{"kitti-flow/k_000010/frame10.png", "kitti-flow/k_000010/frame11.png"},
                                      "kitti-flow/k_000010/flow_occ.png"};
#undef PF_MIDDLEBURY

inline auto cpu_and_cuda() { return testing::Values("cpu", "cuda"); }
inline std::string accuracy_name(const testing::TestParamInfo<const char*>& info) { return info.param; }

}  // namespace parafield
