// SPDX-License-Identifier: MIT
#include "parafield/device.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "core/backend.hpp"
#include "core/cpu/processor_name.hpp"
#include "parafield/method.hpp"

namespace parafield {
namespace {

const char* instruction_set_in_use() {
  return with_backend(Device::cpu(), []<class Backend>() -> const char* {
    if constexpr (requires { Backend::instruction_set; })
      return to_string(compiled_for(Backend(Device::cpu(1), {})));
    return "";
  });
}

DeviceInfo describe_cpu() {
  const std::size_t memory = std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGE_SIZE));
  const int threads = int(std::max(1u, std::thread::hardware_concurrency()));
  return {Device::cpu(), processor_name(), instruction_set_in_use(), threads, memory};
}

}  // namespace

Device Device::best() { return cuda::device_count() > 0 ? Device::cuda(0) : Device::cpu(); }

std::string to_string(const Device& device) {
  return device.kind == Device::Kind::cpu ? "cpu" : text("cuda:", device.index);
}

Device parse_device(const std::string& name, int threads) {
  if (threads < 0)
    fail(ErrorCode::invalid_argument, "threads cannot be ", threads, "; 0 = one for each core");
  if (name == "cpu" || (name == "auto" && cuda::device_count() == 0)) return Device::cpu(threads);
  if (name == "cuda" || name == "auto") return Device::cuda(0);
  if (int index = -1; name.starts_with("cuda:") && detail::read_value(name.substr(5), index) && index >= 0)
    return Device::cuda(index);
  fail(ErrorCode::invalid_argument, "there is no device '", name, "'; a device is auto, cpu, cuda or cuda:N");
}

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> list = cuda::devices();
  list.insert(list.begin(), describe_cpu());
  return list;
}

DeviceInfo describe_device(const Device& device) {
  if (device.kind == Device::Kind::cpu) {
    DeviceInfo info = describe_cpu();
    info.device = device;
    if (device.threads > 0) info.threads = device.threads;
    return info;
  }
  cuda::require(device.index);
  return cuda::devices()[std::size_t(device.index)];
}

void start(const Device& device) {
  if (device.kind == Device::Kind::cpu) return;
  cuda::release(cuda::allocate(1, device.index), device.index);
}

std::string why_no_cuda() { return cuda::device_count() > 0 ? "" : cuda::why_absent(); }

void wait_for(const Device& device, Stream waiting, Stream awaited) {
  if (device.kind == Device::Kind::cpu) return;
  for (const Stream stream : {waiting, awaited})
    if (!stream.handle)
      fail(ErrorCode::invalid_argument, "a stream of ", to_string(device),
           " cannot be null; cudaStreamLegacy stands for the legacy stream");
  if (waiting.handle != awaited.handle) cuda::wait_for(device.index, waiting.handle, awaited.handle);
}

struct Timer::Impl {
  std::optional<cuda::EventTimer> events;
  std::chrono::steady_clock::time_point begin;
};

Timer::Timer(const Device& device, Stream stream) : impl_(std::make_unique<Impl>()) {
  if (device.kind == Device::Kind::cuda) impl_->events.emplace(device.index, stream.handle);
}
Timer::~Timer() = default;
Timer::Timer(Timer&&) noexcept = default;
Timer& Timer::operator=(Timer&&) noexcept = default;

void Timer::start() {
  if (impl_->events) return impl_->events->start();
  impl_->begin = std::chrono::steady_clock::now();
}

double Timer::stop() {
  if (impl_->events) return impl_->events->stop();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - impl_->begin).count();
}

}  // namespace parafield
