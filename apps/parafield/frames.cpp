// SPDX-License-Identifier: MIT
#include "frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <system_error>
#include <thread>
#include <utility>

namespace parafield::command {
namespace {

ValueRange range_in(const Frame& frame) { return find_value_range({&frame, 1}); }

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

bool has_any(const KnownPixels& known) {
  for (int y = 0; y < known.size().height; ++y)
    for (int x = 0; x < known.size().width; ++x)
      if (known(x, y)) return true;
  return false;
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
  if (!has_any(free))
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("--overlay {}: no pixel is 0, so nothing of the frames is left", options.overlay));
  take_away(known, std::move(free));
  return known;
}

}  // namespace

ValueRange usual_range(PixelFormat format) {
  return {0, bytes_per_pixel(format) == 2 * channels(format) ? 65535.0f : 255.0f};
}

void FrameOptions::add_to(App& command) {
  command.add_option("--range LOW,HIGH", range)
      .help(
          "values that are black and white, as 0,1 or 0,1023. Without it floats and 16-bit values have the "
          "range that the first frames suggest, and a note says which if it is not 0 to 255 or 65535");
  const Option name = command.add_option("--variable NAME", variable);
  name.help("of NetCDF files: the variable that holds the frames. It is needed where several may");
  command.leave_out_of_help(name);
}

void FrameOptions::add_mask_to(App& command) {
  fills = true;
  command.add_option("--input-mask FILE", mask)
      .help(
          "a picture that is 0 where the frames have no value. There the result is unknown, and around it as "
          "good as without. Pixels of a PNG with alpha 0 and floats that are not finite have no value "
          "either");
}

void FrameOptions::add_overlay_to(App& command) {
  command.add_option("--overlay FILE", overlay)
      .help(
          "a picture that is not 0 where something is drawn over the frames, as coastlines. They have no "
          "value "
          "there");
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

/// The input files. Only one thread at a time reads them.
class FrameSource::Files {
 public:
  Files(std::vector<std::string> files, const FrameOptions& options)
      : files_(std::move(files)),
        variable_(options.variable),
        fills_(options.fills),
        mask_name_(options.mask.empty() ? options.overlay : options.mask),
        mask_(given_mask(options)) {}

  std::optional<Named> next() {
    for (; at_ < files_.size(); ++at_, reader_.reset(), number_ = 0) {
      std::optional<FrameBuffer> first;
      if (!reader_) {
        std::future<Opened> opened = std::move(opening_);
        if (at_ + 1 < files_.size() && is_picture(files_[at_ + 1]))
          opening_ =
              std::async(std::launch::async | std::launch::deferred,
                         [file = files_[at_ + 1], variable = variable_] { return open(file, variable); });
        Opened here = opened.valid() ? opened.get() : open(files_[at_], variable_);
        reader_.emplace(std::move(here.reader));
        first = std::move(here.first);
      } else {
        first = reader_->next();
      }
      ++number_;
      const std::string file = files_[at_] == "-" ? "standard input" : files_[at_];
      if (std::optional<FrameBuffer> frame = std::move(first))
        return known_frame(std::move(*frame),
                           number_ == 1 ? file : fmt::format("frame {} of {}", number_, file));
      if (number_ == 1) throw Error(ErrorCode::format, files_[at_] + ": holds no frame");
    }
    return {};
  }

 private:
  /// A file and its first frame.
  struct Opened {
    FrameReader reader;
    std::optional<FrameBuffer> first;
  };
  static Opened open(const std::string& file, const std::string& variable) {
    FrameReader reader(file, variable);
    std::optional<FrameBuffer> first;
    try {
      first = reader.next();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::invalid_argument)  // NetCDF: the variable is missing or unclear
        throw Error(error.code(), std::string(error.what()) + "; --variable names one");
      if (error.code() == ErrorCode::format && is_video(file))
        throw Error(error.code(), std::string(error.what()) + "; parafield video reads videos");
      throw;
    }
    return {std::move(reader), std::move(first)};
  }
  /// Returns whether a file name is that of a video. Y4M is not counted, because FrameReader reads it.
  static bool is_video(const std::string& file) {
    return !has_extension(file, ".y4m") && has_one_of(file, video_extensions);
  }
  /// Returns whether a file can be opened on another thread while the previous file is read.
  static bool is_picture(const std::string& file) {
    std::error_code none;
    return has_one_of(file, {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".pgm", ".ppm"}) &&
           std::filesystem::is_regular_file(file, none);
  }

  /// Returns the frame with its mask. Pixels without a value are filled in.
  Named known_frame(FrameBuffer frame, std::string name) const {
    if (!fills_) return {std::move(frame), std::move(name), {}};
    if (mask_) check_same_size(name, frame.size(), mask_name_, mask_.size());
    KnownPixels known = mask_.to(Memory::host());
    take_away(known, known_pixels(frame));
    if (number_ == 1) take_away(known, read_alpha(files_[at_]));
    if (known) frame = naming(name, [&] { return filled(frame, known); });
    return {std::move(frame), std::move(name), std::move(known)};
  }

  const std::vector<std::string> files_;
  const std::string variable_;
  const bool fills_;
  const std::string mask_name_;
  const KnownPixels mask_;
  std::size_t at_ = 0;
  std::optional<FrameReader> reader_;
  std::future<Opened> opening_;  // the next file, if it is a picture
  int number_ = 0;
};

