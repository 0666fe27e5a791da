// Accuracy on real sequences, where they are, on the CPU and on CUDA.
#include "parafield/parafield.hpp"
#include "support.hpp"
#include "targets.hpp"

namespace parafield {
namespace {

struct Sequence {
  const char *frame0, *frame1, *truth, *mask;
};

FlowScores score(const Device& device, const Sequence& sequence, const FlowMethod& method) {
  const std::filesystem::path folder = *test::data_folder();
  const FlowField flow = estimate_flow(read_frame(folder / sequence.frame0),
                                       read_frame(folder / sequence.frame1), method, device);
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

#define PF_MIDDLEBURY(name)                                                         \
  Sequence {                                                                        \
    "middlebury-flow/" name "/frame10.png", "middlebury-flow/" name "/frame11.png", \
        "middlebury-flow/" name "/flow10.flo", nullptr                              \
  }
constexpr Sequence rubber_whale = PF_MIDDLEBURY("RubberWhale"), grove2 = PF_MIDDLEBURY("Grove2"),
                   dimetrodon = PF_MIDDLEBURY("Dimetrodon"), venus = PF_MIDDLEBURY("Venus");
constexpr Sequence no_clouds = {"yosemite/noclouds/yos08.png", "yosemite/noclouds/yos09.png",
                                "yosemite/noclouds/yos08_nosky.flo", nullptr};
constexpr Sequence clouds_ground = {"yosemite/clouds/yos09.png", "yosemite/clouds/yos10.png",
                                    "yosemite/clouds/flow09.flo", "yosemite/clouds/mask_ground.png"};

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
