// SPDX-License-Identifier: MIT
// parafield stereo --calibration, end to end: two cameras that look at a plane.
#include <cmath>
#include <cstring>

#include "command/run_command.hpp"
#include "oracle/stereo_camera.hpp"

namespace parafield::test {
namespace {

class CalibrationCommand : public CommandTest {
 protected:
  const StereoCalibration cameras_ = oracle::some_calibration();
  const oracle::TexturedPlane plane_{};

  void SetUp() override {
    CommandTest::SetUp();
    static const FrameBuffer left = oracle::image_of(cameras_, false, plane_, PixelFormat::rgb_u8),
                             right = oracle::image_of(cameras_, true, plane_, PixelFormat::rgb_u8);
    write_frame(path("left.png"), left);
    write_frame(path("right.png"), right);
    write("stereo.yml", intrinsics() + extrinsics());
  }

  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }

  static std::string matrix(const std::string& name, int rows, int columns,
                            const std::vector<double>& values) {
    std::ostringstream text;
    text.precision(17);
    text << name << ": !!opencv-matrix\n   rows: " << rows << "\n   cols: " << columns
         << "\n   dt: d\n   data: [";
    for (std::size_t i = 0; i < values.size(); ++i) text << (i ? ", " : " ") << values[i];
    text << " ]\n";
    return text.str();
  }
  std::string intrinsics() const {
    std::string text = "%YAML:1.0\n---\n";
    for (const bool right : {false, true}) {
      const auto& [fx, fy, cx, cy, k] = right ? cameras_.right : cameras_.left;
      const std::string number = right ? "2" : "1";
      text += matrix("K" + number, 3, 3, {fx, 0, cx, 0, fy, cy, 0, 0, 1});
      text += matrix("D" + number, 1, 5, {k.k1, k.k2, k.p1, k.p2, k.k3});
    }
    return text;
  }
  std::string extrinsics() const {
    const auto& r = cameras_.rotation;
    const auto& t = cameras_.translation;
    return matrix("R", 3, 3, {r.begin(), r.end()}) + matrix("T", 3, 1, {t.begin(), t.end()});
  }

