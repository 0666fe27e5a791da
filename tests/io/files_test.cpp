// SPDX-License-Identifier: MIT
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <limits>

#include "io/folder.hpp"
#include "io/samples.hpp"
#include "parafield/io.hpp"

// Reading and writing by path: the file that is used, errors, and the files that are left.
namespace parafield {
namespace {

namespace fs = std::filesystem;

FrameBuffer gray(Size size, int value = 7) {
  FrameBuffer frame(size, PixelFormat::gray_u8);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) static_cast<std::uint8_t*>(frame.row(y))[x] = std::uint8_t(value);
  return frame;
}

int first_pixel(const fs::path& path) { return *static_cast<const std::uint8_t*>(read_frame(path).row(0)); }

/// Every reader throws this error, whose message starts with the name of the file.
void expect_unreadable(const fs::path& path, ErrorCode code, std::string_view part) {
  const std::string message = path.string() + ": ";
  expect_error(code, message, [&] { read_frame(path); });
  expect_error(code, part, [&] { read_frame(path); });
  expect_error(code, part, [&] { read_flow(path); });
  expect_error(code, part, [&] { read_mask(path); });
}

TEST(Files, UnreadableOnesAreNamed) {
  const Folder folder;
  expect_unreadable(folder / "none.png", ErrorCode::file, "No such file or directory");
  expect_unreadable(folder.path(), ErrorCode::file, "it is a directory");
  expect_unreadable(folder.with("empty.png", {}), ErrorCode::format, "the file is empty");
  expect_unreadable(folder.with("text.png", samples::bytes_of("GIF89a")), ErrorCode::format,
                    "starts with the bytes 47 49 46 38");
  expect_error(ErrorCode::format, "/dev/null: frame 1: the stream is empty", [] { read_frame("/dev/null"); });
  // A pipe gives frames only. The others do not wait for a writer.
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const fs::path& path : {fs::path("/dev/null"), folder / "pipe"}) {
    const std::string message = path.string() + ": cannot be read: not a regular file";
    expect_error(ErrorCode::file, message, [&] { read_flow(path); });
    expect_error(ErrorCode::file, message, [&] { read_disparity(path); });
    expect_error(ErrorCode::file, message, [&] { read_tracks(path); });
  }
  for (const fs::path& path : {folder / "none.png", folder.path(), folder / "pipe"})
    expect_error(ErrorCode::file, path.string() + ": cannot be read", [&] { file_kind(path); });
}

TEST(Files, WithoutPermissionAreNamed) {
  const Folder folder;
  write_frame(folder / "locked.pgm", gray({1, 1}));
  if (geteuid() == 0) GTEST_SKIP() << "skipped: a file without permission to read or to write (root may)";
  fs::permissions(folder.with("secret.png", {1}), fs::perms::none);
  expect_unreadable(folder / "secret.png", ErrorCode::file, "Permission denied");
  fs::permissions(folder / "locked.pgm", fs::perms::owner_read);
  expect_error(ErrorCode::file, "Permission denied", [&] {
    write_frame(folder / "locked.pgm", gray({1, 1}));
  });
}

// Only the first bytes of a file of unknown kind are read.
TEST(Files, HugeOnesOfAnotherKindAreNotRead) {
  const Folder folder;
  folder.with("video.raw", samples::bytes_of("....."));
  fs::resize_file(folder / "video.raw", std::uintmax_t(1) << 40);
  expect_unreadable(folder / "video.raw", ErrorCode::format, "starts with the bytes");
}

TEST(Files, NamesOfTwoLinesAreShownInOne) {
  expect_error(ErrorCode::file, "no?such.png: cannot be read", [] { read_frame("no\nsuch.png"); });
}

TEST(Files, TheContentDecidesNotTheName) {
  const Folder folder;
  const fs::path path = folder.with("frame.flo", samples::joined("P5 2 1 255\n", {3, 4}));
  EXPECT_EQ(read_frame(path).size(), (Size{2, 1}));
  EXPECT_EQ(file_kind(path), FileKind::frame);
  EXPECT_EQ(read_flow(folder.with("flow.pgm", samples::flo(1, 1, {1, 2}))).v(0, 0), 2);
  EXPECT_EQ(file_kind(folder / "flow.pgm"), FileKind::flow);
}

