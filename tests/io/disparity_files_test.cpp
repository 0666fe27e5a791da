// SPDX-License-Identifier: MIT
#include <cmath>

#include "core/fail.hpp"
#include "io/folder.hpp"
#include "io/formats.hpp"
#include "io/samples.hpp"
#include "not_finite.hpp"
#include "parafield/io.hpp"
#include "support.hpp"

namespace parafield {
namespace {

using samples::npy_header;

/// Multiples of 1/256 px, which KITTI's format holds exactly.
DisparityField some_field(Size size) {
  DisparityField field(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      field.d(x, y) = float(1 + x * 37 + y * 1001) / 256;
      field.valid(x, y) = (x + y) % 3 != 0;
    }
  return field;
}

void expect_field(const DisparityField& field, Size size, const std::vector<float>& values) {
  ASSERT_EQ(field.size(), size);
  EXPECT_FALSE(field.confidence);
  for (int y = 0, i = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x, ++i) {
      const float d = field.d(x, y);
      EXPECT_TRUE(d == values[i] || (std::isnan(d) && std::isnan(values[i]))) << d << ' ' << values[i];
      EXPECT_EQ(field.valid(x, y), std::isfinite(values[i]));
    }
}

TEST(DisparityFiles, FloatsAreKept) {
  for (const bool big : {false, true}) {
    const std::string header = text("Pf\n2 2\n", big ? 7 : -7, "\n");
    expect_field(io::decode_disparity(samples::pfm(header, {infinity, -2, 1.5f, nan}, big), 0), {2, 2},
                 {1.5f, nan, infinity, -2});
  }
  expect_field(io::decode_disparity(
                   samples::npy(npy_header("<f4", "(2, 2)"), samples::floats({1.5f, nan, infinity, -2})), 0),
               {2, 2}, {1.5f, nan, infinity, -2});
  expect_field(
      io::decode_disparity(samples::npy(npy_header("<f8", "(1, 3)"), samples::doubles({0, 0.25, nan}), 2), 0),
      {3, 1}, {0, 0.25f, nan});
}

TEST(DisparityFiles, FloatsRoundTrip) {
  const Folder folder;
  for (const char* name : {"a.pfm", "a.npy"})
    for (const Size size : {Size{1, 1}, Size{1, 9}, Size{9, 1}, Size{7, 5}})
      for (const bool mark_invalid : {false, true}) {
        const DisparityField field = some_field(size);
        write_disparity(folder / name, field, 256, mark_invalid);
        EXPECT_EQ(file_kind(folder / name), FileKind::disparity);
        const DisparityField back = read_disparity(folder / name);
        ASSERT_EQ(back.size(), size);
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x) {
            const bool marked = mark_invalid && !field.valid(x, y);
            EXPECT_EQ(back.d(x, y), marked ? infinity : field.d(x, y));
            EXPECT_EQ(back.valid(x, y), !marked);
          }
      }
}

TEST(DisparityFiles, ArraysAreWrittenAsNumpyDoes) {
  const Folder folder;
  DisparityField field({3, 2});
  field.d(2, 1) = -3;
  write_disparity(folder / "a.npy", DisparityView{field.d});
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  EXPECT_EQ(bytes_in(folder / "a.npy"),
            samples::npy(header + std::string(118 - header.size() - 1, ' ') + "\n",
                         samples::floats({0, 0, 0, 0, 0, -3})));
}

TEST(DisparityFiles, ArraysOfOtherShapesAreNamed) {
  const auto expect = [](std::string_view shape, std::string_view part) {
    expect_error(ErrorCode::format, part, [&] {
      io::decode_disparity(samples::npy(npy_header("<f4", shape), samples::floats({1, 2})), 0);
    });
  };
  expect("(1, 1, 2)",
         "an array of 1 x 1 x 2, not disparity; disparity is little-endian float32 or float64, "
         "height x width");
  expect("(2,)", "an array of 2, not disparity");
  expect("(2, 2)", "2 x 2 needs 16 bytes after the header, the file has 8");
  expect("(0, 2)", "each side of disparity is 1 to 1000000");
}

#ifdef PARAFIELD_HAS_PNG

/// A gray PNG of one row.
template <class T>
samples::Bytes gray_png(const std::vector<T>& values) {
  return io::encode_png({values.data(), int(values.size()), 1, std::ptrdiff_t(values.size() * sizeof(T)),
                         sizeof(T) == 1 ? PixelFormat::gray_u8 : PixelFormat::gray_u16});
}

TEST(DisparityFiles, PicturesAreDividedByTheirScale) {
  const auto narrow = gray_png<std::uint8_t>({0, 1, 16, 255});
  expect_field(io::decode_disparity(narrow, 16), {4, 1}, {infinity, 0.0625f, 1, 15.9375f});
  expect_field(io::decode_disparity(narrow, 1), {4, 1}, {infinity, 1, 16, 255});
  const auto wide = gray_png<std::uint16_t>({0, 1, 256, 65535});
  const std::vector<float> kitti = {infinity, 1 / 256.f, 1, 65535 / 256.f};
  expect_field(io::decode_disparity(wide, 256), {4, 1}, kitti);
  expect_field(io::decode_disparity(wide, 0), {4, 1}, kitti);
  expect_field(io::decode_disparity(wide, 2), {4, 1}, {infinity, 0.5f, 128, 32767.5f});
}

TEST(DisparityFiles, PicturesOf8BitNeedTheirScale) {
  const Folder folder;
  const auto path = folder.with("a.png", gray_png<std::uint8_t>({1}));
  EXPECT_EQ(file_kind(path), FileKind::frame);
  expect_error(ErrorCode::invalid_argument, "a PNG of 8 bits need a scale", [&] { read_disparity(path); });
  EXPECT_EQ(read_disparity(path, 4).d(0, 0), 0.25f);
  for (const float bad : {-1.0f, nan, infinity})
    expect_error(ErrorCode::invalid_argument, "the scale cannot be", [&] { read_disparity(path, bad); });
}

TEST(DisparityFiles, PicturesRoundTrip) {
  const Folder folder;
  for (const Size size : {Size{1, 1}, Size{1, 9}, Size{7, 5}}) {
    const DisparityField field = some_field(size);
    write_disparity(folder / "a.png", field);
    const DisparityField back = read_disparity(folder / "a.png");
    ASSERT_EQ(back.size(), size);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        EXPECT_EQ(back.d(x, y), field.valid(x, y) ? field.d(x, y) : infinity);
        EXPECT_EQ(back.valid(x, y), field.valid(x, y));
      }
  }
}

