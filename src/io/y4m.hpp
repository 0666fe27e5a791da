// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "io/formats.hpp"
#include "io/stream.hpp"

namespace parafield::io {

/// YUV4MPEG2: a header, then frames of planes.
class Y4mReader {
 public:
  /// Reads the header. `gray`: return only the luma of frames. Throws Error(format), or Error(unsupported)
  /// for planes that are not supported.
  explicit Y4mReader(ByteStream& stream, bool gray = false);

  /// Whether another frame follows. Throws Error(format) if something else does.
  bool has_next();
  /// Reads the next frame. The memory of `frame` is reused if it has the size and format.
  void next(FrameBuffer& frame);
  double rate() const { return rate_; }            ///< frames per second; 0 = unknown
  bool interlaced() const { return interlaced_; }  ///< whether the rows of a frame are of two times

 private:
  template <class T>
  void convert(FrameBuffer& frame) const;

  ByteStream& stream_;
  const bool gray_;
  double rate_ = 0;
  Size size_, chroma_ = {};  // sizes of the planes; 0x0 without chroma
  int depth_ = 8;            // bits per value; values of more than 8 bits take two bytes
  bool interlaced_ = false;
  bool full_range_ = false;  // values are 0..2^depth - 1; otherwise luma is 16..235 (8 bits)
  bool left_ = false,
       top_ = false;  // whether a chroma value is at the first of its pixels or between them
  Bytes planes_;
};

}  // namespace parafield::io
