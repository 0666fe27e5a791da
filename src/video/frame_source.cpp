// SPDX-License-Identifier: MIT
#include <functional>
#include <future>
#include <utility>

#include "core/views.hpp"
#include "io/frames.hpp"
#include "parafield/io.hpp"
#include "video/names.hpp"
#include "video/source.hpp"

namespace parafield {
namespace video {
namespace {

namespace fs = std::filesystem;

template <class T>
FrameBuffer gray_of(const FrameBuffer& frame, PixelFormat format) {
  FrameBuffer gray(frame.size(), format);
  const View<const T> from = values_of<T>(frame.frame());
  const View<T> to = values_of<T>(gray);
  constexpr float round = std::is_integral_v<T> ? 0.5f : 0;
  for (int y = 0; y < to.height; ++y)
    for (int x = 0; x < to.width; ++x) {
      const T* const rgb = from.row(y) + 3 * x;
      to(x, y) = T(0.299f * float(rgb[0]) + 0.587f * float(rgb[1]) + 0.114f * float(rgb[2]) + round);
    }
  gray.set_range(frame.range());
  return gray;
}

/// Converts a color frame to its BT.601 luma; leaves a gray frame unchanged.
void make_gray(FrameBuffer& frame) {
  if (frame.format() == PixelFormat::rgb_u8) frame = gray_of<std::uint8_t>(frame, PixelFormat::gray_u8);
  if (frame.format() == PixelFormat::rgb_u16) frame = gray_of<std::uint16_t>(frame, PixelFormat::gray_u16);
  if (frame.format() == PixelFormat::rgb_f32) frame = gray_of<float>(frame, PixelFormat::gray_f32);
}

/// Y4M and pictures in a stream.
class StreamSource : public Source {
 public:
  StreamSource(std::unique_ptr<io::ByteStream> bytes, const FrameSourceOptions& options)
      : bytes_(std::move(bytes)),
        frames_(*bytes_, {options.variable, options.level}, options.gray),
        gray_(options.gray) {
    names_frames = true;
  }

  bool next(VideoFrame& frame) override {
    try {
      if (!frames_.next(frame.frame)) return false;
    } catch (const Error&) {
      goes_on = frames_.goes_on();
      ++skipped_;
      throw;
    }
    if (gray_) make_gray(frame.frame);
    if (info.format.empty()) {
      const bool y4m = frames_.content() == io::Content::y4m;
      if (!frames_.note().empty()) notes.push_back(frames_.note());
      info.format = y4m ? "y4m" : "pictures";
      info.rate = frames_.rate() > 0 ? frames_.rate() : usual_rate;
    }
    frame.skipped = std::exchange(skipped_, 0);
    count_ += frame.skipped;
    frame.time = double(count_++) / info.rate;
    return true;
  }

 private:
  std::unique_ptr<io::ByteStream> bytes_;
  io::FrameStream frames_;
  const bool gray_;
  std::int64_t count_ = 0, skipped_ = 0;
};

/// Pictures in separate files: name(0), name(1)...
class PictureSource : public Source {
 public:
  PictureSource(std::int64_t count, std::function<fs::path(std::int64_t)> name,
                const FrameSourceOptions& options)
      : name_(std::move(name)), gray_(options.gray) {
    goes_on = options.skip_damaged;
    info.rate = usual_rate;
    info.frames = count;
    info.duration = double(count) / usual_rate;
    info.format = "pictures";
  }

  bool next(VideoFrame& frame) override {
    if (next_ == info.frames) return false;
    file = name_(next_++);
    ++skipped_;  // unless it can be read
    std::string note;
    frame.frame = read_frame(file, &note);
    if (!note.empty()) notes.push_back(note);
    if (gray_) make_gray(frame.frame);
    frame.time = double(next_ - 1) / usual_rate;
    frame.skipped = std::exchange(skipped_, 0) - 1;
    return true;
  }

