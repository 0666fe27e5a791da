// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>

#include "core/arithmetic.hpp"
#include "core/step.hpp"
#include "core/views.hpp"
#include "parafield/fields.hpp"

namespace parafield {

/// Rows of bytes to copy.
struct PlaneCopy {
  const char* from;
  char* to;
  std::ptrdiff_t from_pitch, to_pitch, row_bytes;
  int height;
};

/// The planes of a result that must be copied.
struct PlaneCopies {
  static constexpr int most = 10;  // flow with error bars
  PlaneCopy planes[most];
  int count = 0;

  template <class T>
  void add(View<const T> from, View<T> to) {
    planes[count++] = {reinterpret_cast<const char*>(from.data),
                       reinterpret_cast<char*>(to.data),
                       from.pitch,
                       to.pitch,
                       from.width * std::ptrdiff_t(sizeof(T)),
                       from.height};
  }
};

/// Copies planes within the backend's memory. On CUDA it is one launch, and the planes are inputs, which a
/// replay sets again.
template <class Backend>
void copy_planes(Backend& backend, const PlaneCopies& copies);

}  // namespace parafield
