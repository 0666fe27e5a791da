// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <vector>

#include "core/arithmetic.hpp"
#include "parafield/image.hpp"

namespace parafield {

/// A row of a flow field, for loops that vectorize.
struct FlowRow {
  float *u, *v;

  PF_HD Motion operator[](int x) const { return {u[x], v[x]}; }
  PF_HD void set(int x, const Motion& flow) const { u[x] = flow.u, v[x] = flow.v; }
};

/// Two planes of a flow field, px per frame.
struct FlowPlanes {
  View<float> u, v;

  PF_HD FlowRow row(int y) const { return {u.row(y), v.row(y)}; }
  PF_HD Motion at(int x, int y) const { return {u(x, y), v(x, y)}; }
  PF_HD void set(int x, int y, const Motion& flow) const { u(x, y) = flow.u, v(x, y) = flow.v; }
};

/// Planes that say how reliable each flow vector is; null data = not requested.
struct Trust {
  View<std::uint8_t> valid = {};
  View<float> confidence = {};
  /// Least confidence of a valid pixel. Only solvers with `applies_least` read it.
  float least = 0;
};

/// Copies bytes between host memory and the backend's memory, in the order of the backend's stream.
template <class Backend>
void copy_to(Backend& backend, void* to, const void* from, std::size_t bytes) {
  const auto row = std::ptrdiff_t(bytes);
  backend.copy(to, row, from, row, row, 1);
}

/// Copies bytes from the backend's memory to the host. Returns when the backend has finished all pending
/// work.
template <class Backend>
void copy_to_host(Backend& backend, void* to, const void* from, std::size_t bytes) {
  copy_to(backend, to, from, bytes);
  backend.synchronize();
}

/// One device's memory for everything between the frames and the result. It is allocated when an estimator is
/// constructed and freed with the estimator, never in between.
class Workspace {
 public:
  explicit Workspace(Memory memory) : memory_(memory) {}

  template <class T>
  View<T> image(Size size) {
    images_.emplace_back(Size{size.width * int(sizeof(T)), size.height}, memory_);
    const auto bytes = images_.back().view();
    bytes_ += std::size_t(bytes.pitch) * std::size_t(size.height);
    return {reinterpret_cast<T*>(bytes.data), size.width, size.height, bytes.pitch};
  }
  /// Values without rows, for large volumes.
  template <class T>
  T* array(std::size_t count) {
    constexpr std::size_t row = 1 << 16;  // bytes
    const std::size_t rows = (count * sizeof(T) + row - 1) / row;
    return reinterpret_cast<T*>(image<std::uint8_t>({int(row), int(rows)}).data);
  }
  FlowPlanes flow(Size size) {
    const View<float> u = image<float>(size);
    return {u, image<float>(size)};
  }
  std::size_t bytes() const { return bytes_; }

 private:
  Memory memory_;
  std::vector<Image<std::uint8_t>> images_;
  std::size_t bytes_ = 0;
};

/// Images that others overwrite before they read them, so that a step which runs in between may use them, and
/// new images of a workspace when these are used up.
class SharedWorkspace {
 public:
  explicit SharedWorkspace(Workspace& workspace) : workspace_(workspace) {}

  Workspace& workspace() { return workspace_; }

  template <class T>
  void lend(View<T> image) {
    lent_.push_back({reinterpret_cast<std::uint8_t*>(image.data), image.width * int(sizeof(T)), image.height,
                     image.pitch});
  }
  void lend(FlowPlanes flow) {
    lend(flow.u);
    lend(flow.v);
  }

  /// The image of this size that was lent last, or a new one.
  template <class T>
  View<T> image(Size size) {
    const Size bytes{size.width * int(sizeof(T)), size.height};
    const auto lent =
        std::find_if(lent_.rbegin(), lent_.rend(), [&](const auto& image) { return image.size() == bytes; });
    if (lent == lent_.rend()) return workspace_.image<T>(size);
    const View<T> image{reinterpret_cast<T*>(lent->data), size.width, size.height, lent->pitch};
    lent_.erase(std::next(lent).base());
    return image;
  }
  FlowPlanes flow(Size size) {
    const View<float> u = image<float>(size);
    return {u, image<float>(size)};
  }

 private:
  Workspace& workspace_;
  std::vector<View<std::uint8_t>> lent_;
};

}  // namespace parafield
