// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <memory>

#include "bench/choice.hpp"
#include "bench/compare.hpp"
#include "bench/rows.hpp"
#include "commands.hpp"
#include "files.hpp"
#include "report.hpp"

namespace parafield::command {
namespace {

std::vector<BenchDevice> chosen_devices(const BenchOptions& options) {
  std::vector<Device> list;
  for (const std::string& name : options.devices)
    list.push_back(typed([&] { return parse_device(name, options.threads); }));
  if (list.empty())
    for (const DeviceInfo& info : devices())
      list.push_back(info.device.kind == Device::Kind::cpu ? Device::cpu(options.threads) : info.device);
  std::vector<BenchDevice> found;
  for (const Device& device : list) found.push_back({describe_device(device), 0, {}});
  return found;
}

/// Returns the task's real sequence. A folder given by --data must have it; the folder in PARAFIELD_DATA need
/// not.
template <class Task>
std::optional<BenchSequence<Task>> chosen_data(const BenchOptions& options) {
  if (!options.data.empty()) return read_bench_data<Task>(options.data, true);
  const char* folder = std::getenv("PARAFIELD_DATA");
  return folder ? read_bench_data<Task>(folder, false) : std::nullopt;
}

/// One run of the command: measures, and prints each row when it is ready.
class Bench {
 public:
  Bench(const BenchOptions& options, std::vector<Size> sizes, std::optional<EarlierTimes> earlier)
      : options_(options),
        sizes_(std::move(sizes)),
        earlier_(std::move(earlier)),
        devices_(chosen_devices(options)) {
    for (BenchDevice& device : devices_) device.meter = energy_meter(device.info.device);
    extras_ = {std::ranges::any_of(devices_, [](const BenchDevice& device) { return bool(device.meter); }),
               earlier_.has_value(), options.streams};
    is_json_ = options.json.count() > 0;
    has_table_ = !is_json_ || !options.json_file.empty();
  }

  /// Measures the copy bandwidth of the devices and begins the reports.
  void begin() {
    report_ = begin_report("bench").json;
    report_["version"] = version();
    if (!options_.commit.empty()) report_["commit"] = options_.commit;
    report_["date"] = today();
    if (options_.streams > 0) report_["streams"] = options_.streams;
    report_["devices"] = Json::array();
    facts_ = {fmt::format("parafield {}, {}", version(), today())};
    if (!options_.commit.empty()) facts_.push_back("commit " + options_.commit);
    for (BenchDevice& device : devices_) {
      device.copy_bandwidth = copy_bandwidth(device.info);
      report_["devices"].push_back(device.json());
      facts_.push_back(device.text());
      if (has_table_) print(facts_.back() + "\n");
    }
    if (options_.has_task(task_facts<Flow>.name))
      report_["scene"] = {{"name", task_facts<Flow>.scene},
                          {"frames", task_facts<Flow>.frames},
                          {"seed", bench_scene_seed},
                          {"texture", "fine"}};
    if (earlier_) earlier_->describe(report_);
    report_["results"] = Json::array();
  }

  template <class Task>
  void measure_task(const ChosenMethods<Task>& methods, const std::optional<BenchSequence<Task>>& sequence) {
    const BenchSequence<Task>* const data = sequence ? &*sequence : nullptr;
    BenchTable table(task_facts<Task>.name, task_facts<Task>.scene, data ? data->name : "", extras_);
    if (has_table_) print("\n" + table.head());
    for (const Size size : sizes_) {
      std::optional<BenchSequence<Task>> scene;
      for (const BenchDevice& device : devices_)
        for (const auto& [method, preset] : methods) {
          const Case<Task> one{method, preset, device.info, size,
                               std::is_same_v<Task, Flow> && options_.planes == "flow"};
          Json row = case_json(one);
          std::vector<std::string> cells = case_cells(one);
          std::string failure;
          try {
            if (!scene) scene = bench_scene<Task>(size);
            const Measurement measured = measure_case<Task>(
                one, *scene, data, {{.fixed = options_.repeats}, options_.streams, &device.meter});
            add_measured(row, cells, one, measured, device, *scene, data, extras_);
            if (earlier_) cells.push_back(earlier_->compare(row));
          } catch (const Error& problem) {  // the remaining cases are still measured
            row["error"] = problem.what();
            failure = fmt::format("failed: {}", problem.what());
            ++failed_;
          }
          report_["results"].push_back(std::move(row));
          const std::string line = table.add(std::move(cells), std::move(failure));
          if (has_table_) print(line);
        }
    }
    tables_.push_back(std::move(table));
  }

  /// Writes the reports. Throws if a measurement failed or has become slower.
  void end() {
    if (!options_.markdown_file.empty()) {
      std::string text = "# parafield bench\n\n";
      for (const std::string& fact : facts_) text += fmt::format("- {}\n", fact);
      for (const BenchTable& table : tables_) text += table.markdown();
      write_text(options_.markdown_file, text);
    }
    report_["machine"] = quietness_.text();
    if (!options_.json_file.empty())
      write_text(options_.json_file, json_text(report_));
    else if (is_json_)
      print(json_text(report_));
    if (failed_ > 0)
      throw Error(ErrorCode::unsupported,
                  fmt::format("{} of {} measurements failed", failed_, report_["results"].size()));
    if (earlier_) earlier_->check();
  }

