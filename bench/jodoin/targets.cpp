// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "common/scenes.hpp"
#include "jodoin/study.hpp"

namespace parafield::bench {
namespace {

/// Peak of an H100: its measured bandwidth, and the operations of its lanes at 1.755 GHz.
constexpr double bytes_per_ms = 3.0e9, operations_per_ms = 132 * 128 * 1.755e6;

struct Target {
  std::string what;
  Device::Kind kind;
  double ms;           // target
  double evaluations;  // evaluations of a label at a site
  double operations;   // for each evaluation
  double bytes;        // that must move for each pixel
  Call call;           // empty without such a device
  Size size;
};

}  // namespace

Table target_table(const Study& study) {
  Table table{
      "Targets and floors",
      fmt::format(
          "Least and median milliseconds beside the target. Parameters are the methods' defaults: motion "
          "detection over eight neighbors; displacements of gray frames by absolute differences, with linear "
          "smoothness over eight neighbors; stereo with 64 disparities and a mean over 7x7. Floors are those "
          "of an H100: the larger one of bytes / 3.0 TB/s (measured) and operations / (132 SMs x 128 lanes x "
          "1.755 GHz). Bytes: two frames of u8 are read once, and results are written once (6 for a mask, 13 "
          "for flow, 9 for disparities, each with validity and confidence); intermediates stay in the caches "
          "at best. Operations for each evaluation of a label: 5 in ICM of displacements (load of the match, "
          "difference, |.| added to the table of its row, least value, its label); 16 in SA (the same, "
          "scaling, an exponential, which has 1/8 of the rate, sum and draw); 8 in stereo (load, difference, "
          "running sums down and along the row, least value and label); 6 in detection (half of the sum of "
          "eight neighbors, data cost, comparison). With --quick, sizes have no meaning."),
      {"what", "device", "target ms", "min ms", "median ms", "label evaluations, millions", "floor ms (H100)",
       "min / target", "min / floor"},
      {}};

  const auto shrunk = [&](Size size) { return study.quick ? Size{size.width / 4, size.height / 4} : size; };
  const Device processor = study.device.kind == Device::Kind::cpu ? study.device : Device::cpu();
  std::vector<Target> targets;
  const auto add = [&]<class Task>(Task, const char* what, Device::Kind kind, double ms, Size size,
                                   int labels, int sweeps, double operations, double bytes,
                                   const typename Task::Method& method, Layers (*render)(Size)) {
    const double evaluations = double(size.width) * size.height * labels * sweeps;
    Target target{
        fmt::format("{}, {}", what, size_text(size)), kind, ms, evaluations, operations, bytes, {}, size};
    if (kind == Device::Kind::cpu || study.device.kind == kind) {
      const Layers layers = render(size);
      target.call = pair_call<Task>(method, kind == Device::Kind::cpu ? processor : study.device,
                                    layers.frame0, layers.frame1);
    }
    targets.push_back(std::move(target));
  };
  const auto change = [](Size size) { return render_change(size); };
  const auto motion = [](Size size) { return render_motion(size, 6); };
  const auto stereo = [](Size size) { return render_stereo(size, 64); };
  const Size large = shrunk({1024, 1024}), vga = shrunk({640, 480}), pair = shrunk({450, 375});
  const DisplacementEnergy displacement{.max_displacement = 6};
  using enum Device::Kind;
  add(Detection{}, "motion detection, ICM 10", cuda, 0.06, large, 2, 10, 6, 8,
      preset<Icm<ChangeEnergy>>("paper"), change);
  add(Flow{}, "displacement d_max 6, ICM 10", cuda, 3, large, 169, 10, 5, 15,
      Icm<DisplacementEnergy>{displacement, 10, SiteOrder::all_at_once}, motion);
  add(Flow{}, "displacement d_max 6, SA 500", cuda, 300, large, 169, 500, 16, 15,
      Annealing<DisplacementEnergy>{displacement, 500, 20, 0.5f}, motion);
  add(Stereo{}, "stereo 64, 7x7, WTA", cuda, 0.15, pair, 64, 1, 8, 11,
      WinnerTakesAll<StereoEnergy>{{.disparities = 64}}, stereo);
  add(Detection{}, "motion detection, ICM 10", cpu, 5, vga, 2, 10, 6, 8, preset<Icm<ChangeEnergy>>("paper"),
      change);
  add(Stereo{}, "stereo 64, 7x7, WTA", cpu, 12, pair, 64, 1, 8, 11,
      WinnerTakesAll<StereoEnergy>{{.disparities = 64}}, stereo);

  for (const Target& target : targets) {
    const bool gpu = target.kind == cuda;
    const double pixels = double(target.size.width) * target.size.height;
    const double floor = std::max(target.bytes * pixels / bytes_per_ms,
                                  target.operations * target.evaluations / operations_per_ms);
    std::vector<Cell> row{target.what, gpu ? "H100" : "CPU", {target.ms, 2}};
    const Effort effort = study.quick ? study.effort : Effort{3, 60, 0.5};
    const bool timed = bool(target.call);
    const Times times = timed ? time_in_turn({target.call}, effort).front() : Times{};
    const auto number = [](bool known, double value, int decimals) {
      return known ? Cell(value, decimals) : Cell("");
    };
    row.push_back(number(timed, times.min, 4));
    row.push_back(number(timed, times.median, 4));
    row.push_back({target.evaluations / 1e6, 1});
    row.push_back(number(gpu, floor, 4));
    row.push_back(number(timed, times.min / target.ms, 2));
    row.push_back(number(timed && gpu, times.min / floor, 1));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace parafield::bench
