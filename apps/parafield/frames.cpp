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

}  // namespace

ValueRange usual_range(PixelFormat format) {
  return {0, bytes_per_pixel(format) == 2 * channels(format) ? 65535.0f : 255.0f};
}

void FrameOptions::add_to(App& command) {
  command.add_option("--range LOW,HIGH", range)
      .help(
          "values that are black and white, as 0,1 or 0,1023. Without it floats and 16-bit values have the "
          "range that the first frames suggest, and a note says which if it is not 0 to 255 or 65535");
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

/// The files, which one thread at a time reads.
class FrameSource::Files {
 public:
  explicit Files(std::vector<std::string> files) : files_(std::move(files)) {}

  std::optional<Named> next() {
    for (; at_ < files_.size(); ++at_, reader_.reset(), number_ = 0) {
      if (!reader_) reader_.emplace(files_[at_]);
      ++number_;
      const std::string file = files_[at_] == "-" ? "standard input" : files_[at_];
      if (std::optional<FrameBuffer> frame = reader_->next())
        return Named{std::move(*frame), number_ == 1 ? file : fmt::format("frame {} of {}", number_, file)};
      if (number_ == 1) throw Error(ErrorCode::format, files_[at_] + ": holds no frame");
    }
    return {};
  }

 private:
  const std::vector<std::string> files_;
  std::size_t at_ = 0;
  std::optional<FrameReader> reader_;
  int number_ = 0;
};

FrameSource::FrameSource(const std::vector<std::string>& files, const FrameOptions& options, int ahead,
                         bool quiet)
    : files_(std::make_shared<Files>(files)), range_(options.given()), quiet_(quiet) {
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

/// The thread is not joined: if the program ends early, it may wait for a pipe.
std::future<std::optional<FrameSource::Named>> FrameSource::begin_to_read() const {
  const auto task = std::make_shared<std::packaged_task<std::optional<Named>()>>(
      [files = files_] { return files->next(); });
  try {
    std::thread([task] { (*task)(); }).detach();
  } catch (const std::system_error&) {  // the system gives no thread
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

std::optional<FrameBuffer> FrameSource::next() {
  if (waiting_.empty() && !await_one()) return {};
  Named one = std::move(waiting_.front());
  waiting_.pop_front();
  if (found_) {
    const ValueRange own = range_in(one.frame);
    if (own.white > range_->white || own.black < range_->black) {
      found_ = false;  // said once
      if (!quiet_)
        note(fmt::format(
            "{} has values beyond {} (black) to {} (white), the range of the first frames; give --range",
            one.name, range_->black, range_->white));
    }
  }
  one.frame.set_range(*range_);
  return std::move(one.frame);
}

std::vector<FrameBuffer> read_frames(const std::vector<std::string>& files, const FrameOptions& options,
                                     int count, bool quiet, std::string_view who, std::string_view more) {
  const auto fail = [&](const std::string& number, std::string_view instead = "") {
    throw UsageError(fmt::format("FRAMES: {} takes {} frames, not {}{}", who, count, number, instead));
  };
  if (int(files.size()) > count) fail(std::to_string(files.size()), more);
  FrameSource source(files, options, count, quiet);
  std::vector<FrameBuffer> frames;
  while (std::optional<FrameBuffer> frame = source.next()) {
    if (int(frames.size()) == count) fail("more", more);
    frames.push_back(std::move(*frame));
  }
  if (int(frames.size()) < count) fail(std::to_string(frames.size()));
  return frames;
}

void add_range(Report& report, ValueRange range) {
  report.json["range"] = {json_of(range.black), json_of(range.white)};
}

}  // namespace parafield::command
