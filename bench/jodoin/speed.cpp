// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <array>

#include "common/study.hpp"

namespace parafield::bench {
namespace {

constexpr int icm_sweeps = 10, annealing_sweeps = 500;

/// Time of a run as a linear function of its sweeps.
struct Line {
  double fixed = 0, sweep = 0;  ///< ms without sweeps; ms for each sweep
  double at(int sweeps) const { return fixed + sweeps * sweep; }
};

/// Comparison of methods on one serial thread and on the study's device, timed in turn. The line of a CPU
/// goes through 2 and 6 sweeps, a GPU's through none and all of them.
template <class Task>
class Comparison {
 public:
  using Method = typename Task::Method;

  Comparison(const Study& study, const Layers& layers) : study_(study), layers_(layers) {}

  /// Adds the method make(sweeps).
  template <class Make>
  void add_swept(Make make, int sweeps) {
    for (const Device& device : devices()) {
      const bool cpu = device.kind == Device::Kind::cpu;
      add_line(device, make(cpu ? 2 : 0), make(cpu ? 6 : sweeps), cpu ? 2 : 0, cpu ? 6 : sweeps);
    }
  }
  void add(const Method& method) {
    for (const Device& device : devices()) add_line(device, method, {}, 0, 0);
  }
  /// Adds ICM and annealing.
  template <class Energy>
  void add_sweeping(const Energy& energy) {
    add_swept([&](int sweeps) { return Icm<Energy>{energy, sweeps, SiteOrder::all_at_once}; }, icm_sweeps);
    add_swept([&](int sweeps) { return Annealing<Energy>{energy, sweeps, 20, 0.5f}; }, annealing_sweeps);
  }

  /// Lines of the methods in the order in which they were added: serial and device.
  std::vector<std::array<Line, 2>> run() const {
    const std::vector<Times> times = time_in_turn(calls_, study_.effort);
    std::vector<std::array<Line, 2>> lines(points_.size() / 2);
    for (std::size_t i = 0, call = 0; i < points_.size(); ++i) {
      const auto [few, many] = points_[i];
      Line& line = lines[i / 2][i % 2];
      line.fixed = times[call++].min;
      if (many == few) continue;
      line.sweep = (times[call++].min - line.fixed) / (many - few);
      line.fixed -= few * line.sweep;
    }
    return lines;
  }

 private:
  std::array<Device, 2> devices() const { return {Device::cpu(1), study_.device}; }
  void add_line(const Device& device, const Method& first, const Method& second, int few, int many) {
    points_.emplace_back(few, many);
    const auto add_call = [&](const Method& method) {
      std::vector<FrameBuffer> pair;
      for (const FrameBuffer* frame : {&layers_.frame0, &layers_.frame1})
        pair.push_back(frame->to(memory_of(device)));
      calls_.push_back(pair_call<Task>(method, device, pair, memory_of(device)));
    };
    add_call(first);
    if (many > few) add_call(second);
  }

