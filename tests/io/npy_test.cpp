// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "io/folder.hpp"
#include "io/formats.hpp"
#include "io/samples.hpp"
#include "parafield/io.hpp"

namespace parafield {
namespace {

using samples::doubles;
using samples::floats;
using samples::npy;
using samples::npy_header;

TEST(Npy, HandMadeFiles) {
  for (const int version : {1, 2, 3})
    for (const bool single : {true, false}) {
      const FlowField flow =
          io::decode_flow(npy(npy_header(single ? "<f4" : "<f8", "(2, 3, 2)"),
                              single ? floats({1, -2, 3, 4, 5.25f, 6, 7, NAN, 1e10f, 0, 9, 10})
                                     : doubles({1, -2, 3, 4, 5.25, 6, 7, NAN, 1e300, 0, 9, 10}),
                              version));
      ASSERT_EQ(flow.size(), (Size{3, 2}));
      EXPECT_EQ(flow.u(0, 0), 1);
      EXPECT_EQ(flow.v(0, 0), -2);
      EXPECT_EQ(flow.u(2, 0), 5.25f);
      EXPECT_EQ(flow.v(2, 1), 10);
      for (int y = 0; y < 2; ++y)
        for (int x = 0; x < 3; ++x) EXPECT_EQ(flow.valid(x, y), y == 0 || x == 2);
      EXPECT_FALSE(flow.confidence);
    }
}

TEST(Npy, HeadersOfOtherWriters) {
  for (const char* header :
       {"{'descr':'<f4','fortran_order':False,'shape':(1,1,2)}",
        "{ \"shape\": (1, 1, 2,), \"fortran_order\": False,\n\"descr\": \"<f4\" , }  \n"})
    EXPECT_EQ(io::decode_flow(npy(header, floats({3, 4}))).v(0, 0), 4) << header;
}

TEST(Npy, FlowIsWrittenAsNumpyDoes) {
  const Folder folder;
  FlowField flow({3, 2});
  flow.u(0, 0) = 1.5f;
  flow.v(2, 1) = -3;
  flow.valid(2, 1) = 1;
  for (const bool mark_invalid : {false, true}) {
    write_flow(folder / "a.npy", flow, mark_invalid);
    const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 2), }";
    std::vector<float> values(12, mark_invalid ? NAN : 0);
    if (!mark_invalid) values[0] = 1.5f;
    values[10] = 0;
    values[11] = -3;
    EXPECT_EQ(bytes_in(folder / "a.npy"),
              npy(header + std::string(118 - header.size() - 1, ' ') + "\n", floats(values)));
    EXPECT_EQ(file_kind(folder / "a.npy"), FileKind::flow);
    const FlowField back = read_flow(folder / "a.npy");
    EXPECT_EQ(back.v(2, 1), -3);
    EXPECT_EQ(back.valid(0, 0), !mark_invalid);
  }
  expect_error(ErrorCode::format, "an array of 2 x 3 x 2, not an image; an image is height x width, ",
               [&] { read_frame(folder / "a.npy"); });
}

/// All values, row by row.
template <class T>
std::vector<double> doubles_of(const FrameBuffer& frame) {
  std::vector<double> all;
  for (int y = 0; y < frame.size().height; ++y)
    for (int i = 0; i < frame.size().width * channels(frame.format()); ++i)
      all.push_back(static_cast<const T*>(frame.row(y))[i]);
  return all;
}

/// The bytes of each value in the other order.
samples::Bytes swapped(samples::Bytes bytes, std::ptrdiff_t value_bytes) {
  for (auto at = bytes.begin(); at != bytes.end(); at += value_bytes) std::reverse(at, at + value_bytes);
  return bytes;
}

