// SPDX-License-Identifier: MIT
#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace parafield::command {
namespace {

constexpr double long_seconds = 1;     // shorter work shows no progress
constexpr double least_seconds = 0.1;  // between updates of the line

}  // namespace

std::string duration_text(double seconds) {
  const long whole = long(seconds + 0.5);
  return whole < 60 ? fmt::format("{} s", whole) : fmt::format("{} min {} s", whole / 60, whole % 60);
}

ProgressLine::ProgressLine(bool wanted) : wanted_(wanted && isatty(STDERR_FILENO)) {}

void ProgressLine::begin(const std::string& work) {
  end();
  work_ = work;
  begin_ = Clock::now();
  works_ = true;
}

double ProgressLine::elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

void ProgressLine::update(double share) {
  if (!wanted_ || !works_ || share <= 0) return;
  const double seconds = elapsed(), left = seconds / share - seconds;
  if (shown_ == 0 ? seconds + left < long_seconds : seconds < shown_at_ + least_seconds) return;
  shown_at_ = seconds;
  show(fmt::format("{}: {:3.0f} %, {} left", work_, 100 * share, duration_text(left)));
}

void ProgressLine::count(int done, const char* things) {
  if (!wanted_ || !works_ || elapsed() < long_seconds) return;
  show(fmt::format("{}: {} {}, {:.1f} a second", work_, done, things, done / elapsed()));
}

void ProgressLine::say(const std::string& text) {
  if (wanted_ && works_ && elapsed() >= long_seconds) show(text);
}

std::function<void(double)> ProgressLine::callback() {
  if (!wanted_) return {};
  return [this](double share) { update(share); };
}

void ProgressLine::announce(const std::string& work, double seconds) {
  end();
  if (wanted_ && seconds > long_seconds) show(fmt::format("{}: about {}", work, duration_text(seconds)));
}

void ProgressLine::end() {
  works_ = false;
  if (shown_ == 0) return;
  show("");
  std::fputc('\r', stderr);
  std::fflush(stderr);
}

void ProgressLine::show(const std::string& text) {
  std::fprintf(stderr, "\r%-*s", int(shown_), text.c_str());  // spaces erase the rest of a longer line
  std::fflush(stderr);
  shown_ = text.size();
}

}  // namespace parafield::command
