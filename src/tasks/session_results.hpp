// SPDX-License-Identifier: MIT
#pragma once
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

/// The results of a session: their memory, and how they get from the solver to their destination.
template <class Task, class Backend>
class SessionResults {
 public:
  using Result = typename Task::Result;

  SessionResults(Backend& backend, Size size, ResultPlanes planes)
      : backend_(backend), size_(size), planes_(planes) {
    if constexpr (Backend::is_gpu) solved_ = result_with<Result>(planes, size, backend.memory());
  }

  ResultPlanes planes() const { return planes_; }

  /// How a result is delivered. The solver writes `solved`. The recorded steps end with a copy to `there`, in
  /// the backend's memory, and from there the result is downloaded to `output`. Consecutive fields may be the
  /// same one: nothing is copied then.
  struct Delivery {
    Result& solved;
    Result& there;
    Result& output;
    bool is_copied() const { return &there != &solved; }
  };
  /// Delivery to `output`, or to a result of the session if that is null.
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
  /// The same for a pipelined estimator, where the next solve begins before the result has been delivered.
  /// `turn`, 0 and 1 in turn, chooses among two results of the session.
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

  /// The copies that the recorded steps end with. A field of the user may lack planes.
  PlaneCopies copies_of(const Delivery& delivery) const {
    PlaneCopies copies;
    if (!delivery.is_copied()) return copies;
    const auto add = [&](const auto& from, auto& to, const auto& asked) {
      if (asked) copies.add(from.view(), to.view());
    };
    const auto from = std::as_const(delivery.solved).planes();
    const auto to = delivery.there.planes();
    const auto asked = delivery.output.planes();
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (add(std::get<I>(from), std::get<I>(to), std::get<I>(asked)), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<decltype(to)>>{});
    return copies;
  }
  /// Downloads the result, in the order of a queue.
  void download(const Delivery& delivery, Queue queue) {
    if (&delivery.there == &delivery.output) return;
    detail::for_each_plane(delivery.there, delivery.output, [&](auto& from, auto& to) {
      if (to) copy_plane(backend_, std::as_const(from).view(), to.view(), queue);
    });
  }

 private:
  /// On the CPU, where the solver writes the output itself if it can.
  Delivery host_delivery(Result* output, bool starts_from_last) {
    const bool direct = output && !starts_from_last && is_whole(*output);
    Result& solved = direct ? *output : in(Memory::host(), solved_);
    Result& there = output ? *output : solved;
    return {solved, there, there};
  }
  /// Allocates the field, unless it lies in that memory already. Returns it.
  Result& in(Memory memory, Result& field) const {
    if (field.size() != size_ || field.memory() != memory)
      field = result_with<Result>(planes_, size_, memory);
    return field;
  }
  /// Whether a field has all planes that results have.
  bool is_whole(Result& field) const {
    bool whole = true;
    const auto planes = field.planes();
    std::apply([&](const auto&... plane) { ((whole = whole && plane), ...); }, planes);
    if (whole || (planes_.valid && planes_.confidence)) return whole;
    if constexpr (requires { field.u; })
      return field.u && field.v && bool(field.valid) == planes_.valid &&
             bool(field.confidence) == planes_.confidence;
    return false;
  }

  Backend& backend_;
  const Size size_;
  const ResultPlanes planes_;
  Result solved_;   // on a GPU the solver writes it; on the CPU only if it cannot write the output
  Result own_[2];   // results that calls return; a pipelined estimator uses both in turn
  Result sent_[2];  // on a GPU: results of a pipelined estimator while they are downloaded
};

}  // namespace parafield
