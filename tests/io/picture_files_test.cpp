// SPDX-License-Identifier: MIT
#include <cmath>

#include "io/folder.hpp"
#include "io/formats.hpp"
#include "io/npz.hpp"
#include "io/samples.hpp"
#include "parafield/io.hpp"

// BMP, WebP and EXR pictures, and .npz files of fields.
namespace parafield {
namespace {

using samples::Bytes;
using Values = std::vector<double>;

/// All channels of all pixels.
Values values_of_frame(const FrameBuffer& frame) {
  Values all;
  const int row = frame.size().width * channels(frame.format());
  for (int y = 0; y < frame.size().height; ++y)
    for (int i = 0; i < row; ++i)
      all.push_back(bytes_per_pixel(frame.format()) >= 4 ? static_cast<const float*>(frame.row(y))[i]
                                                         : static_cast<const std::uint8_t*>(frame.row(y))[i]);
  return all;
}

Bytes bmp(const bmp_bytes::Header& header, const std::vector<std::uint32_t>& pixels) {
  return bmp_bytes::file(header, [&](int x, int y) { return pixels[std::size_t(y * header.width + x)]; });
}

TEST(Bmp, EveryDepth) {
  const std::vector<std::array<int, 3>> grays = {{0, 0, 0}, {80, 80, 80}, {255, 255, 255}},
                                        colors = {{1, 2, 3}, {4, 5, 6}};
  FrameBuffer frame = io::decode_frame(bmp({.width = 3, .height = 2, .palette = grays}, {0, 1, 2, 2, 0, 1}));
  EXPECT_EQ(frame.format(), PixelFormat::gray_u8);
  EXPECT_EQ(values_of_frame(frame), (Values{0, 80, 255, 255, 0, 80}));
  for (const bool core : {false, true}) {
    frame = io::decode_frame(
        bmp({.width = 2, .height = 2, .bits = 1, .core = core, .palette = colors}, {0, 1, 1, 1}));
    EXPECT_EQ(frame.format(), PixelFormat::rgb_u8);
    EXPECT_EQ(values_of_frame(frame), (Values{1, 2, 3, 4, 5, 6, 4, 5, 6, 4, 5, 6}));
  }
  frame = io::decode_frame(bmp({.width = 3, .height = 1, .bits = 4, .palette = grays}, {2, 0, 1}));
  EXPECT_EQ(values_of_frame(frame), (Values{255, 0, 80}));
  frame = io::decode_frame(bmp({.width = 2, .height = 1, .bits = 16}, {0x7c00, 0x03f0}));
  EXPECT_EQ(values_of_frame(frame), (Values{255, 0, 0, 0, 255, 132}));
  frame = io::decode_frame(bmp({.width = 1, .height = -2, .bits = 24}, {0x010203, 0x040506}));
  EXPECT_EQ(values_of_frame(frame), (Values{1, 2, 3, 4, 5, 6}));
  frame = io::decode_frame(
      bmp({.width = 1, .height = 1, .bits = 32, .compression = 3, .masks = {0xff, 0xff00, 0xff0000}},
          {0x80010203}));
  EXPECT_EQ(values_of_frame(frame), (Values{3, 2, 1}));
}

TEST(Bmp, RunLengths) {
  const std::vector<std::array<int, 3>> grays = {{0, 0, 0}, {80, 80, 80}, {160, 160, 160}, {255, 255, 255}};
  const auto decoded = [&](int bits, int width, int height, const Bytes& runs) {
    return values_of_frame(io::decode_frame(bmp({.width = width,
                                                 .height = height,
                                                 .bits = bits,
                                                 .compression = bits == 8 ? 1u : 2u,
                                                 .runs = runs,
                                                 .palette = grays},
                                                {})));
  };
  // The lowest row comes first. A jump leaves out a pixel; three single pixels are padded to 16 bits.
  EXPECT_EQ(decoded(8, 5, 3, {3, 1, 2, 2, 0, 0, 0, 2, 1, 0, 0, 3, 1, 2, 3, 0, 0, 0, 5, 3, 0, 1}),
            (Values{255, 255, 255, 255, 255, 0, 80, 160, 255, 0, 80, 80, 80, 160, 160}));
  EXPECT_EQ(decoded(4, 5, 2, {5, 0x12, 0, 0, 0, 5, 0x01, 0x23, 0x30, 0, 0, 0}),
            (Values{0, 80, 160, 255, 255, 80, 160, 80, 160, 80}));
  EXPECT_EQ(decoded(8, 2, 2, {2, 1, 0, 0, 2, 3}), (Values{255, 255, 80, 80})) << "without an end";
  expect_error(ErrorCode::format, "its run lengths leave the 2x2 pixels", [&] {
    decoded(8, 2, 2, {3, 1, 0, 1});
  });
  expect_error(ErrorCode::format, "its run lengths leave the 2x2 pixels", [&] {
    decoded(8, 2, 2, {0, 2, 0, 7, 1, 1, 0, 1});
  });
  expect_error(ErrorCode::format, "its run lengths are cut off", [&] { decoded(8, 2, 2, {2, 1, 0}); });
  expect_error(ErrorCode::format, "pixel (0, 0) has the color 4 of 4", [&] {
    decoded(8, 1, 1, {1, 4, 0, 1});
  });
  expect_error(ErrorCode::format, "20000x20000 pixels of 8 bits need", [&] {
    decoded(8, 20000, 20000, {0, 1});
  });
}

TEST(Bmp, OtherKindsAndDamageAreNamed) {
  expect_error(ErrorCode::unsupported, "a BMP file of 8 bits with the compression 4 is not supported", [] {
    io::decode_frame(bmp({.compression = 4, .palette = {{0, 0, 0}}}, {0}));
  });
  expect_error(ErrorCode::format, "pixel (1, 0) has the color 1 of 1", [] {
    io::decode_frame(bmp({.width = 2, .palette = {{0, 0, 0}}}, {0, 1}));
  });
  Bytes cut = bmp({.width = 2, .height = 2, .bits = 24}, {0, 1, 2, 3});
  cut.pop_back();
  expect_error(ErrorCode::format, "2x2 pixels of 24 bits need 16 bytes, the file has 15 after its headers",
               [&] { io::decode_frame(cut); });
  Bytes far = bmp({.width = 2, .palette = {{0, 0, 0}}}, {0, 0});
  far[13] =
      1;  // of the place of the pixels, which is then beyond the end, and so is most of the palette before it
  expect_error(ErrorCode::format, "2x1 pixels of 8 bits need 4 bytes, the file has 0 after its headers",
               [&] { io::decode_frame(far); });
  expect_error(ErrorCode::format, "one of its bit masks is 5", [] {
    io::decode_frame(bmp({.bits = 16, .compression = 3, .masks = {5, 8, 16}}, {0}));
  });
}

/// Returns whether the format's library is there; otherwise, the error must say what is missing.
bool is_readable(const Bytes& bytes, std::string_view package) {
  try {
    io::decode_frame(bytes);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(int(error.code()), int(ErrorCode::unsupported)) << error.what();
    EXPECT_NE(std::string_view(error.what()).find(package), std::string_view::npos) << error.what();
    return false;
  }
}

TEST(WebP, IsRead) {
  const Bytes bytes = samples::webps()[0].bytes;
  if (!is_readable(bytes, "(Debian: libwebp")) GTEST_SKIP() << "skipped: no libwebp";
  const FrameBuffer frame = io::decode_frame(bytes);
  ASSERT_EQ(frame.format(), PixelFormat::rgb_u8);
  EXPECT_EQ(values_of_frame(frame),
            (Values{255, 0, 0, 0, 255, 0, 0, 0, 255, 10, 20, 30, 40, 50, 60, 70, 80, 90}));
  const Folder folder;
  EXPECT_EQ(read_frame(folder.with("a.webp", bytes)).size(), (Size{3, 2}));
  EXPECT_EQ(file_kind(folder / "a.webp"), FileKind::frame);
  EXPECT_FALSE(read_alpha(folder / "a.webp"));
}

TEST(WebP, AndItsAlphaAreTurned) {
  const Bytes bytes = samples::webps()[1].bytes;
  if (!is_readable(bytes, "(Debian: libwebp")) GTEST_SKIP() << "skipped: no libwebp";
  const Folder folder;
  const auto path = folder.with("a.webp", bytes);
  const FrameBuffer frame = read_frame(path);
  const auto alpha = read_alpha(path);
  ASSERT_EQ(frame.size(), (Size{2, 3}));
  ASSERT_EQ(alpha.size(), (Size{2, 3}));
  const int reds[3][2] = {{120, 0}, {160, 40}, {9, 80}};
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 2; ++x) {
      EXPECT_EQ(static_cast<const std::uint8_t*>(frame.row(y))[3 * x], reds[y][x]);
      EXPECT_EQ(alpha(x, y), x == 1 && y == 0 ? 0 : 1);
    }
}

TEST(WebP, SizesAreCheckedBeforeMemoryIsTaken) {
  const Bytes bytes = samples::webps()[1].bytes;
  if (!is_readable(bytes, "(Debian: libwebp")) GTEST_SKIP() << "skipped: no libwebp";
  constexpr std::size_t canvas = 24, image = 30;  // places in the file
  Bytes other = bytes;
  other[canvas] = 9;
  expect_error(ErrorCode::format, "damaged WebP file: its header", [&] { io::decode_frame(other); });
  Bytes cut = bytes;
  cut[canvas + 1] = cut[canvas + 4] = 0x3f;  // 16387x16129
  cut[image] = 0;                            // the image's name
  expect_error(ErrorCode::format, "damaged WebP file: it has no image", [&] { io::decode_frame(cut); });
}

TEST(Exr, IsRead) {
  const auto value = [](int x, int y, int c) { return float(x + 10 * y + 100 * c); };
  const auto decoded = [&](const exr_bytes::Header& header) {
    return io::decode_frame(exr_bytes::file(header, value));
  };
  if (!is_readable(samples::exrs()[0].bytes, "(Debian: libopenexr")) GTEST_SKIP() << "skipped: no OpenEXR";
  FrameBuffer frame = decoded({.data = {0, 0, 1, 1}});
  ASSERT_EQ(frame.format(), PixelFormat::rgb_f32);
  EXPECT_EQ(values_of_frame(frame), (Values{200, 100, 0, 201, 101, 1, 210, 110, 10, 211, 111, 11}));
  for (const char* name : {"Y", "depth.V", "left.Y"}) {
    frame = decoded({.data = {0, 0, 1, 0}, .channels = {name}, .type = 1});
    ASSERT_EQ(frame.format(), PixelFormat::gray_f32);
    EXPECT_EQ(values_of_frame(frame), (Values{0, 1}));
  }
  // Alpha is dropped, and a layer's name may precede the colors.
  EXPECT_EQ(values_of_frame(decoded({.channels = {"view.A", "view.B", "view.G", "view.R"}})),
            (Values{300, 200, 100}));
  // The image is the display window; it is black where there are no data.
  frame = decoded({.data = {-1, 1, 1, 1}, .display = {0, 0, 2, 1}, .channels = {"Y"}});
  ASSERT_EQ(frame.size(), (Size{3, 2}));
  EXPECT_EQ(values_of_frame(frame), (Values{0, 0, 0, 10, 11, 0}));
}

TEST(Exr, ThePartThatCanBeThePictureIsRead) {
  if (!is_readable(samples::exrs()[0].bytes, "(Debian: libopenexr")) GTEST_SKIP() << "skipped: no OpenEXR";
  using Parts = std::vector<exr_bytes::Part>;
  const auto decoded = [](const Parts& parts) {
    return values_of_frame(io::decode_frame(exr_bytes::file(
        parts, [](int part, int x, int y, int c) { return float(1000 * part + x + 10 * y + 100 * c); })));
  };
  const exr_bytes::Part colors{"beauty", {.data = {0, 0, 1, 0}}}, depth{"depth", {.channels = {"Z"}}},
      motion{"motion", {.channels = {"U", "V"}}};
  EXPECT_EQ(decoded({motion, colors}), (Values{1200, 1100, 1000, 1201, 1101, 1001}));
  EXPECT_EQ(decoded({colors, depth}), (Values{200, 100, 0, 201, 101, 1})) << "colors rather than depth";
  EXPECT_EQ(decoded({motion, depth}), (Values{1000}));
  expect_error(
      ErrorCode::unsupported,
      "an EXR file of 3 parts, of which 2 could be the picture, is not supported; save the one that is "
      "meant as a file of its own (left: B, G, R; right: B, G, R; depth: Z)",
      [&] {
        decoded({{"left", colors.header}, {"right", colors.header}, depth});
      });
  expect_error(ErrorCode::unsupported,
               "an EXR file with the channels motion: U, V; more: U, V is not supported", [&] {
                 decoded({motion, {"more", motion.header}});
               });
}

TEST(Exr, OtherKindsAndDamageAreNamed) {
  const auto value = [](int, int, int) { return 0.0f; };
  if (!is_readable(samples::exrs()[0].bytes, "(Debian: libopenexr")) GTEST_SKIP() << "skipped: no OpenEXR";
  expect_error(ErrorCode::unsupported, "an EXR file with the channels U, V is not supported", [&] {
    io::decode_frame(exr_bytes::file({.channels = {"U", "V"}}, value));
  });
  expect_error(ErrorCode::unsupported, "is not supported; R, G and B, or Y, or one are", [&] {
    io::decode_frame(exr_bytes::file({.channels = {"a.B", "a.G", "a.R", "b.B", "b.G", "b.R"}}, value));
  });
  Bytes cut = samples::exrs()[0].bytes;
  cut.resize(cut.size() - 9);
  expect_error(ErrorCode::format, "damaged EXR file: ", [&] { io::decode_frame(cut); });
}

TEST(Npz, FlowIsRead) {
  for (const samples::Sample& sample : samples::npzs()) {
    SCOPED_TRACE(sample.name);
    const FlowField flow = io::decode_flow(sample.bytes);
    ASSERT_EQ(flow.size(), (Size{2, 2}));
    EXPECT_EQ(flow.u(1, 0), 2.5f);
    EXPECT_EQ(flow.u(0, 1), -3);
    EXPECT_EQ(flow.v(1, 1), 4);
    EXPECT_TRUE(flow.valid(0, 1));
    EXPECT_FALSE(flow.valid(1, 1));
  }
}

TEST(Npz, SeveralFieldsAreReadByNumber) {
  using samples::npy, samples::npy_header, samples::floats;
  const Folder folder;
  const auto path = folder.with(
      "video.npz",
      npz_bytes::file({{"u", npy(npy_header("<f4", "(3, 1, 2)"), floats({0, 1, 2, 3, 4, 5}))},
                       {"v", npy(npy_header("<f4", "(3, 1, 2)"), floats({0, -1, -2, -3, -4, 1e10f}))},
                       {"valid", npy(npy_header("|b1", "(3, 1, 2)"), {1, 1, 0, 1, 1, 1})},
                       {"info", npy(npy_header("<U2", "()"), {'{', 0, 0, 0, '}', 0, 0, 0})}}));
  EXPECT_EQ(file_kind(path), FileKind::flow);
  expect_error(ErrorCode::format, "holds 3 flow fields; FlowReader reads one after the other",
               [&] { read_flow(path); });
  const FlowReader reader(path);
  ASSERT_EQ(reader.count(), 3);
  for (const int i : {2, 0, 1}) {
    const FlowField flow = reader.read(i);
    EXPECT_EQ(flow.u(1, 0), float(2 * i + 1));
    EXPECT_EQ(flow.v(0, 0), float(-2 * i));
    EXPECT_EQ(flow.valid(0, 0), i != 1);
    EXPECT_EQ(flow.valid(1, 0), i != 2);
  }
  for (const int i : {-1, 3})
    expect_error(ErrorCode::invalid_argument, "does not exist; the file holds 3, numbered from 0",
                 [&] { reader.read(i); });
  EXPECT_EQ(FlowReader(folder.with("a.flo", samples::flo(1, 1, {1, 2}))).count(), 1);
}

TEST(Npz, NamesAndShapesDecide) {
  using samples::npy, samples::npy_header, samples::floats;
  const Folder folder;
  const auto kind = [&](const Bytes& bytes) { return file_kind(folder.with("a.npz", bytes)); };
  const Bytes plane = npy(npy_header("<f4", "(1, 2)"), floats({1, INFINITY})),
              flow = npy(npy_header("<f4", "(1, 1, 2)"), floats({1, 2})),
              valid = npy(npy_header("|b1", "(1, 2)"), {0, 1});
  for (const char* name : {"flow", "arr_0"}) {
    EXPECT_EQ(kind(npz_bytes::file({{name, flow}})), FileKind::flow);
    EXPECT_EQ(io::decode_flow(npz_bytes::file({{name, flow}})).v(0, 0), 2);
  }
  for (const char* name : {"disparity", "d", "arr_0"}) {
    const Bytes bytes = npz_bytes::file({{name, plane}});
    EXPECT_EQ(kind(bytes), FileKind::disparity);
    const DisparityField field = io::decode_disparity(bytes, 0);
    EXPECT_EQ(field.d(0, 0), 1);
    EXPECT_TRUE(field.valid(0, 0));
    EXPECT_FALSE(field.valid(1, 0));
  }
  EXPECT_FALSE(io::decode_disparity(npz_bytes::file({{"d", plane}, {"valid", valid}}), 0).valid(0, 0));
  EXPECT_EQ(kind(npz_bytes::file({{"a", plane}, {"b", plane}})), FileKind::unknown);
  const auto expect = [](std::string_view part, const Bytes& bytes) {
    SCOPED_TRACE(part);
    expect_error(ErrorCode::format, part, [&] { io::decode_flow(bytes); });
  };
  expect("a .npz file of a, b, not flow, whose arrays are u and v, or flow",
         npz_bytes::file({{"a", flow}, {"b", flow}}));
  expect("the arrays u and v differ in shape",
         npz_bytes::file({{"u", plane}, {"v", npy(npy_header("<f4", "(2, 1)"), floats({1, 2}))}}));
  expect("the array valid is 1 x 2; it should have the shape of the fields",
         npz_bytes::file({{"flow", flow}, {"valid", valid}}));
  Bytes damaged = npz_bytes::file({{"flow", flow}});
  damaged[damaged.size() - 22 - 46 - 8 - 1] ^= 1;  // the last value
  expect("the array flow differs from its checksum", damaged);
  expect("its directory is missing; it is cut off", {damaged.begin(), damaged.end() - 30});
  expect_error(ErrorCode::format, "arrays (.npz), not an image", [&] {
    io::decode_frame(npz_bytes::file({{"flow", flow}}));
  });
}

}  // namespace
}  // namespace parafield
