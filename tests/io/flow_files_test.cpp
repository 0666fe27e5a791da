// SPDX-License-Identifier: MIT
#include <cmath>

#include "io/folder.hpp"
#include "io/formats.hpp"
#include "io/samples.hpp"
#include "not_finite.hpp"
#include "parafield/io.hpp"

namespace parafield {
namespace {

/// Multiples of 1/64 px, which KITTI's format holds exactly.
FlowField some_flow(Size size) {
  FlowField flow(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      flow.u(x, y) = float(x * 37 - y) / 64;
      flow.v(x, y) = float(y * 91 - 3 * x) / -64;
      flow.valid(x, y) = (x + y) % 3 != 0;
    }
  return flow;
}

TEST(Flo, HandMadeFile) {
  const FlowField flow = io::decode_flow(samples::flo(2, 2, {0, 1, -2.5f, 3, 1e10f, 0, 0, nan}));
  ASSERT_EQ(flow.size(), (Size{2, 2}));
  EXPECT_EQ(flow.u(1, 0), -2.5f);
  EXPECT_EQ(flow.v(1, 0), 3);
  EXPECT_EQ(flow.u(0, 1), 1e10f);
  EXPECT_TRUE(std::isnan(flow.v(1, 1)));
  EXPECT_EQ(flow.valid(0, 0), 1);
  EXPECT_EQ(flow.valid(1, 0), 1);
  EXPECT_EQ(flow.valid(0, 1), 0);
  EXPECT_EQ(flow.valid(1, 1), 0);
  EXPECT_FALSE(flow.confidence);
}

TEST(Flo, IsReadInEitherByteOrder) {
  auto bytes = samples::flo(2, 1, {1, -2.5f, 3, 1e10f});
  const FlowField little = io::decode_flow(bytes);
  for (std::size_t i = 0; i < bytes.size(); i += 4) std::reverse(&bytes[i], &bytes[i] + 4);
  const FlowField big = io::decode_flow(bytes);
  ASSERT_EQ(big.size(), little.size());
  for (const int x : {0, 1}) {
    EXPECT_EQ(big.u(x, 0), little.u(x, 0));
    EXPECT_EQ(big.v(x, 0), little.v(x, 0));
    EXPECT_EQ(big.valid(x, 0), little.valid(x, 0));
  }
  bytes.pop_back();
  expect_error(ErrorCode::format, "2x1 pixels need 28 bytes, the file has 27",
               [&] { io::decode_flow(bytes); });
}

TEST(Flo, RoundTrips) {
  const Folder folder;
  for (const Size size : {Size{1, 1}, Size{1, 9}, Size{9, 1}, Size{7, 5}}) {
    const FlowField flow = some_flow(size);
    for (const bool mark_invalid : {false, true}) {
      write_flow(folder / "a.flo", flow, mark_invalid);
      EXPECT_EQ(file_kind(folder / "a.flo"), FileKind::flow);
      const FlowField back = read_flow(folder / "a.flo");
      ASSERT_EQ(back.size(), size);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          const bool marked = mark_invalid && !flow.valid(x, y);
          EXPECT_EQ(back.u(x, y), marked ? 1e10f : flow.u(x, y));
          EXPECT_EQ(back.v(x, y), marked ? 1e10f : flow.v(x, y));
          EXPECT_EQ(back.valid(x, y), !marked);
        }
    }
  }
}

TEST(Flo, IsWrittenByteForByte) {
  const Folder folder;
  FlowField flow({2, 1});
  flow.u(0, 0) = 1.5f;
  flow.v(1, 0) = -3;
  write_flow(folder / "a.flo", flow);
  EXPECT_EQ(bytes_in(folder / "a.flo"), samples::flo(2, 1, {1.5f, 0, 0, -3}));
}

TEST(Flo, DamageIsNamed) {
  const auto expect = [](const samples::Bytes& bytes, std::string_view part) {
    expect_error(ErrorCode::format, part, [&] { io::decode_flow(bytes); });
  };
  expect(samples::flo(640, 480, std::vector<float>(247)),
         "640x480 pixels need 2457612 bytes, the file has 1000");
  expect(samples::flo(1, 1, {1, 2, 3}), "1x1 pixels need 20 bytes, the file has 24");
  expect(samples::flo(0, 1, {}), "0x1 pixels");
  expect(samples::flo(1, -1, {1, 2}), "1x-1 pixels");
  expect(samples::flo(0x7fffffff, 0x7fffffff, {}), "2147483647x2147483647 pixels");
  expect(samples::flo(1000000, 1000000, {}), "need 8000000000012 bytes, the file has 12");
  expect(samples::bytes_of("PIEH"), "the header of a .flo file has 12 bytes, the file has 4");
  expect(samples::bytes_of("P5 1 1 255\n."), "an image (PGM or PPM), not a flow field");
  expect(samples::bytes_of("XIEH"),
         "not a .flo, PFM, .npy or KITTI flow (PNG) file: it starts with the bytes 58 49 45 48");
  expect({}, "the file is empty");
  expect_error(ErrorCode::format, "a flow field (.flo), not an image", [] {
    io::decode_frame(samples::flo(1, 1, {1, 2}));
  });
}

TEST(FlowFiles, UnwritableFlowIsNamed) {
  const Folder folder;
  const auto expect = [&](const char* name, const FlowView& flow, std::string_view part) {
    expect_error(ErrorCode::invalid_argument, part, [&] { write_flow(folder / name, flow); });
  };
  const FlowField flow({4, 3}), other({3, 4});
  expect("a.txt", flow, "a.txt: flow is not written as '.txt' files; use .flo, .pfm, .npy or .png (KITTI)");
  expect("a.flo", {}, "the flow field has no pixels");
  expect("a.flo", {flow.u, other.v}, "u of the flow field has 4x3 pixels, v has 3x4");
  expect("a.flo", {flow.u, flow.v, other.valid}, "its valid plane has 3x4");
  FlowView narrow = flow;
  narrow.v.pitch = 15;
  expect("a.flo", narrow, "v, 15 bytes, is less than a row of 16");
  EXPECT_EQ(folder.files(), 0);
}

#ifdef PARAFIELD_HAS_PNG

TEST(Kitti, HandMadeFile) {
  const unsigned pixels[2][3] = {{32768 + 64, 32768 - 96, 1}, {0, 65535, 0}};
  const samples::Bytes file = png_bytes::file({2, 1, 16, 2}, [&](int x, int, int c) { return pixels[x][c]; });
  const FlowField flow = io::decode_flow(file);
  ASSERT_EQ(flow.size(), (Size{2, 1}));
  EXPECT_EQ(flow.u(0, 0), 1);
  EXPECT_EQ(flow.v(0, 0), -1.5f);
  EXPECT_EQ(flow.valid(0, 0), 1);
  EXPECT_EQ(flow.u(1, 0), -512);
  EXPECT_EQ(flow.v(1, 0), 511.984375f);
  EXPECT_EQ(flow.valid(1, 0), 0);
  EXPECT_FALSE(flow.confidence);
}

TEST(Kitti, RoundTrips) {
  const Folder folder;
  for (const Size size : {Size{1, 1}, Size{1, 9}, Size{9, 1}, Size{7, 5}}) {
    const FlowField flow = some_flow(size);
    for (const bool with_valid : {true, false}) {
      FlowView view = flow;
      if (!with_valid) view.valid = {};
      write_flow(folder / "a.png", view);
      EXPECT_EQ(file_kind(folder / "a.png"), FileKind::flow);
      const FlowField back = read_flow(folder / "a.png");
      ASSERT_EQ(back.size(), size);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          EXPECT_EQ(back.u(x, y), flow.u(x, y));
          EXPECT_EQ(back.v(x, y), flow.v(x, y));
          EXPECT_EQ(back.valid(x, y), with_valid ? flow.valid(x, y) : 1);
        }
    }
  }
}