TEST(Files, TheFirstBytesDecideTheKind) {
  const Folder folder;
  for (const png_bytes::Header& header : samples::png_headers(5, 3)) {
    const bool flow = header.bit_depth == 16 && header.color_type == 2;
    EXPECT_EQ(file_kind(folder.with("a.png", samples::png(header))), flow ? FileKind::flow : FileKind::frame);
  }
  samples::Bytes cut = samples::png({5, 3, 16, 2});
  cut.resize(20);
  EXPECT_EQ(file_kind(folder.with("a.png", cut)), FileKind::frame);
  for (const samples::Sample& sample : samples::pfms())
    EXPECT_EQ(file_kind(folder.with("a", sample.bytes)),
              sample.name == "little.pfm" ? FileKind::disparity : FileKind::flow);
  for (const samples::Sample& sample : samples::flows())
    EXPECT_EQ(file_kind(folder.with("a", sample.bytes)), FileKind::flow) << sample.name;
  EXPECT_EQ(file_kind(folder.with("a", samples::bytes_of("P5"))), FileKind::unknown);
  EXPECT_EQ(file_kind(folder.with("a", samples::bytes_of("P4\n1 1\n"))), FileKind::unknown);
  EXPECT_EQ(file_kind(folder.with("a", {})), FileKind::unknown);
}

TEST(Files, Masks) {
  const Folder folder;
  Image<std::uint8_t> mask =
      read_mask(folder.with("a.pgm", samples::joined("P5 3 1 65535\n", {0, 0, 0, 1, 1, 0})));
  EXPECT_EQ(mask.size(), (Size{3, 1}));
  EXPECT_EQ(mask(0, 0), 0);
  EXPECT_EQ(mask(1, 0), 1);
  EXPECT_EQ(mask(2, 0), 1);
  mask = read_mask(folder.with("a.ppm", samples::joined("P6 2 1 255\n", {0, 0, 1, 0, 0, 0})));
  EXPECT_EQ(mask(0, 0), 1);
  EXPECT_EQ(mask(1, 0), 0);
}

TEST(Files, MasksOfFloats) {
  const Folder folder;
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const auto path = folder.with("a.pfm", samples::pfm("Pf 5 1 -1\n", {0, -0.f, 0.5f, -2, nan}));
  const Image<std::uint8_t> mask = read_mask(path);
  for (int x = 0; x < 5; ++x) EXPECT_EQ(mask(x, 0), x == 2) << x;
}

TEST(Files, MasksAreWritten) {
  const Folder folder;
  Image<std::uint8_t> mask({3, 2});
  mask(0, 0) = 1;
  mask(2, 1) = 200;
  write_mask(folder / "a.pgm", mask);
  EXPECT_EQ(bytes_in(folder / "a.pgm"), samples::joined("P5\n3 2\n255\n", {255, 0, 0, 0, 0, 255}));
  const std::uint8_t touching[] = {0, 1, 2, 0};
  write_mask(folder / "a.PGM", {touching, 2, 2, 0});
  EXPECT_EQ(bytes_in(folder / "a.PGM"), samples::joined("P5\n2 2\n255\n", {0, 255, 255, 0}));
#ifdef PARAFIELD_HAS_PNG
  write_mask(folder / "a.png", mask);
  const FrameBuffer back = read_frame(folder / "a.png");
  EXPECT_EQ(back.format(), PixelFormat::gray_u8);
  EXPECT_EQ(read_mask(folder / "a.png")(2, 1), 1);
  EXPECT_EQ(read_mask(folder / "a.png")(1, 1), 0);
#endif
  expect_error(ErrorCode::invalid_argument, "a.jpg: masks are not written as '.jpg' files; use .png or .pgm",
               [&] { write_mask(folder / "a.jpg", mask); });
  expect_error(ErrorCode::invalid_argument, "without data", [&] { write_mask(folder / "b.pgm", {}); });
  expect_error(ErrorCode::invalid_argument, "less than a row of 2", [&] {
    write_mask(folder / "b.pgm", {touching, 2, 2, 1});
  });
}

TEST(Files, NamesMayBeUtf8) {
  const Folder folder;
  const fs::path path = folder / fs::path(u8"Ströme 流れ.pgm");
  write_frame(path, gray({3, 2}));
  EXPECT_EQ(read_frame(path).size(), (Size{3, 2}));
  expect_error(ErrorCode::format, path.string() + ": an image", [&] { read_flow(path); });
}

