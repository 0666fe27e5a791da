// SPDX-License-Identifier: MIT
#include "estimation.hpp"

#include <cmath>
#include <cstdio>

namespace parafield::command {

Option TruthOptions::add_to(App& command, const std::string& help) {
  const Option given = command.add_option("--gt FILE", truth, help);
  command.add_option("--mask FILE", mask, "with --gt: a picture that is 0 where pixels do not count")
      .needs(given);
  command.add_flag("--valid-only", valid_only, "with --gt: only valid pixels count").needs(given);
  return given;
}

void add_repeats(App& command, int& repeats) {
  command.add_option("--repeat N", repeats)
      .range(1, 1000000)
      .help("report the median time of N more calls. One before them is not timed");
}

void ReportOptions::add_to(App& command) {
  command.add_flag("--json", json, "print the report as one JSON object");
  command.add_flag("-q,--quiet", quiet, "print no text report");
}

void ReportOptions::print(const Report& report, bool is_taken) const {
  if (is_taken ? quiet : quiet && !json) return;
  if (is_taken)
    std::fputs(report.text.c_str(), stderr);
  else
    command::print(report, json);
}

template <class T>
void TaskOptions::operator()(T& field, const Parameter<T>& parameter) const {
  const std::string name = option_name(parameter.name);
  if constexpr (std::is_same_v<T, bool>) {
    command.add_flag(name, field, std::string(parameter.help)).group(group);
  } else {
    ParameterValues values;
    values(field, parameter);
    const ParameterValue& one = values.list[0];
    command.add_option(name + " N", field)
        .help(parameter_help({{{}, one.help, range_text(one), text_of(one.value)}}))
        .check([parameter](const std::string& text) {
          T value{};
          return detail::read_value(text, value) && detail::is_allowed(value, parameter)
                     ? std::string()
                     : fmt::format("cannot be {}; allowed: {}", detail::value_text(text),
                                   detail::allowed(parameter));
        })
        .group(group);
  }
}
template void TaskOptions::operator()(bool&, const Parameter<bool>&) const;
template void TaskOptions::operator()(int&, const Parameter<int>&) const;
template void TaskOptions::operator()(float&, const Parameter<float>&) const;

Option add_energy(App& command, std::string& energy) {
  const Option option = command.add_setting("--energy NAME", energy).one_of({"none", "result", "sweeps"});
  option.help(
      "report the energy: none, result or sweeps. The method minimizes it. The energies of sweeps "
      "are that before the first sweep and those after each. belief-propagation reports after each iteration "
      "of the finest level");
  return option;
}

EnergyReport energy_report(const std::string& energy, std::string_view method, bool minimizes) {
  if (energy == "none") return EnergyReport::none;
  if (!minimizes) throw UsageError(fmt::format("--energy: {} minimizes no energy", method));
  return energy == "result" ? EnergyReport::result : EnergyReport::sweeps;
}

void add_levels(Report& report, int asked, Size image, Size block, bool quiet) {
  const int used = levels_of(asked, block);
  report.json["levels_used"] = used;
  if (used == asked || quiet) return;
  note(fmt::format("{} level{} instead of {}: more do not fit {} {}x{} pixels", used, used == 1 ? "" : "s",
                   asked, block == image ? "at" : "in blocks of", block.width, block.height));
}

void add_blocks(Report& report, int asked, const SolvedBlocks& used, bool quiet) {
  report.json["blocks_used"] = used.count;
  if (used.count == 1) return;
  report.json["block_margin"] = used.margin;
  report.json["seamless"] = used.seamless;
  if (asked > 0 || quiet) return;
  note(fmt::format(
      "memory is short: solved in {} blocks of {}x{} pixels, with margins of {} px; {}", used.count,
      used.size.width, used.size.height, used.margin,
      used.seamless ? "the result is that of one block" : "the result may differ from that of one block"));
}

void add_times(Report& report, std::string_view method, const DeviceInfo& info, Size size,
               const Times& times) {
  report.json.update(device_json(info));
  report.json["width"] = size.width;
  report.json["height"] = size.height;
  report.json["repeats"] = times.repeats;
  report.json["milliseconds"] = times.median;
  report.text +=
      fmt::format("{} on {} ({}): {}x{}, {:.3f} ms{}\n", method, to_string(info.device), info.name,
                  size.width, size.height, times.median,
                  times.repeats > 0 ? fmt::format(" (median of {})", times.repeats) : " (first call)");
}

void add_state(Report& report, FramesState state, bool quiet) {
  const std::string text = text_of(state);
  if (text.empty()) return;
  report.json["frames_state"] = state == FramesState::cut ? "cut" : "no texture";
  if (!quiet) note(text);
}

void add_frames(Json& json, const FramesFindings& findings, const std::string& what, bool quiet) {
  constexpr std::size_t most_named = 10;
  const std::size_t cuts = findings.cuts.size();
  if (cuts > 0) json["cuts"] = findings.cuts;
  if (cuts > 0 && !quiet)
    note(fmt::format(
        "{} {}{}: the frames show different scenes (a cut), so the result{} not reliable", what,
        fmt::join(findings.cuts.begin(), findings.cuts.begin() + int(std::min(cuts, most_named)), ", "),
        cuts > most_named ? " and others" : "", cuts == 1 ? " is" : "s are"));
  if (findings.without_texture == 0) return;
  json["without_texture"] = findings.without_texture;
  if (!quiet)
    note(fmt::format("{}: {} of frames without texture, only noise or nothing at all; not reliable", what,
                     findings.without_texture));
}

void add_energies(Report& report, EnergyReport asked, const std::vector<double>& energies) {
  if (asked == EnergyReport::result) {
    report.json["energy"] = energies.at(0);
    report.text += fmt::format("energy {:.10g}\n", energies.at(0));
  } else if (asked == EnergyReport::sweeps) {
    report.json["energy"] = energies;
    report.text +=
        wrapped(fmt::format("energies, step by step: {:.10g}\n", fmt::join(energies, ", ")), 0) + "\n";
  }
}

void add_series(Report& report, const std::string& of, const char* noun, int count, double seconds) {
  report.json[std::string(noun) + "s"] = count;
  report.json["seconds"] = seconds;
  report.text += fmt::format("{}{} {}{} in {:.2f} s with reading and writing\n", of, count, noun,
                             count == 1 ? "" : "s", seconds);
}

/// Returns the number of pixels without a value.
static std::int64_t unknown_of(const KnownPixels& known) {
  return known ? std::int64_t(known.size().width) * known.size().height - count_of(known) : 0;
}

static void add_valid(Report& report, std::int64_t valid, std::int64_t pixels, std::int64_t masked) {
  if (masked > 0) {
    report.json["masked"] = double(masked) / double(pixels);
    report.text +=
        fmt::format("{:.2f} % of the pixels have no value; ", 100 * double(masked) / double(pixels));
  }
  const double share = double(valid) / double(pixels);
  report.json["valid"] = share;
  report.text += fmt::format("{:.2f} % of the pixels are valid", 100 * share);
}

void FlowFindings::add(const FlowField& flow, const KnownPixels& known) {
  masked += unknown_of(known);
  const auto [width, height] = flow.size();
  pixels += std::int64_t(width) * height;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      if (!flow.valid(x, y)) continue;
      const double u = flow.u(x, y), v = flow.v(x, y), motion = std::sqrt(u * u + v * v);
      ++valid;
      sum += motion;
      largest = std::max(largest, motion);
    }
}

