// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <chrono>
#include <thread>

#include "command/run_command.hpp"
#include "parafield/video.hpp"

/// Shared by the tests of parafield video: a scene, films, and a fast method.
namespace parafield::test {

namespace fs = std::filesystem;

class VideoCommand : public CommandTest {
 protected:
  static constexpr int count = 6;
  static constexpr Size size{64, 48};

  void SetUp() override {
    CommandTest::SetUp();
    run_well({"synth", "layers", "-o", path("scene"), "--size", "64x48", "--frames", std::to_string(count),
              "--rgb", "-q"});
  }
  std::string pattern() const { return path("scene/frame%04d.png"); }
  static Words video(const Words& inputs, const Words& more) {
    return join(join({"video", "-d", "cpu", "--threads", "1", "-m", "lucas-kanade", "--levels", "2"}, inputs),
                more);
  }

  /// The scene's frames, again and again, as a Y4M file of one channel.
  std::string film(const std::string& name, int frames, const std::string& end = {}) const {
    std::ofstream file(path(name), std::ios::binary);
    file << "YUV4MPEG2 W64 H48 F25:1 Cmono\n";
    for (int i = 0; i < frames; ++i) file << frame_of_film(i);
    file << end;
    return path(name);
  }
  std::string frame_of_film(int i) const {
    return y4m_frame(read_frame(path("scene/frame000" + std::to_string(i % count) + ".png")));
  }

  /// Number of frames of a Y4M file.
  static int frames_of(const std::string& file) {
    FrameSource reader(file);
    int frames = 0;
    while (reader.next()) ++frames;
    return frames;
  }
  std::set<std::string> names_in(const std::string& folder) const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(path(folder)))
      names.insert(entry.path().filename().string());
    return names;
  }
  /// Whether the command writes and reads video files.
  bool has_ffmpeg() const {
    return run(video({pattern()}, {"-o", path("try.mp4"), "-q"})).err.find("FFmpeg") == std::string::npos;
  }
  static std::array<int, 3> pixel(const FrameBuffer& picture, int x, int y) {
    const auto* row = static_cast<const std::uint8_t*>(picture.row(y)) + 3 * x;
    return {row[0], row[1], row[2]};
  }
};

#define NEEDS_FFMPEG \
  if (!has_ffmpeg()) GTEST_SKIP() << "the command was built without FFmpeg"

}  // namespace parafield::test