TEST(Files, FramesThatCannotBeWrittenAreNamed) {
  const Folder folder;
  const FrameBuffer good = gray({4, 3});
  const auto expect = [&](const char* name, In<Frame> frame, std::string_view part) {
    expect_error(ErrorCode::invalid_argument, part, [&] { write_frame(folder / name, frame); });
  };
  Frame frame = good;
  expect("a.tif", frame,
         "a.tif: frames are not written as '.tif' files; use .png, .jpg (u8), .pgm, .ppm or .pfm (f32)");
  expect("a", frame, "not written as '' files");
  expect("a.ppm", frame, "a .ppm file holds rgb pixels, the frame is gray_u8; write it as .pgm or .png");
  expect("/dev/stdout", frame, "/dev/stdout: frames are not written as '' files");
  frame.memory = Memory::cuda(1);
  expect("a.pgm", frame, "the frame is in the memory of CUDA device 1");
  frame = good;
  frame.pitch = 3;
  expect("a.pgm", frame, "a pitch of 3 bytes is less than a row of 4");
  frame = good;
  expect("a.pfm", frame, "a .pfm file holds f32 pixels, the frame is gray_u8; write it as .png");
  frame.format = PixelFormat::bgr_u8;
  for (const char* name : {"a.png", "a.pfm"})
    expect(name, frame,
           "a frame of bgr_u8 cannot be written; its format should be gray or rgb, u8, u16 or f32");
  const FrameBuffer floats({4, 3}, PixelFormat::gray_f32);
  for (const char* extension : {".jpg", ".jpeg"}) {
    expect((std::string("a") + extension).c_str(), floats,
           std::string("a ") + extension + " file holds u8 pixels, the frame is gray_f32; write it as .pfm");
    expect((std::string("a") + extension).c_str(), FrameBuffer({4, 3}, PixelFormat::rgb_u16),
           std::string("a ") + extension + " file holds u8 pixels, the frame is rgb_u16; write it as .png");
  }
  for (const char* extension : {".png", ".pgm", ".ppm"})
    expect((std::string("a") + extension).c_str(), floats,
           std::string("a ") + extension +
               " file holds u8 or u16 pixels, the frame is gray_f32; write it as .pfm");
  frame = good;
  frame.data = nullptr;
  expect("a.pgm", frame, "without data");
  frame = good;
  frame.height = 0;
  expect("a.pgm", frame, "4x0 pixels");
  EXPECT_EQ(folder.files(), 0);
}

TEST(Files, PathsThatCannotBeWrittenAreNamed) {
  const Folder folder;
  const FrameBuffer frame = gray({4, 3});
  const auto expect = [&](const fs::path& path, std::string_view part) {
    expect_error(ErrorCode::file, path.string() + ": ", [&] { write_frame(path, frame); });
    expect_error(ErrorCode::file, part, [&] { write_frame(path, frame); });
  };
  expect(folder / "none" / "a.pgm", "cannot create a file in the folder");
  fs::create_directory(folder / "folder.pgm");
  expect(folder / "folder.pgm", "it is a directory");
  fs::create_symlink("/dev/full", folder / "device.pgm");
  expect(folder / "device.pgm", "not a regular file");
  EXPECT_TRUE(fs::is_symlink(folder / "device.pgm"));
  fs::create_symlink("nowhere", folder / "dangling.pgm");
  expect(folder / "dangling.pgm", "the link leads nowhere");
  expect("/proc/a.pgm", "cannot be written");
  EXPECT_EQ(folder.files(), 3);
}

TEST(Files, LinksAreFollowed) {
  const Folder folder;
  write_frame(folder / "a.pgm", gray({1, 1}, 1));
  fs::create_symlink("a.pgm", folder / "link.pgm");
  write_frame(folder / "link.pgm", gray({1, 1}, 2));
  EXPECT_TRUE(fs::is_symlink(folder / "link.pgm"));
  EXPECT_EQ(first_pixel(folder / "a.pgm"), 2);
}

TEST(Files, AReplacedFileKeepsItsPermissions) {
  const Folder folder;
  write_frame(folder / "a.pgm", gray({1, 1}, 1));
  fs::permissions(folder / "a.pgm", fs::perms(0640));
  write_frame(folder / "a.pgm", gray({1, 1}, 2));
  EXPECT_EQ(first_pixel(folder / "a.pgm"), 2);
  EXPECT_EQ(fs::status(folder / "a.pgm").permissions(), fs::perms(0640));
}

TEST(Files, TheLongestNameCanBeWritten) {
  const Folder folder;
  const fs::path path = folder / (std::string(251, 'a') + ".pgm");
  write_frame(path, gray({1, 1}));
  EXPECT_EQ(folder.files(), 1);
}

/// Simulates a full disk: while it exists, no file of this process may grow above `bytes`.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit = {bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallDisk() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit old_ = {};
  void (*handler_)(int);
};

TEST(Files, AFailedWriteLeavesTheOldFileAndNothingElse) {
  const Folder folder;
  write_frame(folder / "a.pgm", gray({1, 1}, 1));
  FlowField flow({100, 100});
  write_flow(folder / "a.flo", flow);
  const auto old_frame = bytes_in(folder / "a.pgm"), old_flow = bytes_in(folder / "a.flo");
  {
    const SmallDisk disk(1000);
    expect_error(ErrorCode::file, "File too large after 1000 of 10015 bytes", [&] {
      write_frame(folder / "a.pgm", gray({100, 100}, 2));
    });
    expect_error(ErrorCode::file, "File too large", [&] { write_flow(folder / "a.flo", flow); });
    expect_error(ErrorCode::file, "File too large", [&] { write_flow(folder / "new.flo", flow); });
  }
  EXPECT_EQ(bytes_in(folder / "a.pgm"), old_frame);
  EXPECT_EQ(bytes_in(folder / "a.flo"), old_flow);
  EXPECT_EQ(folder.files(), 2);
}

}  // namespace
}  // namespace parafield
