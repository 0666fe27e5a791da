#include "bench.hpp"

#include <cstdlib>

#include "commands.hpp"
#include "files.hpp"
#include "options.hpp"
#include "report.hpp"

namespace parafield::command {
namespace {

using DefaultMethod = std::variant_alternative_t<0, FlowMethod>;

struct BenchOptions {
  std::vector<std::string> methods = {std::string(DefaultMethod::name)}, devices,
                           sizes = {"316x252", "640x480", "1920x1080", "3840x2160"};
  std::string preset, data, commit, json_file;
  int repeats = 0, threads = 0, streams = 0;
  Option json;
};

struct NamedMethod {
  FlowMethod method;
  std::string preset;
};

/// The named methods with all their presets, or with the given one.
std::vector<NamedMethod> chosen_methods(const BenchOptions& options) {
  std::vector<NamedMethod> chosen;
  for (const std::string& name : options.methods)
    std::visit(
        [&]<class Method>(const Method&) {
          if (!options.preset.empty())
            chosen.push_back({preset<Method>(options.preset), options.preset});
          else
            for (const auto& each : presets(Method{}))
              chosen.push_back({each.method, std::string(each.name)});
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

void run(const BenchOptions& options) {
  const auto methods = typed([&] { return chosen_methods(options); });
  std::vector<Size> sizes;
  for (const std::string& size : options.sizes) sizes.push_back(parse_size(size));
  check_outputs({{"--json", options.json_file, {}}}, {});
  const auto devices = chosen_devices(options);
  const auto data = chosen_data(options);
  const BenchPair* const pair = data ? &*data : nullptr;
  const bool json = options.json.count() > 0, table = !json || !options.json_file.empty();

  Json report;
  report["version"] = version();
  if (!options.commit.empty()) report["commit"] = options.commit;
  if (options.streams > 0) report["streams"] = options.streams;
  report["scene"] = {{"name", BenchScene::name},
                     {"frames", BenchScene::frames},
                     {"seed", BenchScene::seed},
                     {"texture", "fine"}};
  report["results"] = Json::array();
  if (table) print(bench_header(pair, options.streams));
  int failed = 0;
  for (const Size size : sizes) {
    std::optional<Scene> scene;
    for (const DeviceInfo& device : devices)
      for (const auto& [method, preset] : methods) {
        const Case one{method, preset, device, size};
        try {
          if (!scene)
            scene = render_scene(BenchScene::name,
                                 {.size = size, .frames = BenchScene::frames, .seed = BenchScene::seed});
          const Measurement measured =
              measure_case(one, *scene, pair, {.fixed = options.repeats}, options.streams);
          report["results"].push_back(bench_json(one, measured, pair));
          if (table) print(bench_row(one, measured));
        } catch (const Error& problem) {  // the other cases are still measured
          report["results"].push_back(failure_json(one, problem));
          if (table) print(failure_row(one, problem));
          ++failed;
        }
      }
  }
  if (!options.json_file.empty())
    write_text(options.json_file, json_text(report));
  else if (json)
    print(json_text(report));
  if (failed > 0)
    throw Error(ErrorCode::unsupported,
                fmt::format("{} of {} measurements failed", failed, report["results"].size()));
}

}  // namespace

void add_bench(App& program) {
  const auto options = std::make_shared<BenchOptions>();
  App command = program.add_subcommand("bench", "Time flow methods on all devices");
  std::vector<std::string> names;
  for_each_method<FlowMethod>([&]<class Method>(const Method&) { names.emplace_back(Method::name); });
  command
      .add_option(
          "-m,--method", options->methods,
          fmt::format("methods, one or more of {}; default: {}, which takes seconds for each size. Some "
                      "others take minutes: give --size and --repeat with them",
                      fmt::join(names, ", "), DefaultMethod::name))
      .type_name("NAME");
  command
      .add_option("--preset", options->preset, "time this preset only; default: all presets of each method")
      .type_name("NAME");
  command
      .add_option("-d,--device", options->devices,
                  "devices, one or more: auto, cpu, cuda, cuda:N; default: all usable devices")
      .type_name("NAME");
  command.add_option("--threads", options->threads, "CPU threads; 0 = one for each core")
      .type_name("N")
      .capture_default_str();
  command
      .add_option("--size", options->sizes,
                  "sizes, one or more; default: 316x252 640x480 1920x1080 3840x2160")
      .type_name("WxH");
  command
      .add_option("--repeat", options->repeats,
                  "number of timed calls; default: as many as fit in 1.5 s, 10 to 2000")
      .type_name("N")
      .range(1, 1000000);
  command
      .add_option(
          "--streams", options->streams,
          "also time so many estimators at once, each on a thread of its own, in frames a second; on the "
          "CPU each of them has --threads threads")
      .type_name("N")
      .range(1, 1024);
  command
      .add_option("--data", options->data,
                  "folder with yosemite/noclouds/ (yos08.png, yos09.png, yos08_nosky.flo), for AAE and ETATO "
                  "of that pair, too; default: the environment variable PARAFIELD_DATA")
      .type_name("DIR");
  command.add_option("--commit", options->commit, "commit that is measured, for the JSON").type_name("TEXT");
  options->json =
      command.add_option("--json", options->json_file, "write JSON to FILE, or print it instead of the table")
          .type_name("[FILE]")
          .expected(0, 1);
  command.callback([options] { run(*options); });
}

}  // namespace parafield::command
