// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "io/netcdf.hpp"
#include "io/y4m.hpp"

namespace parafield::io {

/// The frames of a stream of bytes, of any format. Formats that hold one image can be read only from streams
/// whose size is known.
class PARAFIELD_API FrameStream {
 public:
  /// `choice`: the images of a NetCDF file. `gray`: return only the luma of Y4M.
  explicit FrameStream(ByteStream& bytes, NetcdfChoice choice = {}, bool gray = false)
      : bytes_(bytes), choice_(std::move(choice)), gray_(gray) {}
  ~FrameStream();
  FrameStream(const FrameStream&) = delete;
  FrameStream& operator=(const FrameStream&) = delete;

  /// Returns the next frame, or nothing at the end. After an error, returns the frame after the damaged one
  /// of a file of several images (TIFF, NetCDF), otherwise nothing.
  std::optional<FrameBuffer> next();
  /// Reads the next frame into `frame`, or returns false. For Y4M, memory of the right size and format is
  /// reused.
  bool next(FrameBuffer& frame);
  bool goes_on() const { return !ended_; }                 ///< whether there may be frames after an error
  Content content() const { return content_; }             ///< content of the last frame
  double rate() const { return y4m_ ? y4m_->rate() : 0; }  ///< frames per second; 0 = unknown
  /// A note on what is unusual about the file, such as a missing end marker; empty if nothing is.
  const std::string& note() const { return note_; }
  /// Returns the first frame. Throws Error(format) if there is none or if anything follows it.
  FrameBuffer only();

 private:
  /// Detects the content of what follows from as few bytes as possible, because a pipe may never deliver
  /// more.
  Content upcoming();
  bool has_next();
  void read(FrameBuffer& frame);

  ByteStream& bytes_;
  const NetcdfChoice choice_;
  const bool gray_;
  std::optional<Y4mReader> y4m_;
  std::unique_ptr<Images> images_;  // of a NetCDF or TIFF file
  Content content_ = Content::unknown;
  std::string note_;
  std::int64_t count_ = 0;  // frames read
  bool ended_ = false;
};

}  // namespace parafield::io