 private:
  const std::function<fs::path(std::int64_t)> name_;
  const bool gray_;
  std::int64_t next_ = 0, skipped_ = 0;
};

std::unique_ptr<Source> open_folder(const std::string& folder, const FrameSourceOptions& options) {
  std::string note;
  const auto pictures = pictures_in(folder, note);
  auto source = std::make_unique<PictureSource>(
      std::int64_t(pictures.size()), [=](std::int64_t i) { return pictures[std::size_t(i)]; }, options);
  if (!note.empty()) source->notes.push_back(text(io::shown(folder), ": ", note));
  return source;
}

std::unique_ptr<Source> open_pattern(const Pattern& pattern, const FrameSourceOptions& options) {
  const auto [first, last] = numbers_of(pattern);
  return std::make_unique<PictureSource>(
      last - first + 1, [pattern, first = first](std::int64_t i) { return pattern.file(first + i); },
      options);
}

/// Whether the stream holds pictures or Y4M.
bool holds_pictures(io::ByteStream& bytes) {
  // Peek at few bytes first, because a pipe may never deliver more.
  for (const std::size_t count : {std::size_t(3), std::size_t(10), io::recognized_by})
    if (io::content_of(bytes.peek(count)) != io::Content::unknown) return true;
  return bytes.look() < 0;  // StreamSource reports that it is empty
}

std::unique_ptr<Source> open(const std::string& input, const FrameSourceOptions& options) {
  if (options.threads < 0)
    fail(ErrorCode::invalid_argument, "threads is ", options.threads, "; it should be 0 (all) or more");
  const bool only_pictures = options.format == "pictures", any_format = options.format.empty();
  std::error_code error;
  const fs::file_status status = input == "-" ? fs::file_status() : fs::status(input, error);
  if (fs::is_directory(status)) return open_folder(input, options);
  const bool there = fs::exists(status) || input == "-";
  const bool has_scheme = input.find("://") != input.npos;
  if (!there && !has_scheme && (any_format || only_pictures))
    if (const auto pattern = pattern_of(input)) return open_pattern(*pattern, options);
  const bool is_address = !there && (has_scheme || !any_format);
  if (!only_pictures && (is_address || fs::is_character_file(status)))
    return open_ffmpeg(input, nullptr, options);
  auto bytes = std::make_unique<io::ByteStream>(input);
  // A damaged picture is not a video, and StreamSource's message says what it is.
  const bool named_picture = fs::is_regular_file(status) && is_picture_name(input);
  // Images one after the other, which begin like a picture.
  const bool is_motion_jpeg = extension_of(input) == ".mjpeg" || extension_of(input) == ".mjpg";
  if (only_pictures || (any_format && !is_motion_jpeg && (named_picture || holds_pictures(*bytes))))
    return std::make_unique<StreamSource>(std::move(bytes), options);
  if (fs::is_regular_file(status)) bytes.reset();
  return open_ffmpeg(input, std::move(bytes), options);
}

/// One of the inputs.
class Input {
 public:
  Input(const std::string& input, const FrameSourceOptions& options)
      : name(input == "-" ? "standard input" : input), skips_(options.skip_damaged) {
    io::naming(name, [&] {
      source = video::open(input, options);
      has_first_ = read(first_);
      if (!has_first_ && damage_.empty()) io::fail_format("holds no frame");
      if (!has_first_) io::fail_format("no frame can be read: ", damage_);
    });
  }

  bool next(VideoFrame& frame) {
    if (!std::exchange(has_first_, false)) return read(frame);
    std::swap(frame, first_);
    first_ = {};
    return true;
  }

  Size size() const { return first_.frame.size(); }

  /// Removes and returns the notes so far.
  std::vector<std::string> take_notes() {
    for (std::string& note : source->notes)  // pictures of a folder have names of their own
      notes_.push_back(source->file.empty() && !note.starts_with(io::shown(name))
                           ? text(io::shown(name), ": ", note)
                           : std::move(note));
    source->notes.clear();
    return std::exchange(notes_, {});
  }

  fs::path name;
  std::unique_ptr<Source> source;

 private:
  bool read(VideoFrame& frame) {
    for (;;) try {
        frame.skipped = 0;
        if (!source->next(frame)) return false;
        count_ += frame.skipped;
        frame.index = count_++;
        return true;
      } catch (const Error& error) {
        if (skips_ && source->goes_on && error.code() != ErrorCode::memory) {
          damage_ = error.what();
          if (source->names_frames)
            notes_.push_back(text(io::shown(name), ": ", error.what(), "; it is skipped"));
          else if (source->file.empty())
            notes_.push_back(text(io::shown(name), ": frame ", count_ + 1, ": ", error.what(),
                                  "; the video goes on with its next key frame"));
          else
            notes_.push_back(text(error.what(), "; it is skipped"));
          continue;
        }
        if (source->names_frames) throw;
        fail(error.code(), "frame ", count_ + 1, ": ", error.what());
      }
  }

  const bool skips_;
  VideoFrame first_;
  bool has_first_ = false;
  std::int64_t count_ = 0;  // frames, with those that were skipped
  std::string damage_;      // of the last frame that was skipped
  std::vector<std::string> notes_;
};

}  // namespace
}  // namespace video

struct FrameSource::Impl {
  Impl(const std::vector<std::string>& all, const FrameSourceOptions& how)
      : inputs(expanded(all)), options(how) {
    if (inputs.empty()) fail(ErrorCode::invalid_argument, "a sequence of frames needs an input");
    if (const std::string note = video::note_of_order(inputs); !note.empty()) notes.push_back(note);
    if (!open()) fail(ErrorCode::format, "no picture can be read: ", notes.back());
    info = input->source->info;
    info.size = input->size();
    start = double(skipped) / (info.rate > 0 ? info.rate : video::usual_rate);
    if (inputs.size() > 1) info.frames = is_picture(inputs[0]) ? std::int64_t(inputs.size()) : 0;
  }

