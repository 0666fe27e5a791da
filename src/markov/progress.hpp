// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <memory>

namespace parafield {

/// Reports the completed fraction of a solve to the user's callback, if there is one, in steps of 2 %.
template <class Backend>
class Progress {
 public:
  /// `parts`: number of label fields that a solve computes one after the other. All count equally.
  Progress(Backend& backend, const std::function<void(double)>& callback, int parts)
      : backend_(backend), parts_(parts) {
    if (callback) callback_ = std::make_shared<const std::function<void(double)>>(callback);
  }

  /// Whether there is a callback.
  bool is_asked() const { return callback_ != nullptr; }

  /// Starts label field number `part`. Part 0 starts a solve.
  void begin(int part) {
    part_ = part;
    if (part == 0) reported_ = 0;
  }

  /// Reports `share`, 0..1: the fraction of the field that is complete once all steps called so far have run.
  void report(double share) {
    if (!callback_) return;
    constexpr int steps = 50;
    const double done = (part_ + share) / parts_;
    const int step = int(done * steps + 1e-9);
    if (step <= reported_) return;
    reported_ = step;
    backend_.notify(callback_, done);
  }

 private:
  Backend& backend_;
  const int parts_;
  std::shared_ptr<const std::function<void(double)>> callback_;  // shared with the backend's graphs
  int part_ = 0, reported_ = 0;                                  // reported_: last reported step
};

}  // namespace parafield