void add_findings(Report& report, const FlowFindings& findings) {
  add_valid(report, findings.valid, findings.pixels, findings.masked);
  const bool any = findings.valid > 0;
  const double mean = findings.sum / double(findings.valid);
  report.json["mean_motion"] = any ? Json(mean) : Json();
  report.json["largest_motion"] = any ? Json(findings.largest) : Json();
  report.text +=
      any ? fmt::format(", with motions of {:.2f} px on average, {:.2f} px at most\n", mean, findings.largest)
          : "\n";
}

void DisparityFindings::add(const DisparityField& disparity, const KnownPixels& known) {
  const auto [width, height] = disparity.size();
  pixels += std::int64_t(width) * height;
  masked += unknown_of(known);
  valid += count_of(disparity.valid);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      if (!disparity.valid(x, y)) continue;
      least = std::min(least, disparity.d(x, y));
      largest = std::max(largest, disparity.d(x, y));
    }
}

void add_findings(Report& report, const DisparityFindings& findings) {
  const auto& [pixels, valid, masked, least, largest] = findings;
  const bool any = least <= largest;
  add_valid(report, valid, pixels, masked);
  report.json["least_disparity"] = any ? json_of(least) : Json();
  report.json["largest_disparity"] = any ? json_of(largest) : Json();
  report.text += any ? fmt::format(", with disparities of {:.2f} to {:.2f} px\n", least, largest) : "\n";
}

void add_files(Report& report, const std::vector<std::string>& names) {
  Json& files = report.json["files"] = Json::array();
  std::string text;
  for (const std::string& name : names) {
    if (name.empty()) continue;
    files.push_back(name);
    text += (text.empty() ? "wrote " : ", ") + printable(name);
  }
  if (!text.empty()) report.text += text + "\n";
}

}  // namespace parafield::command
