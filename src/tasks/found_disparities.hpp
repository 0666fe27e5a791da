// SPDX-License-Identifier: MIT
#pragma once
#include <mutex>
#include <optional>
#include <utility>

#include "core/fail.hpp"
#include "tasks/stereo_session.hpp"

namespace parafield {

/// A stereo session for methods that leave the number of disparities to the images. Determines the number
/// from the first non-blank pair, then forwards all calls to an inner session with that number. Until then,
/// each blank pair is solved with its own estimate of the number.
template <class Backend>
class FoundDisparities final : public Session<Stereo> {
 public:
  FoundDisparities(const StereoMethod& method, Size size, const Device& device, const StereoOptions& options)
      : method_(method), size_(size), device_(device), options_(options), backend_(device, options.stream) {
    options_.stream = backend_.stream();
  }

  const DisparityField& call(const StereoInput& input, DisparityField* output) override {
    if (!known_) begin(input);
    return session_->call(input, output);
  }
  const DisparityField& push(const Frame& left, const Frame& right, DisparityField* output) override {
    if (!known_) begin({.frames = std::array<Frame, 2>{left, right}});
    return session_->push(left, right, output);
  }
  void reset() override {
    const std::lock_guard lock(mutex_);
    cancelled_ = false;
    session_.reset();
    found_.reset();
    known_ = false;
  }
  void synchronize() override {
    if (session_) session_->synchronize();
  }
  void cancel() noexcept override {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    if (session_) session_->cancel();
  }
  std::vector<double> energies() override { return session_ ? session_->energies() : std::vector<double>{}; }
  SolvedBlocks blocks() const override { return session_ ? session_->blocks() : SolvedBlocks{.size = size_}; }
  Stream stream() const override { return backend_.stream(); }
  std::size_t workspace_bytes() const override { return session_ ? session_->workspace_bytes() : 0; }
  const StereoMethod* found() const override { return found_ ? &*found_ : nullptr; }

 private:
  /// Finds the number of disparities in a pair. Makes a new inner session unless the current one has that
  /// number.
  void begin(const StereoInput& input) {
    if (input.frames.size() != 2)
      fail(ErrorCode::invalid_argument, "the method takes 2 frames, not ", input.frames.size());
    const Frame left = checked(input.frames[0], "frame 0", size_, device_),
                right = checked(input.frames[1], "frame 1", size_, device_);
    backend_.synchronize();  // device frames may still be pending on the stream: wait before reading them
    StereoMethod method = found_.value_or(method_);
    const auto [is_new, is_known] = std::visit(
        [&](auto& chosen) {
          StereoEnergy& energy = chosen.energy;
          const PairFindings findings = find_disparities(left, right, energy.min_disparity);
          const int before = std::exchange(energy.disparities, findings.disparities);
          return std::pair(before != findings.disparities, !findings.blank());
        },
        method);
    if (is_new) begin(method);
    known_ = is_known;
  }
  void begin(const StereoMethod& method) {
    std::unique_ptr<Session<Stereo>> session = known_stereo_session(method, size_, device_, options_);
    const std::lock_guard lock(mutex_);
    session_ = std::move(session);
    found_ = method;
    if (cancelled_) session_->cancel();
  }

  const StereoMethod method_;
  const Size size_;
  const Device device_;
  StereoOptions options_;
  Backend backend_;
  std::mutex mutex_;  // guards session_ and cancelled_: cancel() may be called from another thread
  bool cancelled_ = false;
  std::unique_ptr<Session<Stereo>> session_;  // destroyed before the backend, whose stream it uses
  std::optional<StereoMethod> found_;
  bool known_ = false;  // whether a non-blank pair has determined the number
};

}  // namespace parafield
