// SPDX-License-Identifier: MIT
#include <cmath>

#include "io/folder.hpp"
#include "io/formats.hpp"
#include "io/frame_reader.hpp"
#include "io/frames.hpp"
#include "io/samples.hpp"
#include "parafield/io.hpp"

namespace parafield {
namespace {

using samples::Bytes;
using samples::bytes_of;
using samples::joined;

/// Planes of a Y4M stream, made by hand.
struct Video {
  Size size;
  std::string kind;  // C's
  int depth = 8;
  int across = 2, down = 2;  // pixels of a value of chroma; 0 = no chroma
  bool left = false, top = false;
  bool full = false;

  Size chroma() const { return {(size.width + across - 1) / across, (size.height + down - 1) / down}; }
  /// Value of plane 0, 1 or 2.
  int value(int plane, int x, int y) const {
    return int(samples::pattern(plane ? 3 * x : x, plane ? 5 * y : y, plane, depth));
  }
  Bytes frame() const {
    Bytes bytes = bytes_of("FRAME\n");
    for (int plane = 0; plane < (across ? 3 : 1); ++plane)
      for (int y = 0; y < (plane ? chroma() : size).height; ++y)
        for (int x = 0; x < (plane ? chroma() : size).width; ++x) {
          bytes.push_back(std::uint8_t(value(plane, x, y)));
          if (depth > 8) bytes.push_back(std::uint8_t(value(plane, x, y) >> 8));
        }
    return bytes;
  }
  Bytes file() const {
    const std::string header =
        "YUV4MPEG2 W" + std::to_string(size.width) + " H" + std::to_string(size.height) + " F30:1 Ip A1:1" +
        (kind.empty() ? "" : " C" + kind) + (full ? " XCOLORRANGE=FULL" : " XCOLORRANGE=LIMITED") + "\n";
    return joined(header, frame());
  }

