// SPDX-License-Identifier: MIT
#pragma once
// Planes in a backend's memory, and their values in host memory, row by row.
#include <vector>

#include "core/backend.hpp"
#include "core/workspace.hpp"
#include "steps/colors/color.hpp"

namespace parafield {

template <class Backend, class T>
void store(Backend& backend, View<T> plane, const std::vector<T>& values) {
  for (int y = 0; y < plane.height; ++y)
    copy_to(backend, plane.row(y), values.data() + std::ptrdiff_t(y) * plane.width,
            sizeof(T) * std::size_t(plane.width));
  backend.synchronize();
}

template <class Backend, class T>
View<T> stored(Backend& backend, Workspace& workspace, Size size, const std::vector<T>& values) {
  const View<T> plane = workspace.image<T>(size);
  store(backend, plane, values);
  return plane;
}

/// `channels`: three of them.
template <class Backend>
Colors stored_colors(Backend& backend, Workspace& workspace, Size size, const std::vector<float>* channels) {
  Colors colors;
  if constexpr (Backend::is_gpu) {
    std::vector<Color> pixels;
    for (std::size_t i = 0; i < channels[0].size(); ++i)
      pixels.push_back({channels[0][i], channels[1][i], channels[2][i], 0});
    colors.pixels = stored(backend, workspace, size, pixels);
  } else {
    for (int k = 0; k < 3; ++k) colors.plane[k] = stored(backend, workspace, size, channels[k]);
  }
  return colors;
}

template <class Backend, class T>
std::vector<T> values_of(Backend& backend, View<T> plane) {
  std::vector<T> values(std::size_t(plane.width) * std::size_t(plane.height));
  for (int y = 0; y < plane.height; ++y)
    copy_to_host(backend, values.data() + std::ptrdiff_t(y) * plane.width, plane.row(y),
                 sizeof(T) * std::size_t(plane.width));
  return values;
}

}  // namespace parafield
