// SPDX-License-Identifier: MIT
#include <sys/stat.h>

#include <thread>

#include "command/run_command.hpp"

// Frames and masks from pipes.
namespace parafield::test {
namespace {

struct PipesCommand : CommandTest {
  void SetUp() override {
    CommandTest::SetUp();
    render();
    for (const char* number : {"0", "1"})
      write_frame(path(std::string("frame") + number + ".pgm"),
                  read_frame(path(std::string("scene/frame000") + number + ".png")));
  }

  /// A pipe that gives the bytes of a file once.
  std::string piped(const std::string& file) {
    const std::string pipe = path("pipe" + std::to_string(writers_.size()));
    EXPECT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    writers_.emplace_back(
        [this, file, pipe] { std::ofstream(pipe, std::ios::binary) << read_text(path(file)); });
    return pipe;
  }
  void TearDown() override {
    // If a command has failed, a writer still waits for a reader.
    for (std::size_t i = 0; i < writers_.size(); ++i)
      readers_.push_back(open(path("pipe" + std::to_string(i)).c_str(), O_RDONLY | O_NONBLOCK));
    for (std::thread& writer : writers_) writer.join();
    for (const int reader : readers_) close(reader);
    CommandTest::TearDown();
  }

 private:
  std::vector<int> readers_;
  std::vector<std::thread> writers_;
};

TEST_F(PipesCommand, GiveFrames) {
  const std::string frame0 = path("frame0.pgm"), frame1 = path("frame1.pgm");
  run_well({"flow", frame0, frame1, "-o", path("a.flo"), "-q"});
  run_well({"flow", piped("frame0.pgm"), piped("frame1.pgm"), "-o", path("b.flo"), "-q"});
  EXPECT_EQ(read_text(path("a.flo")), read_text(path("b.flo")));

  run_well({"stereo", "-m", "winner-takes-all", piped("frame0.pgm"), frame1, "-o", path("a.pfm"), "-q"});
  run_well({"color", path("a.flo"), "--arrows", "--frame", piped("frame0.pgm"), "-o", path("a.ppm")});
  EXPECT_EQ(read_frame(path("a.ppm")).size(), (Size{96, 64}));

  const nlohmann::json report =
      run_well({"detect", piped("frame0.pgm"), piped("frame1.pgm"), "-o", path("a.pgm"), "--json"}).json();
  EXPECT_EQ(report["width"], 96);
  run_well({"detect", piped("frame0.pgm"), piped("frame1.pgm"), frame0, "-o", path("%d.pgm"), "-q"});
  EXPECT_EQ(read_text(path("1.pgm")), read_text(path("a.pgm")));
  run_well({"eval", "--task", "mask", piped("a.pgm"), path("1.pgm")});
}

TEST_F(PipesCommand, ErrorsNameThePipe) {
  expect_failure(1, {"flow", "-", frame1()}, {"standard input: frame 1: the stream is empty"});
  expect_failure(1, {"eval", "/dev/null", truth()}, {"/dev/null: cannot be read: not a regular file"});
}

}  // namespace
}  // namespace parafield::test
