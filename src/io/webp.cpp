// SPDX-License-Identifier: MIT
// WebP through libwebp, which is loaded when such a file is read.
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

  Webp() : LoadedLibrary(PARAFIELD_WEBP_NAME, "WebP", "libwebp7") {
    find(get_features, "WebPGetFeaturesInternal");
    find(decode, "WebPDecodeRGBInto");
  }
};

}  // namespace

FrameBuffer decode_webp(ByteSpan bytes) {
  static const Webp webp;
  webp.check();
  WebPBitstreamFeatures features = {};
  if (webp.get_features(bytes.data(), bytes.size(), &features, WEBP_DECODER_ABI_VERSION) != VP8_STATUS_OK)
    fail_format("damaged WebP file: its header");
  if (features.has_animation)
    fail_unsupported("a WebP file with an animation is not supported; single images are");
  check_sides("a WebP file", features.width, features.height);
  FrameBuffer frame({features.width, features.height}, PixelFormat::rgb_u8);
  const Frame pixels = frame;
  const std::size_t size = std::size_t(pixels.pitch) * std::size_t(pixels.height);
  if (!webp.decode(bytes.data(), bytes.size(), static_cast<std::uint8_t*>(frame.row(0)), size,
                   int(pixels.pitch)))
    fail_format("damaged WebP file: its ", frame.size(), " pixels cannot be decoded");
  return frame;
}

#else

FrameBuffer decode_webp(ByteSpan) {
  fail_unsupported("WebP files cannot be read: parafield was built without libwebp (Debian: libwebp-dev)");
}

#endif

}  // namespace parafield::io
