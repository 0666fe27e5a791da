// SPDX-License-Identifier: MIT
// Files of calibrations, depths and points.
#include "io/calibration.hpp"

#include <cmath>
#include <limits>

#include "io/folder.hpp"
#include "io/samples.hpp"
#include "parafield/io.hpp"

namespace parafield {
namespace {

using samples::bytes_of;

StereoCalibration opencv(std::string_view text) {
  return io::calibration_of(io::decode_yaml(bytes_of(text)));
}
StereoCalibration middlebury(std::string_view text) {
  EXPECT_TRUE(io::is_middlebury(bytes_of(text)));
  return io::decode_middlebury(bytes_of(text));
}

std::string replaced(std::string text, std::string_view old, std::string_view with) {
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  if (at != std::string::npos) text.replace(at, old.size(), with);
  return text;
}

void expect_values(const StereoCalibration& c) {
  EXPECT_EQ(c.left, (CalibratedCamera{520, 522, 318.5, 243.25, {-0.28, 0.09, 0.0012, -7e-4, 0.01}}));
  EXPECT_EQ(c.right,
            (CalibratedCamera{527, 526, 324, 236.75, {-0.31, 0.12, -9e-4, 0.0011, 0, 0.5, 0.25, 0.125}}));
  EXPECT_EQ(c.rotation, (std::array<double, 9>{1, 0, 0, 0, 0, -1, 0, 1, 0}));
  EXPECT_EQ(c.translation, (std::array<double, 3>{-0.12, 4e-3, 6e-3}));
  EXPECT_FALSE(c.rectified);
}

TEST(Calibrations, OpenCvsYaml) {
  const std::string text = samples::opencv_calibration();
  expect_values(opencv(text));
  EXPECT_EQ(opencv(text).size, (Size{640, 480}));
  for (std::string other :
       {replaced(replaced(text, "K1:", "M1:"), "K2:", "M2:"),
        replaced(text, "%YAML:1.0\n---\n", "\xef\xbb\xbf"), replaced(text, "dt: d", "dt: f"),
        replaced(text, "K1:", "\"K1\" :"), replaced(text, "rows: 3", "rows: 3  # three"),
        replaced(text, "520.,", "+520,"), replaced(text, "# a comment\n", "\n\t\n")})
    expect_values(opencv(other));
  std::string windows;
  for (const char c : text) windows += c == '\n' ? "\r\n" : std::string(1, c);
  expect_values(opencv(windows));
  const std::string size = "image_width: 640\nimage_height: 480\n";
  EXPECT_EQ(opencv(replaced(text, size, "imageSize: [ 640, 480 ]\n")).size, (Size{640, 480}));
  EXPECT_EQ(opencv(replaced(text, size, "")).size, Size{});
}

TEST(Calibrations, OfTwoFiles) {
  const Folder folder;
  const std::string text = samples::opencv_calibration();
  const std::size_t at = text.find("R: ");
  const auto first = folder.with("intrinsics.yml", bytes_of(text.substr(0, at)));
  const auto second = folder.with("extrinsics.yml", bytes_of("%YAML:1.0\n---\n" + text.substr(at)));
  expect_values(read_calibration(first, second));
  expect_values(read_calibration(second, first));
  expect_error(
      ErrorCode::format,
      "intrinsics.yml: a stereo calibration needs K1, D1, K2, D2, R and T; missing: R, T (OpenCV's sample",
      [&] { read_calibration(first); });
  expect_error(ErrorCode::format, "missing: K1, D1, K2, D2", [&] { read_calibration(second); });
  const auto whole = folder.with("whole.yml", bytes_of(text));
  expect_error(ErrorCode::format, "whole.yml: the second file also has R, T",
               [&] { read_calibration(whole, second); });
  const auto damaged = folder.with("damaged.yml", bytes_of("R: 7\n"));
  expect_error(ErrorCode::format, "damaged.yml: line 1: R should be an !!opencv-matrix",
               [&] { read_calibration(first, damaged); });
  expect_error(ErrorCode::file, "none.yml", [&] { read_calibration(folder / "none.yml"); });
  const auto text_file = folder.with("calib.txt", bytes_of(samples::middlebury_calibration()));
  expect_error(ErrorCode::format, "takes no second one", [&] { read_calibration(text_file, second); });
  EXPECT_TRUE(read_calibration(text_file).rectified);
}

TEST(Calibrations, ErrorsOfYamlNameTheLine) {
  const std::string text = samples::opencv_calibration();
  const auto expect = [&](std::string_view old, std::string_view with, std::string_view part) {
    SCOPED_TRACE(with);
    expect_error(ErrorCode::format, part, [&] { opencv(replaced(text, old, with)); });
  };
  expect("rows: 3", "rows: 4", "line 8: K1 has 9 values, not rows * cols = 4 * 3");
  expect("rows: 3", "rows: 0", "line 5: K1 should be a whole number of 1 to 1000000, not 0");
  expect("rows: 3", "rows: 3\n   rows: 3",
         "should have rows, cols, dt and data, once each; 'rows' is not expected");
  expect("dt: d", "dt: u", "line 7: K1 has values of type 'u'; it should be d or f");
  expect("dt: d", "dt: \"2d\"", "has values of type '\"2d\"'");
  expect("520.,", "52O.,", "line 8: K1 should have a finite number where '52O.' is");
  expect("520.,", ".Nan,", "line 8: K1 should have a finite number where '.Nan' is");
  expect("520.,", "1e400,", "should have a finite number where '1e400' is");
  expect("520.,", "-520.,", "K1 has focal lengths -520 and 522 px; they must be above 0");
  expect("520., 0.,", "520., 3.,", "K1 should be a camera's matrix, fx 0 cx; 0 fy cy; 0 0 1, without skew");
  expect("!!opencv-matrix", "!!matrix", "line 4: K1 should be an !!opencv-matrix");
  expect("K1:", "K2:", "K2 occurs twice");
  expect("0.01 ]", "0.01", "line 14: D1 ends where a number should be");
  expect("0.01 ]", "0.01 ] 5", "D1 should end where '5' is");
  expect("R: !!opencv-matrix\n   rows: 3\n   cols: 3", "R: !!opencv-matrix\n   rows: 1\n   cols: 9",
         "R should be a 3x3 matrix, not 1x9");
  expect("image_width: 640", "image_width: 64.5", "image_width should be a whole number");
  expect("image_width: 640\n", "", "one of image_width and image_height");
  expect("%YAML:1.0", "YAML", "line 1: not 'name: value' of OpenCV's YAML");
  expect_error(ErrorCode::format, "the file is empty", [&] { opencv(" \n"); });
  expect_error(ErrorCode::format, "an XML file; OpenCV writes YAML to a name with .yml",
               [&] { opencv("<?xml version=\"1.0\"?>"); });
  expect_error(ErrorCode::format, "a JSON file", [&] { opencv("{\"K1\": 3}"); });
  expect_error(ErrorCode::format, "bytes of 0", [&] { opencv(std::string_view("K1\0", 3)); });
  std::string twelve = replaced(text, "rows: 8", "rows: 12");
  expect_values(opencv(replaced(twelve, "0.125 ]", "0.125, 0, 0, 0, 0 ]")));
  expect_error(ErrorCode::format, "thin prism or tilt",
               [&] { opencv(replaced(twelve, "0.125 ]", "0.125, 0, 0.1, 0, 0 ]")); });
}

TEST(Calibrations, Middleburys) {
  const std::string text = samples::middlebury_calibration();
  const StereoCalibration c = middlebury(text);
  EXPECT_EQ(c.left, (CalibratedCamera{3997.5, 3997.5, 1176.75, 1011.75}));
  EXPECT_EQ(c.right.cx, 1307.75);
  EXPECT_EQ(c.translation, (std::array<double, 3>{-193.5, 0, 0}));
  EXPECT_EQ(c.size, (Size{2964, 1988}));
  EXPECT_TRUE(c.rectified);
  EXPECT_EQ(middlebury(replaced(replaced(text, "width=2964\n", ""), "height=1988\n", "")).size, Size{});
  const auto expect = [&](std::string_view old, std::string_view with, std::string_view part) {
    SCOPED_TRACE(with);
    expect_error(ErrorCode::format, part, [&] { middlebury(replaced(text, old, with)); });
  };
  expect("baseline=193.5", "baseline=0", "baseline cannot be 0");
  expect("baseline=193.5\n", "", "Middlebury's calibration lacks baseline");
  expect("width=2964\n", "", "lacks width");
  expect("doffs=131", "doffs=13", "doffs is 13, but cx of cam1 and cam0 differ by 131");
  expect("doffs=131", "doffs 131", "line 3: not 'name=value' of Middlebury's calib.txt: 'doffs 131'");
  expect("cam1", "cam0", "line 2: cam0 occurs twice");
  expect("0 3997.5 1011.75;", "0 3997.5;", "line 1: cam0 has rows of different lengths");
  expect("[3997.5 0 1176.75;", "[;", "line 1: cam0 has rows of different lengths");
  expect("[3997.5", "3997.5", "line 1: cam0 should have '[' where '3997.5' is");
  expect("0 0 1]", "0 0 2]", "cam0 should be a camera's matrix");
}

TEST(Calibrations, Kittis) {
  const std::string two =
      "P2: 721.5 0 609.5 44.85 0 721.5 172.5 0.216 0 0 1 0.0027\n"
      "P3: 721.5 0 609.5 -339.5 0 721.5 172.5 2.199 0 0 1 0.0027\n";
  const std::string four = "P0: 700 0 600 0 0 700 170 0 0 0 1 0\nP1: 700 0 600 -378 0 700 170 0 0 0 1 0\n" +
                           two + "R0_rect: 1 0 0 0 1 0 0 0 1\n";
  const auto read = [](const std::string& text) {
    EXPECT_TRUE(io::is_kitti(bytes_of(text)));
    return io::decode_kitti_calibration(bytes_of(text));
  };
  for (const std::string& text : {two, four}) {
    const StereoCalibration found = read(text);
    EXPECT_EQ(found.left, (CalibratedCamera{721.5, 721.5, 609.5, 172.5}));
    EXPECT_EQ(found.right, found.left);
    EXPECT_NEAR(found.translation[0], -(44.85 + 339.5) / 721.5, 1e-12);
    EXPECT_TRUE(found.rectified);
    EXPECT_EQ(found.size, Size{});
    EXPECT_EQ(found.assumption.empty(), text == two);
  }
  EXPECT_NEAR(read(four.substr(0, four.find("P2"))).translation[0], -0.54, 1e-12);
  const StereoCalibration raw = read(replaced(replaced(two, "P2",
                                                       "calib_time: 09-Jan-2012 13:57:47\nS_rect_02: "
                                                       "1.242000e+03 3.750000e+02\nP_rect_02"),
                                              "P3", "D_03: 0 0 0 0 0\r\nP_rect_03"));
  EXPECT_EQ(raw.size, (Size{1242, 375}));
  EXPECT_EQ(raw.left.fx, 721.5);
  const auto expect = [&](std::string_view old, std::string_view with, std::string_view message) {
    expect_error(ErrorCode::format, message, [&] { read(replaced(four, old, with)); });
  };
  expect("P3: 721.5", "P3: x", "line 4: P3 should have a finite number where 'x' is");
  expect("-339.5", "339.5", "a right camera must lie to the right");
  expect("P3: 721.5", "P3: 0", "P3 has the focal length 0 px");
  expect_error(ErrorCode::format, "lacks P2 and P3, or P0 and P1", [&] { read(replaced(two, "P3", "P0")); });
}

TEST(Calibrations, OfFisheyeLenses) {
  std::string text =
      replaced(samples::opencv_calibration(), "   rows: 1\n   cols: 5", "   rows: 4\n   cols: 1");
  text = replaced(text, ",\n       -7.0e-04, 0.01 ]", ", -7.0e-04 ]");
  text = replaced(text, "   rows: 8\n   cols: 1", "   rows: 4\n   cols: 1");
  text = replaced(text, ", 0., 0.5, 0.25, 0.125 ]", " ]");
  const StereoCalibration c = opencv(text);
  EXPECT_EQ(
      c.left.distortion,
      (LensDistortion{.k1 = -0.28, .k2 = 0.09, .k3 = 0.0012, .k4 = -7e-4, .model = LensModel::fisheye}));
  EXPECT_EQ(c.right.distortion.model, LensModel::fisheye);
  EXPECT_NE(c.assumption.find("distortion_model"), std::string::npos);
  for (const char* line : {"distortion_model: plumb_bob\n", "distortion_model: \"rational_polynomial\"\n",
                           "fisheye_model: 0\n"}) {
    EXPECT_EQ(opencv(text + line).left.distortion, (LensDistortion{-0.28, 0.09, 0.0012, -7e-4})) << line;
    EXPECT_EQ(opencv(text + line).assumption, "");
  }
  for (const char* line :
       {"distortion_model: equidistant\n", "distortion_model: 'fisheye'\n", "fisheye_model: 1\n"}) {
    EXPECT_EQ(opencv(text + line).left, c.left) << line;
    EXPECT_EQ(opencv(text + line).assumption, "");
  }
  expect_error(ErrorCode::format, "distortion_model cannot be 'thin_prism'; allowed: plumb_bob",
               [&] { opencv(text + "distortion_model: thin_prism\n"); });
  expect_error(ErrorCode::format, "D1 has 5 coefficients; a fisheye lens has 4",
               [] { opencv(samples::opencv_calibration() + "distortion_model: fisheye\n"); });
}

TEST(Calibrations, OfRos) {
  const Folder folder;
  const auto left = folder.with("left.yaml", bytes_of(samples::ros_calibration(false))),
             right = folder.with("right.yaml", bytes_of(samples::ros_calibration(true))),
             message = folder.with("message.yaml", bytes_of(samples::ros_message()));
  const LensDistortion lens{.k1 = 0.05, .k2 = -0.02, .k3 = 0.01, .k4 = -0.003, .model = LensModel::fisheye};
  for (const StereoCalibration& c : {read_calibration(left, right), read_calibration(right, left)}) {
    EXPECT_EQ(c.left, (CalibratedCamera{520, 522, 318.5, 243.25, lens}));
    EXPECT_EQ(c.size, (Size{640, 480}));
    EXPECT_EQ(c.rotation, (std::array<double, 9>{0.8, 0, -0.6, 0, 1, 0, 0.6, 0, 0.8}));
    EXPECT_NEAR(c.translation[0], -0.12 * 0.8, 1e-15);
    EXPECT_NEAR(c.translation[2], -0.12 * 0.6, 1e-15);
    EXPECT_EQ(c.assumption, "");
  }
  const StereoCalibration mixed = read_calibration(message, right);
  EXPECT_EQ(mixed.left.distortion, (LensDistortion{-0.28, 0.09, 0.0012, -7e-4, 0.01}));
  EXPECT_EQ(mixed.right.distortion, lens);
  expect_error(ErrorCode::format, "it needs a second one of the other camera",
               [&] { read_calibration(left); });
  expect_error(ErrorCode::format, "the same fourth column", [&] { read_calibration(left, message); });
  const auto with = [&](std::string_view old, std::string_view text) {
    return folder.with("changed.yaml", bytes_of(replaced(samples::ros_calibration(false), old, text)));
  };
  expect_error(ErrorCode::format, "lacks distortion_model",
               [&] { read_calibration(with("distortion_model: equidistant\n", ""), right); });
  expect_error(ErrorCode::format, "distortion_model cannot be 'omni'",
               [&] { read_calibration(with("equidistant", "omni"), right); });
  expect_error(ErrorCode::format, "the cameras have images of 320x480 and 640x480 px",
               [&] { read_calibration(with("image_width: 640", "image_width: 320"), right); });
}

// Damage gives an Error of the format or values that are read, never anything else.
TEST(Calibrations, DamagedAnywhere) {
  for (const std::string& text :
       {samples::opencv_calibration(), samples::middlebury_calibration(), samples::kitti_calibration(),
        samples::ros_calibration(true), samples::ros_message()}) {
    const io::CalibrationParts left = text.starts_with("image_") || text.starts_with("header")
                                          ? io::decode_yaml(bytes_of(samples::ros_calibration(false)))
                                          : io::CalibrationParts{};
    const auto decode = [&](const io::Bytes& bytes) {
      try {
        if (io::is_middlebury(bytes))
          io::decode_middlebury(bytes);
        else if (io::is_kitti(bytes))
          io::decode_kitti_calibration(bytes);
        else
          io::calibration_of(io::decode_yaml(bytes), left);
      } catch (const Error& error) {
        EXPECT_EQ(int(error.code()), int(ErrorCode::format)) << error.what();
      }
    };
    const io::Bytes sound = bytes_of(text);
    for (std::size_t at = 0; at < sound.size(); ++at) {
      decode({sound.begin(), sound.begin() + std::ptrdiff_t(at)});
      for (const int change : {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff}) {
        io::Bytes damaged = sound;
        damaged[at] ^= std::uint8_t(change);
        decode(damaged);
      }
      for (const char inserted : {'\n', ':', '[', ']', ' ', '#', '=', '9'}) {
        io::Bytes damaged = sound;
        damaged.insert(damaged.begin() + std::ptrdiff_t(at), std::uint8_t(inserted));
        decode(damaged);
      }
    }
  }
}

TEST(Depths, AreWrittenByExtension) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const Folder folder;
  Image<float> depth({5, 1});
  depth(0, 0) = 1.2344f, depth(1, 0) = infinity, depth(2, 0) = NAN, depth(3, 0) = 70, depth(4, 0) = 65.535f;
  for (const char* name : {"z.pfm", "z.npy"}) {
    write_depth(folder / name, depth);
    const DisparityField read = read_disparity(folder / name);
    EXPECT_EQ(read.d(0, 0), 1.2344f);
    EXPECT_EQ(read.d(1, 0), infinity);
  }
#ifdef PARAFIELD_HAS_PNG
  write_depth(folder / "z.PNG", depth, 1000);
  const FrameBuffer png = read_frame(folder / "z.PNG");
  ASSERT_EQ(png.format(), PixelFormat::gray_u16);
  const auto* values = static_cast<const std::uint16_t*>(png.row(0));
  EXPECT_EQ(values[0], 1234);
  EXPECT_EQ(values[1], 0);
  EXPECT_EQ(values[2], 0);
  EXPECT_EQ(values[3], 0);
  EXPECT_EQ(values[4], 65535);
  // Of 1.2344, 70 and 65.535, the depth of 70 does not fit; in whole units 1.2344 and 65.535 are coarse.
  EXPECT_EQ(write_depth(folder / "z.png", depth), (DepthLoss{3, 1, 0})) << "millimeters";
  EXPECT_EQ(write_depth(folder / "z.png", depth, 1), (DepthLoss{3, 0, 3}));
  EXPECT_EQ(write_depth(folder / "z.png", depth, 0.01f), (DepthLoss{3, 1, 2}));
  EXPECT_EQ(write_depth(folder / "z.npy", depth), DepthLoss{});
  EXPECT_EQ(depth_scale_of(0.12), 1000);
  EXPECT_EQ(depth_scale_of(193.5), 1);
#endif
  expect_error(ErrorCode::invalid_argument, "depths are not written as '.jpg' files; use .pfm, .npy or .png",
               [&] { write_depth(folder / "z.jpg", depth); });
  expect_error(ErrorCode::invalid_argument, "the scale cannot be 0",
               [&] { write_depth(folder / "z.png", depth, 0); });
  expect_error(ErrorCode::invalid_argument, "has no pixels", [&] { write_depth(folder / "z.png", {}); });
}

TEST(Points, AreWrittenAsPly) {
  const Folder folder;
  const ColorPoint points[] = {{1, -2, 0.5f, 10, 20, 255}, {3, 4, 5, 1, 2, 3}};
  write_points(folder / "p.ply", points);
  const std::vector<std::uint8_t> bytes = bytes_in(folder / "p.ply");
  const std::string header =
      "ply\nformat binary_little_endian 1.0\nelement vertex 2\nproperty float x\nproperty float y\n"
      "property float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n";
  ASSERT_EQ(bytes.size(), header.size() + 30);
  EXPECT_EQ(std::string(bytes.begin(), bytes.begin() + std::ptrdiff_t(header.size())), header);
  const std::vector<std::uint8_t> first(bytes.begin() + std::ptrdiff_t(header.size()),
                                        bytes.begin() + std::ptrdiff_t(header.size()) + 15);
  EXPECT_EQ(first, (std::vector<std::uint8_t>{0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 0, 0, 0, 0x3f, 10, 20, 255}));
  const ColorPoint with_sigma[] = {{1, -2, 0.5f, 10, 20, 255, 2}, {3, 4, 5, 1, 2, 3}};
  write_points(folder / "s.ply", with_sigma);
  const std::vector<std::uint8_t> more = bytes_in(folder / "s.ply");
  const std::string longer =
      header.substr(0, header.find("end_header")) + "property float sigma_z\nend_header\n";
  ASSERT_EQ(more.size(), longer.size() + 38);
  EXPECT_EQ(std::string(more.begin(), more.begin() + std::ptrdiff_t(longer.size())), longer);
  EXPECT_EQ(more[longer.size() + 18], 0x40) << "sigma_z is 2";
  write_points(folder / "none.ply", {});
  expect_error(ErrorCode::invalid_argument, "points are not written as '.obj' files; use .ply",
               [&] { write_points(folder / "p.obj", points); });
}

}  // namespace
}  // namespace parafield