TEST(DisparityFiles, PicturesRoundAndNeverMakeAKnownDisparityUnknown) {
  const Folder folder;
  DisparityField field({6, 1});
  const float values[] = {0, 0.1f, 0.13f, nan, infinity, 16383.75f};
  for (int x = 0; x < 6; ++x) {
    field.d(x, 0) = values[x];
    field.valid(x, 0) = 1;
  }
  write_disparity(folder / "a.png", field, 4);
  expect_field(read_disparity(folder / "a.png", 4), {6, 1},
               {0.25f, 0.25f, 0.25f, infinity, infinity, 16383.75f});
}

TEST(DisparityFiles, PicturesHoldNoMoreThan16Bit) {
  const Folder folder;
  DisparityField field({2, 1});
  field.valid(1, 0) = 1;
  const auto expect = [&](float d, float scale, std::string_view part) {
    field.d(1, 0) = d;
    expect_error(ErrorCode::invalid_argument, part, [&] { write_disparity(folder / "a.png", field, scale); });
    EXPECT_EQ(folder.files(), 0);
  };
  expect(256, 256, "disparity 256 px at pixel (1, 0); a PNG of scale 256 holds 0 to 255.996 px");
  expect(-0.5f, 4, "disparity -0.5 px at pixel (1, 0); a PNG of scale 4 holds 0 to 16383.8 px");
  field.valid(1, 0) = 0;
  write_disparity(folder / "a.png", field);
  for (const float bad : {0.0f, -1.0f, nan, infinity})
    expect_error(ErrorCode::invalid_argument, "the scale cannot be",
                 [&] { write_disparity(folder / "b.png", field, bad); });
}

TEST(DisparityFiles, OtherPicturesAreNamed) {
  const auto expect = [](const png_bytes::Header& header, std::string_view part) {
    expect_error(ErrorCode::format, part, [&] { io::decode_disparity(samples::png(header), 1); });
  };
  expect({5, 3, 8, 2}, "a PNG image of 8 bits, colored: not disparities");
  expect({5, 3, 16, 2}, "a PNG image of 16 bits, colored");
  expect({5, 3, 8, 3}, "a PNG image of 8 bits, colored");
  expect({5, 3, 4, 0}, "a PNG image of 4 bits, gray");
}

TEST(DisparityFiles, MiddleburysHaveTheirScale) {
  PARAFIELD_DATA_OR_SKIP(cones, "middlebury-stereo/cones/disp_left.png");
  const DisparityField field = read_disparity(cones, 4);
  ASSERT_EQ(field.size(), (Size{450, 375}));
  float largest = 0;
  for (int y = 0; y < 375; ++y)
    for (int x = 0; x < 450; ++x)
      if (field.valid(x, y)) largest = std::max(largest, field.d(x, y));
  EXPECT_GT(largest, 50);
  EXPECT_LT(largest, 60);
}

#endif

TEST(DisparityFiles, OtherKindsAreNamed) {
  const Folder folder;
  const auto expect = [&](const samples::Bytes& bytes, std::string_view part) {
    const auto path = folder.with("a", bytes);
    expect_error(ErrorCode::format, part, [&] { read_disparity(path, 1); });
    expect_error(ErrorCode::format, path.string(), [&] { read_disparity(path, 1); });
  };
  expect(samples::flo(1, 1, {1, 2}), "a flow field (.flo), not disparities");
  expect(samples::pfm("PF\n1 1\n-1\n", {1, 2, 3}), "a PFM file of three channels (PF), not disparities");
  expect(samples::bytes_of("P5\n1 1\n255\n1"), "an image (PGM or PPM), not disparities");
  expect(samples::jpeg({8, 8}), "an image (JPEG), not disparities");
  expect(samples::bytes_of("none"), "not a PFM, .npy or PNG file: it starts with the bytes 6e 6f 6e 65");
  expect({}, "the file is empty");
  expect_error(ErrorCode::file, "missing.pfm", [&] { read_disparity(folder / "missing.pfm"); });
}

TEST(DisparityFiles, UnwritableFieldsAreNamed) {
  const Folder folder;
  const DisparityField field({4, 3}), other({3, 4});
  const auto expect = [&](const char* name, const DisparityView& view, std::string_view part) {
    expect_error(ErrorCode::invalid_argument, part, [&] { write_disparity(folder / name, view); });
    EXPECT_EQ(folder.files(), 0);
  };
  expect("a.flo", field, "disparities are not written as '.flo' files; use .pfm, .npy or .png");
  expect("a.pfm", {}, "the disparity field has no pixels");
  expect("a.pfm", {field.d, other.valid}, "the disparity field has 4x3 pixels, its valid plane has 3x4");
  View<const float> narrow = field.d;
  narrow.pitch = 8;
  expect("a.pfm", {narrow}, "the pitch of the disparity field, 8 bytes, is less than a row of 16");
}

}  // namespace
}  // namespace parafield
