// SPDX-License-Identifier: MIT
// Damaged videos of every codec that the program ffmpeg can write. Each is read in a process of its own,
// which must end by itself: FFmpeg's decoders abort on some damage if they are used in the wrong way.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "video/videos.hpp"

namespace parafield::test {
namespace {

/// Names of the encoders of videos that need no special hardware.
std::vector<std::string> encoders(const Folder& folder) {
  const std::string list = folder / "encoders";
  EXPECT_EQ(std::system(("ffmpeg -hide_banner -encoders >" + list + " 2>/dev/null").c_str()), 0);
  std::ifstream lines(list);
  std::vector<std::string> names;
  bool begun = false;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, name;
    words >> kind >> name;
    begun = begun || kind.starts_with("---");
    const bool is_hardware = std::ranges::any_of(
        std::vector{"_nvenc", "_omx", "_qsv", "_v4l2m2m", "_vaapi", "_amf", "_vulkan", "_mf"},
        [&, encoder = name](const char* end) { return encoder.ends_with(end); });
    if (begun && kind.starts_with("V") && !is_hardware) names.push_back(name);
  }
  return names;
}

/// Options that an encoder needs.
std::string options_of(const std::string& encoder) {
  if (encoder == "dvvideo") return "-s 720x576 -r 25 -pix_fmt yuv420p";
  if (encoder == "dnxhd") return "-s 256x144 -profile:v dnxhr_lb -pix_fmt yuv422p";
  if (encoder == "cfhd") return "-s 256x144";
  if (encoder == "roqvideo") return "-s 128x128 -r 30";
  if (encoder == "avui") return "-s 720x576";
  if (encoder == "amv") return "-s 160x112 -pix_fmt yuvj420p";
  if (encoder == "xface") return "-s 48x48";
  if (encoder == "cinepak") return "-s 64x48";  // takes as long as twenty others
  if (encoder == "libaom-av1") return "-cpu-used 8";
  if (encoder == "librav1e") return "-speed 10";
  if (encoder == "libsvtav1") return "-preset 12";
  return "";
}

/// The kind of file that takes a codec which the usual ones do not; AVI for all others.
std::string file_of(const std::string& encoder) {
  if (encoder == "apng" || encoder == "gif") return "." + encoder;
  if (encoder == "roqvideo") return ".roq";
  if (encoder == "flashsv2") return ".flv";
  if (encoder == "qtrle" || encoder == "avui") return ".mov";
  if (encoder.starts_with("libwebp")) return ".webp";
  return ".avi";
}

/// Encodes the frames; an empty path if no container or reader takes the codec. Each try starts ffmpeg, which
/// takes most of the test's time.
std::string encoded(const Folder& folder, const std::string& frames, const std::string& encoder) {
  const auto encode = [&](const std::string& to) {
    return ffmpeg("-threads 1 -i " + frames + " -strict -2 " + options_of(encoder) + " -c:v " + encoder +
                  " " + to + " 2>/dev/null");
  };
  for (const std::string& extension : {file_of(encoder), std::string(".mkv"), std::string(".nut")}) {
    const std::string path = folder / (encoder + extension);
    if (encode(path) && !read_video(path).frames.empty()) return path;
    std::filesystem::remove(path);
  }
  return "";
}

/// What became of a process that read videos: its signal or exit status, and for each video that it read to an
/// end 0, or 1 for an error.
struct Outcome {
  int signal = 0, status = 0;
  std::vector<int> errors;
};

/// Reads a video: 0 for the whole of it, 1 for an error as it should be.
int read_damaged(const std::string& path, int threads) {
  try {
    FrameSource reader(path, {.threads = threads});
    VideoFrame frame;
    while (reader.next(frame)) {
    }
    return 0;
  } catch (const Error& error) {
    return std::string(error.what()).starts_with(path) ? 1 : 2;
  } catch (...) {
    return 3;
  }
}

/// Reads videos in a process of its own, the first with one thread and each further one with one more.
Outcome outcome_of(const std::vector<std::string>& paths) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    for (std::size_t i = 0; i < paths.size(); ++i) {
      ::alarm(60);  // a signal, if it never ends
      const char error = char(read_damaged(paths[i], 1 + int(i)));
      if (::write(ends[1], &error, 1) != 1) ::_exit(4);
    }
    ::_exit(0);  // sanitizers end a process with 1
  }
  ::close(ends[1]);
  Outcome outcome;
  for (char error; ::read(ends[0], &error, 1) == 1;) outcome.errors.push_back(error);
  ::close(ends[0]);
  int state = 0;
  EXPECT_EQ(::waitpid(child, &state, 0), child);
  (WIFSIGNALED(state) ? outcome.signal : outcome.status) =
      WIFSIGNALED(state) ? WTERMSIG(state) : WEXITSTATUS(state);
  return outcome;
}

TEST(CodecDamage, DamageOfAnyCodecEndsNoProcess) {
  NEEDS_FFMPEG_PROGRAM();
  const Folder folder;
  const std::string frames = folder / "frames.y4m";
  write_video(frames, scene_frames({176, 144}, 12));
  std::mt19937 random(3);
  int videos = 0, errors = 0;
  std::string skipped;
  for (const std::string& encoder : encoders(folder)) {
    const std::string path = encoded(folder, frames, encoder);
    if (path.empty()) {
      skipped += ' ' + encoder;
      continue;
    }
    const std::vector<std::uint8_t> whole = bytes_in(path);
    std::vector<std::string> damaged;
    for (int i = 0; i < 4; ++i) {
      auto bytes = whole;
      if (i % 2 == 0) bytes.resize(bytes.size() * std::size_t(50 + 20 * i) / 100);  // cut off
      if (i > 0)  // changed, but for the first bytes, which say what the file is
        for (int k = 0; k < 10 * i; ++k)
          bytes[bytes.size() / 8 + random() % (bytes.size() - bytes.size() / 8)] = std::uint8_t(random());
      damaged.push_back(folder /
                        ("damaged" + std::to_string(i) + std::filesystem::path(path).extension().string()));
      std::ofstream(damaged.back(), std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
    }
    const Outcome outcome = outcome_of(damaged);
    EXPECT_EQ(outcome.signal, 0) << encoder << " in " << path << ", damage " << outcome.errors.size();
    EXPECT_EQ(outcome.status, 0) << encoder << " in " << path << ", damage " << outcome.errors.size();
    for (std::size_t i = 0; i < outcome.errors.size(); ++i) {
      EXPECT_LE(outcome.errors[i], 1) << encoder << " in " << path << ", damage " << i;
      errors += outcome.errors[i] == 1;
      ++videos;
    }
    for (const std::string& file : damaged) std::filesystem::remove(file);
    std::filesystem::remove(path);
  }
  std::printf("%d damaged videos, %d of them with an error; encoders without a video:%s\n", videos, errors,
              skipped.c_str());
  EXPECT_GT(videos, 100);
  EXPECT_GT(errors, videos / 4);
}

}  // namespace
}  // namespace parafield::test
