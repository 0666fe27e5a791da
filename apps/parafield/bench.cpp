// SPDX-License-Identifier: MIT
#include "bench.hpp"

#include <cstdlib>

#include "bench_compare.hpp"
#include "commands.hpp"
#include "files.hpp"
#include "options.hpp"
#include "report.hpp"

namespace parafield::command {
namespace {

constexpr const char *case_columns = "{:<7} {:<29} {:>9}", *time_columns = " {:>27} {:>27} {:>27} {:>27}",
                     *accuracy_columns = " {:>6} {:>8}";

std::string bench_header(const BenchPair* data, int streams, bool compares) {
  std::string text = fmt::format(
      "milliseconds: median (10 % - 90 %); AAE in degrees; ETATO in us x degrees for a pixel\n"
      "AAE and ETATO on the rendered scene {}{}\n\n",
      BenchScene::name, data ? fmt::format(", then on {}", data->name) : "");
  text += fmt::format(case_columns, "device", "method", "size");
  text += fmt::format(time_columns, "resident", "streaming", "end to end", "overlapped");
  for (int i = 0; i < (data ? 2 : 1); ++i) text += fmt::format(accuracy_columns, "AAE", "ETATO");
  if (streams > 0) text += fmt::format(" {:>24}", fmt::format("frames/s of {} streams", streams));
  if (compares) text += comparison_header();
  return text + "\n";
}

/// Row of the table that begins with the case, and its JSON.
Report begun_row(const Case& one) {
  Report row;
  row.json["task"] = "flow";
  row.json["method"] = name_of(one.method);
  row.json["preset"] = one.preset;
  row.json["parameters"] = parameters_json(parameters_of(one.method));
  if (one.planes != ResultPlanes::all)
    row.json["planes"] = one.planes == ResultPlanes::flow ? "flow" : "halves";
  add_device(row.json, one.device);
  row.json["width"] = one.size.width;
  row.json["height"] = one.size.height;
  row.text = fmt::format(case_columns, to_string(one.device.device),
                         fmt::format("{} {}", name_of(one.method), one.preset),
                         fmt::format("{}x{}", one.size.width, one.size.height));
  return row;
}

Json times_json(const Times& times) {
  return {{"median_milliseconds", times.median},
          {"p10_milliseconds", times.p10},
          {"p90_milliseconds", times.p90},
          {"min_milliseconds", times.min},
          {"repeats", times.repeats}};
}

std::string times_text(const Times& times) {
  return fmt::format("{:.3f} ({:.3f}-{:.3f})", times.median, times.p10, times.p90);
}

void add_measured(Report& row, const Case& one, const Measurement& measured, const BenchPair* data) {
  row.json["resident"] = times_json(measured.resident);
  row.json["streaming"] = times_json(measured.streaming);
  row.json["end_to_end"] = times_json(measured.end_to_end);
  row.json["overlapped"] = times_json(measured.overlapped);
  row.json["workspace_bytes"] = measured.workspace_bytes;
  if (measured.frames_per_second) row.json["frames_per_second"] = *measured.frames_per_second;
  row.text += fmt::format(time_columns, times_text(measured.resident), times_text(measured.streaming),
                          times_text(measured.end_to_end), times_text(measured.overlapped));
  const auto add_accuracy = [&](const char* key, std::string_view name, double aae) {
    // Execution time and accuracy in one number (Marzat section 4): microseconds for a pixel times degrees.
    const double etato = measured.resident.median * 1000 / (double(one.size.width) * one.size.height) * aae;
    row.json[key] = {{"name", name}, {"aae_degrees", aae}, {"etato_microsecond_degrees_per_pixel", etato}};
    row.text += fmt::format(accuracy_columns, fmt::format("{:.2f}", aae), fmt::format("{:.4f}", etato));
  };
  add_accuracy("scene", BenchScene::name, measured.scene_aae);
  if (measured.data_aae) add_accuracy("data", data->name, *measured.data_aae);
  if (measured.frames_per_second) row.text += fmt::format(" {:>24.1f}", *measured.frames_per_second);
}

using DefaultMethod = std::variant_alternative_t<0, FlowMethod>;

struct BenchOptions {
  std::vector<std::string> methods = {std::string(DefaultMethod::name)}, devices,
                           sizes = {"316x252", "640x480", "1920x1080", "3840x2160"};
  std::string preset, data, commit, json_file, planes = "all", compared;
  int repeats = 0, threads = 0, streams = 0;
  double tolerance = 10;
  Option json;
};

/// The named methods with all their presets, or with the given one.
std::vector<std::pair<FlowMethod, std::string>> chosen_methods(const BenchOptions& options) {
  std::vector<std::pair<FlowMethod, std::string>> chosen;
  for (const std::string& name : options.methods)
    std::visit(
        [&]<class Method>(const Method&) {
          if (!options.preset.empty())
            chosen.emplace_back(preset<Method>(options.preset), options.preset);
          else
            for (const auto& each : presets(Method{})) chosen.emplace_back(each.method, each.name);
        },
        method_named<FlowMethod>(name));
  return chosen;
}

std::vector<DeviceInfo> chosen_devices(const BenchOptions& options) {
  std::vector<Device> list;
  for (const std::string& name : options.devices)
    list.push_back(typed([&] { return parse_device(name, options.threads); }));
  if (list.empty())
    for (const DeviceInfo& info : devices())
      list.push_back(info.device.kind == Device::Kind::cpu ? Device::cpu(options.threads) : info.device);
  std::vector<DeviceInfo> infos;
  for (const Device& device : list) infos.push_back(describe_device(device));
  return infos;
}

/// The real pair. A folder given by --data must have it; that of PARAFIELD_DATA may lack it.
std::optional<BenchPair> chosen_data(const BenchOptions& options) {
  if (!options.data.empty()) return read_yosemite(options.data);
  const char* folder = std::getenv("PARAFIELD_DATA");
  if (!folder || !std::filesystem::exists(Path(folder) / "yosemite" / "noclouds" / "yos08_nosky.flo"))
    return {};
  return read_yosemite(folder);
}

ResultPlanes planes_named(const std::string& name) {
  return name == "flow" ? ResultPlanes::flow : name == "halves" ? ResultPlanes::halves : ResultPlanes::all;
}

void run(const BenchOptions& options) {
  const auto methods = typed([&] { return chosen_methods(options); });
  std::vector<Size> sizes;
  for (const std::string& size : options.sizes) sizes.push_back(parse_size(size));
  if (options.json_file == "-") throw UsageError("--json -: without a FILE the JSON is printed");
  check_outputs({{"--json", options.json_file, {}}}, {options.compared});
  std::optional<EarlierTimes> earlier;
  if (!options.compared.empty()) earlier.emplace(options.compared, options.tolerance);
  const auto devices = chosen_devices(options);
  const auto data = chosen_data(options);
  const BenchPair* const pair = data ? &*data : nullptr;
  const bool json = options.json.count() > 0, table = !json || !options.json_file.empty();

  Json report = begin_report("bench").json;
  report["version"] = version();
  if (!options.commit.empty()) report["commit"] = options.commit;
  if (options.streams > 0) report["streams"] = options.streams;
  report["scene"] = {{"name", BenchScene::name},
                     {"frames", BenchScene::frames},
                     {"seed", BenchScene::seed},
                     {"texture", "fine"}};
  if (earlier) earlier->describe(report);
  report["results"] = Json::array();
  if (table) print(bench_header(pair, options.streams, earlier.has_value()));
  int failed = 0;
  for (const Size size : sizes) {
    std::optional<Scene> scene;
    for (const DeviceInfo& device : devices)
      for (const auto& [method, preset] : methods) {
        const Case one{method, preset, device, size, planes_named(options.planes)};
        Report row = begun_row(one);
        try {
          if (!scene)
            scene = render_scene(BenchScene::name,
                                 {.size = size, .frames = BenchScene::frames, .seed = BenchScene::seed});
          add_measured(row, one, measure_case(one, *scene, pair, {.fixed = options.repeats}, options.streams),
                       pair);
          if (earlier) earlier->compare(row);
        } catch (const Error& problem) {  // the other cases are still measured
          row.json["error"] = problem.what();
          row.text += fmt::format(" failed: {}", problem.what());
          ++failed;
        }
        report["results"].push_back(row.json);
        if (table) print(row.text + "\n");
      }
  }
  if (!options.json_file.empty())
    write_text(options.json_file, json_text(report));
  else if (json)
    print(json_text(report));
  if (failed > 0)
    throw Error(ErrorCode::unsupported,
                fmt::format("{} of {} measurements failed", failed, report["results"].size()));
  if (earlier) earlier->check();
}

}  // namespace

void add_bench(App& program) {
  auto [command, options] =
      add_command<BenchOptions>(program, "bench", "Time flow methods on all devices", run);
  std::vector<std::string> names;
  for_each_method<FlowMethod>([&]<class Method>(const Method&) { names.emplace_back(Method::name); });
  command.add_option(
      "-m,--method NAME", options.methods,
      fmt::format(
          "one method or more: {}. Without it {}, which takes seconds for each size. Some others take "
          "minutes: give --size and --repeat with them",
          fmt::join(names, ", "), DefaultMethod::name));
  command.add_option("--preset NAME", options.preset,
                     "time this preset only. Without it, all presets of each method");
  command.add_option("-d,--device NAME", options.devices,
                     "one device or more: auto, cpu, cuda, cuda:N. Without it, all usable devices");
  command.add_setting("--threads N", options.threads, "CPU threads; 0 = one for each core").range(0, 1024);
  command.add_option("--size WxH", options.sizes,
                     "one size or more. Without it 316x252 640x480 1920x1080 3840x2160");
  command.add_option("--repeat N", options.repeats)
      .range(1, 1000000)
      .help("number of timed calls. Without it, as many as fit in 1.5 s, 10 to 2000");
  command.add_setting("--planes NAME", options.planes)
      .one_of({"all", "flow", "halves"})
      .help(
          "planes of results: all, flow (no valid plane and no confidence) or halves (the same; where frames "
          "are "
          "pushed ahead from host memory, results are 16-bit halves)");
  const Option streams = command.add_option("--streams N", options.streams).range(1, 1024);
  streams.help(
      "also time N estimators at once, in frames a second. Each has a thread of its own; on the CPU each has "
      "--threads threads");
  command.add_option("--data DIR", options.data,
                     "folder with yosemite/noclouds/ to score, too. That has yos08.png, yos09.png and "
                     "yos08_nosky.flo. Without it, the environment variable PARAFIELD_DATA gives the folder");
  const Option commit =
      command.add_option("--commit TEXT", options.commit, "commit that is measured, for the JSON");
  options.json = command.add_option("--json [FILE]", options.json_file).expected(0, 1);
  options.json.help("write JSON to FILE, or print it instead of the table");
  commit.needs(options.json);
  const Option compared = command.add_option(
      "--compare FILE", options.compared,
      "compare with the times in FILE, which --json wrote before. The table and the JSON get their ratios, 1.1 for "
      "times that are 10 % longer. The exit code is 3 if a time is above --tolerance");
  const Option tolerance = command.add_option("--tolerance PERCENT", options.tolerance).range(0, 1000);
  tolerance.help("how much longer than in --compare a time may be (default 10)");
  tolerance.needs(compared);
  command.examples({"bench --size 320x240 --repeat 10",
                    "bench -m lucas-kanade --size 320x240 --repeat 10 --json bench.json",
                    "bench --preset fast --size 320x240 --repeat 10 --streams 2"});
}

}  // namespace parafield::command