TEST(Npy, Frames) {
  FrameBuffer frame = io::decode_frame(npy(npy_header("|u1", "(2, 3)"), {0, 1, 2, 253, 254, 255}));
  ASSERT_EQ(frame.size(), (Size{3, 2}));
  ASSERT_EQ(frame.format(), PixelFormat::gray_u8);
  EXPECT_EQ(doubles_of<std::uint8_t>(frame), (std::vector<double>{0, 1, 2, 253, 254, 255}));
  frame = io::decode_frame(npy(npy_header("|u1", "(1, 2, 3)"), {0, 1, 2, 253, 254, 255}));
  ASSERT_EQ(frame.size(), (Size{2, 1}));
  ASSERT_EQ(frame.format(), PixelFormat::rgb_u8);
  EXPECT_EQ(doubles_of<std::uint8_t>(frame), (std::vector<double>{0, 1, 2, 253, 254, 255}));
  for (const bool big : {false, true}) {
    const auto type = [&](const char* name) { return (big ? ">" : "<") + std::string(name); };
    const auto ordered = [&](const samples::Bytes& bytes, std::ptrdiff_t size) {
      return big ? swapped(bytes, size) : bytes;
    };
    frame = io::decode_frame(npy(npy_header(type("u2"), "(2, 1, 1)"), ordered({1, 2, 255, 254}, 2)));
    ASSERT_EQ(frame.format(), PixelFormat::gray_u16);
    ASSERT_EQ(frame.size(), (Size{1, 2}));
    EXPECT_EQ(doubles_of<std::uint16_t>(frame), (std::vector<double>{0x0201, 0xfeff}));
    frame = io::decode_frame(npy(npy_header(type("f4"), "(1, 1, 3)"), ordered(floats({-1.5f, 0, 300}), 4)));
    ASSERT_EQ(frame.format(), PixelFormat::rgb_f32);
    EXPECT_EQ(doubles_of<float>(frame), (std::vector<double>{-1.5, 0, 300}));
    frame = io::decode_frame(npy(npy_header(type("f8"), "(1, 2)"), ordered(doubles({0.1, 1e300}), 8), 3));
    ASSERT_EQ(frame.format(), PixelFormat::gray_f32);
    EXPECT_EQ(doubles_of<float>(frame), (std::vector<double>{0.1f, INFINITY}));
    frame = io::decode_frame(npy(npy_header(type("i2"), "(1, 2)"), ordered({0xfe, 0xff, 0, 1}, 2)));
    ASSERT_EQ(frame.format(), PixelFormat::gray_f32);
    EXPECT_EQ(doubles_of<float>(frame), (std::vector<double>{-2, 256}));
    frame = io::decode_frame(npy(npy_header(type("i4"), "(1, 1)"), ordered({0xfe, 0xff, 0xff, 0xff}, 4)));
    EXPECT_EQ(doubles_of<float>(frame), (std::vector<double>{-2}));
    frame = io::decode_frame(npy(npy_header(type("u4"), "(1, 1)"), ordered({0xfe, 0xff, 0xff, 0xff}, 4)));
    EXPECT_EQ(doubles_of<float>(frame), (std::vector<double>{4294967296.0}));
    frame = io::decode_frame(
        npy(npy_header(type("f2"), "(1, 3)"), ordered(samples::halves({-1.5f, 0, 2048}), 2)));
    EXPECT_EQ(doubles_of<float>(frame), (std::vector<double>{-1.5, 0, 2048}));
  }
}

// Every half-precision float: subnormal numbers, infinities and NaN included.
TEST(Npy, Halves) {
  for (int bits = 0; bits < 1 << 16; ++bits) {
    const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    const double sign = bits >> 15 ? -1 : 1;
    const double expected = exponent == 31 ? (mantissa ? NAN : INFINITY)
                            : exponent     ? std::ldexp(1024 + mantissa, exponent - 25)
                                           : std::ldexp(mantissa, -24);
    const float value = io::float_of_half(std::uint16_t(bits));
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(value)) << bits;
    else
      ASSERT_EQ(value, sign * expected) << bits;
  }
}

TEST(Npy, FlowAndDisparitiesOfAnyFloats) {
  const FlowField flow =
      io::decode_flow(npy(npy_header("<f2", "(1, 2, 2)"), samples::halves({1, -2.5f, 3, 0.25f})));
  EXPECT_EQ(flow.u(0, 0), 1);
  EXPECT_EQ(flow.v(0, 0), -2.5f);
  EXPECT_EQ(flow.v(1, 0), 0.25f);
  const FlowField big = io::decode_flow(npy(npy_header(">f4", "(1, 1, 2)"), swapped(floats({1.5f, 2}), 4)));
  EXPECT_EQ(big.u(0, 0), 1.5f);
  const DisparityField disparity =
      io::decode_disparity(npy(npy_header("<f2", "(1, 2)"), samples::halves({7, 0.5f})), 0);
  EXPECT_EQ(disparity.d(0, 0), 7);
  EXPECT_EQ(disparity.d(1, 0), 0.5f);
}

