// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <tuple>
#include <utility>

#include "steps/copy/copy.hpp"
#include "tasks/session.hpp"

namespace parafield {

/// Copies a plane in the order of a queue.
template <class Backend, class T>
void copy_plane(Backend& backend, View<const T> from, View<T> to, Queue queue) {
  backend.copy(to.data, to.pitch, from.data, from.pitch, from.width * std::ptrdiff_t(sizeof(T)), from.height,
               queue);
}

/// The results of a session: their memory, and their way from the solver to the destination.
template <class Task, class Backend>
class SessionResults {
 public:
  using Result = typename Task::Result;

  SessionResults(Backend& backend, Size size, FieldPlanes planes)
      : backend_(backend), size_(size), planes_(planes) {
    if constexpr (Backend::is_gpu) solved_ = Result(size, backend.memory(), planes);
  }

  FieldPlanes planes() const { return planes_; }

  /// How a result is delivered. The solver writes `solved`. The recorded steps end with a copy to `there`,
  /// which is in the backend's memory, and the result is then downloaded from `there` to `output`. If two
  /// consecutive references are to the same field, that copy is skipped.
  struct Delivery {
    Result& solved;
    Result& there;
    Result& output;
    bool is_copied() const { return &there != &solved; }
  };
  /// Returns a delivery to `output`, or to the session's own result if `output` is null.
  Delivery delivery_to(Result* output, bool on_host, bool starts_from_last) {
    if constexpr (Backend::is_gpu) {
      if (!on_host) {
        Result& there = output ? *output : solved_;
        return {solved_, there, there};
      }
      return {solved_, solved_, output ? *output : in(Memory::pinned(), own_[0])};
    }
    return host_delivery(output, starts_from_last);
  }
  /// Like delivery_to(), for a pipelined estimator, which begins the next solve before the result has been
  /// delivered. `turn`, alternately 0 and 1, selects one of two results of the session.
  Delivery pipelined_delivery_to(Result* output, bool on_host, bool starts_from_last, int turn) {
    if constexpr (Backend::is_gpu) {
      if (!on_host) {
        Result& there = output ? *output : in(backend_.memory(), own_[turn]);
        return {solved_, there, there};
      }
      return {solved_, in(backend_.memory(), sent_[turn]),
              output ? *output : in(Memory::pinned(), own_[turn])};
    }
    return host_delivery(output ? output : &in(Memory::host(), own_[turn]), starts_from_last);
  }

  /// Returns the copies at the end of the recorded steps. Planes that the user's field lacks are left out.
  PlaneCopies copies_of(const Delivery& delivery) const {
    PlaneCopies copies;
    if (!delivery.is_copied()) return copies;
    const auto add = [&](const auto& from, auto& to, const auto& asked) {
      if (asked) copies.add(from.view(), to.view());
    };
    static_assert(std::tuple_size_v<decltype(delivery.solved.planes())> <= PlaneCopies::most);
    const auto from = std::as_const(delivery.solved).planes();
    const auto to = delivery.there.planes();
    const auto asked = delivery.output.planes();
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (add(std::get<I>(from), std::get<I>(to), std::get<I>(asked)), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<decltype(to)>>{});
    return copies;
  }
  /// Enqueues the download of the result, if it needs one.
  void download(const Delivery& delivery, Queue queue) {
    if (&delivery.there == &delivery.output) return;
    detail::for_each_plane(delivery.there, delivery.output, [&](auto& from, auto& to) {
      if (to) copy_plane(backend_, std::as_const(from).view(), to.view(), queue);
    });
  }

 private:
  /// Returns a delivery on the CPU, where the solver writes directly into the output if possible.
  Delivery host_delivery(Result* output, bool starts_from_last) {
    const bool direct = output && !starts_from_last && is_whole(*output);
    Result& solved = direct ? *output : in(Memory::host(), solved_);
    Result& there = output ? *output : solved;
    return {solved, there, there};
  }
  /// Allocates the field unless it is already in that memory. Returns it.
  Result& in(Memory memory, Result& field) const {
    if (field.size() != size_ || field.memory() != memory) field = Result(size_, memory, planes_);
    return field;
  }
  /// Whether the solver can write into the field: it has exactly the planes of results.
  bool is_whole(Result& field) const {
    const auto wanted = Result::wanted(planes_);
    return std::apply([&](const auto&... plane) { return std::array{bool(plane)...} == wanted; },
                      field.planes());
  }

  Backend& backend_;
  const Size size_;
  const FieldPlanes planes_;
  Result solved_;   // written by the solver; on the CPU, used only if the solver cannot write the output
  Result own_[2];   // returned if the user gives no output; a pipelined estimator alternates between them
  Result sent_[2];  // GPU only: results of a pipelined estimator while they are downloaded
};

}  // namespace parafield
