// SPDX-License-Identifier: MIT
#pragma once
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "files.hpp"
#include "options.hpp"
#include "report.hpp"

/// Reading of a command's input frames.
namespace parafield::command {

/// Mask of the pixels that have a value: 0 where a pixel has none. An empty mask means that all pixels have
/// one.
using KnownPixels = Image<std::uint8_t>;

/// --range, --variable, --input-mask, --overlay.
struct FrameOptions {
  std::string range, variable, mask, overlay;
  bool fills = false;  ///< pixels without a value are filled in, and reported as a mask

  void add_to(App& command);
  /// Adds --input-mask. Pixels without a value (by the mask, by alpha, or because they are not finite) are
  /// then filled in.
  void add_mask_to(App& command);
  /// Adds --input-mask and --overlay.
  void add_overlay_to(App& command);
  /// The mask files, which are inputs in addition to the frames.
  std::vector<Path> files() const { return {mask, overlay}; }
  /// The value of --range. Throws UsageError.
  std::optional<ValueRange> given() const;
};

/// Reads frames of the same size from files and streams, one file after the other. The next frame is read
/// while the last one is in use. All frames have the range of --range or, without it, the range that the
/// first frames suggest.
class FrameSource {
 public:
  /// Reads the first `ahead` frames, or all if there are fewer. If their range is not the usual one of their
  /// format, a note on stderr says so. Throws UsageError and whatever FrameReader throws.
  FrameSource(const std::vector<std::string>& files, const FrameOptions& options, int ahead, bool quiet);

  /// Returns the next frame, or none at the end, and stores its mask in `known`. Throws whatever FrameReader
  /// throws, and Error(invalid_argument) if the frame's size differs from the first one's.
  std::optional<FrameBuffer> next(KnownPixels* known = nullptr);

  int count() const { return count_; }  ///< frames read so far
  Size size() const { return size_; }   ///< 0x0 if there is no frame
  ValueRange range() const { return *range_; }

 private:
  struct Named {
    FrameBuffer frame;
    std::string name;
    KnownPixels known;
  };
  class Files;

  std::future<std::optional<Named>> begin_to_read() const;
  bool await_one();  // returns false at the end

  std::shared_ptr<Files> files_;
  std::optional<ValueRange> range_;
  const bool quiet_;
  bool found_ = false;  // the range comes from the first frames and has not been reported yet
  int count_ = 0;
  std::string first_name_;
  Size size_;
  std::deque<Named> waiting_;
  std::future<std::optional<Named>> coming_;
};

/// Reads `count` frames and stores their masks in `known`. Throws UsageError if the files have fewer or more
/// frames; in the message, `who` needs that many, and `more` says what to do with other numbers of frames.
std::vector<FrameBuffer> read_frames(const std::vector<std::string>& files, const FrameOptions& options,
                                     int count, bool quiet, std::string_view who = "the command",
                                     std::string_view more = "", std::vector<KnownPixels>* known = nullptr);

/// Returns the usual range of a format, for frames that do not specify one.
ValueRange usual_range(PixelFormat format);

/// Adds the range.
void add_range(Report& report, ValueRange range);

}  // namespace parafield::command