  /// Chroma at a pixel: linear between the places of its values.
  double chroma_at(int plane, int x, int y) const {
    const auto place = [](int at, int step, bool first) {
      return step == 1 ? double(at) : first ? at / 2. : (at + 0.5) / 2 - 0.5;
    };
    const double px = place(x, across, left), py = place(y, down, top);
    double sum = 0;
    for (const int j : {0, 1})
      for (const int i : {0, 1}) {
        const double ix = std::floor(px) + i, iy = std::floor(py) + j;
        sum += (1 - std::abs(px - ix)) * (1 - std::abs(py - iy)) *
               value(plane, std::clamp(int(ix), 0, chroma().width - 1),
                     std::clamp(int(iy), 0, chroma().height - 1));
      }
    return sum;
  }
  /// BT.601, 0..1.
  std::array<double, 3> rgb(int x, int y) const {
    const double unit = std::ldexp(1, depth - 8), largest = std::ldexp(1, depth) - 1;
    const auto chroma = [&](int plane) {
      return (chroma_at(plane, x, y) - 128 * unit) / (full ? largest : 224 * unit);
    };
    const double luma = full ? value(0, x, y) / largest : (value(0, x, y) - 16 * unit) / (219 * unit);
    const double cb = chroma(1), cr = chroma(2), kr = 0.299, kb = 0.114;
    const double r = luma + 2 * (1 - kr) * cr, b = luma + 2 * (1 - kb) * cb;
    return {r, (luma - kr * r - kb * b) / (1 - kr - kb), b};
  }
};

template <class T>
void expect_colors(const Video& video, const FrameBuffer& frame) {
  constexpr double full = std::numeric_limits<T>::max();
  for (int y = 0; y < video.size.height; ++y)
    for (int x = 0; x < video.size.width; ++x)
      for (std::size_t c = 0; c < 3; ++c)
        ASSERT_NEAR(static_cast<const T*>(frame.row(y))[3 * std::size_t(x) + c],
                    std::clamp(video.rgb(x, y)[c], 0., 1.) * full, 0.51)
            << video.kind << " at " << x << ", " << y << ", " << c;
}

TEST(Y4m, ColorsOfAllKinds) {
  const Video kinds[] = {
      {{}, ""},
      {{}, "420"},
      {{}, "420jpeg"},
      {{}, "420mpeg2", 8, 2, 2, true},
      {{}, "420paldv", 8, 2, 2, true, true},
      {{}, "422", 8, 2, 1, true},
      {{}, "444", 8, 1, 1},
      {{}, "420p9", 9, 2, 2, true},
      {{}, "420p10", 10, 2, 2, true},
      {{}, "422p12", 12, 2, 1, true},
      {{}, "444p14", 14, 1, 1},
      {{}, "444p16", 16, 1, 1},
  };
  for (Video video : kinds)
    for (const bool full : {false, true})
      for (const Size size : {Size{1, 1}, Size{2, 2}, Size{7, 5}, Size{6, 4}, Size{1, 6}, Size{5, 1}}) {
        video.size = size;
        video.full = full;
        const FrameBuffer frame = io::decode_frame(video.file());
        ASSERT_EQ(frame.size(), size);
        ASSERT_EQ(frame.format(), video.depth > 8 ? PixelFormat::rgb_u16 : PixelFormat::rgb_u8) << video.kind;
        video.depth > 8 ? expect_colors<std::uint16_t>(video, frame)
                        : expect_colors<std::uint8_t>(video, frame);
      }
}

TEST(Y4m, KnownColors) {
  const auto color = [](const Bytes& yuv) {
    const FrameBuffer frame = io::decode_frame(joined("YUV4MPEG2 H1 W1 C444\nFRAME\n", yuv));
    const auto* p = static_cast<const std::uint8_t*>(frame.row(0));
    return std::vector<int>{p[0], p[1], p[2]};
  };
  EXPECT_EQ(color({16, 128, 128}), (std::vector{0, 0, 0}));
  EXPECT_EQ(color({235, 128, 128}), (std::vector{255, 255, 255}));
  EXPECT_EQ(color({255, 128, 128}), (std::vector{255, 255, 255}));
  EXPECT_EQ(color({0, 128, 128}), (std::vector{0, 0, 0}));
  EXPECT_EQ(color({82, 90, 240}), (std::vector{255, 1, 0}));  // BT.601's red
}

TEST(Y4m, GrayIsReadAsItIs) {
  FrameBuffer frame = io::decode_frame(Video{{5, 3}, "mono", 8, 0}.file());
  ASSERT_EQ(frame.format(), PixelFormat::gray_u8);
  const Video wide{{5, 3}, "mono12", 12, 0};
  for (int x = 0; x < 5; ++x)
    EXPECT_EQ(static_cast<const std::uint8_t*>(frame.row(2))[x], samples::pattern(x, 2, 0, 8));
  frame = io::decode_frame(wide.file());
  ASSERT_EQ(frame.format(), PixelFormat::gray_u16);
  for (int x = 0; x < 5; ++x)
    EXPECT_EQ(static_cast<const std::uint16_t*>(frame.row(2))[x],
              std::lround(wide.value(0, x, 2) * 65535. / 4095));
  frame = io::decode_frame(joined("YUV4MPEG2 H1 W2 Cmono16\nFRAME\n", {1, 2, 255, 255}));
  EXPECT_EQ(static_cast<const std::uint16_t*>(frame.row(0))[0], 0x0201);
  EXPECT_EQ(static_cast<const std::uint16_t*>(frame.row(0))[1], 0xffff);
  // More than the depth allows is white.
  frame = io::decode_frame(joined("YUV4MPEG2 H1 W1 Cmono9\nFRAME\n", {255, 255}));
  EXPECT_EQ(static_cast<const std::uint16_t*>(frame.row(0))[0], 0xffff);
}

TEST(Y4m, AnyNumberOfFrames) {
  const Folder folder;
  Bytes file = joined("YUV4MPEG2 W2 H1 Cmono\nFRAME\n", {1, 2});
  for (const Bytes& frame :
       {joined("FRAME Ip XA=B\n", {3, 4}), joined("YUV4MPEG2 W1 H1 Cmono\nFRAME\n", {5})})
    file.insert(file.end(), frame.begin(), frame.end());
  const auto path = folder.with("a.y4m", file);
  EXPECT_EQ(file_kind(path), FileKind::frame);
  FrameReader reader(path);
  for (const int value : {1, 3, 5}) {
    const auto frame = reader.next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(*static_cast<const std::uint8_t*>(frame->row(0)), value);
  }
  EXPECT_FALSE(reader.next());
  expect_error(ErrorCode::format, "a.y4m: holds more than one frame", [&] { read_frame(path); });
  expect_error(ErrorCode::format, "a.y4m: a video (Y4M), not a flow field", [&] { read_flow(path); });
  folder.with("a.y4m", bytes_of("YUV4MPEG2 W2 H1\n"));
  EXPECT_FALSE(FrameReader(path).next());
  expect_error(ErrorCode::format, "a.y4m: holds no frame", [&] { read_frame(path); });
}

TEST(Y4m, DamageIsNamed) {
  const auto expect = [](ErrorCode code, std::string_view file, std::string_view part) {
    SCOPED_TRACE(file);
    expect_error(code, part, [&] { io::decode_frame(bytes_of(file)); });
  };
  const auto expect_damage = [&](std::string_view file, std::string_view part) {
    expect(ErrorCode::format, file, part);
  };
  expect_damage("YUV4MPEG2 W2 H1", "ends at byte 15, within the header");
  expect_damage("YUV4MPEG2 H1\n", "gives no width (W)");
  expect_damage("YUV4MPEG2 W1\n", "gives no height (H)");
  expect_damage("YUV4MPEG2 Wx H1\n", "damaged header: Wx is no number");
  expect_damage("YUV4MPEG2 W1 H-1\n", "a Y4M stream of 1x-1 pixels");
  expect_damage("YUV4MPEG2 W1 H1000001\n", "each side is 1 to 1000000");
  expect_damage("YUV4MPEG2 W" + std::string(1100, ' ') + "\n",
                "the header at byte 0 has no end in 1000 bytes");
  expect_damage("YUV4MPEG2 W2 H1\nframe\n", "frame 1: no FRAME at byte 16");
  expect_damage("YUV4MPEG2 W2 H1\nFRAME", "frame 1: ends at byte 21, within the line FRAME");
  expect_damage("YUV4MPEG2 W2 H1\nFRAME\n123", "frame 1: ends after 3 of 4 bytes of pixels");
  expect_damage("YUV4MPEG2 W2 H1\nFRAME\n1234x", "no FRAME at byte 26");
  for (const char* kind : {"411", "444alpha", "410", "420p", "420p17", "420p7", "mono7", "monox", "422jpeg"})
    expect(ErrorCode::unsupported, "YUV4MPEG2 W2 H1 C" + std::string(kind) + "\n",
           "planes of the kind " + std::string(kind) +
               " are not supported; mono, 420, 422 and 444 of 8 to 16 bits are");
  expect(ErrorCode::unsupported, "YUV4MPEG2 W2 H1 C\n", "planes of the kind '' are not supported");
}

}  // namespace
}  // namespace parafield
