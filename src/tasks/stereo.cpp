// SPDX-License-Identifier: MIT
#include "parafield/stereo.hpp"

#include <algorithm>
#include <mutex>

#include "markov/matching.hpp"
#include "tasks/estimator.hpp"
#include "tasks/refined.hpp"
#include "tasks/stereo_session.hpp"

namespace parafield {
namespace {

/// A stereo session for methods that leave the number of disparities to the images (see Estimator::examine).
/// It forwards calls to an inner session with the number that it has found.
template <class Backend>
class FoundDisparities final : public Session<Stereo> {
 public:
  FoundDisparities(const StereoMethod& method, Size size, const Device& device, const StereoOptions& options)
      : method_(method),
        size_(size),
        device_(device),
        options_(options),
        backend_(device, options.stream),
        found_(method) {
    options_.stream = backend_.stream();
  }

  const DisparityField& call(const StereoInput& input, DisparityField* output) override {
    if (input.frames.size() != 2)
      fail(ErrorCode::invalid_argument, "the method takes 2 frames, not ", input.frames.size());
    return session_for(input.frames[0], input.frames[1]).call(input, output);
  }
  const DisparityField& push(const Frame& left, const Frame& right, DisparityField* output) override {
    return session_for(left, right).push(left, right, output);
  }
  const PairFindings& examine(const Frame& left, const Frame& right) override {
    return decide(checked(left, "left", size_, device_), checked(right, "right", size_, device_));
  }
  void reset() override {
    const std::lock_guard lock(mutex_);
    cancelled_ = false;
    session_.reset();
    found_ = method_;
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
  ValueRange range() const override { return session_ ? session_->range() : ValueRange{}; }
  std::size_t workspace_bytes() const override { return session_ ? session_->workspace_bytes() : 0; }
  const StereoMethod* found() const override { return &found_; }

 private:
  /// Returns the inner session. Examines the pair first, unless a pair has already decided the number.
  Session<Stereo>& session_for(const Frame& left, const Frame& right) {
    if (!known_) decide(checked(left, "frame 0", size_, device_), checked(right, "frame 1", size_, device_));
    if (!session_ || session_disparities_ != energy_of(found_).disparities) {
      std::unique_ptr<Session<Stereo>> session = known_stereo_session(found_, size_, device_, options_);
      const std::lock_guard lock(mutex_);
      session_ = std::move(session);
      session_disparities_ = energy_of(found_).disparities;
      if (cancelled_) session_->cancel();
    }
    return *session_;
  }

  /// Decides the number of disparities from one more pair.
  const PairFindings& decide(const Frame& left, const Frame& right) {
    backend_.synchronize();  // frames on the device may still be pending on the stream
    StereoEnergy& energy = energy_of(found_);
    findings_ = find_disparities(left, right, energy.min_disparity);
    if (known_ && findings_.blank()) return findings_;
    const bool is_first = !known_ && !findings_.blank();
    energy.disparities =
        is_first ? findings_.disparities : std::max(energy.disparities, findings_.disparities);
    known_ = !findings_.blank();
    return findings_;
  }

  const StereoMethod method_;
  const Size size_;
  const Device device_;
  StereoOptions options_;
  Backend backend_;
  std::mutex mutex_;  // guards session_ and cancelled_: cancel() may be called from another thread
  bool cancelled_ = false;
  std::unique_ptr<Session<Stereo>> session_;  // destroyed before the backend, whose stream it uses
  int session_disparities_ = 0;
  StereoMethod found_;     // method_ with the number of disparities found so far
  bool known_ = false;     // whether a pair that is not blank has determined the number
  PairFindings findings_;  // of the last pair examined
};

}  // namespace

std::unique_ptr<Session<Stereo>> known_stereo_session(const StereoMethod& method, Size size,
                                                      const Device& device, const StereoOptions& options) {
  return make_session<Stereo, RefinedDisparities>(method, size, device, options);
}

template <>
std::unique_ptr<Session<Stereo>> task_session<Stereo>(const StereoMethod& method, Size size,
                                                      const Device& device, const StereoOptions& options) {
  if (energy_of(method).disparities > 0) return known_stereo_session(method, size, device, options);
  return with_backend(device, [&]<class Backend>() -> std::unique_ptr<Session<Stereo>> {
    return std::make_unique<FoundDisparities<Backend>>(method, size, device, options);
  });
}

template class Estimator<Stereo>;

DisparityField estimate_disparity(const In<Frame>& left, const In<Frame>& right, const StereoMethod& method,
                                  const StereoOptions& options) {
  return estimate<Stereo>(std::array<Frame, 2>{left, right}, method, options);
}

}  // namespace parafield
