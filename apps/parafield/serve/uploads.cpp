// SPDX-License-Identifier: MIT
#include "serve/uploads.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
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
                                           {0, "BM"sv},
                                           {8, "WEBP"sv},
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
                        upload.name, served_formats));
}

/// Reads a file's numbers in either byte order. Numbers beyond its end are 0.
struct FileNumbers {
  std::string_view bytes;
  bool little;

  std::uint64_t operator()(std::uint64_t at, int count) const {
    if (at > bytes.size() || bytes.size() - at < std::size_t(count)) return 0;
    std::uint64_t number = 0;
    for (int i = 0; i < count; ++i) {
      const int byte = little ? count - 1 - i : i;
      number = number << 8 | std::uint8_t(bytes[std::size_t(at) + std::size_t(byte)]);
    }
    return number;
  }
};

int as_side(std::uint64_t value) { return int(std::min<std::uint64_t>(value, 1 << 30)); }

/// The frame header is a segment with marker C0 to CF, except C4, C8 and CC (ITU-T T.81, table B.1).
Size size_in_jpeg(std::string_view bytes) {
  const FileNumbers number{bytes, false};
  for (std::size_t at = 2; at + 9 < bytes.size();) {
    if (std::uint8_t(bytes[at]) != 0xff) return {};
    const int marker = std::uint8_t(bytes[at + 1]);
    if (marker == 0xff) {  // fill byte
      ++at;
      continue;
    }
    if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc)
      return {as_side(number(at + 7, 2)), as_side(number(at + 5, 2))};
    const bool is_alone = marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8);
    if (marker == 0xda || marker == 0xd9) return {};
    at += is_alone ? 2 : 2 + std::max<std::size_t>(number(at + 2, 2), 2);
  }
  return {};
}

/// Reads the directories of entries, one per image (TIFF 6.0, section 2; BigTIFF has wider numbers).
Size size_in_tiff(std::string_view bytes) {
  const FileNumbers number{bytes, bytes[0] == 'I'};
  const bool big = number(2, 2) == 43;
  const int wide = big ? 8 : 4, count_bytes = big ? 8 : 2, entry_bytes = big ? 20 : 12;
  constexpr int most_images = 100, most_entries = 1000;
  Size largest;
  std::uint64_t at = number(big ? 8 : 4, wide);
  for (int image = 0; image < most_images && at != 0; ++image) {
    const std::uint64_t entries = std::min<std::uint64_t>(number(at, count_bytes), most_entries);
    const std::uint64_t first = at + std::uint64_t(count_bytes);
    Size size;
    for (std::uint64_t i = 0; i < entries; ++i) {
      const std::uint64_t entry = first + i * std::uint64_t(entry_bytes);
      const std::uint64_t tag = number(entry, 2), type = number(entry + 2, 2);
      const int value_bytes = type == 3 ? 2 : type == 16 ? 8 : 4;
      const int value = as_side(number(entry + (big ? 12 : 8), value_bytes));
      if (tag == 256) size.width = value;
      if (tag == 257) size.height = value;
    }
    if (double(size.width) * size.height > double(largest.width) * largest.height) largest = size;
    at = number(first + entries * std::uint64_t(entry_bytes), wide);
  }
  return largest;
}

/// A chunk "VP8X", "VP8L" or "VP8 " comes first, each with the size in a different place (WebP container, RFC
/// 9649).
Size size_in_webp(std::string_view bytes) {
  const FileNumbers number{bytes, true};
  const std::string_view chunk = bytes.substr(12, 4);
  if (chunk == "VP8X") return {as_side(number(24, 3) + 1), as_side(number(27, 3) + 1)};
  const std::uint64_t sides = number(21, 4);
  if (chunk == "VP8L") return {int(sides & 0x3fff) + 1, int(sides >> 14 & 0x3fff) + 1};
  return {int(number(26, 2) & 0x3fff), int(number(28, 2) & 0x3fff)};
}

/// Returns the width and height in the header of a PNG, JPEG, TIFF, BMP or WebP file, the largest if it has
/// several images, because compressed pictures can be many times larger than their files. Returns 0x0 if the
/// header has none, and for other formats, in which every pixel takes at least a byte.
Size size_in_header(std::string_view bytes) {
  if (bytes.size() < 24) return {};
  const FileNumbers big_endian{bytes, false};
  if (bytes.starts_with("\x89PNG")) return {as_side(big_endian(16, 4)), as_side(big_endian(20, 4))};
  if (bytes.starts_with("\xff\xd8")) return size_in_jpeg(bytes);
  if (bytes.starts_with("BM")) {  // the height may be below 0
    const FileNumbers number{bytes, true};
    const auto height = std::int32_t(std::uint32_t(number(22, 4)));
    return number(14, 4) == 12
               ? Size{as_side(number(18, 2)), as_side(number(20, 2))}
               : Size{as_side(number(18, 4)), as_side(std::uint64_t(std::abs(std::int64_t(height))))};
  }
  if (bytes.starts_with("RIFF") && bytes.substr(8).starts_with("WEBP")) return size_in_webp(bytes);
  if (bytes.starts_with("II") || bytes.starts_with("MM")) return size_in_tiff(bytes);
  return {};
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
