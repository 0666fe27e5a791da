// Accuracy on real sequences, where they are, on the CPU and on CUDA.
#include "parafield/parafield.hpp"
#include "support.hpp"
#include "targets.hpp"

namespace parafield {
namespace {

struct Sequence {
  std::vector<const char*> frames;
  const char *truth, *mask = nullptr;
};

FlowScores score(const Device& device, const Sequence& sequence, const FlowMethod& method) {
  const std::filesystem::path folder = *test::data_folder();
  std::vector<FrameBuffer> held;
  for (const char* frame : sequence.frames) held.push_back(read_frame(folder / frame));
  const FlowField flow = estimate_flow(std::vector<Frame>(held.begin(), held.end()), method, device);
  Image<std::uint8_t> mask;
  if (sequence.mask) mask = read_mask(folder / sequence.mask);
  return evaluate(flow, read_flow(folder / sequence.truth), {.mask = mask});
}

/// No worse than so, over every pixel with known truth.
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
const Sequence rubber_whale = PF_MIDDLEBURY("RubberWhale"), grove2 = PF_MIDDLEBURY("Grove2"),
               dimetrodon = PF_MIDDLEBURY("Dimetrodon"), venus = PF_MIDDLEBURY("Venus");
const Sequence no_clouds = {{"yosemite/noclouds/yos08.png", "yosemite/noclouds/yos09.png"},
                            "yosemite/noclouds/yos08_nosky.flo"};
const Sequence clouds_ground = {{"yosemite/clouds/yos09.png", "yosemite/clouds/yos10.png"},
                                "yosemite/clouds/flow09.flo",
                                "yosemite/clouds/mask_ground.png"};
const Sequence street = {{"kitti-flow/k_000010/frame10.png", "kitti-flow/k_000010/frame11.png"},
                         "kitti-flow/k_000010/flow_noc.png"};

const Sequence five_of_grove2 = {
    {"middlebury-flow/Grove2/gray/frame08.png", "middlebury-flow/Grove2/gray/frame09.png",
     "middlebury-flow/Grove2/gray/frame10.png", "middlebury-flow/Grove2/gray/frame11.png",
     "middlebury-flow/Grove2/gray/frame12.png"},
    "middlebury-flow/Grove2/flow10.flo"};
const Sequence five_of_clouds_ground = {
    {"yosemite/clouds/yos07.png", "yosemite/clouds/yos08.png", "yosemite/clouds/yos09.png",
     "yosemite/clouds/yos10.png", "yosemite/clouds/yos11.png"},
    "yosemite/clouds/flow09.flo",
    "yosemite/clouds/mask_ground.png"};
/// Of the rendering without clouds there are three frames; that with clouds has the same ground, and the truth no sky.
const Sequence five_without_sky = {
    {"yosemite/clouds/yos06.png", "yosemite/clouds/yos07.png", "yosemite/clouds/yos08.png",
     "yosemite/clouds/yos09.png", "yosemite/clouds/yos10.png"},
    "yosemite/noclouds/yos08_nosky.flo"};

TEST_P(Accuracy, AdaptiveRidge) {
  expect(AdaptiveRidge{}, {{rubber_whale, 4.45, .137},
                           {grove2, 2.13, .146},
                           {dimetrodon, 2.83, .152},
                           {venus, 4.32, .280},
                           {no_clouds, 2.56, .117},
                           {clouds_ground, 2.13, .109},
                           {street, 7.6, 3.6}});
}

TEST_P(Accuracy, FastAdaptiveRidge) {
  expect(preset<AdaptiveRidge>("fast"), {{rubber_whale, 4.69, .144},
                                         {grove2, 2.23, .153},
                                         {dimetrodon, 2.90, .156},
                                         {venus, 4.72, .305},
                                         {no_clouds, 2.66, .121},
                                         {clouds_ground, 2.26, .113},
                                         {street, 7.75, 3.6}});
}

TEST_P(Accuracy, AdaptiveRidgeOfFiveFrames) {
  expect(preset<AdaptiveRidge>("sequence"),
         {{five_of_grove2, 2.09, .148}, {five_of_clouds_ground, 1.38, .082}, {five_without_sky, 2.08, .112}});
}

TEST_P(Accuracy, LucasKanadeWithThePapersParameters) {
  expect(LucasKanade{}, {{rubber_whale, 8.6, .27},
                         {grove2, 4.3, .30},
                         {dimetrodon, 3.95, .21},
                         {venus, 10.5, .60},
                         {no_clouds, 3.6, .17},
                         {clouds_ground, 3.1, .16}});
}

TEST_P(Accuracy, AccurateLucasKanade) {
  expect(preset<LucasKanade>("accurate"), {{rubber_whale, 7.9, .24},
                                           {grove2, 3.85, .265},
                                           {dimetrodon, 3.25, .175},
                                           {venus, 8.7, .50},
                                           {no_clouds, 3.05, .14},
                                           {clouds_ground, 2.45, .125}});
}

INSTANTIATE_TEST_SUITE_P(Devices, Accuracy, testing::Values("cpu", "cuda"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace parafield
