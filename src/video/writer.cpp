// SPDX-License-Identifier: MIT
#include <cmath>
#include <filesystem>
#include <utility>

#include "core/views.hpp"
#include "io/formats.hpp"
#include "parafield/io.hpp"
#include "video/names.hpp"
#include "video/sink.hpp"

namespace parafield {
namespace video {
namespace {

void check(Size size, const VideoWriterOptions& options) {
  const auto require = [](bool holds, const auto&... parts) {
    if (!holds) fail(ErrorCode::invalid_argument, parts...);
  };
  require(size.width >= 1 && size.height >= 1 && size.width <= io::max_side && size.height <= io::max_side &&
              std::int64_t(size.width) * size.height <= most_pixels,
          "a video of ", size.width, "x", size.height, " pixels cannot be written");
  require(options.rate >= 0.001 && options.rate <= 1000, "rate is ", options.rate,
          "; it should be 0.001 to 1000 frames a second");
  require(options.quality >= 0 && options.quality <= 51, "quality is ", options.quality,
          "; it should be 0 (best) to 51");
  require(options.threads >= 0, "threads is ", options.threads, "; it should be 0 (all) or more");
}

/// Writes the pictures of a pattern, each to its own file.
class PictureSink : public Sink {
 public:
  explicit PictureSink(Pattern pattern) : pattern_(std::move(pattern)) {}

  void write(const Frame& frame, std::optional<double>) override {
    write_frame(pattern_.file(next_++), frame);
  }
  void finish() override {}

 private:
  const Pattern pattern_;
  std::int64_t next_ = 0;
};

std::unique_ptr<Sink> open_pictures(const std::string& output) {
  std::filesystem::path path = output;
  if (output.ends_with('/') || is_folder(path)) path /= "%06d.png";
  const Pattern pattern = pattern_of(path).value();
  const std::string extension = extension_of(path);
  for (const char* known : {".png", ".jpg", ".jpeg", ".pgm", ".ppm"})
    if (extension == known) {
      std::error_code error;
      if (!pattern.folder.empty()) std::filesystem::create_directories(pattern.folder, error);
      if (error) io::fail_writing("the folder ", io::shown(pattern.folder), ": ", error.message());
      return std::make_unique<PictureSink>(pattern);
    }
  fail(ErrorCode::invalid_argument, "pictures are not written as '", extension,
       "' files; use .png, .jpg (u8), .pgm (gray) or .ppm (rgb)");
}

std::unique_ptr<Sink> open(const std::string& output, Size size, const VideoWriterOptions& options) {
  check(size, options);
  if (output == "-") return open_y4m(output, size, options);
  if (output.empty()) fail(ErrorCode::file, "the path names no file");
  if (output.ends_with('/') || is_folder(output) || pattern_of(output)) return open_pictures(output);
  const std::string extension = extension_of(output);
  if (extension == ".y4m") return open_y4m(output, size, options);
  for (const char* known : {".mp4", ".mov", ".mkv", ".avi", ".webm"})
    if (extension == known) return open_ffmpeg_sink(output, extension, size, options);
  fail(ErrorCode::invalid_argument, "videos are not written as '", extension,
       "' files; use .mp4, .mkv, .mov, .avi, .webm, .y4m or a pattern of pictures (name%04d.png)");
}

}  // namespace
}  // namespace video

struct VideoWriter::Impl {
  Impl(const std::string& output, Size size, const VideoWriterOptions& options)
      : name(output == "-" ? "standard output" : output), size(size) {
    io::naming(name, [&] { sink = video::open(output, size, options); });
  }
  ~Impl() {
    try {
      finish();
    } catch (...) {
    }
  }

  void write(const Frame& given, std::optional<double> time) {
    io::naming(name, [&] {
      if (!sink) fail(ErrorCode::invalid_argument, "the video is finished and takes no more frames");
      const Frame frame = io::check_frame(given);
      check(frame, time);
      try {
        sink->write(frame, time);
      } catch (const Error& error) {
        // Keep the frames before.
        const auto closed = std::exchange(sink, nullptr);
        std::string kept;
        if (count > 0) {
          try {
            closed->finish();
          } catch (const Error& other) {
            kept = text("; it could not be finished: ", other.what());
          }
        }
        fail(error.code(), "frame ", count + 1, ": ", error.what(), kept);
      }
      ++count;
      last_time = time;
    });
  }

  void check(const Frame& frame, std::optional<double> time) {
    const auto [width, height] = frame.size();
    if (frame.size() != size)
      fail(ErrorCode::invalid_argument, "frame ", count + 1, " has ", width, "x", height,
           " pixels, the video ", size.width, "x", size.height);
    if (frame.format == PixelFormat::gray_f32 || frame.format == PixelFormat::rgb_f32)
      fail(ErrorCode::invalid_argument, "frame ", count + 1, " is ", to_string(frame.format),
           "; frames of videos are u8 or u16");
    if (count == 0) format = frame.format;
    if (frame.format != format)
      fail(ErrorCode::invalid_argument, "frame ", count + 1, " is ", to_string(frame.format),
           ", those before are ", to_string(format));
    if (count > 0 && time.has_value() != last_time.has_value())
      fail(ErrorCode::invalid_argument, "frame ", count + 1, time ? " has a time" : " has no time",
           "; all frames have one or none has");
    if (time && !(*time >= 0 && *time <= 1e8))
      fail(ErrorCode::invalid_argument, "the time of frame ", count + 1, " is ", *time,
           " s; it should be 0 or more, from the first frame");
    if (time && last_time && !(*time >= *last_time + 1e-5))
      fail(ErrorCode::invalid_argument, "the time of frame ", count + 1, " is ", *time,
           " s, that of the one before ", *last_time, " s; times should rise by 0.00001 s at least");
  }

  std::int64_t finish(bool early = false) {
    if (!sink) return 0;
    const auto closed = std::exchange(sink, nullptr);
    return io::naming(name, [&]() -> std::int64_t {
      if (count == 0) fail(ErrorCode::invalid_argument, "no frame was written");
      if (early) return closed->finish_early();
      closed->finish();
      return 0;
    });
  }

  std::filesystem::path name;
  Size size;
  std::unique_ptr<video::Sink> sink;  // null when the video is finished
  PixelFormat format = {};
  std::int64_t count = 0;
  std::optional<double> last_time;
};

VideoWriter::VideoWriter(const std::string& output, Size size, const VideoWriterOptions& options)
    : impl_(std::make_unique<Impl>(output, size, options)) {}
VideoWriter::~VideoWriter() = default;
VideoWriter::VideoWriter(VideoWriter&&) noexcept = default;
VideoWriter& VideoWriter::operator=(VideoWriter&&) noexcept = default;

void VideoWriter::write(const In<Frame>& frame) { impl_->write(frame, {}); }
void VideoWriter::write(const In<Frame>& frame, double time) { impl_->write(frame, time); }
void VideoWriter::finish() { impl_->finish(); }
std::int64_t VideoWriter::finish_early() { return impl_->finish(true); }

}  // namespace parafield
