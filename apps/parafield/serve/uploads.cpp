// SPDX-License-Identifier: MIT
#include "serve/uploads.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "files.hpp"
#include "parafield/detail/text.hpp"

namespace parafield::command {
namespace {

using namespace std::string_view_literals;

/// A file format, identified by its first bytes. Only these formats are accepted. NetCDF is excluded, because
/// its library crashes on damaged files. FFmpeg is told the format, because some of its formats are lists of
/// further files to open.
struct UploadFormat {
  std::size_t at;
  std::string_view begin;
  const char* ffmpeg = "";  ///< empty: a picture
};
constexpr UploadFormat upload_formats[] = {{0, "\x89PNG\r\n\x1a\n"sv},
                                           {0, "\xff\xd8\xff"sv},
                                           {0, "II*\0"sv},
                                           {0, "MM\0*"sv},
                                           {0, "II+\0"sv},
                                           {0, "MM\0+"sv},
                                           {0, "P2"sv},
                                           {0, "P3"sv},
                                           {0, "P5"sv},
                                           {0, "P6"sv},
                                           {0, "PF"sv},
                                           {0, "Pf"sv},
                                           {0, "\x93NUMPY"sv},
                                           {0, "YUV4MPEG2"sv},
                                           {4, "ftyp"sv, "mov"},
                                           {4, "moov"sv, "mov"},
                                           {4, "mdat"sv, "mov"},
                                           {4, "wide"sv, "mov"},
                                           {8, "AVI "sv, "avi"},
                                           {188, "\x47"sv, "mpegts"},
                                           {0, "\x1a\x45\xdf\xa3"sv, "matroska"}};

const UploadFormat& format_of(const Upload& upload) {
  for (const UploadFormat& format : upload_formats)
    if (upload.bytes.size() > format.at && upload.bytes.substr(format.at).starts_with(format.begin) &&
        (format.at != 8 || upload.bytes.starts_with("RIFF")) &&
        (format.at != 188 || upload.bytes.starts_with("\x47")))
      return format;
  throw Error(
      ErrorCode::format,
      upload.bytes.empty()
          ? upload.name + ": the file is empty"
          : fmt::format("{}: neither a picture nor a video that is read here; there are {}, and videos as "
                        "MP4, MOV, Matroska, WebM, AVI and MPEG-TS",
                        upload.name, frame_formats));
}

}  // namespace

MemoryFile::MemoryFile(std::string_view bytes) : descriptor_(memfd_create("upload", MFD_CLOEXEC)) {
  bool whole = descriptor_ >= 0;
  while (whole && !bytes.empty()) {
    const ssize_t put = ::write(descriptor_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    whole = put > 0;
    if (whole) bytes.remove_prefix(std::size_t(put));
  }
  if (whole) return;
  const int reason = errno;
  if (descriptor_ >= 0) ::close(descriptor_);
  throw Error(ErrorCode::memory, fmt::format("no memory for a file: {}", std::strerror(reason)));
}

MemoryFile::~MemoryFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string MemoryFile::path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

Uploads::Uploads(const std::vector<Upload>& uploads, double most_pixels) : most_pixels_(most_pixels) {
  for (const Upload& upload : uploads) {
    names_.push_back(detail::printable(upload.name.substr(0, 200)));
    formats_.emplace_back(format_of({names_.back(), upload.bytes}).ffmpeg);
    check_size(files_.size(), size_in_header(upload.bytes));
    files_.emplace_back(upload.bytes);
  }
}

std::vector<std::string> Uploads::paths() const {
  std::vector<std::string> all;
  for (const MemoryFile& file : files_) all.push_back(file.path());
  return all;
}

void Uploads::check_size(std::size_t i, Size size) const {
  if (double(size.width) * size.height > most_pixels_)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: {}x{} pixels are more than {:g} million, the most that --max-pixels allows",
                            names_[i], size.width, size.height, most_pixels_ / 1e6));
}

std::string Uploads::with_names(std::string message) const {
  // Replace the longest number first, because /proc/self/fd/12 begins with /proc/self/fd/1.
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::size_t i = 0; i < files_.size(); ++i) pairs.emplace_back(files_[i].path(), names_[i]);
  std::ranges::sort(pairs, [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  for (const auto& [path, name] : pairs)
    for (auto at = message.find(path); at != message.npos; at = message.find(path, at + name.size()))
      message.replace(at, path.size(), name);
  return message;
}

}  // namespace parafield::command
