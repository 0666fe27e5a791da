// SPDX-License-Identifier: MIT
#include "video/video.hpp"

#include <deque>
#include <map>
#include <thread>

#include "commands.hpp"
#include "interrupt.hpp"

namespace parafield::command {
namespace {

/// Returns the name of an input without folder and extension: "clip" for videos/clip.mp4, "frames" for
/// frames/.
std::string stem_of(const std::string& input) {
  if (input == "-") return "stdin";
  Path path(input);
  if (!path.has_filename()) path = path.parent_path();
  if (has_number(path) || has_wildcards(input)) path = folder_of(std::filesystem::absolute(path));
  const std::string stem = path.stem().string();
  return stem.empty() || stem == "." || stem == ".." ? "video" : stem;
}

bool is_folder_there(const Path& path) {
  std::error_code none;
  return std::filesystem::is_directory(path, none);
}
bool is_folder(const std::string& name) { return name.ends_with('/') || is_folder_there(name); }

bool is_picture(const std::string& name) { return !has_number(name) && has_one_of(name, picture_extensions); }

/// Returns the outputs of each input. Throws UsageError.
std::vector<VideoTarget> targets_of(const VideoCommandOptions& options) {
  const std::string& output = options.output;
  const bool several = options.inputs.size() > 1;
  const bool is_video = has_one_of(output, video_extensions);
  const bool folder = !output.empty() && output != "-" &&
                      (is_folder(output) || (several && !is_video && !has_number(output)));
  if (several && !output.empty() && !folder)
    throw UsageError(
        fmt::format("-o {}: {} inputs need a folder, not a file{}", output, options.inputs.size(),
                    std::ranges::all_of(options.inputs, is_picture)
                        ? "; the pictures of one video are a folder or a pattern, as frame%04d.png"
                        : ""));
  std::map<std::string, std::string> names;
  std::vector<VideoTarget> targets;
  for (const std::string& input : options.inputs) {
    const std::string stem = stem_of(input);
    const auto [other, is_new] = names.emplace(stem, input);
    if (!is_new && (folder || !options.flow_folder.empty()))
      throw UsageError(
          fmt::format("INPUT: {} and {} would both be written as {}", other->second, input, stem));
    VideoTarget& target = targets.emplace_back(VideoTarget{input, output, options.flow_folder, false});
    target.in_folder = folder;
    if (folder) target.output = (Path(output) / (stem + ".mp4")).string();
    if (several && !options.flow_folder.empty())
      target.flow_folder = (Path(options.flow_folder) / stem).string();
  }
  return targets;
}

/// Throws UsageError, and Error(file) if an output cannot be written or would replace an input.
void check_targets(const VideoCommandOptions& options, const std::vector<VideoTarget>& targets) {
  std::vector<std::string> files = options.inputs;
  expand_names(files);
  const std::vector<Path> inputs(files.begin(), files.end());
  for (const VideoTarget& target : targets) {
    if (target.output.empty() || target.output == "-") continue;
    if (target.in_folder && !is_folder_there(folder_of(target.output))) continue;  // the job makes the folder
    std::vector<std::string_view> extensions =
        has_number(target.output) ? picture_extensions : video_extensions;
    const std::vector<Output> outputs = {{"-o", target.output, extensions}};
    if (has_number(target.output))
      check_series(outputs, 1, inputs);
    else
      check_outputs(outputs, inputs);
  }
}

/// Returns how many inputs are processed at the same time.
int jobs_of(const VideoCommandOptions& options, const Device& device) {
  // On a CPU, all threads share one job. A GPU has room for several jobs, each of which needs a core for
  // decoding.
  constexpr int most = 8;
  const int cores = std::max(int(std::thread::hardware_concurrency()), 1);
  const int jobs = options.jobs > 0                    ? options.jobs
                   : device.kind == Device::Kind::cuda ? std::clamp(cores / 2, 1, most)
                                                       : 1;
  return std::min(jobs, int(options.inputs.size()));
}

/// Adds what was done with an input to "videos", and a line of text.
void add_job(Report& report, const VideoJob& job, bool quiet) {
  const VideoInfo& info = job.info;
  const PipelineReport& done = job.report;
  Json json = {{"input", job.target.input}, {"width", info.size.width}, {"height", info.size.height},
               {"format", info.format},     {"codec", info.codec},      {"rate", info.rate},
               {"frames", done.frames},     {"flows", done.results},    {"skipped", job.skipped.load()},
               {"seconds", done.seconds}};
  if (job.range != ValueRange{}) json["range"] = {json_of(job.range.black), json_of(job.range.white)};
  const std::string stages = add_stages(json, done, job.encode);
  FramesFindings unusable = done.unusable;
  for (std::int64_t& number : unusable.cuts) number += job.skipped;
  add_frames(json, unusable, job.name + ": flow", quiet);
  report.text +=
      job.all_there ? fmt::format("{}: all was there\n", job.name)
                    : fmt::format("{}: {} flows of {} frames in {:.2f} s, {:.1f} a second; {}", job.name,
                                  done.results, done.frames, done.seconds, json["fps"].get<double>(), stages);
  if (!job.notes.empty()) json["notes"] = job.notes;
  json["files"] = Json::array();
  for (const std::string& name : {job.target.output, job.target.flow_folder})
    if (!name.empty() && name != "-") json["files"].push_back(name);
  report.json["videos"].push_back(std::move(json));
}

/// Returns whether all files are single pictures by their names.
bool are_pictures(const std::vector<std::string>& files) {
  return std::ranges::all_of(files,
                             [](const std::string& file) { return has_one_of(file, frame_extensions); });
}

void check_words(const VideoCommandOptions& options) {
  if (options.output.empty() && options.flow_folder.empty())
    throw UsageError(
        fmt::format("nothing to write: name a video with -o, or a folder of flow files with --flow-dir; for "
                    "example parafield video {} -o flow.mp4",
                    detail::value_text(options.inputs[0])));
  if (std::ranges::count(options.inputs, "-") > 1) throw UsageError("INPUT: standard input can be read once");
  if (options.json && options.output == "-")
    throw UsageError("--json and -o - exclude each other: both write to standard output");
}

void run(const VideoCommandOptions& options) {
  check_words(options);
  const FlowMethod method = options.method.method();
  options.check_frames(method);
  const Device device = options.device.device();
  const DeviceInfo info = describe_device(device);
  const WhileWriting whole;
  const std::vector<VideoTarget> targets = targets_of(options);
  check_targets(options, targets);
  const auto is_single_picture = [](const std::string& file) {
    return has_one_of(file, {".png", ".jpg", ".jpeg", ".bmp", ".webp", ".pgm", ".ppm", ".pfm"}) &&
           std::filesystem::is_regular_file(file);
  };
  if (options.inputs.size() > 1 && std::ranges::all_of(options.inputs, is_single_picture))
    throw UsageError(
        fmt::format("INPUT: each of the {} pictures is taken for a video of its own; name their folder, a "
                    "pattern (frame%04d.png) or a name with wildcards in quotes ('frame*.png')",
                    options.inputs.size()));

  const int at_once = jobs_of(options, device), cores = int(std::thread::hardware_concurrency());
  const int threads =
      options.device.threads > 0 || at_once == 1 ? options.device.threads : std::max(cores / at_once, 1);
  std::deque<VideoJob> jobs;
  std::vector<StreamJob*> work;
  for (const VideoTarget& target : targets)
    work.push_back(&jobs.emplace_back(options, target, method, threads, at_once));
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<std::exception_ptr> errors = run_jobs(work, at_once, options.quiet);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  Report report = options.begin("video", method);
  report.json.update(parameters_json(parameters_of(options.task)));
  report.json.update(device_json(info));
  std::int64_t frames = 0, flows = 0;
  int failed = 0;
  report.json["videos"] = Json::array();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (errors[i]) {
      ++failed;
      continue;
    }
    add_job(report, jobs[i], options.quiet);
    frames += jobs[i].report.frames;
    flows += jobs[i].report.results;
  }
  if (say_interrupted(flows, "flow", options.quiet)) return;  // the destructor of `whole` ends the program
  report.json["frames"] = frames;
  report.json["flows"] = flows;
  report.json["seconds"] = seconds;
  report.json["fps"] = double(frames) / seconds;
  if (jobs.size() == 1 && errors[0]) std::rethrow_exception(errors[0]);
  if (jobs.size() > 1)
    report.text +=
        fmt::format("{} frames in {:.2f} s, {:.1f} a second\n", frames, seconds, double(frames) / seconds);
  options.print(report, options.output == "-");
  std::string names;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!errors[i]) continue;
    try {
      std::rethrow_exception(errors[i]);
    } catch (const Error& error) {
      names += fmt::format("{}{}", names.empty() ? "" : "; ", error.what());
    }
  }
  if (failed > 0)
    throw Error(ErrorCode::file, fmt::format("{} of {} videos failed: {}", failed, jobs.size(), names));
}

}  // namespace

