// SPDX-License-Identifier: MIT
#include "frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <system_error>
#include <thread>
#include <utility>

#include "interrupt.hpp"

namespace parafield::command {
namespace {

/// Clears the pixels of `known` that `other` lacks.
void take_away(KnownPixels& known, KnownPixels other) {
  if (!other) return;
  if (!known) {
    known = std::move(other);
    return;
  }
  for (int y = 0; y < known.size().height; ++y)
    for (int x = 0; x < known.size().width; ++x) known(x, y) = known(x, y) && other(x, y);
}

/// Returns the mask of the pixels that --input-mask and --overlay keep.
KnownPixels given_mask(const FrameOptions& options) {
  KnownPixels known;
  if (!options.mask.empty()) known = read_mask(options.mask);
  if (options.overlay.empty()) return known;
  KnownPixels free = read_mask(options.overlay);
  if (known) check_same_size(options.mask, known.size(), options.overlay, free.size());
  for (int y = 0; y < free.size().height; ++y)
    for (int x = 0; x < free.size().width; ++x) free(x, y) = !free(x, y);
  if (count_of(free) == 0)
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("--overlay {}: no pixel is 0, so nothing of the frames is left", options.overlay));
  take_away(known, std::move(free));
  return known;
}

}  // namespace

std::int64_t count_of(const Image<std::uint8_t>& mask) {
  const View<const std::uint8_t> view = mask;
  std::int64_t count = 0;
  for (int y = 0; y < view.height; ++y)
    count += view.width - std::count(view.row(y), view.row(y) + view.width, 0);
  return count;
}

void FrameOptions::add_range_to(App& command) {
  command.add_option("--range LOW,HIGH", range)
      .help(
          "values that are black and white, as 0,1 or 0,1023. Without it the bulk of the values of the first "
          "frames decides the range of floats and 16-bit values, and a note says which if it is not 0 to 255 "
          "or 65535");
}

void FrameOptions::add_to(App& command) {
  add_range_to(command);
  const Option name = command.add_option("--variable NAME", variable);
  name.help(
      "of NetCDF files: the variable that holds the frames, also in a group: rain or group/rain. It is "
      "needed where several may");
  const Option values = command.add_option("--level VALUE", level);
  values.help(
      "of NetCDF files whose images have more axes than time: a value of the axis, as 850 or "
      "level=850,member=2. It is the number from 1 where the axis has no coordinate. step=all takes the axis "
      "for time");
  for (const Option& one : {name, values}) command.leave_out_of_help(one);
}

void FrameOptions::add_skip_to(App& command, bool& skip_damaged, const std::string& results) {
  command.add_flag("--skip-damaged", skip_damaged)
      .help(fmt::format(
          "go on after frames that are damaged or missing. They have no {}, and numbers of files stay "
          "as they would be with them; notes name each",
          results));
}

void FrameOptions::add_mask_to(App& command) {
  fills = true;
  command.add_option("--input-mask FILE", mask)
      .help(
          "a picture that is 0 where the frames have no value. There the result is unknown, and around it as "
          "good as without. Pixels with alpha 0 and floats that are not finite have no value either");
}

void FrameOptions::add_overlay_to(App& command) {
  command.add_option("--overlay FILE", overlay)
      .help(
          "a picture that is not 0 where something is drawn over the frames, as coastlines. They have no "
          "value there");
}

std::optional<ValueRange> FrameOptions::given() const {
  if (range.empty()) return {};
  const std::vector<float> values = parse_numbers(range, 2, "--range");
  if (!(values[0] < values[1]))
    throw UsageError(fmt::format("--range {}: black should be below white", range));
  if (!std::isnormal(255 / (values[1] - values[0])))
    throw UsageError(fmt::format("--range {}: white is too near to black or too far from it", range));
  return ValueRange{values[0], values[1]};
}

/// Reads the frames with their masks. Only one thread at a time uses it.
class InputFrames::Reader {
 public:
  Reader(const std::vector<std::string>& files, const FrameOptions& options, const FrameSourceOptions& how)
      : source_(files, how),
        skips_(how.skip_damaged),
        fills_(options.fills),
        mask_name_(options.mask.empty() ? options.overlay : options.mask),
        mask_(given_mask(options)) {}

