// SPDX-License-Identifier: MIT
// The tag GDAL_NODATA of TIFF files: the value, as text, of pixels without a value.
#ifdef PARAFIELD_HAS_TIFF
#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "io/pixels.hpp"
#include "io/tiff_layout.hpp"

namespace parafield::io::tiff {

std::optional<double> nodata_of(const Reader& reader) {
  constexpr std::uint32_t gdal_nodata = 42113;
  const TIFFField* const field = TIFFFindField(reader.tiff, gdal_nodata, TIFF_ANY);
  if (!field) return {};
  const char* data = nullptr;
  std::size_t count = 0;
  if (!TIFFFieldPassCount(field)) {
    if (!TIFFGetField(reader.tiff, gdal_nodata, &data) || !data) return {};
    count = std::strlen(data);
  } else if (TIFFFieldReadCount(field) == TIFF_VARIABLE2) {
    std::uint32_t wide = 0;
    if (!TIFFGetField(reader.tiff, gdal_nodata, &wide, &data) || !data) return {};
    count = wide;
  } else {
    std::uint16_t narrow = 0;
    if (!TIFFGetField(reader.tiff, gdal_nodata, &narrow, &data) || !data) return {};
    count = narrow;
  }
  const char* const end = std::find(data, data + count, '\0');
  const char* begin = std::find_if(data, end, [](char c) { return c != ' '; });
  if (begin != end && *begin == '+') ++begin;
  double value = 0;
  if (std::from_chars(begin, end, value).ec != std::errc()) return {};
  return value;
}

FrameBuffer without_nodata(FrameBuffer frame, float nodata) {
  const int count = channels(frame.format());
  const Size size = frame.size();
  FrameBuffer known(size, count == 1 ? PixelFormat::gray_f32 : PixelFormat::rgb_f32);
  with_value_type(frame.format(), [&]<class T>(T) {
    for (int y = 0; y < size.height; ++y) {
      const auto* from = static_cast<const T*>(frame.row(y));
      auto* to = static_cast<float*>(known.row(y));
      for (int x = 0; x < size.width; ++x, from += count, to += count) {
        const bool missing = std::all_of(from, from + count, [&](T value) { return float(value) == nodata; });
        for (int i = 0; i < count; ++i)
          to[i] = missing ? std::numeric_limits<float>::quiet_NaN() : float(from[i]);
      }
    }
  });
  return known;
}

}  // namespace parafield::io::tiff
#endif
