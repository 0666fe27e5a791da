// SPDX-License-Identifier: MIT
// Writes the pictures of a pattern, each to its own file.
#include <system_error>

#include "core/fail.hpp"
#include "parafield/io.hpp"
#include "video/names.hpp"
#include "video/sink.hpp"

namespace parafield::video {
namespace {

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

}  // namespace

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

}  // namespace parafield::video