  const Study& study_;
  const Layers& layers_;
  std::vector<Call> calls_;
  std::vector<std::pair<int, int>> points_;
};

/// Row of a table for gray or for color.
struct Compared {
  const char* what;
  double serial, device;  ///< ms
};

/// Time of a whole run with `sweeps` sweeps.
Compared whole(const char* what, const std::array<Line, 2>& lines, int sweeps) {
  return {what, lines[0].at(sweeps), lines[1].at(sweeps)};
}
/// Time of its sweeps alone.
Compared swept(const char* what, const std::array<Line, 2>& lines, int sweeps) {
  return {what, lines[0].sweep * sweeps, lines[1].sweep * sweeps};
}

std::vector<std::string> columns(std::vector<std::string> first) {
  for (const char* colors : {"gray", "color"})
    for (const char* what : {"serial ms", "ms", "factor"})
      first.push_back(fmt::format("{} {}", colors, what));
  return first;
}

/// Adds a row for each element of compare(color), with gray and color side by side.
template <class Compare>
void add_rows(Table& table, const std::vector<Cell>& setting, Compare compare) {
  const std::vector<Compared> gray = compare(false), color = compare(true);
  for (std::size_t i = 0; i < gray.size(); ++i) {
    std::vector<Cell> row = setting;
    row.push_back(gray[i].what);
    for (const Compared& times : {gray[i], color[i]}) {
      row.push_back({times.serial, 2});
      row.push_back({times.device, 4});
      if (times.serial > 0 && times.device > 0)
        row.push_back({times.serial / times.device, 1});
      else
        row.push_back("");  // the difference is smaller than the noise
    }
    table.rows.push_back(std::move(row));
  }
}

std::vector<int> lattices(const Study& study) {
  return study.quick ? std::vector{64} : std::vector{64, 128, 256, 512, 1024};
}

/// Whole runs of ICM and annealing.
template <class Task, class Energy>
std::vector<Compared> sweeping(const Study& study, const Layers& layers, const Energy& energy) {
  Comparison<Task> comparison(study, layers);
  comparison.add_sweeping(energy);
  const auto lines = comparison.run();
  return {whole("ICM", lines[0], icm_sweeps), whole("SA", lines[1], annealing_sweeps)};
}

Table detection_table(const Study& study) {
  Table table{
      "Fig. 2: motion detection",
      fmt::format(
          "In all tables of Fig. 2 `serial` is one CPU thread of this library, vectorized ({}); the paper's "
          "is plain C++ on an Athlon. `ms` and the factor are those of {}. Each run takes one pair of a "
          "rendered scene, with frames and result in the device's memory; times are the least of runs timed "
          "in turn. ICM takes {} sweeps, all at once, SA {}. On a CPU 2 and 6 sweeps are timed: the "
          "difference gives the time of a sweep, from which the rest is computed; on a GPU no sweep and all "
          "sweeps are timed. The paper finds factors of about 10 to 100 (GeForce 6800 GT, Athlon 2.5 GHz), "
          "larger for color, and smaller for WTA. Two labels, eight neighbors.",
          describe_device(Device::cpu(1)).instruction_set,
          command::device_text(describe_device(study.device)), icm_sweeps, annealing_sweeps),
      columns({"lattice", "solver"})};
  for (const int side : lattices(study))
    add_rows(table, {size_text({side, side})}, [&](bool color) {
      return sweeping<Detection>(study, render_change({side, side}, color), ChangeEnergy{.rgb = color});
    });
  return table;
}

Table displacement_table(const Study& study) {
  Table table{"Fig. 2: displacement estimation",
              "Absolute differences, no aggregation, linear smoothness over eight neighbors, beta 4.",
              columns({"lattice", "d_max", "solver"})};
  const auto add = [&](int side, int most) {
    add_rows(table, {size_text({side, side}), most}, [&](bool color) {
      return sweeping<Flow>(study, render_motion({side, side}, most, color),
                            DisplacementEnergy{.max_displacement = most, .cost = {.rgb = color}});
    });
  };
  for (const int side : lattices(study)) add(side, 4);
  for (const int most : {2, 6})
    if (!study.quick) add(256, most);
  return table;
}

Table stereo_table(const Study& study) {
  Table table{
      "Fig. 2: stereo, its tasks apart",
      "Absolute differences, linear smoothness over four neighbors, beta 4. The time of a task is a "
      "difference of whole runs. `DSI and WTA`: a WTA run without aggregation (frames are converted, costs "
      "computed, the least ones kept; costs are not stored, so the two cannot be told apart). "
      "`aggregation`: WTA with the window, less that. `ICM` and `SA`: their sweeps alone. `WTA, all`: the "
      "whole run with the window. A difference smaller than the noise has no factor.",
      columns({"lattice", "D_max", "window", "task"})};
  const auto add = [&](int side, int disparities, int window) {
    add_rows(table, {size_text({side, side}), disparities, window}, [&](bool color) -> std::vector<Compared> {
      const Layers layers = render_stereo({side, side}, disparities, color);
      StereoEnergy energy{.disparities = disparities, .cost = {.rgb = color, .aggregation = window}};
      StereoEnergy plain = energy;
      plain.cost.aggregation = 1;
      Comparison<Stereo> comparison(study, layers);
      comparison.add(WinnerTakesAll<StereoEnergy>{plain});
      comparison.add(WinnerTakesAll<StereoEnergy>{energy});
      comparison.add_sweeping(energy);
      const auto lines = comparison.run();
      const auto &dsi = lines[0], &all = lines[1];
      return {whole("DSI and WTA", dsi, 0),
              {"aggregation", all[0].fixed - dsi[0].fixed, all[1].fixed - dsi[1].fixed},
              whole("WTA, all", all, 0),
              swept("ICM", lines[2], icm_sweeps),
              swept("SA", lines[3], annealing_sweeps)};
    });
  };
  for (const int side : lattices(study)) add(side, 16, 5);
  if (study.quick) return table;
  for (const int disparities : {4, 8, 32}) add(256, disparities, 5);
  for (const int window : {3, 7}) add(256, 16, window);
  return table;
}

}  // namespace

std::vector<Table> speed_tables(const Study& study) {
  return {detection_table(study), displacement_table(study), stereo_table(study)};
}

}  // namespace parafield::bench
