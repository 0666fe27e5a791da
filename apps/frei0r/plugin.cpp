// SPDX-License-Identifier: MIT
// frei0r's C functions, for the module's Filter. They let no exception escape.
#pragma GCC visibility push(default)
extern "C" {
#include <frei0r.h>
}
#pragma GCC visibility pop

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <vector>

#include "clock.hpp"
#include "filter.hpp"

namespace parafield::frei0r {
namespace {

/// One instance of the filter in a host program.
class Instance {
 public:
  explicit Instance(Size size) : size_(size), before_(pixels()), frame_(pixels()) {
    for (const Setting& setting : description.settings)
      values_.push_back(setting.type == Setting::text ? Value(std::string()) : Value(0.0));
  }

  const std::vector<Value>& values() const { return values_; }

  void set(std::size_t index, Value value) {
    if (values_[index] == value) return;
    values_[index] = std::move(value);
    changed_ = true;
  }

  /// Draws a frame. `from` and `to` are RGBA. On an error the frame is passed through unchanged.
  void update(double time, const std::uint32_t* from, std::uint32_t* to) {
    const Step step = take(time, from);
    try {
      draw(step, to);
    } catch (const std::exception& error) {
      keep(error.what(), to);
    } catch (...) {
      keep("unknown error", to);
    }
  }

 private:
  using Pixels = std::vector<std::uint32_t>;

  std::size_t pixels() const { return std::size_t(size_.width) * std::size_t(size_.height); }
  std::size_t bytes() const { return pixels() * sizeof(std::uint32_t); }
  Frame view(const Pixels& frame) const {
    return {frame.data(), size_.width, size_.height, 0, PixelFormat::rgba_u8};
  }

  Step take(double time, const std::uint32_t* from) {
    const bool same_time = clock_.is_at(time), follows = clock_.follows(time);
    if (has_frame_ && same_time && std::memcmp(frame_.data(), from, bytes()) == 0)
      return has_before_ ? Step::repeated : Step::first;
    has_before_ = has_frame_ && follows;
    std::swap(before_, frame_);
    std::memcpy(frame_.data(), from, bytes());
    has_frame_ = true;
    return has_before_ ? Step::next : Step::first;
  }

  void draw(Step step, std::uint32_t* to) {
    if (!filter_) {
      filter_ = make_filter(size_);
      changed_ = true;
    }
    if (changed_) filter_->set(values_);
    changed_ = false;
    const FrameBuffer picture = filter_->draw(step, view(before_), view(frame_));
    for (int y = 0; y < size_.height; ++y) {
      const auto* drawn = static_cast<const std::uint8_t*>(picture.row(y));
      const std::size_t row = std::size_t(y) * std::size_t(size_.width);
      const auto* frame = reinterpret_cast<const std::uint8_t*>(frame_.data() + row);
      auto* shown = reinterpret_cast<std::uint8_t*>(to + row);
      for (int x = 0; x < size_.width; ++x) {
        for (int channel = 0; channel < 3; ++channel) shown[4 * x + channel] = drawn[3 * x + channel];
        shown[4 * x + 3] = frame[4 * x + 3];
      }
    }
    error_.clear();
  }

  /// Passes the frame through unchanged and prints why, once per series of equal errors.
  void keep(const char* why, std::uint32_t* to) {
    std::memcpy(to, frame_.data(), bytes());
    filter_.reset();
    if (error_ == why) return;
    error_ = why;
    std::fprintf(stderr, "%s: %s\n", description.name, why);
  }

  Size size_;
  std::vector<Value> values_;
  Pixels before_, frame_;
  bool has_before_ = false, has_frame_ = false, changed_ = true;
  Clock clock_;
  std::unique_ptr<Filter> filter_;
  std::string error_;
};

bool is_setting(int index) { return index >= 0 && std::size_t(index) < description.settings.size(); }

Instance& instance_of(f0r_instance_t instance) { return *static_cast<Instance*>(instance); }

}  // namespace

int choice(const char* parameter, const std::string& name, std::span<const char* const> known) {
  std::string names;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (name == known[i] || (name.empty() && i == 0)) return int(i);
    names += (i == 0 ? "" : ", ") + std::string(known[i]);
  }
  throw Error(ErrorCode::invalid_argument,
              std::string(parameter) + " cannot be " + name + "; it is one of " + names);
}

}  // namespace parafield::frei0r

using namespace parafield::frei0r;

int f0r_init() { return 1; }
void f0r_deinit() {}

void f0r_get_plugin_info(f0r_plugin_info_t* info) {
  *info = {.name = description.name,
           .author = "the parafield authors",
           .plugin_type = F0R_PLUGIN_TYPE_FILTER,
           .color_model = F0R_COLOR_MODEL_RGBA8888,
           .frei0r_version = FREI0R_MAJOR_VERSION,
           .major_version = PARAFIELD_VERSION_MAJOR,
           .minor_version = PARAFIELD_VERSION_MINOR,
           .num_params = int(description.settings.size()),
           .explanation = description.explanation};
}

void f0r_get_param_info(f0r_param_info_t* info, int index) {
  *info = {};
  if (!is_setting(index)) return;
  const Setting& setting = description.settings[std::size_t(index)];
  constexpr int types[] = {F0R_PARAM_DOUBLE, F0R_PARAM_BOOL, F0R_PARAM_STRING};
  *info = {setting.name, types[setting.type], setting.explanation};
}

f0r_instance_t f0r_construct(unsigned int width, unsigned int height) {
  constexpr unsigned largest = 500000;  // the estimators' limit
  try {
    if (width < 1 || height < 1 || width > largest || height > largest)
      throw parafield::Error(
          parafield::ErrorCode::invalid_argument,
          "frames cannot have " + std::to_string(width) + "x" + std::to_string(height) + " pixels");
    return new Instance({int(width), int(height)});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", description.name, error.what());
    return nullptr;
  }
}

void f0r_destruct(f0r_instance_t instance) { delete static_cast<Instance*>(instance); }

void f0r_set_param_value(f0r_instance_t instance, f0r_param_t value, int index) {
  if (!is_setting(index) || !value) return;
  try {
    if (description.settings[std::size_t(index)].type == Setting::text) {
      const char* text = *static_cast<const f0r_param_string*>(value);
      instance_of(instance).set(std::size_t(index), std::string(text ? text : ""));
    } else {
      instance_of(instance).set(std::size_t(index), *static_cast<const f0r_param_double*>(value));
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", description.name, error.what());
  }
}

void f0r_get_param_value(f0r_instance_t instance, f0r_param_t value, int index) {
  if (!is_setting(index)) return;
  const Value& known = instance_of(instance).values()[std::size_t(index)];
  if (const auto* text = std::get_if<std::string>(&known))
    *static_cast<f0r_param_string*>(value) = const_cast<char*>(text->c_str());
  else
    *static_cast<f0r_param_double*>(value) = std::get<double>(known);
}

void f0r_update(f0r_instance_t instance, double time, const std::uint32_t* from, std::uint32_t* to) {
  instance_of(instance).update(time, from, to);
}
