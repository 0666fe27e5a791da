// SPDX-License-Identifier: MIT
// Writes YUV4MPEG2 as src/io/y4m.cpp reads it: BT.601 in limited range. In 4:2:0, chroma is centered between
// four pixels (420jpeg).
#include <poll.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/views.hpp"
#include "io/file.hpp"
#include "video/sink.hpp"

namespace parafield::video {
namespace {

/// Frames per second as a fraction with the denominator 1, 1001 (as in television), 1000 or 100000.
std::string fraction(double rate) {
  for (const int parts : {1, 1001, 1000})
    if (const double count = std::round(rate * parts); std::abs(count / parts - rate) < 2e-5 * rate)
      return text(std::int64_t(count), ":", parts);
  return text(std::int64_t(std::round(rate * 1e5)), ":", 100000);
}

/// Converts a row of RGB to luma, and to chroma at full resolution.
template <class T>
void convert_row(const T* rgb, int width, T* y, float* cb, float* cr) {
  constexpr float scale = sizeof(T) == 2 ? 256 : 1, full = sizeof(T) == 2 ? 65535 : 255;
  constexpr float luma = 219 * scale / full, chroma = 224 * scale / full;
  for (int x = 0; x < width; ++x) {
    const float r = float(rgb[3 * x]), g = float(rgb[3 * x + 1]), b = float(rgb[3 * x + 2]);
    const float bright = 0.299f * r + 0.587f * g + 0.114f * b;
    y[x] = T(16 * scale + luma * bright + 0.5f);
    cb[x] = 128 * scale + chroma / 1.772f * (b - bright);
    cr[x] = 128 * scale + chroma / 1.402f * (r - bright);
  }
}

class Y4mSink : public Sink {
 public:
  Y4mSink(const std::string& output, Size size, const VideoWriterOptions& options)
      : size_(size), rate_(options.rate), half_(options.codec != "444") {
    if (!options.codec.empty() && options.codec != "420" && options.codec != "444")
      fail(ErrorCode::invalid_argument, "codec is '", options.codec, "'; of Y4M it should be 420 or 444");
    if (output != "-") file_.emplace(output);
  }

  void write(const Frame& frame, std::optional<double>) override {
    const bool wide = frame.format == PixelFormat::gray_u16 || frame.format == PixelFormat::rgb_u16;
    const bool gray = frame.format == PixelFormat::gray_u8 || frame.format == PixelFormat::gray_u16;
    bytes_.clear();
    if (complete_ == 0) {
      const char* const kind = gray    ? (wide ? "mono16" : "mono")
                               : wide  ? "444p16"
                               : half_ ? "420jpeg"
                                       : "444";
      append(text("YUV4MPEG2 W", size_.width, " H", size_.height, " F", fraction(rate_), " Ip A1:1 C", kind,
                  "\n"));
    }
    append("FRAME\n");
    wide ? append_planes<std::uint16_t>(frame, gray, false) : append_planes<std::uint8_t>(frame, gray, half_);
    send();
    complete_ += bytes_.size();
  }

  void finish() override {
    if (!file_) return;
    // After an error, the file may end with an incomplete frame.
    if (::ftruncate(file_->descriptor(), off_t(complete_)) != 0) io::fail_writing(io::reason(errno));
    file_->take_place();
  }

 private:
  void append(const std::string& line) { bytes_.insert(bytes_.end(), line.begin(), line.end()); }

  template <class T>
  void append_planes(const Frame& frame, bool gray, bool half) {
    const View<const T> values = values_of<T>(frame);
    const Size chroma = gray   ? Size{0, 0}
                        : half ? Size{(size_.width + 1) / 2, (size_.height + 1) / 2}
                               : size_;
    const auto area = [](Size size) { return std::size_t(size.width) * std::size_t(size.height); };
    const std::size_t start = bytes_.size();
    std::vector<T> planes(area(size_) + 2 * area(chroma));
    std::vector<float> cb(std::size_t(size_.width)), cr(std::size_t(size_.width));
    sum_b_.assign(std::size_t(chroma.width), 0);
    sum_r_.assign(std::size_t(chroma.width), 0);
    for (int y = 0; y < size_.height; ++y) {
      T* const luma = planes.data() + std::size_t(y) * std::size_t(size_.width);
      if (gray) {
        std::memcpy(luma, values.row(y), sizeof(T) * std::size_t(size_.width));
        continue;
      }
      convert_row(values.row(y), size_.width, luma, cb.data(), cr.data());
      T* const to_b = planes.data() + area(size_) + std::size_t(half ? y / 2 : y) * std::size_t(chroma.width);
      T* const to_r = to_b + area(chroma);
      // The last column and row of an odd size have no partner.
      const int rows = half && (y % 2 == 1 || y + 1 < size_.height) ? 2 : 1;
      for (int x = 0; x < chroma.width; ++x) {
        const auto sum = [&](const std::vector<float>& row) {
          const auto i = std::size_t(x);
          if (!half) return row[i];
          return 0.5f * (row[2 * i] + row[2 * x + 1 < size_.width ? 2 * i + 1 : 2 * i]);
        };
        const bool first = !half || y % 2 == 0;
        const float b = sum(cb) + (first ? 0 : sum_b_[std::size_t(x)]),
                    r = sum(cr) + (first ? 0 : sum_r_[std::size_t(x)]);
        sum_b_[std::size_t(x)] = b;
        sum_r_[std::size_t(x)] = r;
        to_b[x] = T(b / float(rows) + 0.5f);
        to_r[x] = T(r / float(rows) + 0.5f);
      }
    }
    bytes_.resize(start + planes.size() * sizeof(T));
    if constexpr (std::endian::native == std::endian::big && sizeof(T) == 2)
      for (T& value : planes) value = T(value << 8 | value >> 8);
    std::memcpy(bytes_.data() + start, planes.data(), planes.size() * sizeof(T));
  }

  void send() {
    if (file_) return file_->write(bytes_);
    for (std::size_t done = 0; done < bytes_.size();) {
      const ssize_t put = ::write(STDOUT_FILENO, bytes_.data() + done, bytes_.size() - done);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        pollfd wait = {STDOUT_FILENO, POLLOUT, 0};
        ::poll(&wait, 1, -1);
        continue;
      }
      if (put < 0) io::fail_writing(io::reason(errno));
      done += std::size_t(put);
    }
  }

  const Size size_;
  const double rate_;
  const bool half_;
  std::optional<io::NewFile> file_;  // empty = standard output
  io::Bytes bytes_;
  std::vector<float> sum_b_, sum_r_;
  std::uint64_t complete_ = 0;  // bytes of completely written frames
};

}  // namespace

std::unique_ptr<Sink> open_y4m(const std::string& output, Size size, const VideoWriterOptions& options) {
  return std::make_unique<Y4mSink>(output, size, options);
}

}  // namespace parafield::video
