// SPDX-License-Identifier: MIT
#include "serve/jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "parafield/detail/text.hpp"

namespace parafield::command {

using Lock = std::unique_lock<std::mutex>;

static void fail_cancelled() { throw Error(ErrorCode::cancelled, "the request was cancelled"); }

ServeJobs::Job::Job(ServeJobs& jobs, const std::string& name) : jobs_(jobs), name_(name) {
  const auto is_letter = [](unsigned char c) { return std::isalnum(c) || c == '-'; };
  if (name.size() > 40 || !std::ranges::all_of(name, is_letter))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("job: {} is not a word of up to 40 letters, digits and -", detail::quoted(name)));
  const Lock lock(jobs_.mutex_);
  if (int(jobs_.jobs_.size()) >= most)
    throw Busy{fmt::format("the server works on {} requests; it takes no more until one has ended", most)};
  if (!name.empty() && jobs_.find(name))
    throw Error(ErrorCode::invalid_argument, fmt::format("job: {} is in use", name));
  jobs_.jobs_.push_back(this);
}

ServeJobs::Job::~Job() {
  const Lock lock(jobs_.mutex_);
  std::erase(jobs_.jobs_, this);
  if (has_turn_) jobs_.taken_ = false;
  jobs_.turn_.notify_all();
}

void ServeJobs::Job::say(const char* doing, double share) {
  const Lock lock(jobs_.mutex_);
  doing_ = doing;
  share_ = share;
}

void ServeJobs::Job::check() {
  const Lock lock(jobs_.mutex_);
  if (cancelled_) fail_cancelled();
}

void ServeJobs::Job::await_turn() {
  Lock lock(jobs_.mutex_);
  doing_ = "waiting";
  jobs_.turn_.wait(lock, [&] { return !jobs_.taken_ || cancelled_; });
  if (cancelled_) fail_cancelled();
  jobs_.taken_ = has_turn_ = true;
}

void ServeJobs::Job::set_stop(std::function<void()> stop) {
  const Lock lock(jobs_.mutex_);
  stop_ = std::move(stop);
  if (stop_ && cancelled_) stop_();
}

ServeJobs::Job* ServeJobs::find(const std::string& name) const {
  const auto job = std::ranges::find(jobs_, name, &Job::name_);
  return job == jobs_.end() || name.empty() ? nullptr : *job;
}

Json ServeJobs::progress(const std::string& name) {
  const Lock lock(mutex_);
  const Job* const job = find(name);
  if (!job) return nullptr;
  return {{"doing", job->doing_}, {"share", job->share_}};
}

bool ServeJobs::cancel(const std::string& name) {
  const Lock lock(mutex_);
  Job* const job = find(name);
  if (!job) return false;
  job->cancelled_ = true;
  if (job->stop_) job->stop_();
  turn_.notify_all();
  return true;
}

}  // namespace parafield::command
