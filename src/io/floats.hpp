// SPDX-License-Identifier: MIT
#pragma once
#include "io/formats.hpp"

/// Files that consist of a header and an array of numbers: .flo, PFM and .npy.
namespace parafield::io {

/// Types of values that are read as float.
enum class Number { f16, f32, f64, i16, i32, u32 };

inline int bytes_of(Number type) {
  return type == Number::f64 ? 8 : type == Number::f16 || type == Number::i16 ? 2 : 4;
}
inline float load_number(Number type, const std::uint8_t* p, std::endian order) {
  switch (type) {
    case Number::f16:
      return float_of_half(load_u16(p, order));
    case Number::f32:
      return load_float(p, order);
    case Number::f64:
      return float(load_double(p, order));
    case Number::i16:
      return float(std::int16_t(load_u16(p, order)));
    case Number::i32:
      return float(std::int32_t(load_u32(p, order)));
    case Number::u32:
      return float(load_u32(p, order));
  }
  return 0;
}

/// An array of numbers inside the bytes of a file: pixel by pixel, row by row.
struct Floats {
  Size size;
  int channels;
  const std::uint8_t* values = nullptr;
  std::endian order = std::endian::little;
  Number type = Number::f32;
  bool lowest_first = false;  ///< the lowest row comes first

  std::uint64_t bytes() const {
    return std::uint64_t(channels) * std::uint64_t(bytes_of(type)) * std::uint64_t(size.width) *
           std::uint64_t(size.height);
  }
  /// One channel of the pixel (x, y); y = 0 is the top row.
  float operator()(int x, int y, int channel = 0) const {
    const auto row = std::size_t(lowest_first ? size.height - 1 - y : y);
    const std::size_t pixel = row * std::size_t(size.width) + std::size_t(x);
    const std::uint8_t* p =
        values + (pixel * std::size_t(channels) + std::size_t(channel)) * std::size_t(bytes_of(type));
    return load_number(type, p, order);
  }
};

/// Parse the header and check the array's size against the number of bytes. Throw Error(format).
Floats open_flo(ByteSpan bytes);
Floats open_pfm(ByteSpan bytes);
Floats open_npy(ByteSpan bytes, int channels);  ///< 3 = covariance, 2 = flow, 1 = disparities

/// Headers of little-endian float32 arrays.
std::string flo_header(Size size);
std::string pfm_header(Size size, int channels);
std::string npy_header(Size size, int channels);

FrameBuffer frame_of(const Floats& floats);
/// Flow from the first two channels. Large values mean unknown (Middlebury's convention).
FlowField flow_of(const Floats& floats);

/// Makes a field without confidence. value(x, y) is the disparity of a pixel; infinity and NaN are unknown.
template <class Value>
DisparityField disparity_of(Size size, const Value& value) {
  DisparityField field(size, {}, false);
  for_each_pixel(size, [&](int x, int y) {
    field.d(x, y) = value(x, y);
    field.valid(x, y) = has_value(field.d(x, y));
  });
  return field;
}

}  // namespace parafield::io
