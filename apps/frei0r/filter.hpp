// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <parafield/parafield.hpp>
#include <span>
#include <string>
#include <variant>

/// Interface of a frei0r filter. plugin.cpp has the functions that host programs call; each module implements
/// one Filter.
namespace parafield::frei0r {

/// Value of a setting. frei0r's numbers are 0 to 1, and its switches are numbers that are on from 0.5.
using Value = std::variant<double, std::string>;

struct Setting {
  const char* name;
  enum { number, on_or_off, text } type;
  const char* explanation;
};

/// Name, explanation and settings that a module reports to host programs.
struct Description {
  const char* name;
  const char* explanation;
  std::span<const Setting> settings;
};
extern const Description description;

/// How a frame relates to the previous one.
enum class Step {
  first,    ///< there is no usable previous frame
  next,     ///< it directly follows the previous frame
  repeated  ///< it is the last frame again
};

/// Draws the motion in a video's frames. All functions throw Error.
class Filter {
 public:
  virtual ~Filter() = default;
  /// Sets the settings to `values`. An empty text and 0 mean the default.
  virtual void set(std::span<const Value> values) = 0;
  /// Returns the picture (rgb_u8) for a frame. `before` is the previous frame, and is ignored if `step` is
  /// first.
  virtual FrameBuffer draw(Step step, const Frame& before, const Frame& frame) = 0;
};

std::unique_ptr<Filter> make_filter(Size size);

/// Explanations of the settings preset and device.
constexpr const char *preset_help = "Preset of the method, such as accurate. Empty: the method's defaults.",
                     *device_help = "auto, cpu, cuda or cuda:N. Empty: auto, the first GPU if there is one.";

/// The settings that choose an estimator. Empty names mean the task's default method, the method's default
/// values and the device "auto".
struct EstimatorNames {
  std::string method, preset, device;

  bool operator==(const EstimatorNames&) const = default;
  /// Returns the method with the values of the preset.
  template <class Methods>
  Methods chosen() const {
    Methods chosen = method.empty() ? Methods{} : method_named<Methods>(method);
    if (!preset.empty())
      std::visit([&]<class Method>(Method& one) { one = parafield::preset<Method>(preset); }, chosen);
    return chosen;
  }
  Device used_device() const { return parse_device(device.empty() ? "auto" : device); }
};

/// Returns the index of `name` in `known`, the parameter's values, or 0 if `name` is empty. Throws
/// Error(invalid_argument) for an unknown name.
int choice(const char* parameter, const std::string& name, std::span<const char* const> known);

}  // namespace parafield::frei0r
