// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "bench/sequences.hpp"
#include "options.hpp"

/// Options of `parafield bench`, and the methods that they select.
namespace parafield::command {

struct BenchOptions {
  std::vector<std::string> tasks = {"flow"}, methods, presets, devices,
                           sizes = {"316x252", "640x480", "1920x1080", "3840x2160"};
  std::string data, commit, json_file, markdown_file, planes = "all", compared;
  int repeats = 0, threads = 0, streams = 0, disparities = 0;
  double tolerance = 10;
  Option json;

  bool has_task(std::string_view name) const { return std::ranges::find(tasks, name) != tasks.end(); }
};

/// Calls visit.operator()<Task>() for each chosen task.
template <class Visit>
void for_each_task(const BenchOptions& options, Visit visit) {
  const auto one = [&]<class Task>(const Task*) {
    if (options.has_task(task_facts<Task>.name)) visit.template operator()<Task>();
  };
  one(static_cast<const Flow*>(nullptr));
  one(static_cast<const Stereo*>(nullptr));
  one(static_cast<const Detection*>(nullptr));
}

template <class Task>
using ChosenMethods = std::vector<std::pair<typename Task::Method, std::string>>;

/// Returns the presets of a method that are named, or all if none is. Throws if it has none of them.
template <class Method>
std::vector<Preset<Method>> chosen_presets(const std::vector<std::string>& names) {
  std::vector<Preset<Method>> chosen;
  for (const auto& each : presets(Method{}))
    if (names.empty() || std::ranges::any_of(names, [&](const std::string& name) {
          return detail::same_name(each.name, name);
        }))
      chosen.push_back(each);
  if (chosen.empty()) preset<Method>(names.front());  // throws
  return chosen;
}

/// Returns the named methods that the task has, or the task's default method if none is named, each with all
/// its presets or with the named ones. Adds the presets that it found to `found`.
template <class Task>
ChosenMethods<Task> chosen_methods(const BenchOptions& options, std::vector<std::string>& found) {
  ChosenMethods<Task> chosen;
  const auto add = [&]<class Method>(const Method&) {
    for (auto [name, method, help] : chosen_presets<Method>(options.presets)) {
      if (std::is_same_v<Task, Stereo> && options.disparities > 0) {
        set_parameter(method, "disparities", std::to_string(options.disparities));
        check(method);
      }
      chosen.emplace_back(method, name);
      found.emplace_back(name);
    }
  };
  using Methods = typename Task::Method;
  if (options.methods.empty()) add(std::variant_alternative_t<0, Methods>{});
  for (const std::string& name : options.methods)
    for_each_method<Methods>([&]<class Method>(const Method& method) {
      if (detail::same_name(Method::name, name)) add(method);
    });
  return chosen;
}

/// Throws UsageError if a named method belongs to none of the chosen tasks, or if a task has none of them.
inline void check_methods(const BenchOptions& options) {
  std::vector<std::string_view> known;
  std::vector<bool> found(options.methods.size());
  for_each_task(options, [&]<class Task>() {
    bool has_one = options.methods.empty();
    for_each_method<typename Task::Method>([&]<class Method>(const Method&) {
      known.push_back(Method::name);
      for (std::size_t i = 0; i < found.size(); ++i)
        if (detail::same_name(Method::name, options.methods[i])) found[i] = has_one = true;
    });
    if (!has_one && options.tasks.size() > 1)
      throw UsageError(
          fmt::format("--method: {} has no {}", task_facts<Task>.name, fmt::join(options.methods, ", ")));
  });
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!found[i]) typed([&] { detail::fail_name("method", options.methods[i], known); });
}

/// Throws UsageError if a named preset is not among those that were found.
inline void check_presets(const BenchOptions& options, const std::vector<std::string>& found) {
  for (const std::string& name : options.presets)
    if (std::ranges::none_of(found, [&](const std::string& one) { return detail::same_name(one, name); }))
      throw UsageError(fmt::format("--preset: none of the methods has {}", name));
}

}  // namespace parafield::command
