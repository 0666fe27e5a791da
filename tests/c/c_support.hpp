// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "parafield/detection.hpp"
#include "parafield/flow.hpp"
#include "parafield/parafield.h"
#include "parafield/scenes.hpp"
#include "parafield/stereo.hpp"
#include "support.hpp"

namespace parafield {

/// The call succeeds; otherwise its error is shown.
#define EXPECT_OK(call) EXPECT_EQ(call, PARAFIELD_OK) << parafield_error_text()
#define ASSERT_OK(call) ASSERT_EQ(call, PARAFIELD_OK) << parafield_error_text()
/// The call fails with this code, and its text contains `part`.
#define EXPECT_FAILS(call, code, part)                                    \
  {                                                                       \
    EXPECT_EQ(call, code) << parafield_error_text();                      \
    EXPECT_TRUE(contains(parafield_error_text(), part))                   \
        << "'" << parafield_error_text() << "' without '" << part << "'"; \
  }
#define EXPECT_INVALID(call, part) EXPECT_FAILS(call, PARAFIELD_INVALID_ARGUMENT, part)

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Size of the frames of most tests.
inline constexpr Size c_size{48, 40};

using COptions = std::vector<parafield_option>;

inline parafield_frame c_frame(const Frame& frame) {
  return {.size = sizeof(parafield_frame),
          .data = frame.data,
          .pitch = frame.pitch,
          .width = frame.width,
          .height = frame.height,
          .format = int(frame.format),
          .memory = int(frame.memory.kind),
          .device = frame.memory.device,
          .black = frame.range.black,
          .white = frame.range.white,
          .reserved = 0};
}

template <class T>
parafield_plane c_plane(Image<T>& image) {
  return {image.view().data, image.view().pitch};
}
template <class Field>
parafield_field c_field(Field& field) {
  parafield_field result{};
  result.size = sizeof result;
  result.width = field.size().width;
  result.height = field.size().height;
  result.memory = int(field.memory().kind);
  result.device = field.memory().device;
  if constexpr (requires { field.u; }) {
    result.u = c_plane(field.u);
    result.v = c_plane(field.v);
  }
  if constexpr (requires { field.d; }) result.d = c_plane(field.d);
  if constexpr (requires { field.moving; }) result.moving = c_plane(field.moving);
  result.valid = c_plane(field.valid);
  result.confidence = c_plane(field.confidence);
  return result;
}

inline parafield_settings c_settings(int task, Size size, const COptions& options) {
  parafield_settings settings{};
  settings.size = sizeof settings;
  settings.task = task;
  settings.width = size.width;
  settings.height = size.height;
  settings.option_count = int(options.size());
  settings.options = options.data();
  return settings;
}

/// An estimator of the C interface, freed at the end.
struct CEstimator {
  parafield_estimator* handle = nullptr;

  CEstimator(int task, Size size, const COptions& options) {
    const parafield_settings settings = c_settings(task, size, options);
    EXPECT_OK(parafield_create(&settings, &handle));
  }
  explicit CEstimator(const parafield_settings& settings) { EXPECT_OK(parafield_create(&settings, &handle)); }
  CEstimator(const CEstimator&) = delete;
  CEstimator& operator=(const CEstimator&) = delete;
  ~CEstimator() { EXPECT_OK(parafield_destroy(handle)); }
  operator parafield_estimator*() const { return handle; }
};

/// The frames of a call, and pointers to them.
struct CInput {
  std::vector<parafield_frame> frames;
  std::vector<const parafield_frame*> pointers;
  parafield_input input{};

  explicit CInput(const std::vector<Frame>& all) {
    for (const Frame& frame : all) frames.push_back(c_frame(frame));
    for (const parafield_frame& frame : frames) pointers.push_back(&frame);
    input.size = sizeof input;
    input.frames = pointers.data();
    input.frame_count = pointers.size();
  }
  CInput(const CInput&) = delete;
  CInput& operator=(const CInput&) = delete;
  operator const parafield_input*() const { return &input; }
};

inline std::string state_of(parafield_estimator* estimator) {
  std::string text(10000, '?');
  std::size_t length = 0;
  EXPECT_OK(parafield_state(estimator, text.data(), text.size(), &length));
  text.resize(length);
  return text;
}

/// Whether all planes have the same values; NaN equals NaN.
template <class Field>
bool same_planes(const Field& a, const Field& b) {
  bool same = a.size() == b.size();
  detail::for_each_plane(a, b, [&](const auto& one, const auto& other) {
    same = same && bool(one) == bool(other);
    if (!same || !one) return;
    for (int y = 0; y < one.size().height; ++y)
      for (int x = 0; x < one.size().width; ++x)
        same = same && (one(x, y) == other(x, y) || (one(x, y) != one(x, y) && other(x, y) != other(x, y)));
  });
  return same;
}

/// Scenes, options for the CPU, and a flow field that calls can write.
class CEstimators : public testing::Test {
 protected:
  const Scene scene = render_scene("translation", {.size = c_size, .frames = 5});
  const Scene pair = render_scene("stereo", {.size = {80, 40}});
  const COptions cpu = {{"device", "cpu"}, {"threads", "1"}};
  FlowField flow{c_size};
  parafield_field output = c_field(flow);
};

}  // namespace parafield