 private:
  const BenchOptions& options_;
  std::vector<Size> sizes_;
  std::optional<EarlierTimes> earlier_;
  std::vector<BenchDevice> devices_;
  BenchExtras extras_;
  Quietness quietness_;
  Json report_;
  std::vector<std::string> facts_;
  std::vector<BenchTable> tables_;
  int failed_ = 0;
  bool is_json_ = false, has_table_ = false;
};

void run(const BenchOptions& options) {
  check_methods(options);
  std::vector<std::function<void(Bench&)>> tasks;
  std::vector<Size> sizes;
  for (const std::string& size : options.sizes) sizes.push_back(parse_size(size));
  if (options.json_file == "-") throw UsageError("--json -: without a FILE the JSON is printed");
  if (options.planes != "all" && !options.has_task("flow")) throw UsageError("--planes: only flow has them");
  if (options.disparities > 0 && !options.has_task("stereo"))
    throw UsageError("--disparities: only stereo has them");
  const bool json = options.json.count() > 0;
  if (!options.commit.empty() && !json && options.markdown_file.empty())
    throw UsageError("--commit requires --json or --markdown");
  check_outputs({{"--json", options.json_file, {}}, {"--markdown", options.markdown_file, {}}},
                {options.compared});
  std::vector<std::string> presets;
  for_each_task(options, [&]<class Task>() {
    auto methods = typed([&] { return chosen_methods<Task>(options, presets); });
    const auto data = std::make_shared<const std::optional<BenchSequence<Task>>>(chosen_data<Task>(options));
    tasks.emplace_back(
        [methods = std::move(methods), data](Bench& bench) { bench.measure_task<Task>(methods, *data); });
  });
  check_presets(options, presets);
  std::optional<EarlierTimes> earlier;
  if (!options.compared.empty()) earlier.emplace(options.compared, options.tolerance);
  Bench bench(options, std::move(sizes), std::move(earlier));
  bench.begin();
  for (const auto& task : tasks) task(bench);
  bench.end();
}

}  // namespace

void add_bench(App& program) {
  auto [command, options] = add_command<BenchOptions>(program, "bench", "Time methods on all devices", run);
  command.add_option("--task NAME", options.tasks)
      .one_of({"flow", "stereo", "detection"})
      .help(
          "one task or more: flow, stereo, detection. Without it flow. The motion of clouds is flow: "
          "--preset clouds");
  std::vector<std::string> names;
  const auto list = [&]<class Methods>(const Methods&) {
    for_each_method<Methods>([&]<class Method>(const Method&) {
      if (std::ranges::find(names, Method::name) == names.end()) names.emplace_back(Method::name);
    });
  };
  list(FlowMethod{});
  list(DetectionMethod{});
  command.add_option(
      "-m,--method NAME", options.methods,
      fmt::format(
          "one method or more, each for the tasks that have it: {}. Without it the default of each task; "
          "that of flow takes seconds for each size. Some others take minutes: give --size and --repeat with "
          "them",
          fmt::join(names, ", ")));
  command.add_option("--preset NAME", options.presets,
                     "one preset or more, each for the methods that have it. Without it, all presets");
  command.add_option("-d,--device NAME", options.devices,
                     "one device or more: auto, cpu, cuda, cuda:N. Without it, all usable devices");
  command.add_setting("--threads N", options.threads, "CPU threads; 0 = one for each core").range(0, 1024);
  command.add_option("--size WxH", options.sizes,
                     "one size or more. Without it 316x252 640x480 1920x1080 3840x2160");
  command.add_option("--repeat N", options.repeats)
      .range(1, 1000000)
      .help("number of timed calls. Without it, as many as fit in 1.5 s, 10 to 2000");
  command.add_setting("--planes NAME", options.planes)
      .one_of({"all", "flow"})
      .help("planes of flow's results: all, or flow (no valid plane and no confidence)");
  command.add_option("--disparities N", options.disparities)
      .range(1, 4096)
      .help("number of disparities of stereo. Without it, the one that the rendered pair needs");
  const Option streams = command.add_option("--streams N", options.streams).range(1, 1024);
  streams.help(
      "also time N estimators at once, in frames a second. Each has a thread of its own; on the CPU each has "
      "--threads threads");
  command.add_option(
      "--data DIR", options.data,
      "folder with real sequences to score, too. Flow takes yosemite/noclouds (yos08.png, yos09.png "
      "and yos08_nosky.flo), stereo middlebury-stereo/cones (left.png, right.png and disp_left.png), "
      "detection cdnet/highway_a (gray and groundtruth). Without it, the environment variable "
      "PARAFIELD_DATA gives the folder");
  command.add_option("--commit TEXT", options.commit, "commit that is measured, for --json and --markdown");
  options.json = command.add_option("--json [FILE]", options.json_file).expected(0, 1);
  options.json.help("write JSON to FILE, or print it instead of the table");
  command.add_option("--markdown FILE", options.markdown_file, "write the tables as Markdown, too");
  const Option compared =
      command.add_option("--compare FILE", options.compared,
                         "compare with the times in FILE, which --json wrote before. The table and the JSON "
                         "get their ratios, 1.1 for times that are 10 % longer. The exit code is 3 if a "
                         "time is above --tolerance");
  const Option tolerance = command.add_option("--tolerance PERCENT", options.tolerance).range(0, 1000);
  tolerance.help("how much longer than in --compare a time may be (default 10)");
  tolerance.needs(compared);
  command.examples({"bench --size 320x240 --repeat 10",
                    "bench -m lucas-kanade --size 320x240 --repeat 10 --json bench.json",
                    "bench --task stereo --size 320x240 --repeat 10 --markdown bench.md",
                    "bench --preset fast fastest --size 320x240 --repeat 10 --streams 2"});
}

}  // namespace parafield::command
