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

/// The results of a session: their memory, and their way from the solver to where they are wanted.
template <class Task, class Backend>
class SessionResults {
 public:
  using Result = typename Task::Result;

  SessionResults(Backend& backend, Size size, ResultPlanes planes)
      : backend_(backend), size_(size), planes_(planes) {
    if constexpr (Backend::is_gpu) solved_ = result_with<Result>(planes, size, backend.memory());
  }

  ResultPlanes planes() const { return planes_; }
  /// The turn of the next result that may be on its way when another one is solved: 0 or 1.
  int turn() const { return turn_; }
  void next_turn() { turn_ = 1 - turn_; }

  /// Where the result of a solve goes: the solver writes `solved`, the steps end with a copy to `there`, in the
  /// backend's memory, and from `there` it goes to `output`, on the host.
  struct Way {
    Result& solved;
    Output<Task> there, output;
    bool is_copied() const { return there.field != &solved; }
  };
  /// The way of a result that goes to `output`, or to a result of the session. `ahead`: it may be on its way
  /// when the next one is solved.
  Way way_of(Output<Task> output, bool on_host, bool ahead, bool starts_from_last) {
    const std::size_t turn = ahead ? std::size_t(turn_) : 0;
    if constexpr (Backend::is_gpu) {
      if (!on_host) {
        if (!output) output.field = ahead ? &in(backend_.memory(), own_[turn]) : &solved_;
        return {solved_, output, output};
      }
      if (!output) output.field = &in(Memory::pinned(), own_[turn]);
      if constexpr (Task::halves)
        if (output.halves) return {solved_, {nullptr, &in(backend_.memory(), sent_halves_[turn])}, output};
      return {solved_, {ahead ? &in(backend_.memory(), sent_[turn]) : &solved_}, output};
    }
    if (!output && ahead) output.field = &in(Memory::host(), own_[turn]);
    const bool direct = output.field && !starts_from_last && is_whole(*output.field);
    Result& solved = direct ? *output.field : in(Memory::host(), solved_);
    if (!output) output.field = &solved;
    return {solved, output, output};
  }
  /// The copies at the end of the steps. A field of the user may lack planes.
  PlaneCopies copies_of(const Way& way) const {
    PlaneCopies copies;
    if (!way.is_copied()) return copies;
    way.there.visit([&](auto& there) {
      way.output.visit([&](auto& output) {
        for_each_of_three(way.solved, there, output, [&](const auto& from, auto& to, const auto& asked) {
          if (asked) copies.add(from.view(), to.view());
        });
      });
    });
    return copies;
  }
  /// Copies the result to the host, in the order of a queue.
  void send(const Way& way, Queue queue) {
    if (way.there == way.output) return;
    way.there.visit([&](auto& there) {
      way.output.visit([&](auto& output) {
        if constexpr (std::is_same_v<decltype(there), decltype(output)>)
          detail::for_each_plane(there, output, [&](auto& from, auto& to) {
            if (to) copy_plane(backend_, std::as_const(from).view(), to.view(), queue);
          });
      });
    });
  }

 private:
  /// Makes the field anew, unless it lies in that memory already. Returns it.
  template <class Field>
  Field& in(Memory memory, Field& field) const {
    if (field.size() != size_ || field.memory() != memory) field = result_with<Field>(planes_, size_, memory);
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
  /// Calls f(plane, there's, output's) where both have the plane's kind.
  template <class There, class Asked, class F>
  static void for_each_of_three(const Result& solved, There& there, Asked& output, F f) {
    if constexpr (std::is_same_v<There, Asked>) {
      const auto planes = solved.planes();
      const auto places = there.planes();
      const auto asked = output.planes();
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (f(std::get<I>(planes), std::get<I>(places), std::get<I>(asked)), ...);
      }
      (std::make_index_sequence<std::tuple_size_v<decltype(there.planes())>>{});
    }
  }

  Backend& backend_;
  const Size size_;
  const ResultPlanes planes_;
  Result solved_;                  // on a GPU the solver writes it; on the CPU, if it cannot write the output
  Result own_[2];                  // results that calls return; in turn, where one is still to come
  Result sent_[2];                 // on a GPU: results on their way to the host
  HalvesOf<Task> sent_halves_[2];  // the same
  int turn_ = 0;
};

}  // namespace parafield
