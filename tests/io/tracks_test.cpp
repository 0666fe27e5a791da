// SPDX-License-Identifier: MIT
// Files of tracks.
#include <clocale>
#include <cmath>
#include <cstring>
#include <random>

#include "core/fail.hpp"
#include "io/folder.hpp"
#include "io/formats.hpp"
#include "io/samples.hpp"
#include "parafield/io.hpp"

namespace parafield {
namespace {

using samples::bytes_of;

std::vector<Track> decoded(std::string_view text) { return io::decode_tracks(bytes_of(text)); }

void expect_same(const Track& a, const Track& b) {
  const auto same = [](float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  EXPECT_TRUE(same(a.x, b.x) && same(a.y, b.y) && same(a.u, b.u) && same(a.v, b.v))
      << text(a.x, " ", a.y, " ", a.u, " ", a.v, " and ", b.x, " ", b.y, " ", b.u, " ", b.v);
}

TEST(Tracks, EverySeparatorAndLineEnd) {
  for (const std::string_view text :
       {"1,2,-3.5,4e2\n5,6,7,8\n", "x,y,u,v\n1,2,-3.5,4e2\n5,6,7,8", "x;y;u;v\r\n1;2;-3.5;4e2\r\n5;6;7;8\r\n",
        "1 2 -3.5 4e2\n5\t6\t7\t8", "  1 ,2 ;\t-3.5,   400.0  # first\n\n# a comment\r\n \t\n5,6 7;8  \n",
        "\xef\xbb\xbfx, y, u, v\n1, 2, -3.5, 400\n5, 6, 7, 8\n"}) {
    SCOPED_TRACE(text);
    const auto tracks = decoded(text);
    ASSERT_EQ(tracks.size(), 2u);
    expect_same(tracks[0], {1, 2, -3.5f, 400});
    expect_same(tracks[1], {5, 6, 7, 8});
  }
  for (const std::string_view text : {"", "\n\n", "x,y,u,v\n", "# nothing", "\xef\xbb\xbf"})
    EXPECT_TRUE(decoded(text).empty()) << text;
}

TEST(Tracks, ColumnsInAnyOrder) {
  for (const std::string_view text :
       {"u,v,x,y\n-3.5,400,1,2\n7,8,5,6\n", "id,X,U,Y,\"V\",score\n0,1,-3.5,2,400,.9\n1,5,7,6,8,.1\n",
        "# made by a matcher\n# u v x y\n-3.5 400 1 2\n7 8 5 6\n",
        "# the x y u v of a pair\n1,2,-3.5,400\n5,6,7,8\n"}) {
    SCOPED_TRACE(text);
    const auto tracks = decoded(text);
    ASSERT_EQ(tracks.size(), 2u);
    expect_same(tracks[0], {1, 2, -3.5f, 400});
    expect_same(tracks[1], {5, 6, 7, 8});
  }
}

TEST(Tracks, ValuesThatAreNotFiniteOrTooLarge) {
  const auto tracks = decoded("nan,NAN,-nan,inf\n1e-60,1e60,-inf,-1e60\n");
  ASSERT_EQ(tracks.size(), 2u);
  expect_same(tracks[0], {NAN, NAN, NAN, INFINITY});
  expect_same(tracks[1], {0, INFINITY, -INFINITY, -INFINITY});
}

TEST(Tracks, ErrorsQuoteTheLine) {
  const auto expect = [](std::string_view text, std::string_view part) {
    SCOPED_TRACE(text);
    expect_error(ErrorCode::format, part, [&] { decoded(text); });
  };
  expect("x,y,u,v\n1,2,3,4\n\n1,2,a3,4\n", "line 4: u is not a number: 'a3'");
  expect("1,2,3\n", "line 1 has 3 values, not the four x, y, u and v: '1,2,3'");
  expect("# x\n7\n", "line 2 has 1 value, not");
  expect("1,2,3,4,5\n", "line 1 has more than 4 values, not the four x, y, u and v: '1,2,3,4,5'");
  expect("1,2,3,4,\n", "line 1 has more than 4 values");
  expect("1,,3,4\n", "line 1: y is not a number: ''");
  expect(",1,3,4\n", "line 1: x is not a number: ''");
  expect("1,2,3,4x\n", "line 1: v is not a number: '4x'");
  expect("1,2,3,0x10\n", "line 1: v is not a number: '0x10'");
  expect("1,2,3,4\nx,y,u,v\n",
         "line 2: x is not a number: 'x'");  // column names are allowed in the first line only
  expect("x,y,u\n", "line 1 names no column v; it should name x, y, u and v: 'x,y,u'");
  expect("x,y,u,v,x\n", "line 1 names two columns x");
  expect("id,x,y,u,v\n1,2,3,4\n", "line 2 has 4 values, not the 5 that the first line names");
  expect("1,2,3,\x01\x7f\n", "line 1: v is not a number: '?\?'");
  expect("1,2,3," + std::string(100, 'w') + "\n",
         "line 1: v is not a number: '" + std::string(40, 'w') + "...'");
  expect("1.5,2,3,4\n1,5 2 3,4,5\n", "line 2 has more than 4 values");  // a decimal comma
}

TEST(Tracks, AHugeFileThatIsNoTextIsRefusedAtOnce) {
  const Folder folder;
  const auto path = folder / "sparse.csv";
  std::ofstream(path) << "";
  std::filesystem::resize_file(path, std::uintmax_t(1) << 40);
  expect_error(ErrorCode::format, "not text", [&] { read_tracks(path); });
}

TEST(Tracks, RoundTrip) {
  const Folder folder;
  const auto path = folder / "a.csv";
  std::mt19937 random(5);
  std::vector<Track> tracks{{0, -0.0f, 1e-45f, 3.4028235e38f}, {NAN, -NAN, INFINITY, -INFINITY}};
  for (int i = 0; i < 2000; ++i) {
    float value[4];
    for (float& v : value) v = std::bit_cast<float>(std::uint32_t(random()));
    tracks.push_back({value[0], value[1], value[2], value[3]});
  }
  write_tracks(path, tracks);
  const auto back = read_tracks(path);
  ASSERT_EQ(back.size(), tracks.size());
  for (std::size_t i = 0; i < back.size(); ++i) expect_same(back[i], tracks[i]);
  write_tracks(path, {});
  EXPECT_EQ(bytes_in(path), bytes_of("x,y,u,v\n"));
  EXPECT_TRUE(read_tracks(path).empty());
  EXPECT_EQ(folder.files(), 1);
}

TEST(Tracks, AreWrittenByteForByteInEveryLocale) {
  const Folder folder;
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* locale : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"}) {
    std::setlocale(LC_ALL, locale);  // if it is installed
    const Track tracks[] = {{1.5f, 2, -0.25f, 1e10f}, {NAN, 0.1f, 0, -NAN}};
    write_tracks(folder / "a.csv", tracks);
    EXPECT_EQ(bytes_in(folder / "a.csv"), bytes_of("x,y,u,v\n1.5,2,-0.25,1e+10\nnan,0.1,0,nan\n"));
    expect_same(read_tracks(folder / "a.csv")[0], tracks[0]);
  }
  std::setlocale(LC_ALL, before.c_str());
}

TEST(Tracks, FilesAreNamedInErrors) {
  const Folder folder;
  expect_error(ErrorCode::file, "missing.csv: cannot be read", [&] { read_tracks(folder / "missing.csv"); });
  const auto path = folder.with("a.csv", bytes_of("1,2,3,4\nnothing\n"));
  expect_error(ErrorCode::format, "a.csv: line 2 has 1 value", [&] { read_tracks(path); });
  expect_error(ErrorCode::file, "cannot be written", [&] { write_tracks(folder / "none" / "a.csv", {}); });
  expect_error(ErrorCode::file, "it is a directory", [&] { write_tracks(folder.path(), {}); });
}

TEST(Tracks, AnyByteChangedIsAnErrorOrTracks) {
  for (const samples::Sample& sample : samples::tracks()) {
    SCOPED_TRACE(sample.name);
    EXPECT_FALSE(io::decode_tracks(sample.bytes).empty());
    for (std::size_t at = 0; at < sample.bytes.size(); ++at)
      for (int change = 0; change < 256; ++change) {
        std::vector<std::uint8_t> damaged(sample.bytes.begin(), sample.bytes.end());
        if (change == 0)
          damaged.resize(at);
        else
          damaged[at] ^= std::uint8_t(change);
        try {
          io::decode_tracks(damaged);
        } catch (const Error& error) {
          ASSERT_EQ(int(error.code()), int(ErrorCode::format)) << error.what();
          ASSERT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << error.what();
        }
      }
  }
}

}  // namespace
}  // namespace parafield