  const VideoInfo& info() const { return source_.info(); }
  std::vector<std::string> take_notes() {
    std::vector<std::string> notes = source_.take_notes();
    std::ranges::move(std::exchange(notes_, {}), std::back_inserter(notes));
    return notes;
  }
  /// With skip_damaged, passes over frames without any value. Throws their error if there are no others.
  bool next(InputFrame& frame) {
    std::optional<Error> empty;
    std::int64_t passed = 0;
    while (source_.next(frame)) {
      frame.name = source_.name();
      try {
        if (fills_) fill(frame);
      } catch (const EmptyFrame& error) {
        if (!skips_) throw;
        empty = error;
        notes_.push_back(fmt::format("{}; it is skipped", error.what()));
        passed += frame.skipped + 1;
        continue;
      }
      frame.skipped += passed;
      has_delivered_ = true;
      return true;
    }
    if (empty && !has_delivered_) throw *empty;
    return false;
  }

 private:
  struct EmptyFrame : Error {
    using Error::Error;
  };

  /// Sets the frame's mask and fills in its pixels without a value. Throws EmptyFrame if none has one.
  void fill(InputFrame& frame) const {
    if (mask_) check_same_size(frame.name, frame.frame.size(), mask_name_, mask_.size());
    frame.known = mask_.to(Memory::host());
    take_away(frame.known, known_pixels(frame.frame));
    if (frame.name == source_.file()) take_away(frame.known, read_alpha(source_.file()));
    if (!frame.known) return;
    try {
      frame.frame = naming(frame.name, [&] { return filled(frame.frame, frame.known); });
    } catch (const Error& error) {
      if (error.code() != ErrorCode::invalid_argument) throw;
      throw EmptyFrame(error.code(), error.what());
    }
  }

  FrameSource source_;
  std::vector<std::string> notes_;
  bool has_delivered_ = false;
  const bool skips_, fills_;
  const std::string mask_name_;
  const KnownPixels mask_;
};

/// Throws UsageError if standard input is named twice.
static const std::vector<std::string>& checked(const std::vector<std::string>& files) {
  if (std::ranges::count(files, "-") > 1) throw UsageError("FRAMES: - stands for standard input, once");
  return files;
}

void SequenceRange::check_depth(PixelFormat format, const std::string& name) {
  if (!format_) {
    format_ = format;
    name_ = name;
  } else if (bytes_per_value(format) != bytes_per_value(*format_)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} has {} values, {} has {} values; convert them to one depth", name_,
                            depth_text(*format_), name, depth_text(format)));
  }
}

void SequenceRange::decide(std::span<const Frame> first) {
  const bool is_u8 = bytes_per_value(first[0].format) == 1;
  decided_ = true;
  if (range_) return;
  if (first[0].range != ValueRange{}) {
    range_ = first[0].range;
    return;
  }
  if (is_u8 && !stretches_) {
    range_ = {0, 255};
    return;
  }
  const ValueFindings found = find_values(first, use_);
  range_ = found.range;
  found_ = !is_u8 || !found.usual;
  notes_ = value_notes(found);
  if (!found.usual) notes_[0] += "; --range sets them";
}

void SequenceRange::give_to(FrameBuffer& frame, const std::string& name) {
  if (found_) {
    const Frame values = frame;
    const ValueRange own = find_values({&values, 1}).bulk;
    const float room = (range_->white - range_->black) / 2;
    if (own.white > range_->white + room || own.black < range_->black - room) {
      found_ = false;  // say so only once
      notes_.push_back(fmt::format(
          "{} has values from {:g} to {:g}, far beyond {:g} (black) to {:g} (white), the range of the first "
          "frames; give --range",
          name, own.black, own.white, range_->black, range_->white));
    }
  }
  frame.set_range(*range_);
}

