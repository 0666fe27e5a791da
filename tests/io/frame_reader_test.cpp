// SPDX-License-Identifier: MIT
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <chrono>
#include <cstring>

#include "io/folder.hpp"
#include "io/frame_reader.hpp"
#include "io/pipe.hpp"
#include "io/samples.hpp"
#include "parafield/io.hpp"

// Frames one after the other, from files, pipes, sockets and standard input.
namespace parafield {
namespace {

using samples::Bytes;
using samples::bytes_of;
using samples::joined;

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// The bytes of a frame's pixels, without gaps between rows.
Bytes pixels_of(const FrameBuffer& frame) {
  Bytes all;
  for (int y = 0; y < frame.size().height; ++y) {
    const auto* row = static_cast<const std::uint8_t*>(frame.row(y));
    all.insert(all.end(), row, row + frame.size().width * bytes_per_pixel(frame.format()));
  }
  return all;
}

void expect_same(const FrameBuffer& frame, const FrameBuffer& other) {
  ASSERT_EQ(frame.size(), other.size());
  ASSERT_EQ(frame.format(), other.format());
  ASSERT_EQ(pixels_of(frame), pixels_of(other));
}

std::vector<FrameBuffer> all_frames(const std::filesystem::path& path) {
  FrameReader reader(path);
  std::vector<FrameBuffer> frames;
  while (auto frame = reader.next()) frames.push_back(std::move(*frame));
  EXPECT_FALSE(reader.next());
  return frames;
}

Bytes pattern_bytes(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = std::uint8_t(samples::pattern(int(i), 0, 0, 8));
  return bytes;
}

/// A raw PPM of 16 bit, whose rows have gaps in memory.
Bytes wide_ppm(int width, int height) {
  return joined("P6\n" + std::to_string(width) + " " + std::to_string(height) + "\n65535\n",
                pattern_bytes(6 * std::size_t(width) * std::size_t(height)));
}

const Bytes two_pgms =
    joined("P5\n3 2\n255\n", {1, 2, 3, 4, 5, 6}) + joined("P5\n3 2\n255\n", {7, 8, 9, 10, 11, 12});

TEST(FrameReader, ReadsFramesOfDifferingHeaders) {
  const Folder folder;
  const Bytes stream = joined("P5\n3 2\n255\n", {'\n', 2, 3, 4, 5, ' '}) + bytes_of("\n\n  ") +
                       joined("P6 1 1 65535\n", {1, 2, 3, 4, 5, 6}) + bytes_of("P2 2 1 100\n0 100\n") +
                       bytes_of("P3 1 1 255 7 8 9 ") + samples::pfm("Pf\n1 2\n1\n", {1, 2}, true) +
                       bytes_of("\r\n");
  const auto check = [](const std::vector<FrameBuffer>& frames) {
    ASSERT_EQ(frames.size(), 5u);
    EXPECT_EQ(pixels_of(frames[0]), (Bytes{'\n', 2, 3, 4, 5, ' '}));
    EXPECT_EQ(frames[1].format(), PixelFormat::rgb_u16);
    EXPECT_EQ(static_cast<const std::uint16_t*>(frames[1].row(0))[1], 0x0304);
    EXPECT_EQ(pixels_of(frames[2]), (Bytes{0, 255}));
    EXPECT_EQ(pixels_of(frames[3]), (Bytes{7, 8, 9}));
    EXPECT_EQ(frames[4].format(), PixelFormat::gray_f32);
    EXPECT_EQ(*static_cast<const float*>(frames[4].row(0)), 2);
    EXPECT_EQ(*static_cast<const float*>(frames[4].row(1)), 1);
  };
  check(all_frames(folder.with("frames", stream)));
  for (const std::size_t chunk : {1, 2, 7, 1000}) check(all_frames(Pipe(stream, chunk).path()));
}

TEST(FrameReader, PipesGiveWhatFilesGive) {
  const Folder folder;
  for (const Size size : {Size{1, 1}, Size{1, 5000}, Size{5000, 1}, Size{333, 217}, Size{640, 300}}) {
    Bytes stream = wide_ppm(size.width, size.height);
    stream = stream + stream + stream;
    const auto from_file = all_frames(folder.with("a.ppm", stream));
    ASSERT_EQ(from_file.size(), 3u);
    const auto values = static_cast<const std::uint16_t*>(from_file[2].row(size.height - 1));
    const std::size_t last = stream.size() - 2;
    EXPECT_EQ(values[3 * size.width - 1], stream[last] << 8 | stream[last + 1]);
    for (const std::size_t chunk : {997, 1 << 20}) {
      const auto from_pipe = all_frames(Pipe(stream, chunk).path());
      ASSERT_EQ(from_pipe.size(), 3u);
      for (std::size_t i = 0; i < 3; ++i) expect_same(from_pipe[i], from_file[i]);
    }
  }
  // The lowest row comes first.
  std::vector<float> values(3 * 100 * 61);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = float(i);
  const Bytes stream = samples::pfm("PF\n100 61\n1\n", values, true);
  const FrameBuffer from_pipe = read_frame(Pipe(stream, 997).path());
  expect_same(from_pipe, read_frame(folder.with("a.pfm", stream)));
  EXPECT_EQ(static_cast<const float*>(from_pipe.row(60))[1], 1);
}

TEST(FrameReader, GivesTheOneImageOfAFile) {
  const Folder folder;
#ifdef PARAFIELD_HAS_PNG
  EXPECT_EQ(all_frames(folder.with("a", samples::png({5, 3, 8, 2}))).size(), 1u);
  expect_error(ErrorCode::unsupported, "PNG cannot be read from a pipe; PGM, PPM, PFM and Y4M can", [] {
    all_frames(Pipe(samples::png({5, 3, 8, 2})).path());
  });
#endif
#ifdef PARAFIELD_HAS_JPEG
  EXPECT_EQ(all_frames(folder.with("a", samples::jpeg({10, 9}))).size(), 1u);
  expect_error(ErrorCode::unsupported, "frame 1: JPEG cannot be read from a pipe", [] {
    read_frame(Pipe(samples::jpeg({10, 9})).path());
  });
#endif
}

TEST(FrameReader, ReadFrameTakesOneFrame) {
  const Folder folder;
  expect_error(ErrorCode::format, "holds more than one frame; FrameSource reads",
               [&] { read_frame(folder.with("two.pgm", two_pgms)); });
  expect_error(ErrorCode::format, "holds more than one frame; FrameSource reads",
               [&] { read_mask(Pipe(two_pgms).path()); });
  const Bytes one(two_pgms.begin(), two_pgms.begin() + std::ptrdiff_t(two_pgms.size() / 2));
  EXPECT_EQ(pixels_of(read_frame(Pipe(one).path())), (Bytes{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(read_mask(Pipe(one).path())(2, 1), 1);
  ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
  std::thread writer([&] { folder.with("fifo", one); });
  EXPECT_EQ(read_frame(folder / "fifo").size(), (Size{3, 2}));
  writer.join();
}

/// While it exists, standard input is another file.
class StandardInput {
 public:
  explicit StandardInput(int descriptor) : old_(dup(STDIN_FILENO)) { dup2(descriptor, STDIN_FILENO); }
  ~StandardInput() {
    dup2(old_, STDIN_FILENO);
    close(old_);
  }

 private:
  int old_;
};

TEST(FrameReader, ReadsStandardInput) {
  for (const char* name : {"-", "/dev/stdin"}) {
    const Pipe pipe(two_pgms);
    const StandardInput input(pipe.reader());
    EXPECT_EQ(all_frames(name).size(), 2u);
  }
  const Folder folder;
  const int file = open(folder.with("a.pgm", two_pgms).c_str(), O_RDONLY | O_CLOEXEC);
  {
    const StandardInput input(file);
    EXPECT_EQ(all_frames("-").size(), 2u);
    expect_error(ErrorCode::format, "standard input: the file is empty", [] { read_frame("-"); });
    lseek(STDIN_FILENO, off_t(two_pgms.size() / 2), SEEK_SET);
    EXPECT_EQ(pixels_of(read_frame("-")), (Bytes{7, 8, 9, 10, 11, 12}));
  }
  close(file);
  EXPECT_GE(fcntl(STDIN_FILENO, F_GETFD), 0);  // it stays open
}

// Linux does not open a socket by the name /dev/fd/N.
TEST(FrameReader, ReadsSockets) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  ASSERT_TRUE(write_all(ends[0], two_pgms));
  close(ends[0]);
  EXPECT_EQ(all_frames("/dev/fd/" + std::to_string(ends[1])).size(), 2u);
  close(ends[1]);
}

// A camera sends the next frame when it has one. The frame before must not wait for it.
TEST(FrameReader, AFrameDoesNotWaitForTheNext) {
  const Bytes y4m = bytes_of("YUV4MPEG2 W2 H1 Cmono\n");
  for (const auto& [start, frame] :
       {std::pair{Bytes(), joined("P5\n3 2\n255\n", {1, 2, 3, 4, 5, 6})}, {y4m, joined("FRAME\n", {1, 2})}}) {
    Pipe pipe;
    ASSERT_TRUE(pipe.write(start));
    FrameReader reader(pipe.path());
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(pipe.write(frame));
      ASSERT_TRUE(reader.next());
    }
    pipe.close_writer();
    EXPECT_FALSE(reader.next());
  }
}

TEST(FrameReader, DamageIsNamedWithTheFrame) {
  const Folder folder;
  const auto expect = [&](const Bytes& stream, std::string_view of_pipe, std::string_view of_file) {
    const Pipe pipe(stream);
    expect_error(ErrorCode::format, pipe.path().string() + ": " + std::string(of_pipe),
                 [&] { all_frames(pipe.path()); });
    const auto path = folder.with("a", stream);
    expect_error(ErrorCode::format, path.string() + ": " + std::string(of_file), [&] { all_frames(path); });
  };
  const auto cut = [](const Bytes& bytes, int by) { return Bytes(bytes.begin(), bytes.end() - by); };
  expect({}, "frame 1: the stream is empty", "the file is empty");
  expect(cut(two_pgms, 2), "frame 2: ends after 4 of 6 bytes of pixels",
         "frame 2: 3x2 pixels need 6 bytes after the header, the file has 4");
  expect(cut(two_pgms, 20), "frame 1: ends after 3 of 6 bytes of pixels",
         "3x2 pixels need 6 bytes after the header, the file has 3");
  expect(cut(two_pgms, 10), "frame 2: the stream ends at byte 24, before the maximum",
         "frame 2: the file ends at byte 24, before the maximum");
  expect(two_pgms + bytes_of("GIF89a"),
         "frame 3: not a PGM, PPM, PFM or Y4M stream: it starts with the bytes 47 49 46 38",
         "frame 3: not a PGM, PPM, PFM or Y4M file: it starts with the bytes 47 49 46 38");
  expect(bytes_of("GIF89a"), "frame 1: not a PGM, PPM, PFM or Y4M stream: it starts with the bytes 47 49",
         "not a PNG, JPEG, ");
  expect(cut(wide_ppm(100, 100), 1), "frame 1: ends after 59999 of 60000 bytes of pixels",
         "100x100 pixels need 60000 bytes after the header, the file has 59999");
  expect(samples::flo(1, 1, {1, 2}), "frame 1: a flow field (.flo), not an image",
         "a flow field (.flo), not an image");
}

TEST(FrameReader, AfterAnErrorThereIsNothing) {
  const Pipe pipe(joined("P5\n3 2\n255\n", {1, 2, 3, 4, 5, 6}) + bytes_of("P5\nx") + two_pgms);
  FrameReader reader(pipe.path());
  EXPECT_TRUE(reader.next());
  EXPECT_THROW(reader.next(), Error);
  EXPECT_FALSE(reader.next());
}

// The memory of a header's size is allocated when bytes of its pixels come, and no more than frames may have.
TEST(FrameReader, LargeHeadersAreRefused) {
  expect_error(ErrorCode::format, "frame 1: ends after 4 of 6000000 bytes",
               [] { read_frame(Pipe(bytes_of("P6 2000 1000 255\n1234")).path()); });
  expect_error(ErrorCode::format, "ends after 5 of at least 11999999 bytes",
               [] { read_frame(Pipe(bytes_of("P3 2000 1000 255\n1 2 ")).path()); });
  const Bytes pixels(5000);
  for (const char* header :
       {"P6 1000000 1000000 255\n", "PF 1000000 1000000 -1\n", "YUV4MPEG2 W1000000 H1000000\n"})
    expect_error(ErrorCode::unsupported, "1000000x1000000 pixels is too large: at most 536870912",
                 [&] { read_frame(Pipe(joined(header, pixels)).path()); });
}

TEST(FrameReader, EndlessGarbageFailsSoon) {
  expect_error(ErrorCode::format, "/dev/zero: frame 1: not a PGM, PPM, PFM or Y4M stream",
               [] { read_frame("/dev/zero"); });
  const auto endless = [](std::string_view start, std::string_view repeated) {
    Pipe pipe;
    std::thread writer([&] {
      pipe.write(bytes_of(start));
      std::string block;
      while (block.size() < 5000) block += repeated;
      while (pipe.write(bytes_of(block))) continue;
    });
    expect_error(ErrorCode::format, "frame ", [&] {
      FrameReader reader(pipe.path());
      pipe.close_reader();
      while (reader.next()) continue;
    });
    writer.join();
  };
  endless("", "y\n");
  endless("P5 #", "comment");
  endless("P5 ", "\n");
  endless("P5 2 2 255 ", "0123\n");  // the second frame begins with garbage
  endless("P2 2 2 255 0 0 0", "0");
  endless("P2 2 2 255 0 0 0 0", "\n");
  endless("PF", " ");
  endless("PF ", "1");
  endless("YUV4MPEG2 ", "W2 H2 ");
  endless("YUV4MPEG2 W2 H2\nFRAME", " Ip");
}

TEST(FrameReader, SignalsDoNotDisturbReading) {
  struct sigaction action = {}, old;
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, &old);  // without SA_RESTART
  Pipe pipe;
  const pthread_t reading = pthread_self();
  std::thread writer([&] {
    for (const std::uint8_t byte : two_pgms) {
      pthread_kill(reading, SIGUSR1);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      pipe.write({byte});
    }
    pipe.close_writer();
  });
  EXPECT_EQ(all_frames(pipe.path()).size(), 2u);
  writer.join();
  sigaction(SIGUSR1, &old, nullptr);
}

// The other end of a shared descriptor may have made it non-blocking.
TEST(FrameReader, DescriptorsThatDoNotWaitAreWaitedFor) {
  Pipe pipe;
  fcntl(pipe.reader(), F_SETFL, O_NONBLOCK);
  const StandardInput input(pipe.reader());
  std::thread writer([&] {
    for (const std::uint8_t byte : two_pgms) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      pipe.write({byte});
    }
    pipe.close_writer();
  });
  EXPECT_EQ(all_frames("-").size(), 2u);
  writer.join();
}

TEST(FrameReader, FilesMayGrow) {
  const Folder folder;
  const Bytes one(two_pgms.begin(), two_pgms.begin() + std::ptrdiff_t(two_pgms.size() / 2));
  FrameReader reader(folder.with("a.pgm", one));
  EXPECT_TRUE(reader.next());
  folder.with("a.pgm", two_pgms);
  EXPECT_TRUE(reader.next());
  EXPECT_FALSE(reader.next());
}

TEST(FrameReader, PathsThatCannotBeReadAreNamed) {
  const Folder folder;
  expect_error(ErrorCode::file, "none.pgm: cannot be read: No such file",
               [&] { FrameReader(folder / "none.pgm"); });
  expect_error(ErrorCode::file, ": cannot be read: it is a directory", [&] { FrameReader(folder.path()); });
  expect_error(ErrorCode::file, "/dev/fd/999: cannot be read", [] { FrameReader("/dev/fd/999"); });
}

}  // namespace
}  // namespace parafield
