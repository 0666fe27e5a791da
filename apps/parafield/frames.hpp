// SPDX-License-Identifier: MIT
#pragma once
#include <deque>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "files.hpp"
#include "options.hpp"
#include "parafield/video.hpp"
#include "report.hpp"

/// Reading of a command's input frames.
namespace parafield::command {

/// Mask of the pixels that have a value: 0 where a pixel has none. An empty mask means that all pixels have
/// one.
using KnownPixels = Image<std::uint8_t>;

/// Returns the number of nonzero pixels.
std::int64_t count_of(const Image<std::uint8_t>& mask);

/// --range, --variable, --level, --skip-damaged, --input-mask, --overlay.
struct FrameOptions {
  std::string range, variable, level, mask, overlay;
  bool skip_damaged = false;
  bool fills = false;                 ///< pixels without a value are filled in, and reported as a mask
  RangeUse use = RangeUse::matching;  ///< what the range is for

  /// Adds --range, --variable and --level.
  void add_to(App& command);
  /// Adds --range alone.
  void add_range_to(App& command);
  /// Adds --skip-damaged. `results` names the results that a damaged frame lacks.
  static void add_skip_to(App& command, bool& skip_damaged, const std::string& results);
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

/// A frame of a command's input.
struct InputFrame : VideoFrame {
  KnownPixels known = {};
  std::string name = {};  ///< for messages
};

/// The range that all frames of a sequence get: the given one, or the one that find_values finds in the first
/// frames. Frames that name a range keep it. 8-bit frames without a given range have their usual range unless
/// low contrast is stretched.
class SequenceRange {
 public:
  /// `stretches`: low contrast of 8-bit frames may be stretched.
  SequenceRange(std::optional<ValueRange> given, RangeUse use, bool stretches)
      : range_(given), use_(use), stretches_(stretches) {}

  /// Takes note of a frame that was read. Throws Error(invalid_argument) if it has another depth (8 bits, 16
  /// bits, float) than the first one.
  void check_depth(PixelFormat format, const std::string& name);
  bool is_decided() const { return decided_; }
  /// Decides the range from the first frames.
  void decide(std::span<const Frame> first);
  /// Gives a frame the range. Adds a note for the first frame whose values are far outside a range that was
  /// found.
  void give_to(FrameBuffer& frame, const std::string& name);
  /// The range; {0, 0} as long as it is not decided.
  ValueRange range() const { return decided_ ? *range_ : ValueRange{}; }
  /// Returns the notes for users that were added since the last call.
  std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }

 private:
  std::optional<ValueRange> range_;
  const RangeUse use_;
  const bool stretches_;
  bool decided_ = false, found_ = false;  // found_: in the values of the frames
  std::optional<PixelFormat> format_;     // of the first frame
  std::string name_;
  std::vector<std::string> notes_;
};

/// The frames of a command: frames of the same size and depth from a FrameSource, with their range and masks.
/// See SequenceRange for the range.
class InputFrames {
 public:
  /// Reads the first `ahead` frames, or all if there are fewer. If a frame after the first cannot be read,
  /// next() throws its error after the frames before it. If their format usually has another range,
  /// a note on stderr says so unless `quiet` is set. Each later frame is read while the previous one is in
  /// use. If `ahead` is 0, frames are read when they are needed, and the first one decides the range.
  /// Throws UsageError and whatever FrameSource throws.
  InputFrames(const std::vector<std::string>& files, const FrameOptions& options, int ahead, bool quiet,
              FrameSourceOptions how = {});

  /// Reads the next frame, into its memory if that fits. Returns false at the end. Throws whatever
  /// FrameSource throws, and Error(invalid_argument) if the frame's size differs from the first one's.
  bool next(InputFrame& frame);
  std::optional<InputFrame> next();
  /// Throws the error that ended the first frames, if there are fewer than `frames`.
  void need(int frames) const;

  const VideoInfo& info() const;
  /// The notes on the source and the range so far. They are also printed on stderr unless `quiet`.
  const std::vector<std::string>& notes() const { return notes_; }
  /// The notes on the source alone, as on frames that were skipped.
  const std::vector<std::string>& source_notes() const { return source_notes_; }
  /// Prints notes and adds them to notes().
  void say(std::vector<std::string> notes);
  int count() const { return count_; }  ///< frames read so far
  Size size() const { return info().size; }
  ValueRange range() const { return range_.range(); }

 private:
  class Reader;

  void begin_to_read();
  bool await_one();  // returns false at the end
  void take_notes();
  void check(const InputFrame& frame);

  std::shared_ptr<Reader> reader_;
  SequenceRange range_;
  const bool quiet_, reads_ahead_;
  int count_ = 0;
  std::string first_name_;
  std::deque<InputFrame> waiting_;
  std::future<std::optional<InputFrame>> coming_;
  std::exception_ptr failed_;  // error of a frame after those that wait
  std::vector<std::string> notes_, source_notes_;
};

/// Frames, their masks, and notes on them.
struct KnownFrames {
  std::vector<FrameBuffer> frames;
  std::vector<KnownPixels> known;
  std::vector<std::string> notes = {};

  void add(InputFrame frame) {
    frames.push_back(std::move(frame.frame));
    known.push_back(std::move(frame.known));
  }
};

/// Reads `count` frames. Throws UsageError if the files have fewer or more frames; in the message, `who`
/// needs that many, and `more` says what to do with other numbers of frames.
KnownFrames read_frames(const std::vector<std::string>& files, const FrameOptions& options, int count,
                        bool quiet, std::string_view who, std::string_view more = "");

/// Adds notes of InputFrames, if there are some.
void add_notes(Report& report, const std::vector<std::string>& notes);

/// Adds the range.
void add_range(Report& report, ValueRange range);

}  // namespace parafield::command