InputFrames::InputFrames(const std::vector<std::string>& files, const FrameOptions& options, int ahead,
                         bool quiet, FrameSourceOptions how)
    : range_(options.given(), options.use, options.use == RangeUse::matching),
      quiet_(quiet),
      reads_ahead_(ahead > 0) {
  how.variable = options.variable;
  how.level = options.level;
  how.any_size = true;  // check() names both frames
  how.skip_damaged = options.skip_damaged;
  reader_ = std::make_shared<Reader>(checked(files), options, how);
  take_notes();
  if (!reads_ahead_) return;
  begin_to_read();
  try {
    while (int(waiting_.size()) < ahead && await_one()) {
    }
  } catch (const Error&) {
    if (waiting_.empty()) throw;
    failed_ = std::current_exception();
  }
  std::vector<Frame> first;
  for (const InputFrame& one : waiting_) first.push_back(one.frame);
  range_.decide(first);
  say(range_.take_notes());
}

const VideoInfo& InputFrames::info() const { return reader_->info(); }

/// The thread is detached, because it may be waiting for a pipe when the program ends early.
void InputFrames::begin_to_read() {
  const auto task = std::make_shared<std::packaged_task<std::optional<InputFrame>()>>([reader = reader_] {
    std::optional<InputFrame> frame(std::in_place);
    if (!reader->next(*frame)) frame.reset();
    return frame;
  });
  coming_ = task->get_future();
  try {
    std::thread([task] { (*task)(); }).detach();
  } catch (const std::system_error&) {  // no thread available
    (*task)();
  }
}

void InputFrames::take_notes() {
  std::vector<std::string> notes = reader_->take_notes();
  source_notes_.insert(source_notes_.end(), notes.begin(), notes.end());
  say(std::move(notes));
}

void InputFrames::say(std::vector<std::string> notes) {
  for (std::string& text : notes) {
    if (!quiet_) note(text);
    notes_.push_back(std::move(text));
  }
}

void InputFrames::need(int frames) const {
  if (count_ < frames && failed_) std::rethrow_exception(failed_);
}

bool InputFrames::await_one() {
  if (failed_) std::rethrow_exception(failed_);
  if (!coming_.valid()) return false;
  while (coming_.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) WhileWriting::check();
  take_notes();
  std::optional<InputFrame> one = coming_.get();
  if (!one) return false;
  begin_to_read();
  check(*one);
  waiting_.push_back(std::move(*one));
  return true;
}

void InputFrames::check(const InputFrame& frame) {
  if (count_++ == 0) first_name_ = frame.name;
  check_same_size(first_name_, size(), frame.name, frame.frame.size());
  range_.check_depth(frame.frame.format(), frame.name);
}

bool InputFrames::next(InputFrame& frame) {
  if (!reads_ahead_) {
    const bool is_there = reader_->next(frame);
    take_notes();
    if (!is_there) return false;
    check(frame);
    if (!range_.is_decided()) {
      const Frame first = frame.frame;
      range_.decide({&first, 1});
    }
  } else {
    if (waiting_.empty() && !await_one()) return false;
    frame = std::move(waiting_.front());
    waiting_.pop_front();
  }
  range_.give_to(frame.frame, frame.name);
  say(range_.take_notes());
  return true;
}

std::optional<InputFrame> InputFrames::next() {
  std::optional<InputFrame> frame(std::in_place);
  if (!next(*frame)) frame.reset();
  return frame;
}

KnownFrames read_frames(const std::vector<std::string>& files, const FrameOptions& options, int count,
                        bool quiet, std::string_view who, std::string_view more) {
  const auto fail = [&](const std::string& number, std::string_view instead = "") {
    throw UsageError(fmt::format("FRAMES: {} takes {} frames, not {}{}", who, count, number, instead));
  };
  if (int(files.size()) > count) fail(std::to_string(files.size()), more);
  FrameOptions reading = options;
  reading.skip_damaged = false;  // frames around a damaged one would be taken for neighbors
  InputFrames source(files, reading, count, quiet);
  KnownFrames all;
  while (std::optional<InputFrame> frame = source.next()) {
    if (int(all.frames.size()) == count) fail("more", more);
    all.add(std::move(*frame));
  }
  if (int(all.frames.size()) < count) fail(std::to_string(all.frames.size()));
  all.notes = source.notes();
  return all;
}

void add_notes(Report& report, const std::vector<std::string>& notes) {
  if (!notes.empty()) report.json["notes"] = notes;
}

void add_range(Report& report, ValueRange range) {
  report.json["range"] = {json_of(range.black), json_of(range.white)};
}

}  // namespace parafield::command