void VideoCommandOptions::expand() {
  std::vector<std::string> all;
  for (const std::string& input : inputs) {
    std::vector<std::string> files = expand_wildcards(input);
    if (files.size() > 1 && are_pictures(files)) files = {input};
    all.insert(all.end(), files.begin(), files.end());
  }
  inputs = std::move(all);
}

void add_video(App& program) {
  auto [command, options] =
      add_command<VideoCommandOptions>(program, "video", "Estimate the flow along videos", run);
  const Option inputs = command.add_option("INPUT FILE", options.inputs);
  inputs.help(
      "videos: files, folders or patterns of pictures, cameras, or - for Y4M on standard input. A pattern is "
      "like frame%04d.png, or 'frame*.png' in quotes, a camera like /dev/video0. Each input is a video of "
      "its own");
  command.add_option("-o,--output FILE", options.output)
      .help(
          "write a video of the flow: .mp4, .mkv, .mov, .avi, .webm, .y4m, or - for Y4M on standard output. "
          "A pattern (seen%04d.png) gives pictures, numbered from 0. In a folder (videos/, or one that is "
          "there) each input gets a video, with its name and .mp4; several inputs need one. Frame i shows "
          "the flow from frame i to the next, at its time");
  command.add_setting("--view NAME", options.view, "what -o shows: color, overlay, arrows or side-by-side")
      .one_of(video_views);
  options.reading.add_range_to(command);
  const Option most = command.add_option("--max-motion PX", options.max_motion);
  most.is_positive().help(
      "length of flow with full color, px; default: steady. It begins with the first flow's, changes by at "
      "most 2 % a frame, and is at least 2 px. Arrows of that length are two steps long");
  command.add_setting("--step PX", options.step, "distance of the arrows").range(1, 100000);
  command.add_option("--flow-dir DIR", options.flow_folder)
      .help(
          "write each flow into a folder, as flow_00001.flo and so on. The folder is made if it is missing. "
          "With several inputs each has a folder in it, with its name");
  command.add_setting("--flow-format NAME", options.flow_format)
      .one_of(flow_file_formats)
      .help(
          "flo, kitti, npy, pfm, jpg or png. Files of kitti are .png of 16 bit. Those of jpg and png are two "
          "gray pictures for each flow, flow_x_00001.jpg and flow_y_00001.jpg: 0 to 255 stand for -bound to "
          "bound px");
  command.add_setting("--bound PX", options.bound, "motion that jpg and png show as 255").is_positive();
  command.add_flag("--resume", options.resume)
      .help("skip what is there. These are flow files, from the first on, and videos that have all frames");
  FrameOptions::add_skip_to(command, options.skip_damaged, "flow");
  command.add_setting("--jobs N", options.jobs)
      .range(0, 64)
      .help("inputs at once. 0 = 1 on a CPU, up to 8 on a GPU");
  command.add_setting("--every N", options.every, "take each Nth frame").range(1, 100000);
  command.add_option("--max-frames N", options.frames, "stop after N frames").range(1, 1e9);
  command.add_option("--rate FPS", options.rate)
      .range(0.01, 1000)
      .help("frames a second of -o. By default it keeps the input's times");
  command.add_option("--codec NAME", options.codec, "FFmpeg's name of an encoder for -o, like ffv1");
  command.add_setting("--quality N", options.quality, "quality of -o: 0 is best, 51 smallest").range(0, 51);
  options.add_to(command);
  command.leave_out_of_help({"--aggregation-sigma",
                             "--texture-aware",
                             "--uniqueness",
                             "--block-overlap",
                             "--match-stride",
                             "--match-levels",
                             "--match-iterations",
                             "--match-check",
                             "--match-region",
                             "--step",
                             "--bound",
                             "--every",
                             "--max-frames",
                             "--rate",
                             "--codec",
                             "--quality",
                             "--fb-check",
                             "--speckle",
                             "--fill",
                             "--final-median",
                             "--min-confidence",
                             "--finest-iterations"});
  command.examples({"video clip.mp4 -o flow.mp4", "video clip.mp4 -o seen.mp4 --view overlay --preset fast",
                    "video *.mp4 --flow-dir flows --flow-format jpg --resume"});
}

}  // namespace parafield::command
