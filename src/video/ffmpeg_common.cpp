// SPDX-License-Identifier: MIT
#include "video/ffmpeg_common.hpp"

#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <iterator>
#include <thread>
#include <utility>

#include "video/sink.hpp"

namespace parafield::video {

std::string av_reason(int error) {
  char buffer[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(error, buffer, sizeof buffer);
  return buffer;
}

ErrorCode code_of(int error) {
  constexpr int damaged[] = {AVERROR_INVALIDDATA, AVERROR_EOF, AVERROR_STREAM_NOT_FOUND};
  constexpr int absent[] = {AVERROR_DECODER_NOT_FOUND, AVERROR_DEMUXER_NOT_FOUND, AVERROR_PROTOCOL_NOT_FOUND,
                            AVERROR_PATCHWELCOME, AVERROR(ENOSYS)};
  const auto is_in = [&](const auto& list) { return std::ranges::find(list, error) != std::end(list); };
  return error == AVERROR(ENOMEM) ? ErrorCode::memory
         : is_in(damaged)         ? ErrorCode::format
         : is_in(absent)          ? ErrorCode::unsupported
                                  : ErrorCode::file;
}

int matrix_of(AVColorSpace space, int width, int height) {
  constexpr std::pair<AVColorSpace, int> known[] = {
      {AVCOL_SPC_BT709, SWS_CS_ITU709},     {AVCOL_SPC_BT2020_NCL, SWS_CS_BT2020},
      {AVCOL_SPC_BT2020_CL, SWS_CS_BT2020}, {AVCOL_SPC_SMPTE240M, SWS_CS_SMPTE240M},
      {AVCOL_SPC_FCC, SWS_CS_FCC},          {AVCOL_SPC_BT470BG, SWS_CS_ITU601},
      {AVCOL_SPC_SMPTE170M, SWS_CS_ITU601}};
  for (const auto& [named, matrix] : known)
    if (named == space) return matrix;
  return is_hd({width, height}) ? SWS_CS_ITU709 : SWS_CS_ITU601;
}

Scaler make_scaler(int width, int height, AVPixelFormat from, bool from_full, int from_matrix,
                   AVPixelFormat to, bool to_full, int to_matrix, int threads) {
  // Exact, with the same result on every processor.
  constexpr int flags = SWS_BILINEAR | SWS_ACCURATE_RND | SWS_BITEXACT | SWS_FULL_CHR_H_INT;
  // A thread pays off from about this many pixels on.
  constexpr int most = 8, pixels_of_thread = 1 << 16;
  const int cores = std::max(int(std::thread::hardware_concurrency()), 1);
  const std::int64_t useful = std::int64_t(width) * height / pixels_of_thread;
  const auto used = std::clamp<std::int64_t>(useful, 1, std::min(threads > 0 ? threads : cores, most));
  Scaler scaler(allocated(sws_alloc_context()));
  for (const auto& [name, value] :
       std::initializer_list<std::pair<const char*, std::int64_t>>{{"srcw", width},
                                                                   {"srch", height},
                                                                   {"src_format", from},
                                                                   {"dstw", width},
                                                                   {"dsth", height},
                                                                   {"dst_format", to},
                                                                   {"sws_flags", flags},
                                                                   {"threads", used}})
    av_opt_set_int(scaler.get(), name, value, 0);
  if (sws_init_context(scaler.get(), nullptr, nullptr) < 0)
    fail(ErrorCode::unsupported, "pixels of the kind ", av_get_pix_fmt_name(from), " cannot be made ",
         av_get_pix_fmt_name(to));
  sws_setColorspaceDetails(scaler.get(), sws_getCoefficients(from_matrix), from_full,
                           sws_getCoefficients(to_matrix), to_full, 0, 1 << 16, 1 << 16);
  return scaler;
}

PictureFrame borrowed(const void* pixels, std::ptrdiff_t pitch, Size size, AVPixelFormat format) {
  PictureFrame picture(allocated(av_frame_alloc()));
  picture->width = size.width;
  picture->height = size.height;
  picture->format = format;
  picture->linesize[0] = int(pitch);
  picture->data[0] = static_cast<std::uint8_t*>(const_cast<void*>(pixels));
  // FFmpeg would copy a picture that is not reference-counted.
  picture->buf[0] = allocated(av_buffer_create(
      picture->data[0], std::size_t(pitch) * std::size_t(size.height), [](void*, std::uint8_t*) {}, nullptr,
      0));
  return picture;
}

void convert(const Scaler& scaler, const AVFrame& from, AVFrame& to) {
  const int failed = sws_scale_frame(scaler.get(), &to, &from);
  if (failed < 0) fail(code_of(failed), "its pixels cannot be converted: ", av_reason(failed));
}

}  // namespace parafield::video
