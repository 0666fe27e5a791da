// SPDX-License-Identifier: MIT
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
    std::vector<float> values(12, mark_invalid ? 1e10f : 0);
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
  expect_error(ErrorCode::format, "an array (.npy), not an image", [&] { read_frame(folder / "a.npy"); });
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
                "Fortran order is not read; save numpy.ascontiguousarray");
  expect_header(npy_header(">f4", "(1, 1, 2)"), "type '>f4', not flow; flow is little-endian float32");
  expect_header(npy_header("<i4", "(1, 1, 2)"), "type '<i4', not flow");
  expect_header(npy_header("<f4", "(1, 2)"), "an array of 1 x 2, not flow");
  expect_header(npy_header("<f4", "()"), "an array of a single value, not flow");
  expect_header(npy_header("<f4", "(2, 1, 1)"), "an array of 2 x 1 x 1, not flow");
  expect_header(npy_header("<f4", "(0, 1, 2)"), "each side of flow is 1 to 1000000");
  expect_header(npy_header("<f4", "(1, 1000001, 2)"), "each side of flow is 1 to 1000000");
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
