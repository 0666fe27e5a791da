// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "io/formats.hpp"
#include "io/stream.hpp"

namespace parafield::io {

/// YUV4MPEG2: a header, then frames of planes.
class Y4mReader {
 public:
  /// Reads the header. `gray`: only the luma of frames is wanted. Throws Error(format), or Error(unsupported) for
  /// planes that are not read.
  explicit Y4mReader(ByteStream& stream, bool gray = false);

  /// Whether another frame follows. Throws Error(format) if something else does.
  bool has_next();
  /// Reads the next frame. Its memory is used again if it has the size and format.
  void next(FrameBuffer& frame);
  double rate() const { return rate_; }  ///< frames a second; 0 = not known

 private:
  template <class T>
  void convert(FrameBuffer& frame) const;

  ByteStream& stream_;
  const bool gray_;
  double rate_ = 0;
  Size size_, chroma_ = {};  // of the planes; no chroma in gray streams
  int depth_ = 8;            // bits of a value; more than 8 take two bytes
  bool full_range_ = false;  // values are 0..2^depth - 1; otherwise luma is 16..235 (8 bit)
  bool left_ = false,
       top_ = false;  // where a value of chroma lies: at the first of its pixels or between them
  Bytes planes_;
};

}  // namespace parafield::io