  /// `parafield stereo` with the pair and more words.
  Words stereo(Words more) const {
    const Words words = {"stereo", path("left.png"), path("right.png"), "-d", "cpu", "--disparities", "32"};
    more.insert(more.begin(), words.begin(), words.end());
    return more;
  }
  nlohmann::json json(Words more) const {
    more.push_back("--json");
    return run_well(stereo(more)).json();
  }
};

/// Points of a binary .ply file.
std::vector<ColorPoint> points_in(const std::string& file) {
  const std::string bytes = read_text(file), end = "end_header\n", count = "element vertex ";
  std::size_t at = bytes.find(end) + end.size();
  std::vector<ColorPoint> points(std::stoul(bytes.substr(bytes.find(count) + count.size())));
  EXPECT_EQ(bytes.size(), at + 15 * points.size());
  for (ColorPoint& point : points) {
    std::memcpy(&point.x, &bytes[at], 4);
    std::memcpy(&point.y, &bytes[at + 4], 4);
    std::memcpy(&point.z, &bytes[at + 8], 4);
    point.red = std::uint8_t(bytes[at + 12]);
    at += 15;
  }
  return points;
}

TEST_F(CalibrationCommand, RectifiesAndMeasuresPointsOfThePlane) {
  const auto report =
      json({"--calibration", path("stereo.yml"), "--sub-pixel", "--points", path("p.ply"), "--depth",
            path("z.npy"), "--rectified-left", path("l.png"), "--rectified-right", path("r.pfm")});
  const auto& seen = report["rectification"];
  EXPECT_GT(seen["before"]["median_error"], 5);
  EXPECT_EQ(seen["before"]["above_1"], 1);
  EXPECT_LT(seen["after"]["median_error"], 0.1);
  EXPECT_EQ(seen["after"]["above_1"], 0);
  EXPECT_GT(seen["after"]["tracks"], 100);
  EXPECT_EQ(seen["seen"], 1);
  EXPECT_EQ(report["files"], (Words{path("z.npy"), path("p.ply"), path("l.png"), path("r.pfm")}));

  const Rectification plan = plan_rectification(cameras_);
  EXPECT_NEAR(seen["focal"].get<double>(), plan.geometry.focal, 1e-9);
  EXPECT_NEAR(seen["baseline"].get<double>(), plan.geometry.baseline, 1e-12);
  std::vector<double> errors;
  for (const ColorPoint& point : points_in(path("p.ply"))) {
    const oracle::Point p = oracle::moved_back(plan.left_rotation, {point.x, point.y, point.z});
    errors.push_back(std::abs(plane_.a * p.x + plane_.b * p.y + p.z - plane_.depth));
  }
  ASSERT_GT(errors.size(), 60000u);
  std::ranges::sort(errors);
  EXPECT_LT(errors[errors.size() / 2], 0.02) << "the plane is 1.5 away, 0.01 is 0.14 px";

  EXPECT_EQ(read_frame(path("l.png")).format(), PixelFormat::rgb_u8);
  json({"--calibration", path("stereo.yml"), "--rectified-left", path("l.pfm")});
  const FrameBuffer left = read_frame(path("l.pfm")), right = read_frame(path("r.pfm"));
  EXPECT_EQ(right.format(), PixelFormat::rgb_f32);
  EXPECT_LT(measure_row_alignment(left, right, Device::cpu()).median_error, 0.1);
  EXPECT_EQ(read_disparity(path("z.npy")).size(), cameras_.size);
}

TEST_F(CalibrationCommand, ReportsInText) {
  const std::string text = run_well(stereo({"--calibration", path("stereo.yml")})).out;
  for (const char* part : {"cameras: focal length ", "rows before rectification: median ",
                           "rows after rectification: median 0.0", " px, of "})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
}

TEST_F(CalibrationCommand, TakesTwoFilesAndShowsWholeImages) {
  write("intrinsics.yml", intrinsics());
  write("extrinsics.yml", "%YAML:1.0\n---\n" + extrinsics());
  const auto report = json({"--calibration", path("intrinsics.yml"), "--extrinsics", path("extrinsics.yml"),
                            "--alpha", "1", "--valid", path("valid.png"), "--rectified-left", path("l.png")});
  EXPECT_LT(report["rectification"]["after"]["median_error"], 0.1);
  EXPECT_LT(report["rectification"]["seen"], 0.8);
  EXPECT_LE(report["valid"], report["rectification"]["seen"]);
  EXPECT_EQ(read_mask(path("valid.png"))(0, 239), 0) << "outside the image";
  expect_failure(1, stereo({"--calibration", path("intrinsics.yml")}), {"intrinsics.yml", "missing: R, T"});
}

TEST_F(CalibrationCommand, DepthsByExtension) {
  const Words by = {"--focal", "250", "--baseline", "0.12", "-q"};
  const auto depth = [&](const std::string& name, Words more) {
    more.insert(more.end(), by.begin(), by.end());
    more.insert(more.end(), {"--depth", path(name)});
    run_well(stereo(more));
  };
  depth("z.pfm", {});
  depth("z.npy", {});
  depth("z.png", {"--depth-scale", "1000"});
  const DisparityField pfm = read_disparity(path("z.pfm")), npy = read_disparity(path("z.npy"));
  const FrameBuffer png = read_frame(path("z.png"));
  ASSERT_EQ(png.format(), PixelFormat::gray_u16);
  int known = 0;
  for (int y = 0; y < 240; ++y)
    for (int x = 0; x < 320; ++x) {
      const float z = pfm.d(x, y);
      ASSERT_EQ(z, npy.d(x, y));
      const float millimeters = std::round(z * 1000);
      ASSERT_EQ(static_cast<const std::uint16_t*>(png.row(y))[x], millimeters <= 65535 ? millimeters : 0);
      known += std::isfinite(z);
    }
  EXPECT_GT(known, 1000);
}

// The same lenses from OpenCV's file, whose 4x1 D means a fisheye lens, and from two of ROS's camera_info
// files.
TEST_F(CalibrationCommand, FisheyeLenses) {
  StereoCalibration wide = cameras_;
  wide.left.distortion = {.k1 = 0.05, .k2 = -0.02, .k3 = 0.01, .k4 = -0.003, .model = LensModel::fisheye};
  wide.right.distortion = {.k1 = -0.03, .k2 = 0.02, .k3 = -0.01, .k4 = 0.002, .model = LensModel::fisheye};
  write_frame(path("left.png"), oracle::image_of(wide, false, plane_, PixelFormat::rgb_u8));
  write_frame(path("right.png"), oracle::image_of(wide, true, plane_, PixelFormat::rgb_u8));
  const Rectification plan = plan_rectification(wide);
  std::string opencv = "%YAML:1.0\n---\n";
  for (const bool right : {false, true}) {
    const auto& [fx, fy, cx, cy, k] = right ? wide.right : wide.left;
    const std::string number = right ? "2" : "1";
    opencv += matrix("K" + number, 3, 3, {fx, 0, cx, 0, fy, cy, 0, 0, 1});
    opencv += matrix("D" + number, 4, 1, {k.k1, k.k2, k.k3, k.k4});
    const auto& turned = right ? plan.right_rotation : plan.left_rotation;
    const StereoGeometry& g = plan.geometry;
    std::string ros =
        "image_width: 320\nimage_height: 240\ndistortion_model: equidistant\n" +
        matrix("camera_matrix", 3, 3, {fx, 0, cx, 0, fy, cy, 0, 0, 1}) +
        matrix("distortion_coefficients", 1, 4, {k.k1, k.k2, k.k3, k.k4}) +
        matrix("rectification_matrix", 3, 3, {turned.begin(), turned.end()}) +
        matrix("projection_matrix", 3, 4,
               {g.focal, 0, g.cx, right ? -g.focal * g.baseline : 0, 0, g.focal, g.cy, 0, 0, 0, 1, 0});
    for (const std::string_view tag : {" !!opencv-matrix", "   dt: d\n"})
      for (std::size_t at = 0; (at = ros.find(tag)) != ros.npos;) ros.erase(at, tag.size());
    write(right ? "right.yaml" : "left.yaml", ros);
  }
  write("fisheye.yml", opencv + extrinsics());
  const auto check = [&](Words calibration) {
    calibration.insert(calibration.end(), {"--depth", path("z.npy"), "--json"});
    const Outcome done = run(stereo(calibration));
    EXPECT_EQ(done.code, 0) << done.err;
    const auto report = done.json();
    EXPECT_EQ(report["rectification"]["fisheye"], true);
    EXPECT_NEAR(report["rectification"]["focal"].get<double>(), plan.geometry.focal, 1e-6);
    EXPECT_LT(report["rectification"]["after"]["median_error"], 0.1);
    const DisparityField depth = read_disparity(path("z.npy"));
    std::vector<double> errors;
    for (int y = 0; y < 240; ++y)
      for (int x = 0; x < 320; ++x) {
        const double z = depth.d(x, y), focal = plan.geometry.focal;
        if (!std::isfinite(z)) continue;
        const oracle::Point p = oracle::moved_back(
            plan.left_rotation, {(x - plan.geometry.cx) / focal * z, (y - plan.geometry.cy) / focal * z, z});
        errors.push_back(std::abs(plane_.a * p.x + plane_.b * p.y + p.z - plane_.depth));
      }
    EXPECT_GT(errors.size(), 60000u);
    std::ranges::sort(errors);
    EXPECT_LT(errors[errors.size() / 2], 0.03);
    return done.err;
  };
  EXPECT_NE(check({"--calibration", path("fisheye.yml")}).find("D1 and D2 have 4 coefficients in a column"),
            std::string::npos);
  EXPECT_EQ(
      check({"--calibration", path("left.yaml"), "--extrinsics", path("right.yaml")}).find("coefficients"),
      std::string::npos);
  expect_failure(1, stereo({"--calibration", path("left.yaml")}), {"left.yaml", "camera_info", "second one"});
}

TEST_F(CalibrationCommand, DepthPngsAreInMillimeters) {
  const auto depth = [&](Words more) {
    more.insert(more.end(), {"--focal", "250", "--depth", path("z.png"), "--json"});
    const Outcome done = run(stereo(more));
    EXPECT_EQ(done.code, 0) << done.err;
    return done;
  };
  const auto metric = depth({"--baseline", "0.12"});
  EXPECT_EQ(metric.json()["depth_png"]["scale"], 1000);
  const auto large = depth({"--baseline", "120"});
  EXPECT_EQ(large.json()["depth_png"]["scale"], 1);
  const auto lost = depth({"--baseline", "0.12", "--depth-scale", "1e6"});
  EXPECT_EQ(lost.json()["depth_png"]["lost"], 1);
  EXPECT_NE(lost.err.find("z.png: 100 % of the depths do not fit and are 0"), std::string::npos) << lost.err;
  const auto coarse = depth({"--baseline", "0.12", "--depth-scale", "2"});
  EXPECT_NE(coarse.err.find("in steps of more than 1 %"), std::string::npos) << coarse.err;
}

TEST_F(CalibrationCommand, PairsOfMiddleburyAreRectifiedAlready) {
  const std::string text =
      "cam0=[250 0 160; 0 250 120; 0 0 1]\ncam1=[250 0 170; 0 250 120; 0 0 1]\nbaseline=120\n";
  write("calib.txt", text + "width=320\nheight=240\ndoffs=10\nndisp=32\n");
  const auto report = json({"--calibration", path("calib.txt"), "--depth", path("z.pfm"), "-o", path("d.pfm"),
                            "--valid", path("valid.png"), "--no-fill", "-q"});
  EXPECT_FALSE(report["rectification"].contains("after"));
  EXPECT_EQ(report["rectification"]["doffs"], 10);
  const DisparityField d = read_disparity(path("d.pfm")), z = read_disparity(path("z.pfm"));
  const auto valid = read_mask(path("valid.png"));
  for (int y = 0; y < 240; ++y)
    for (int x = 0; x < 320; ++x)
      ASSERT_FLOAT_EQ(z.d(x, y), valid(x, y) ? float(250 * 120 / (d.d(x, y) + 10.0)) : INFINITY);
  expect_failure(2, stereo({"--calibration", path("calib.txt"), "--rectified-left", path("l.png")}),
                 {"calib.txt", "rectified already"});
  write("other.txt", text + "width=640\nheight=480\n");
  expect_failure(1, stereo({"--calibration", path("other.txt")}),
                 {"other.txt", "for images of 640x480 px, the frames are 320x240"});
}

TEST_F(CalibrationCommand, RefusesWhatIsNotUnderstood) {
  const std::string file = path("stereo.yml"), cloud = path("p.ply");
  expect_failure(1, stereo({"--calibration", path("none.yml")}), {"none.yml"});
  expect_failure(1, stereo({"--calibration", path("left.png")}), {"left.png", "not text"});
  expect_failure(2, stereo({"--points", cloud}), {"--points", "--calibration", "--focal", "--baseline"});
  expect_failure(2, stereo({"--calibration", file, "--points", path("p.obj")}), {"--points", ".ply"});
  expect_failure(2, stereo({"--calibration", file, "--focal", "3"}), {"--calibration", "--focal"});
  expect_failure(2, stereo({"--alpha", "1"}), {"--alpha", "--calibration"});
  expect_failure(2, stereo({"--calibration", file, "--alpha", "2"}), {"--alpha", "0 to 1"});
  expect_failure(2, stereo({"--rectified-left", path("l.png")}), {"--rectified-left", "--calibration"});
  expect_failure(2, stereo({"--extrinsics", file}), {"--extrinsics", "--calibration"});
  expect_failure(2, stereo({"--calibration", file, "--depth", path("z.pfm"), "--depth-scale", "2"}),
                 {"--depth-scale", "PNG"});
  expect_failure(1, stereo({"--calibration", file, "--points", path("none/p.ply")}), {"there is no folder"});
  write("damaged.yml", intrinsics() + "R: 3\n");
  expect_failure(1, stereo({"--calibration", path("damaged.yml")}), {"damaged.yml: line ", "R should be"});
}

}  // namespace
}  // namespace parafield::test