TEST(Kitti, RoundsAndKeepsToItsRange) {
  const Folder folder;
  FlowField flow({3, 1});
  for (int x = 0; x < 3; ++x) flow.valid(x, 0) = 1;
  flow.u(0, 0) = 0.011f;  // 0.704 / 64
  flow.u(1, 0) = -512;
  flow.v(1, 0) = 511.984375f;
  write_flow(folder / "a.png", flow);
  FlowField back = read_flow(folder / "a.png");
  EXPECT_EQ(back.u(0, 0), 1 / 64.f);
  EXPECT_EQ(back.u(1, 0), -512);
  EXPECT_EQ(back.v(1, 0), 511.984375f);

  for (const float far : {512.f, -512.1f, 1e8f}) {
    flow.v(2, 0) = far;
    expect_error(ErrorCode::invalid_argument, "px at pixel (2, 0); KITTI's format holds -512 to 511.98 px",
                 [&] { write_flow(folder / "a.png", flow); });
  }
  // Unknown flow stays unknown. Large flow that is not valid is written as 0, as in KITTI's files.
  for (const float unknown : {1e10f, nan, -INFINITY}) {
    flow.v(2, 0) = unknown;
    write_flow(folder / "a.png", flow);
    back = read_flow(folder / "a.png");
    EXPECT_EQ(back.valid(1, 0), 1);
    EXPECT_EQ(back.valid(2, 0), 0);
    EXPECT_TRUE(std::isnan(back.u(2, 0)) && std::isnan(back.v(2, 0)));
  }
  flow.v(2, 0) = 600;
  flow.valid(2, 0) = 0;
  write_flow(folder / "a.png", flow);
  EXPECT_EQ(read_flow(folder / "a.png").valid(2, 0), 0);
  EXPECT_EQ(read_flow(folder / "a.png").v(2, 0), 0);
  EXPECT_EQ(folder.files(), 1);
}

TEST(Kitti, OtherPngsAreNotFlow) {
  for (const png_bytes::Header& header : samples::png_headers(5, 3))
    if (header.bit_depth != 16 || header.color_type != 2)
      expect_error(ErrorCode::format, "not flow; KITTI's flow is a PNG of 16 bits, RGB",
                   [&] { io::decode_flow(samples::png(header)); });
}

#endif

}  // namespace
}  // namespace parafield
