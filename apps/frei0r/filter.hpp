// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <parafield/parafield.hpp>
#include <span>
#include <string>
#include <variant>

/// A frei0r filter: plugin.cpp has the functions that programs call, and each module has one Filter.
namespace parafield::frei0r {

/// Value of a setting. frei0r's numbers are 0 to 1, and so are its switches (on from 0.5).
using Value = std::variant<double, std::string>;

struct Setting {
  const char* name;
  enum { number, on_or_off, text } type;
  const char* explanation;
};

/// What a module says of itself.
struct Description {
  const char* name;
  const char* explanation;
  std::span<const Setting> settings;
};
extern const Description description;

/// How a frame comes after the one before.
enum class Step {
  first,    ///< nothing is known of the frame before
  next,     ///< it follows the frame before
  repeated  ///< it is the frame that came last, once more
};

/// Draws the motion of a video's frames. All its functions throw Error.
class Filter {
 public:
  virtual ~Filter() = default;
  /// Takes the values of the settings. An empty text and 0 stand for the default.
  virtual void set(std::span<const Value> values) = 0;
  /// Picture (rgb_u8) for a frame. `before` is the frame before it, if `step` is not first.
  virtual FrameBuffer draw(Step step, const Frame& before, const Frame& frame) = 0;
};

std::unique_ptr<Filter> make_filter(Size size);

/// The method with the values of a preset. Empty names stand for the task's and the method's default.
template <class Methods>
Methods method_of(const std::string& name, const std::string& preset_name) {
  Methods method = name.empty() ? Methods{} : method_named<Methods>(name);
  if (!preset_name.empty())
    std::visit([&]<class Method>(Method& chosen) { chosen = preset<Method>(preset_name); }, method);
  return method;
}

/// Position of a name among those that a parameter knows; 0 for an empty one. Throws
/// Error(invalid_argument).
int choice(const char* parameter, const std::string& name, std::span<const char* const> known);

}  // namespace parafield::frei0r