FrameSource::FrameSource(const std::vector<std::string>& files, const FrameOptions& options, int ahead,
                         bool quiet)
    : files_(std::make_shared<Files>(files, options)), range_(options.given()), quiet_(quiet) {
  if (std::ranges::count(files, "-") > 1) throw UsageError("FRAMES: - stands for standard input, once");
  coming_ = begin_to_read();
  std::vector<Frame> first;
  while (int(first.size()) < ahead && await_one()) first.push_back(waiting_.back().frame);
  if (range_ || first.empty()) return;
  range_ = find_value_range(first);
  found_ = true;
  if (range_ != usual_range(first[0].format) && !quiet_)
    note(fmt::format("{} is black and {} is white, from the values of the frames; --range sets them",
                     range_->black, range_->white));
}

/// The thread is detached, because it may be waiting for a pipe when the program ends early.
std::future<std::optional<FrameSource::Named>> FrameSource::begin_to_read() const {
  const auto task = std::make_shared<std::packaged_task<std::optional<Named>()>>(
      [files = files_] { return files->next(); });
  try {
    std::thread([task] { (*task)(); }).detach();
  } catch (const std::system_error&) {  // no thread available
    (*task)();
  }
  return task->get_future();
}

bool FrameSource::await_one() {
  if (!coming_.valid()) return false;
  std::optional<Named> one = coming_.get();
  if (!one) return false;
  coming_ = begin_to_read();
  if (count_++ == 0) {
    first_name_ = one->name;
    size_ = one->frame.size();
  }
  check_same_size(first_name_, size_, one->name, one->frame.size());
  waiting_.push_back(std::move(*one));
  return true;
}

std::optional<FrameBuffer> FrameSource::next(KnownPixels* known) {
  if (waiting_.empty() && !await_one()) return {};
  Named one = std::move(waiting_.front());
  waiting_.pop_front();
  if (found_) {
    const ValueRange own = range_in(one.frame);
    if (own.white > range_->white || own.black < range_->black) {
      found_ = false;  // report it only once
      if (!quiet_)
        note(fmt::format(
            "{} has values beyond {} (black) to {} (white), the range of the first frames; give --range",
            one.name, range_->black, range_->white));
    }
  }
  one.frame.set_range(*range_);
  if (known) *known = std::move(one.known);
  return std::move(one.frame);
}

std::vector<FrameBuffer> read_frames(const std::vector<std::string>& files, const FrameOptions& options,
                                     int count, bool quiet, std::string_view who, std::string_view more,
                                     std::vector<KnownPixels>* known) {
  const auto fail = [&](const std::string& number, std::string_view instead = "") {
    throw UsageError(fmt::format("FRAMES: {} takes {} frames, not {}{}", who, count, number, instead));
  };
  if (int(files.size()) > count) fail(std::to_string(files.size()), more);
  FrameSource source(files, options, count, quiet);
  std::vector<FrameBuffer> frames;
  KnownPixels mask;
  while (std::optional<FrameBuffer> frame = source.next(&mask)) {
    if (int(frames.size()) == count) fail("more", more);
    frames.push_back(std::move(*frame));
    if (known) known->push_back(std::move(mask));
  }
  if (int(frames.size()) < count) fail(std::to_string(frames.size()));
  return frames;
}

void add_range(Report& report, ValueRange range) {
  report.json["range"] = {json_of(range.black), json_of(range.white)};
}

}  // namespace parafield::command
