// SPDX-License-Identifier: MIT
#include "c/options.hpp"

#include "parafield/detail/text.hpp"

namespace parafield::c {

NamedOptions::NamedOptions(const parafield_option* options, std::int32_t count) {
  if (count < 0) fail_value("the number of options cannot be ", count);
  if (count > 0) given(options, "the list of options");
  for (std::int32_t i = 0; i < count; ++i) {
    const parafield_option& option = options[i];
    if (!option.name || !option.value)
      fail_value("option ", i, " has no ", option.name ? "value" : "name", ": a pointer is null");
    for (const parafield_option& before : options_)
      if (detail::same_name(before.name, option.name))
        fail_value("option ", detail::quoted(option.name), " is given twice");
    options_.push_back(option);
  }
}

const char* NamedOptions::take(std::string_view name) {
  const auto found = std::ranges::find_if(
      options_, [&](const parafield_option& option) { return detail::same_name(option.name, name); });
  if (found == options_.end()) return nullptr;
  const char* const value = found->value;
  options_.erase(found);
  return value;
}

std::optional<Device> NamedOptions::take_device() {
  int threads = 0;
  const char* const threads_text = take("threads");
  if (threads_text && !detail::read_value(threads_text, threads))
    fail_value("threads cannot be ", detail::value_text(threads_text), "; 0 = one for each core");
  const char* const name = take("device");
  if (!name && !threads_text) return {};
  return parse_device(name ? name : "auto", threads);
}

}  // namespace parafield::c