  static std::vector<std::string> expanded(const std::vector<std::string>& inputs) {
    std::vector<std::string> all;
    for (const std::string& input : inputs)
      for (std::string& file : expand_wildcards(input)) all.push_back(std::move(file));
    return all;
  }

  static bool is_picture(const std::string& name) {
    std::error_code none;
    return video::is_picture_name(name) && std::filesystem::is_regular_file(name, none);
  }

  /// Opens the current input and, on another thread, the next one if it is a picture. Damaged pictures are
  /// skipped if the options say so. Returns false if there are no more inputs.
  bool open() {
    for (; at < inputs.size(); ++at) try {
        std::future<video::Input> opened = std::move(opening);
        if (at + 1 < inputs.size() && is_picture(inputs[at + 1]))
          opening = std::async(std::launch::async | std::launch::deferred,
                               [name = inputs[at + 1], how = options] { return video::Input(name, how); });
        input.emplace(opened.valid() ? opened.get() : video::Input(inputs[at], options));
        return true;
      } catch (const Error& error) {
        if (!options.skip_damaged || inputs.size() == 1 || !video::is_picture_name(inputs[at]) ||
            error.code() == ErrorCode::memory)
          throw;
        notes.push_back(text(error.what(), "; it is skipped"));
        ++skipped;
      }
    return false;
  }

  /// Moves the input's notes to the source's notes.
  void collect() {
    for (std::string& note : input->take_notes()) notes.push_back(std::move(note));
  }

  bool next(VideoFrame& frame) {
    if (std::exchange(ended, true)) return false;
    while (!io::naming(input->name, [&] { return input->next(frame); })) {
      collect();
      ++at;
      if (!open()) return false;
      const double rate = info.rate > 0 ? info.rate : video::usual_rate,
                   steady = double(count + skipped) / rate;
      start = steady > last_time ? steady : last_time + 1 / rate;
    }
    const Size size = frame.frame.size();
    if (!options.any_size && size != info.size)
      io::naming(input->name, [&] {
        io::fail_format("frame ", frame.index + 1, ": has ", size.width, "x", size.height,
                        " pixels, those before ", info.size.width, "x", info.size.height);
      });
    number = frame.index;
    frame.skipped += std::exchange(skipped, 0);
    count += frame.skipped;
    frame.index = count++;
    frame.time = last_time = start + frame.time;
    ended = false;
    return true;
  }

  const std::vector<std::string> inputs;
  const FrameSourceOptions options;
  VideoInfo info;
  std::optional<video::Input> input;
  std::future<video::Input> opening;   // the next input, if it is a picture
  std::size_t at = 0;                  // index of the input
  std::int64_t count = 0, number = 0;  // frames read or skipped; number of the last one in its input
  std::int64_t skipped = 0;            // inputs that were skipped before the current one
  std::vector<std::string> notes;
  double start = 0, last_time = 0;  // times of the input's first frame and of the last frame
  bool ended = false;
};

FrameSource::FrameSource(const std::string& input, const FrameSourceOptions& options)
    : FrameSource(std::vector{input}, options) {}
FrameSource::FrameSource(const std::vector<std::string>& inputs, const FrameSourceOptions& options)
    : impl_(std::make_unique<Impl>(inputs, options)) {}
FrameSource::~FrameSource() = default;
FrameSource::FrameSource(FrameSource&&) noexcept = default;
FrameSource& FrameSource::operator=(FrameSource&&) noexcept = default;

std::vector<std::string> FrameSource::take_notes() {
  impl_->collect();
  return std::exchange(impl_->notes, {});
}
const VideoInfo& FrameSource::info() const { return impl_->info; }
bool FrameSource::next(VideoFrame& frame) { return impl_->next(frame); }
std::optional<VideoFrame> FrameSource::next() {
  std::optional<VideoFrame> frame(std::in_place);
  if (!next(*frame)) frame.reset();
  return frame;
}

const std::filesystem::path& FrameSource::file() const {
  const std::filesystem::path& own = impl_->input->source->file;
  return own.empty() ? impl_->input->name : own;
}
std::string FrameSource::name() const {
  const bool alone = impl_->number == 0 || !impl_->input->source->file.empty();
  return alone ? file().string() : text("frame ", impl_->number + 1, " of ", file().string());
}

}  // namespace parafield