TEST(Npy, TypeAndShapeDecideTheKind) {
  const Folder folder;
  const auto kind = [&](const char* type, const char* shape) {
    return file_kind(folder.with("a.npy", npy(npy_header(type, shape), {})));
  };
  for (const char* type : {"<f2", "<f4", "<f8", ">f4"}) {
    EXPECT_EQ(kind(type, "(4, 5)"), FileKind::disparity);
    EXPECT_EQ(kind(type, "(4, 5, 2)"), FileKind::flow);
    EXPECT_EQ(kind(type, "(4, 5, 1)"), FileKind::frame);
    EXPECT_EQ(kind(type, "(4, 5, 3)"), FileKind::frame);
  }
  for (const char* type : {"|u1", "<u2", ">u2", "<i2", "<i4"})
    for (const char* shape : {"(4, 5)", "(4, 5, 1)", "(4, 5, 3)"})
      EXPECT_EQ(kind(type, shape), FileKind::frame) << type << shape;
}

TEST(Npy, FramesThatAreNotReadAreNamed) {
  const auto expect = [](ErrorCode code, const char* type, const char* shape, std::string_view part) {
    SCOPED_TRACE(part);
    expect_error(code, part, [&] { io::decode_frame(npy(npy_header(type, shape), {1, 2, 3})); });
  };
  for (const char* type : {"|b1", "|i1", "<i8", "<c8", "=u2", "|u2", "", "u1"})
    expect(ErrorCode::unsupported, type, "(1, 3)",
           "an array of type '" + std::string(type) + "' is not supported as an image; 8-, 16- and 32-bit");
  for (const char* shape : {"()", "(3,)", "(1, 3, 2)", "(1, 3, 4)", "(1, 1, 3, 1)"})
    expect(ErrorCode::format, "|u1", shape,
           ", not an image; an image is height x width, height x width x 1 or ");
  expect(ErrorCode::format, "|u1", "(0, 3)", "an array of 0 x 3; each side of the image is 1 to 1000000");
  expect(ErrorCode::format, "|u1", "(2, 3)",
         "an array of 2 x 3 needs 6 bytes after the header, the file has 3");
  expect(ErrorCode::format, "<u2", "(1000000, 1000000, 3)", "needs 6000000000000 bytes after the header");
  expect_error(ErrorCode::format, "Fortran order is not supported; save numpy.ascontiguousarray(image)", [] {
    io::decode_frame(npy(npy_header("|u1", "(1, 3)", true), {1, 2, 3}));
  });
}

TEST(Npy, DamageIsNamed) {
  const auto expect = [](const samples::Bytes& bytes, std::string_view part) {
    expect_error(ErrorCode::format, part, [&] { io::decode_flow(bytes); });
  };
  const auto expect_header = [&](std::string_view header, std::string_view part) {
    SCOPED_TRACE(header);
    expect(npy(header, floats({1, 2})), part);
  };
  expect_header(npy_header("<f4", "(1, 1, 2)", true),
                "Fortran order is not supported; save numpy.ascontiguousarray");
  expect_header(npy_header("<i4", "(1, 1, 2)"),
                "type '<i4', not flow; flow is float16, float32 or float64, ");
  expect_header(npy_header("<f4", "(1, 2)"), "an array of 1 x 2, not flow");
  expect_header(npy_header("<f4", "()"), "an array of a single value, not flow");
  expect_header(npy_header("<f4", "(2, 1, 1)"), "an array of 2 x 1 x 1, not flow");
  expect_header(npy_header("<f4", "(0, 1, 2)"), "each side of the flow is 1 to 1000000");
  expect_header(npy_header("<f4", "(1, 1000001, 2)"), "each side of the flow is 1 to 1000000");
  expect_header(npy_header("<f4", "(1000000, 1000000, 2)"),
                "needs 8000000000000 bytes after the header, the file has 8");
  expect_header(npy_header("<f4", "(1, 2, 2)"), "1 x 2 x 2 needs 16 bytes after the header, the file has 8");
  expect_header(npy_header("<f8", "(1, 1, 2)"), "needs 16 bytes after the header, the file has 8");
  for (const char* header :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 2)",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 2)} x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, -1, 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 9999999999999999999)}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1, 1, 2)}",
        "{'descr': [('u', '<f4'), ('v', '<f4')], 'fortran_order': False, 'shape': (1, 1)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 2)}",
        "{'descr': '<\nf4', 'fortran_order': False, 'shape': (1, 1, 2)}",
        "{'descr': '<f4, 'fortran_order': False, 'shape': (1, 1, 2)}"})
    expect_header(header, "damaged .npy header");
  samples::Bytes file = npy(npy_header("<f4", "(1, 1, 2)"), floats({1, 2}));
  file[6] = 4;
  expect(file, "version 4.0; 1.0, 2.0 and 3.0 are read");
  file[6] = 2;
  expect(file, "the file has");
  expect({file.begin(), file.begin() + 9}, "more than 12 bytes, the file has 9");
}

}  // namespace
}  // namespace parafield
