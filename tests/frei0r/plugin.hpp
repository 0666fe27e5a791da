// SPDX-License-Identifier: MIT
#pragma once
// Loads the modules of apps/frei0r as programs do, and draws the expected pictures with the library's
// functions.
#include <dlfcn.h>
#include <frei0r.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "parafield/parafield.hpp"

namespace parafield::test {

/// A module, loaded for as long as it lives.
class Plugin {
 public:
  explicit Plugin(const std::string& name)
      : handle_(dlopen((PARAFIELD_FREI0R "/" + name + ".so").c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) throw std::runtime_error(dlerror());
    find(init, "f0r_init");
    find(deinit, "f0r_deinit");
    find(get_plugin_info, "f0r_get_plugin_info");
    find(get_param_info, "f0r_get_param_info");
    find(construct, "f0r_construct");
    find(destruct, "f0r_destruct");
    find(set_param_value, "f0r_set_param_value");
    find(get_param_value, "f0r_get_param_value");
    find(update, "f0r_update");
    init();
  }
  ~Plugin() {
    deinit();
    dlclose(handle_);
  }
  Plugin(const Plugin&) = delete;

  decltype(&f0r_init) init;
  decltype(&f0r_deinit) deinit;
  decltype(&f0r_get_plugin_info) get_plugin_info;
  decltype(&f0r_get_param_info) get_param_info;
  decltype(&f0r_construct) construct;
  decltype(&f0r_destruct) destruct;
  decltype(&f0r_set_param_value) set_param_value;
  decltype(&f0r_get_param_value) get_param_value;
  decltype(&f0r_update) update;

 private:
  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (!function) throw std::runtime_error(std::string(name) + " is missing");
  }
  void* handle_;
};

using Pixels = std::vector<std::uint32_t>;

/// A frame as programs give it, RGBA. Alpha differs from pixel to pixel.
inline Pixels rgba_of(const FrameBuffer& frame, bool opaque = false) {
  const auto [width, height] = frame.size();
  const int samples = channels(frame.format());
  Pixels pixels(std::size_t(width) * height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const auto* from = static_cast<const std::uint8_t*>(frame.row(y)) + samples * x;
      const std::uint8_t bytes[4] = {from[0], from[samples / 2], from[samples - 1],
                                     std::uint8_t(opaque ? 255 : x + 3 * y)};
      std::memcpy(&pixels[std::size_t(y) * width + x], bytes, 4);
    }
  return pixels;
}

/// The picture with the frame's alpha.
inline Pixels with_alpha(const FrameBuffer& picture, const Pixels& frame) {
  Pixels pixels = rgba_of(picture);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    std::memcpy(reinterpret_cast<char*>(&pixels[i]) + 3, reinterpret_cast<const char*>(&frame[i]) + 3, 1);
  return pixels;
}

/// One instance of a module.
class Instance {
 public:
  Instance(const Plugin& plugin, Size size)
      : plugin_(plugin), instance_(plugin.construct(unsigned(size.width), unsigned(size.height))) {}
  ~Instance() { plugin_.destruct(instance_); }
  Instance(const Instance&) = delete;

  void set(int index, std::string text) {
    char* data = text.data();
    plugin_.set_param_value(instance_, &data, index);
    std::ranges::fill(text, '#');  // the module must keep a copy
  }
  void set(int index, double number) { plugin_.set_param_value(instance_, &number, index); }
  std::string text(int index) const {
    char* data = nullptr;
    plugin_.get_param_value(instance_, &data, index);
    return data;
  }
  double number(int index) const {
    double value = -1;
    plugin_.get_param_value(instance_, &value, index);
    return value;
  }
  Pixels operator()(double time, const Pixels& frame) {
    Pixels shown(frame.size());
    plugin_.update(instance_, time, frame.data(), shown.data());
    return shown;
  }

 private:
  const Plugin& plugin_;
  f0r_instance_t instance_;
};

/// Flow that brought each pixel of `frame` there from the frame before.
inline FlowField arrival(const FrameBuffer& before, const FrameBuffer& frame, const FlowMethod& method = {}) {
  FlowField flow = estimate_flow(frame, before, method);
  for (Image<float>* plane : {&flow.u, &flow.v})
    for (int y = 0; y < flow.size().height; ++y)
      for (int x = 0; x < flow.size().width; ++x) (*plane)(x, y) = -(*plane)(x, y);
  return flow;
}

/// Flow without motion.
inline FlowField still(Size size) {
  FlowField flow(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) flow.valid(x, y) = 1;
  return flow;
}

/// The scale of colors that follows a video.
struct FollowedScale {
  float value = 1;
  float next(const FlowField& flow) { return value = std::max({1.0f, color_scale(flow), 0.95f * value}); }
};

}  // namespace parafield::test
