// SPDX-License-Identifier: MIT
#include "video/ffmpeg_common.hpp"

#include <cerrno>
#include <mutex>

#include "video/sink.hpp"

namespace parafield::video {

std::string av_reason(int error) {
  char buffer[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(error, buffer, sizeof buffer);
  return buffer;
}

ErrorCode code_of(int error) {
  switch (error) {
    case AVERROR(ENOMEM):
      return ErrorCode::memory;
    case AVERROR_INVALIDDATA:
    case AVERROR_EOF:
    case AVERROR_STREAM_NOT_FOUND:
      return ErrorCode::format;
    case AVERROR_DECODER_NOT_FOUND:
    case AVERROR_DEMUXER_NOT_FOUND:
    case AVERROR_PROTOCOL_NOT_FOUND:
    case AVERROR_PATCHWELCOME:
    case AVERROR(ENOSYS):
      return ErrorCode::unsupported;
    default:
      return ErrorCode::file;
  }
}

void begin_ffmpeg() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (av_log_get_level() == AV_LOG_INFO) av_log_set_level(AV_LOG_PANIC);
  });
}

int matrix_of(AVColorSpace space, int width, int height) {
  switch (space) {
    case AVCOL_SPC_BT709:
      return SWS_CS_ITU709;
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL:
      return SWS_CS_BT2020;
    case AVCOL_SPC_SMPTE240M:
      return SWS_CS_SMPTE240M;
    case AVCOL_SPC_FCC:
      return SWS_CS_FCC;
    case AVCOL_SPC_BT470BG:
    case AVCOL_SPC_SMPTE170M:
      return SWS_CS_ITU601;
    default:
      return is_hd({width, height}) ? SWS_CS_ITU709 : SWS_CS_ITU601;
  }
}

Scaler make_scaler(int width, int height, AVPixelFormat from, bool from_full, int from_matrix,
                   AVPixelFormat to, bool to_full, int to_matrix) {
  // Exact, and the same on every processor.
  constexpr int flags = SWS_BILINEAR | SWS_ACCURATE_RND | SWS_BITEXACT | SWS_FULL_CHR_H_INT;
  Scaler scaler(sws_getContext(width, height, from, width, height, to, flags, nullptr, nullptr, nullptr));
  if (!scaler)
    fail(ErrorCode::unsupported, "pixels of the kind ", av_get_pix_fmt_name(from), " cannot be made ",
         av_get_pix_fmt_name(to));
  sws_setColorspaceDetails(scaler.get(), sws_getCoefficients(from_matrix), from_full,
                           sws_getCoefficients(to_matrix), to_full, 0, 1 << 16, 1 << 16);
  return scaler;
}

}  // namespace parafield::video
