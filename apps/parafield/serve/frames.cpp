// SPDX-License-Identifier: MIT
#include <algorithm>
#include <optional>

#include "parafield/video.hpp"
#include "serve/answers.hpp"

namespace parafield::command {
namespace {

/// Limits of an answer: the number of frames, and their pixels together as a multiple of the limit for one
/// frame.
constexpr int most_shown = 32;
constexpr double most_shown_pixels = 3;

/// Returns the frame in 8-bit color; its range maps to black to white.
FrameBuffer shown_frame(const Frame& frame) {
  const Image<std::uint8_t> nothing(frame.size());
  return overlay_mask(frame, MotionMaskView{nothing});
}

void add_frame(PackedAnswer& answer, const FrameBuffer& frame) {
  const bool is_u8 = bytes_per_value(frame.format()) == 1;
  const ValueRange range = is_u8 ? ValueRange{0, 255} : find_value_range(std::vector<Frame>{frame});
  Frame ranged = frame;
  ranged.range = range;
  answer.add("frame", shown_frame(ranged));
  answer.head["frames"].push_back({{"width", frame.size().width},
                                   {"height", frame.size().height},
                                   {"format", to_string(frame.format())},
                                   {"range", {json_of(range.black), json_of(range.white)}}});
}

int whole_number(const Json& head, const char* key, int otherwise, int least, int most) {
  const auto found = head.find(key);
  if (found == head.end()) return otherwise;
  const double value = found->is_number_integer() ? found->get<double>() : least - 1.0;
  if (value < least || value > most)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is {}; allowed: {} to {}", key, found->dump(), least, most));
  return int(value);
}

}  // namespace

PackedAnswer show_frames(const PackedRequest& request, const ServeOptions& options, ServeJobs::Job& job) {
  if (request.files.size() != 1)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("frames of one file are shown at a time, not of {}", request.files.size()));
  const int start = whole_number(request.head, "start", 0, 0, 1000000);
  const int count = whole_number(request.head, "count", most_shown, 1, most_shown);
  const Uploads uploads(request.files, options.pixels());
  PackedAnswer answer;
  answer.head["frames"] = Json::array();
  answer.head["start"] = start;
  uploads.naming_files([&] {
    const bool video = !uploads.video_format(0).empty();
    FrameSource source(uploads.paths()[0],
                       {.format = video ? uploads.video_format(0) : "pictures", .any_size = true});
    uploads.check_size(0, source.info().size);
    if (video) {
      answer.head["rate"] = source.info().rate;
      answer.head["total"] = source.info().frames;
    }
    job.say("reading frames");
    int index = 0, shown = 0;
    double pixels = 0;
    bool more = false;
    std::vector<std::string> notes;
    for (std::optional<VideoFrame> frame;; ++index) {
      try {
        frame = source.next();
      } catch (const Error& error) {  // the frames before it are shown
        if (shown == 0) throw;
        frame.reset();
        notes.emplace_back(error.what());
      }
      if (!frame) break;
      const Size size = frame->frame.size();
      job.check();
      uploads.check_size(0, size);
      if (index < start) continue;
      pixels += double(size.width) * size.height;
      more = shown == count || (shown >= 2 && pixels > most_shown_pixels * options.pixels());
      if (more) break;
      add_frame(answer, frame->frame);
      ++shown;
    }
    if (shown == 0)
      throw Error(ErrorCode::invalid_argument, fmt::format("{}: has {} frames, none from number {} on",
                                                           request.files[0].name, index, start));
    for (std::string& note : source.take_notes()) notes.push_back(std::move(note));
    for (std::string& note : notes) note = uploads.with_names(note);
    answer.head["notes"] = notes;
    answer.head["more"] = more;
    answer.head["single"] = !video && index == 1;
  });
  return answer;
}

PackedAnswer example_frames(const std::string& task, ServeJobs::Job& job) {
  struct Example {
    std::string_view task, scene;
    int frames;
  };
  constexpr Example examples[] = {
      {"flow", "flythrough", 6}, {"stereo", "stereo", 2}, {"detect", "balloons", 6}};
  for (const Example& example : examples) {
    if (example.task != task) continue;
    job.await_turn();
    job.say("rendering");
    constexpr Size size{480, 360};
    SceneOptions options{.size = size, .frames = example.frames, .color = true};
    options.progress = [&](double share) { job.say("rendering", share); };
    const Scene scene = render_scene(example.scene, options);
    PackedAnswer answer;
    answer.head["command"] = fmt::format("parafield synth {} -o scene --size {}x{} --frames {} --rgb",
                                         example.scene, size.width, size.height, example.frames);
    answer.head["frames"] = Json::array();
    for (const FrameBuffer& frame : scene.frames) add_frame(answer, frame);
    return answer;
  }
  throw Error(ErrorCode::invalid_argument, fmt::format("there is no task {}", detail::quoted(task)));
}

}  // namespace parafield::command
