// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <new>
#include <string>

#include "core/fail.hpp"
#include "parafield/image.hpp"
#include "video/ffmpeg_library.hpp"

/// FFmpeg's objects, owned, and its errors. Only ffmpeg_*.cpp include its headers.
namespace parafield::video {

/// Frees an object by one of FFmpeg's functions, which takes a pointer to the pointer.
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

/// The object that an allocating function of FFmpeg returned.
template <class T>
T* allocated(T* object) {
  if (!object) throw std::bad_alloc();
  return object;
}

/// What FFmpeg's error number means.
std::string av_reason(int error);
/// The kind of an error, for Error.
ErrorCode code_of(int error);

/// The matrix of a video, as swscale calls it.
int matrix_of(AVColorSpace space, int width, int height);

/// Makes a scaler between these formats, with their ranges. It works on `threads` threads (0 = all) or fewer,
/// and their number changes no value. Throws Error(unsupported).
Scaler make_scaler(int width, int height, AVPixelFormat from, bool from_full, int from_matrix,
                   AVPixelFormat to, bool to_full, int to_matrix, int threads);

/// A picture of one plane in memory that someone else owns, and keeps as long as the picture exists.
PictureFrame borrowed(const void* pixels, std::ptrdiff_t pitch, Size size, AVPixelFormat format);

/// Converts a picture into another one, which has memory.
void convert(const Scaler& scaler, const AVFrame& from, AVFrame& to);

}  // namespace parafield::video
