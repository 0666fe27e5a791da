// SPDX-License-Identifier: MIT
// WebP through libwebp, which is loaded when such a file is read.
#include <optional>

#include "io/formats.hpp"

#ifdef PARAFIELD_WEBP_NAME
#include <webp/decode.h>

#include "io/loaded_library.hpp"
#endif

namespace parafield::io {

bool is_webp(ByteSpan bytes) {
  return starts_with(bytes, "RIFF") && bytes.size() >= 12 && starts_with(bytes.subspan(8), "WEBP");
}

#ifdef PARAFIELD_WEBP_NAME
namespace {

struct Webp : LoadedLibrary {
  decltype(&::WebPGetFeaturesInternal) get_features = nullptr;
  decltype(&::WebPDecodeRGBInto) decode = nullptr;
  decltype(&::WebPDecodeRGBAInto) decode_with_alpha = nullptr;

  Webp() : LoadedLibrary(PARAFIELD_WEBP_NAME, "WebP", "libwebp7") {
    find(get_features, "WebPGetFeaturesInternal");
    find(decode, "WebPDecodeRGBInto");
    find(decode_with_alpha, "WebPDecodeRGBAInto");
  }
};

const Webp& webp() {
  static const Webp library;
  library.check();
  return library;
}

/// The data of the first chunk with this name, or none. A chunk has a name and a size of 4 bytes each, then data
/// of even length.
std::optional<ByteSpan> chunk_of(ByteSpan bytes, std::string_view name) {
  for (std::size_t at = 12; at + 8 <= bytes.size();) {
    std::size_t size = 0;
    for (std::size_t i = 4; i-- > 0;) size = size << 8 | bytes[at + 4 + i];
    const ByteSpan data = bytes.subspan(at + 8);
    if (size > data.size()) break;
    if (starts_with(bytes.subspan(at), name)) return data.first(size);
    at += 8 + size + size % 2;
  }
  return std::nullopt;
}

/// Checks the size that the file's header says before memory of this size is allocated. For a file that was cut
/// off, libwebp returns the size of its canvas without having seen an image of it.
WebPBitstreamFeatures features_of(ByteSpan bytes) {
  const auto features_in = [](ByteSpan data) {
    WebPBitstreamFeatures features = {};
    if (webp().get_features(data.data(), data.size(), &features, WEBP_DECODER_ABI_VERSION) != VP8_STATUS_OK)
      fail_format("damaged WebP file: its header");
    return features;
  };
  const WebPBitstreamFeatures features = features_in(bytes);
  if (features.has_animation)
    fail_unsupported("a WebP file with an animation is not supported; single images are");
  check_sides("a WebP file", features.width, features.height);
  if (chunk_of(bytes, "VP8X")) {
    const auto lossy = chunk_of(bytes, "VP8 "), image = lossy ? lossy : chunk_of(bytes, "VP8L");
    if (!image) fail_format("damaged WebP file: it has no image");
    features_in(*image);
  }
  const std::int64_t pixels = std::int64_t(features.width) * features.height;
  constexpr std::int64_t always = 1 << 24, most_of_byte = 1 << 16;  // pixels
  if (pixels > always && pixels / most_of_byte > std::int64_t(bytes.size()))
    fail_format("damaged WebP file: ", bytes.size(), " bytes for ", Size{features.width, features.height},
                " pixels");
  return features;
}

/// `decode`: function of libwebp that writes into memory.
void decode_into(View<std::uint8_t> rows, ByteSpan bytes, const WebPBitstreamFeatures& features,
                 auto decode) {
  if (!decode(bytes.data(), bytes.size(), rows.data, std::size_t(rows.pitch) * std::size_t(rows.height),
              int(rows.pitch)))
    fail_format("damaged WebP file: its ", Size{features.width, features.height},
                " pixels cannot be decoded");
}

/// EXIF's orientation.
int orientation_of(ByteSpan bytes) {
  const auto data = chunk_of(bytes, "EXIF");
  if (!data) return 1;
  constexpr std::size_t jpeg_start = 6;  // "Exif" and two zeros, which some programs keep
  return exif_orientation(starts_with(*data, "Exif") && data->size() >= jpeg_start ? data->subspan(jpeg_start)
                                                                                   : *data);
}

}  // namespace

FrameBuffer decode_webp(ByteSpan bytes) {
  const WebPBitstreamFeatures features = features_of(bytes);
  FrameBuffer frame({features.width, features.height}, PixelFormat::rgb_u8);
  decode_into(values_of<std::uint8_t>(frame), bytes, features, webp().decode);
  return turned(std::move(frame), orientation_of(bytes));
}

FrameBuffer decode_webp_alpha(ByteSpan bytes) {
  const WebPBitstreamFeatures features = features_of(bytes);
  if (!features.has_alpha) return {};
  Image<std::uint8_t> pixels({4 * features.width, features.height});
  decode_into(pixels.view(), bytes, features, webp().decode_with_alpha);
  FrameBuffer alpha({features.width, features.height}, PixelFormat::gray_u8);
  const View<std::uint8_t> values = values_of<std::uint8_t>(alpha);
  for_each_pixel(values.size(), [&](int x, int y) { values(x, y) = pixels(4 * x + 3, y) > 0 ? 255 : 0; });
  return turned(std::move(alpha), orientation_of(bytes));
}

#else

FrameBuffer decode_webp(ByteSpan) {
  fail_unsupported("WebP files cannot be read: parafield was built without libwebp (Debian: libwebp-dev)");
}
FrameBuffer decode_webp_alpha(ByteSpan bytes) { return decode_webp(bytes); }

#endif

}  // namespace parafield::io
