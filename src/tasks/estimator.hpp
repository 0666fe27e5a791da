#pragma once
#include "tasks/session.hpp"

namespace parafield {

template <class Task>
struct Estimator<Task>::Impl {
  Method method;
  Size size;
  Device device;
  std::unique_ptr<Session<Task>> session;
};

/// Each task's own: the session of a method on a device.
template <class Task>
std::unique_ptr<Session<Task>> make_session(const typename Task::Method& method, Size size,
                                            const Device& device, Stream stream,
                                            const typename Task::Options& options);

template <class Task>
Estimator<Task>::Estimator(Method method, Size size, Device device, Stream stream, Options options) {
  if (size.width < 1 || size.height < 1)
    fail(ErrorCode::invalid_argument, "frames cannot have ", size.width, "x", size.height, " pixels");
  constexpr int longest_side = 500'000;  // CUDA has 65535 rows of blocks, some of eight pixels
  constexpr std::int64_t most_pixels = std::int64_t(1) << 29;
  if (size.width > longest_side || size.height > longest_side ||
      std::int64_t(size.width) * size.height > most_pixels)
    fail(ErrorCode::invalid_argument, "frames of ", size.width, "x", size.height,
         " pixels are too large: at most ", longest_side, " a side and ", most_pixels, " in all");
  std::visit([](const auto& value) { check(value); }, method);
  impl_ = std::make_unique<Impl>(
      Impl{method, size, device, make_session<Task>(method, size, device, stream, options)});
}
template <class Task>
Estimator<Task>::~Estimator() = default;
template <class Task>
Estimator<Task>::Estimator(Estimator&&) noexcept = default;
template <class Task>
Estimator<Task>& Estimator<Task>::operator=(Estimator&&) noexcept = default;

template <class Task>
auto Estimator<Task>::operator()(const Input& input) -> const Result& {
  return impl_->session->call(input);
}
template <class Task>
auto Estimator<Task>::operator()(const Frame& frame0, const Frame& frame1) -> const Result& {
  const Frame frames[] = {frame0, frame1};
  return impl_->session->call({frames});
}
template <class Task>
auto Estimator<Task>::push(const Frame& frame) -> const Result* requires Task::streams {
  return impl_->session->push(frame);
}
template <class Task>
void Estimator<Task>::reset() {
  impl_->session->reset();
}
template <class Task>
void Estimator<Task>::synchronize() {
  impl_->session->synchronize();
}
template <class Task>
std::vector<double> Estimator<Task>::energies() {
  return impl_->session->energies();
}
template <class Task>
auto Estimator<Task>::method() const -> const Method& {
  return impl_->method;
}
template <class Task>
Size Estimator<Task>::size() const {
  return impl_->size;
}
template <class Task>
Device Estimator<Task>::device() const {
  return impl_->device;
}
template <class Task>
Stream Estimator<Task>::stream() const {
  return impl_->session->stream();
}
template <class Task>
std::size_t Estimator<Task>::workspace_bytes() const {
  return impl_->session->workspace_bytes();
}

}  // namespace parafield
