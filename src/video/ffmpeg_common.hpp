// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <new>
#include <string>

#include "core/fail.hpp"
#include "parafield/image.hpp"
#include "video/ffmpeg_library.hpp"

/// Owning pointers to FFmpeg's objects, and its errors. Only ffmpeg_*.cpp include its headers.
namespace parafield::video {

/// Frees an object with a function of FFmpeg that takes a pointer to the pointer.
template <auto* release>
struct Release {
  template <class T>
  void operator()(T* object) const {
    (*release)(&object);
  }
};
struct FreeScaler {
  void operator()(SwsContext* scaler) const { sws_freeContext(scaler); }
};

using CodecContext = std::unique_ptr<AVCodecContext, Release<&avcodec_free_context>>;
using PictureFrame = std::unique_ptr<AVFrame, Release<&av_frame_free>>;
using Packet = std::unique_ptr<AVPacket, Release<&av_packet_free>>;
using Scaler = std::unique_ptr<SwsContext, FreeScaler>;

/// Checks the result of a function of FFmpeg that allocates. Throws std::bad_alloc for null.
template <class T>
T* allocated(T* object) {
  if (!object) throw std::bad_alloc();
  return object;
}

/// Describes FFmpeg's error number.
std::string av_reason(int error);
/// Maps FFmpeg's error number to an ErrorCode.
ErrorCode code_of(int error);

/// The color matrix of a video as swscale's constant.
int matrix_of(AVColorSpace space, int width, int height);

/// Makes a scaler between these formats, with their ranges. It uses at most `threads` threads (0 = all), and
/// their number does not affect the values. Throws Error(unsupported).
Scaler make_scaler(int width, int height, AVPixelFormat from, bool from_full, int from_matrix,
                   AVPixelFormat to, bool to_full, int to_matrix, int threads);

/// A single-plane picture in memory of another owner, which must outlive the picture.
PictureFrame borrowed(const void* pixels, std::ptrdiff_t pitch, Size size, AVPixelFormat format);

/// Converts a picture into another one whose memory is allocated.
void convert(const Scaler& scaler, const AVFrame& from, AVFrame& to);

}  // namespace parafield::video
