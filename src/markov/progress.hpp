#pragma once
#include <functional>
#include <memory>

namespace parafield {

/// Tells the user's callback how much of a solve is done, in steps of 2 %. Where there is none, does nothing.
template <class Backend>
class Progress {
 public:
  /// `parts`: label fields that a solve has one after the other, of which each takes as long.
  Progress(Backend& backend, const std::function<void(double)>& callback, int parts)
      : backend_(backend), parts_(parts) {
    if (callback) callback_ = std::make_shared<const std::function<void(double)>>(callback);
  }

  /// A field begins; a solve begins with that of part 0.
  void begin(int part) {
    part_ = part;
    if (part == 0) told_ = 0;
  }

  /// The share of the field that is done once all steps called so far have run.
  void report(double share) {
    if (!callback_) return;
    constexpr int steps = 50;
    const double done = (part_ + share) / parts_;
    const int step = int(done * steps + 1e-9);
    if (step <= told_) return;
    told_ = step;
    backend_.notify(callback_, done);
  }

 private:
  Backend& backend_;
  const int parts_;
  std::shared_ptr<const std::function<void(double)>> callback_;  // graphs of the backend have it, too
  int part_ = 0, told_ = 0;
};

}  // namespace parafield
