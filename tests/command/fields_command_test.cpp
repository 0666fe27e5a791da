// SPDX-License-Identifier: MIT
// parafield eval and color with disparities and motion masks, end to end.
#include "command/run_command.hpp"
#include "support.hpp"

namespace parafield::test {
namespace {

class FieldsCommand : public CommandTest {
 protected:
  /// A gray PNG of one row.
  template <class T>
  std::string gray(const std::string& name, const std::vector<T>& values) const {
    const int width = int(values.size());
    write_frame(path(name),
                {values.data(), width, 1, 0, sizeof(T) == 1 ? PixelFormat::gray_u8 : PixelFormat::gray_u16});
    return path(name);
  }
  std::string narrow(const std::string& name, const std::vector<std::uint8_t>& values) const {
    return gray(name, values);
  }
  /// A file of disparities, one row, all valid; the extension gives the format.
  std::string disparities(const std::string& name, const std::vector<float>& values) const {
    DisparityField field({int(values.size()), 1});
    for (int x = 0; x < field.size().width; ++x) {
      field.d(x, 0) = values[x];
      field.valid(x, 0) = 1;
    }
    write_disparity(path(name), field);
    return path(name);
  }
};

const Words disparity_keys = {"bad_0_5", "bad_1",   "bad_2",  "bad_4",   "average", "rms",
                              "d1_all",  "density", "pixels", "unknown", "missing"};

TEST_F(FieldsCommand, EvalScoresDisparities) {
  const std::string truth = narrow("truth.png", {0, 40, 40, 40, 80});  // unknown, 10, 10, 10, 20 px
  for (const char* name : {"estimate.pfm", "estimate.npy", "estimate.png"}) {
    const std::string estimate = disparities(name, {3, 10, 10.75f, 12, 25});
    const auto json = run_well({"eval", estimate, truth, "--gt-scale", "4", "--json"}).json();
    EXPECT_EQ(json["task"], "disparity");
    EXPECT_EQ(json["width"], 5);
    EXPECT_EQ(json["height"], 1);
    for (const std::string& key : disparity_keys) EXPECT_TRUE(json[key].is_number()) << key;
    EXPECT_EQ(json["bad_0_5"], 0.75);
    EXPECT_EQ(json["bad_1"], 0.5);
    EXPECT_EQ(json["bad_2"], 0.25);
    EXPECT_EQ(json["bad_4"], 0.25);
    EXPECT_EQ(json["average"], 1.9375);
    EXPECT_EQ(json["d1_all"], 0.25);
    EXPECT_EQ(json["density"], 1);
    EXPECT_EQ(json["pixels"], 4);
    EXPECT_EQ(json["unknown"], 1);
    EXPECT_FALSE(json.contains("all"));
  }
  const std::string text = run_well({"eval", path("estimate.pfm"), truth, "--gt-scale", "4"}).out;
  for (const char* word : {"1 px 50.00 %", "average 1.9375 px", "RMS", "density", "1 with unknown truth"})
    EXPECT_NE(text.find(word), std::string::npos) << word << " in " << text;
}

TEST_F(FieldsCommand, EvalScoresDisparitiesInsideAMaskAndAll) {
  const std::string truth = disparities("truth.pfm", {10, 10, 10, 10}),
                    estimate = disparities("estimate.pfm", {10, 11.5f, 10, 20}),
                    mask = narrow("mask.png", {255, 255, 0, 0});
  const auto json = run_well({"eval", estimate, truth, "--mask", mask, "--json"}).json();
  EXPECT_EQ(json["pixels"], 2);
  EXPECT_EQ(json["bad_1"], 0.5);
  EXPECT_EQ(json["bad_2"], 0);
  EXPECT_EQ(json["all"]["pixels"], 4);
  EXPECT_EQ(json["all"]["bad_2"], 0.25);
  for (const std::string& key : disparity_keys) EXPECT_TRUE(json["all"].contains(key)) << key;
  const std::string text = run_well({"eval", estimate, truth, "--mask", mask}).out;
  EXPECT_TRUE(text.starts_with("inside the mask: ")) << text;
  EXPECT_NE(text.find("\nall pixels: "), std::string::npos) << text;
}

TEST_F(FieldsCommand, EvalScoresTheConfidence) {
  const std::string truth = disparities("truth.pfm", {10, 10, 10, 10}),
                    mask = narrow("mask.png", {255, 255, 0, 0});
  for (const char* name : {"c.pfm", "c.npy"}) {
    const std::string estimate = disparities("e.npy", {10, 11, 12, 15}),
                      confidence = disparities(name, {3, 2, 9, NAN});
    const Words words = {"eval", estimate, truth, "--confidence", confidence};
    const auto json = run_well(join(words, {"--json", "--mask", mask})).json();
    EXPECT_EQ(json["auc"], 0.25);  // errors 0, 1
    EXPECT_EQ(json["auc_best"], 0.25);
    EXPECT_NEAR(json["all"]["auc"], (2 + 1 + 1 + 2) / 4., 1e-12);  // errors 2, 0, 1, 5
    EXPECT_EQ(json["all"]["auc_best"], 0.875);
    const std::string text = run_well(words).out;
    EXPECT_TRUE(text.ends_with("\nAUC 1.5000 px (best possible 0.8750)\n")) << text;
    const std::string both = run_well(join(words, {"--mask", mask})).out;
    EXPECT_NE(both.find("\nAUC 0.2500 px (best possible 0.2500)\nall pixels: "), std::string::npos) << both;
  }
  const auto json = run_well({"eval", path("e.npy"), truth, "--json"}).json();
  EXPECT_FALSE(json.contains("auc"));
  EXPECT_FALSE(json.contains("auc_best"));
}

TEST_F(FieldsCommand, EvalRefusesOtherConfidences) {
  const std::string field = disparities("a.pfm", {1, 2}), wide = disparities("wide.npy", {1, 2, 3}),
                    picture = narrow("a.png", {0, 255});
  write_flow(path("a.flo"), FlowField({2, 1}));
  const auto expect = [&](int code, const std::string& confidence, const Words& parts) {
    expect_failure(code, {"eval", field, field, "--confidence", confidence}, parts);
  };
  expect(1, wide, {"sizes differ", field + " is 2x1", wide + " is 3x1"});
  expect(1, picture, {picture + ": holds a picture, not a confidence"});
  expect(1, path("a.flo"), {"a.flo: holds flow, not a confidence"});
  expect(1, path("none.npy"), {"none.npy"});
  expect_failure(1, {"eval", path("a.flo"), path("a.flo"), "--confidence", wide}, {"a.flo is 2x1", "3x1"});
  expect_failure(2, {"eval", "--task", "mask", picture, picture, "--confidence", field},
                 {"--confidence", "masks"});
}

TEST_F(FieldsCommand, EvalTakesTheScaleOfTheEstimateToo) {
  const std::string estimate = narrow("estimate.png", {16, 32, 0}), truth = narrow("truth.png", {4, 8, 12});
  for (const char* option : {"--scale", "--disparity-scale"}) {
    const auto json = run_well({"eval", estimate, truth, option, "16", "--gt-scale", "4", "--json"}).json();
    EXPECT_EQ(json["average"], 0);
    EXPECT_EQ(json["pixels"], 2);
    EXPECT_EQ(json["missing"], 1);
    EXPECT_NEAR(json["density"], 2 / 3., 1e-12);
  }
  const std::string kitti = gray<std::uint16_t>("kitti.png", {256, 512, 768});
  EXPECT_EQ(run_well({"eval", kitti, truth, "--gt-scale", "4", "--json"}).json()["average"], 0);
  EXPECT_EQ(run_well({"eval", kitti, kitti, "--json"}).json()["task"], "disparity");
}

TEST_F(FieldsCommand, EvalScoresMasks) {
  const std::string estimate = narrow("estimate.png", {255, 1, 255, 0, 0, 255}),
                    labels = narrow("labels.png", {255, 255, 50, 255, 0, 170});
  const auto json = run_well({"eval", "--task", "mask", estimate, labels, "--json"}).json();
  EXPECT_EQ(json["task"], "mask");
  EXPECT_NEAR(json["precision"], 2 / 3., 1e-12);
  EXPECT_NEAR(json["recall"], 2 / 3., 1e-12);
  EXPECT_NEAR(json["f1"], 2 / 3., 1e-12);
  EXPECT_EQ(json["iou"], 0.5);
  EXPECT_EQ(json["pwc"], 40);
  EXPECT_EQ(json["unscored"], 1);
  const std::string inside = narrow("inside.png", {1, 1, 0, 0, 1, 1});
  EXPECT_EQ(run_well({"eval", "--task", "mask", estimate, labels, "--mask", inside, "--json"}).json()["pwc"],
            0);
  const std::string text = run_well({"eval", "--task", "mask", estimate, labels}).out;
  for (const char* word : {"precision 0.6667", "IoU 0.5000", "(PWC) 40.00 %", "1 not scored"})
    EXPECT_NE(text.find(word), std::string::npos) << word << " in " << text;
}

TEST_F(FieldsCommand, EvalOfNoMotionSaysNull) {
  const std::string still = narrow("still.png", {0, 0});
  const auto json = run_well({"eval", "--task", "mask", still, still, "--json"}).json();
  EXPECT_TRUE(json["f1"].is_null());
  EXPECT_EQ(json["pwc"], 0);
}

TEST_F(FieldsCommand, EvalRefusesWhatItCannotCompare) {
  const std::string picture = narrow("a.png", {0, 7}), field = disparities("a.pfm", {1, 2}),
                    wide = disparities("wide.pfm", {1, 2, 3});
  FlowField flow({2, 1});
  write_flow(path("a.flo"), flow);
  expect_failure(1, {"eval", picture, picture}, {picture + " holds a picture", "--task", "disparity, mask"});
  expect_failure(1, {"eval", field, path("a.flo")}, {"holds disparities", "holds flow", "one kind"});
  expect_failure(1, {"eval", field, wide}, {field, wide, "2x1", "3x1"});
  expect_failure(1, {"eval", field, field, "--mask", field + "x"}, {field + "x"});
  expect_failure(2, {"eval", field, picture}, {picture, "8 bits need a scale", "--gt-scale"});
  expect_failure(2, {"eval", picture, field}, {picture, "8 bits need a scale", "--scale"});
  expect_failure(2, {"eval", field, field, "--scale", "4"}, {"--scale is for a PNG; " + field + " holds px"});
  expect_failure(2, {"eval", field, field, "--gt-scale", "4"}, {"--gt-scale is for a PNG"});
  std::ofstream(path("text.txt")) << "no field";
  expect_failure(1, {"eval", path("text.txt"), path("text.txt")},
                 {"text.txt holds unknown data", "; it should be flow, disparities or a picture"});
  expect_failure(1, {"eval", "--task", "mask", picture, picture}, {picture, "label 7 at pixel (1, 0)"});
  expect_failure(1, {"eval", "--task", "mask", field, wide}, {"2x1", "3x1"});
  expect_failure(1, {"eval", "--task", "flow", field, field}, {field, "not flow"});
  expect_failure(1, {"eval", "--task", "disparity", path("a.flo"), field}, {"a.flo", "not disparities"});
  expect_failure(2, {"eval", "--task", "mask", picture, picture, "--scale", "4"}, {"--scale", "mask"});
  expect_failure(2, {"eval", "--task", "mask", picture, picture, "--valid-only"}, {"--valid-only", "mask"});
  expect_failure(2, {"eval", "--task", "stereo", field, field}, {"--task", "stereo"});
  for (const char* bad : {"0", "-1", "nan", "four"})
    for (const char* option : {"--scale", "--gt-scale"})
      expect_failure(2, {"eval", field, field, option, bad}, {option});
}

TEST_F(FieldsCommand, ColorDrawsDisparities) {
  const std::string out = path("out.png");
  const std::string field = disparities("a.pfm", {4, 8, INFINITY}), picture = narrow("a.png", {16, 32, 0});
  run_well({"color", field, "-o", out});
  const FrameBuffer colors = read_frame(out);
  ASSERT_EQ(colors.size(), (Size{3, 1}));
  ASSERT_EQ(colors.format(), PixelFormat::rgb_u8);
  const auto* pixel = static_cast<const std::uint8_t*>(colors.row(0));
  EXPECT_GT(pixel[2], pixel[0]) << "far: blue";
  EXPECT_GT(pixel[3], pixel[5]) << "near: red";
  EXPECT_EQ(pixel[6] + pixel[7] + pixel[8], 0) << "unknown: black";
  const std::string drawn = read_text(out);
  run_well({"color", picture, "-o", out, "--disparity-scale", "4"});
  EXPECT_EQ(read_text(out), drawn);
  run_well({"color", field, "-o", out, "--min", "4", "--max", "8"});
  EXPECT_EQ(read_text(out), drawn);
  run_well({"color", field, "-o", out, "--max", "8"});
  EXPECT_NE(read_text(out), drawn);
  run_well({"color", gray<std::uint16_t>("kitti.png", {1024, 2048, 0}), "-o", out});
  EXPECT_EQ(read_text(out), drawn);
}

TEST_F(FieldsCommand, ColorRefusesOptionsOfTheOtherTask) {
  const std::string out = path("out.png"), field = disparities("a.pfm", {4, 8});
  FlowField flow({2, 1});
  write_flow(path("a.flo"), flow);
  const std::string picture = narrow("a.png", {1, 2});
  expect_failure(2, {"color", field, "-o", out, "--scheme", "marzat"}, {"--scheme", "disparities"});
  expect_failure(2, {"color", field, "-o", out, "--legend"}, {"--legend", "disparities"});
  expect_failure(2, {"color", field, "-o", out, "--frame", picture, "--beside"}, {"disparities"});
  expect_failure(2, {"color", path("a.flo"), "-o", out, "--max", "8"}, {"--max", "flow"});
  expect_failure(2, {"color", path("a.flo"), "-o", out, "--disparity-scale", "8", "--task", "flow"},
                 {"--disparity-scale", "flow"});
  expect_failure(2, {"color", field, "-o", out, "--min", "4"}, {"--min", "--max"});
  expect_failure(2, {"color", field, "-o", out, "--min", "4", "--max", "3"},
                 {"--max: 3 px is not a finite number above --min, 4 px"});
  for (const char* bad : {"0", "-1", "nan", "inf"})
    expect_failure(2, {"color", field, "-o", out, "--max", bad}, {"above --min, 0 px"});
  expect_failure(2, {"color", field, "-o", out, "--disparity-scale", "4"},
                 {"--disparity-scale is for a PNG; " + field + " holds px"});
  expect_failure(2, {"color", picture, "-o", out, "--task", "disparity"}, {picture, "--disparity-scale"});
  expect_failure(1, {"color", picture, "-o", out}, {picture, "holds a picture", "--task", "disparity"});
  const std::string kitti = gray<std::uint16_t>("kitti.png", {256, 512});
  expect_failure(1, {"color", kitti, "-o", kitti}, {kitti, "is an input"});
  expect_failure(2, {"color", field, "-o", out, "--task", "mask"}, {"--task", "mask"});
}

TEST_F(FieldsCommand, EvalAndColorTakeMiddleburysFiles) {
  PARAFIELD_DATA_OR_SKIP(folder, "middlebury-stereo/cones");
  const std::string truth = folder / "disp_left.png", mask = folder / "nonocc_derived.png";
  const auto json =
      run_well({"eval", truth, truth, "--scale", "4", "--gt-scale", "4", "--mask", mask, "--json"}).json();
  EXPECT_EQ(json["bad_1"], 0);
  EXPECT_EQ(json["unknown"].get<int>() + json["pixels"].get<int>(), 143555);
  EXPECT_EQ(json["all"]["pixels"].get<int>() + json["all"]["unknown"].get<int>(), 450 * 375);
  run_well({"color", truth, "--disparity-scale", "4", "-o", path("out.png")});
  EXPECT_EQ(read_frame(path("out.png")).size(), (Size{450, 375}));
}

TEST_F(FieldsCommand, EvalTakesCdnetsLabels) {
  PARAFIELD_DATA_OR_SKIP(labels, "cdnet/highway_a/groundtruth/gt000890.png");
  const auto json = run_well({"eval", "--task", "mask", labels, labels, "--json"}).json();
  EXPECT_EQ(json["recall"], 1);
  EXPECT_GT(json["unscored"], 1000);
}

}  // namespace
}  // namespace parafield::test
