// SPDX-License-Identifier: MIT
// The functions of the C interface about the library itself: version, errors, devices, methods.
#include "c/call.hpp"
#include "c/json.hpp"
#include "parafield/detection.hpp"
#include "parafield/device.hpp"
#include "parafield/flow.hpp"
#include "parafield/stereo.hpp"
#include "parafield/version.hpp"

namespace parafield::c {
namespace {

constexpr std::size_t longest_error = 1023;
thread_local char error_text[longest_error + 1] = "";

template <class Methods>
std::string methods_of() {
  std::vector<std::string> list;
  for_each_method<Methods>([&]<class Method>(const Method& method) {
    std::vector<std::string> all;
    for (const auto& preset : presets(method))
      all.push_back(object({{"name", json(preset.name)},
                            {"help", json(preset.help)},
                            {"parameters", parameters_of(preset.method)}}));
    list.push_back(object({{"name", json(Method::name)},
                           {"help", json(Method::help)},
                           {"source", json(Method::source)},
                           {"frames", json(int(method.frames))},
                           {"parameters", descriptions_of(method)},
                           {"presets", array(all)}}));
  });
  return array(list);
}

template <class Task>
std::string task_json() {
  return object({{"methods", methods_of<typename Task::Method>()},
                 {"options", descriptions_of(typename Task::Options{})}});
}

}  // namespace

parafield_code code_of(ErrorCode code) noexcept { return parafield_code(code) + PARAFIELD_INVALID_ARGUMENT; }
static_assert(int(ErrorCode::invalid_argument) + PARAFIELD_INVALID_ARGUMENT == PARAFIELD_INVALID_ARGUMENT &&
              int(ErrorCode::format) + PARAFIELD_INVALID_ARGUMENT == PARAFIELD_FORMAT &&
              int(ErrorCode::unsupported) + PARAFIELD_INVALID_ARGUMENT == PARAFIELD_UNSUPPORTED &&
              int(ErrorCode::file) + PARAFIELD_INVALID_ARGUMENT == PARAFIELD_FILE &&
              int(ErrorCode::device) + PARAFIELD_INVALID_ARGUMENT == PARAFIELD_DEVICE &&
              int(ErrorCode::memory) + PARAFIELD_INVALID_ARGUMENT == PARAFIELD_MEMORY &&
              int(ErrorCode::cancelled) + PARAFIELD_INVALID_ARGUMENT == PARAFIELD_CANCELLED);

parafield_code keep_error(parafield_code code, const char* text) noexcept {
  std::size_t length = std::min(std::strlen(text), longest_error);
  if (text[length])  // cut before a character that does not fit
    while (length > 0 && (text[length] & 0xc0) == 0x80) --length;
  std::memmove(error_text, text, length);
  error_text[length] = 0;
  return code;
}

}  // namespace parafield::c

using namespace parafield;
using namespace parafield::c;

const char* parafield_version() { return version(); }

const char* parafield_error_text() { return c::error_text; }

parafield_code parafield_devices(char* text, size_t capacity, size_t* length) {
  return guarded([&] {
    std::vector<std::string> list;
    for (const DeviceInfo& info : devices())
      list.push_back(
          object({{"device", json(to_string(info.device))},
                  {"device_name", json(info.name)},
                  {"instruction_set", json(info.instruction_set)},
                  {info.device.kind == Device::Kind::cpu ? "threads" : "multiprocessors", json(info.threads)},
                  {"memory_bytes", json(info.memory)}}));
    const std::string no_cuda = why_no_cuda();
    write_text(object({{"devices", array(list)}, {"why_no_cuda", no_cuda.empty() ? "null" : json(no_cuda)}}),
               text, capacity, length);
  });
}

parafield_code parafield_methods(char* text, size_t capacity, size_t* length) {
  return guarded([&] {
    write_text(object({{"flow", task_json<Flow>()},
                       {"stereo", task_json<Stereo>()},
                       {"detection", task_json<Detection>()}}),
               text, capacity, length);
  });
}

parafield_code parafield_start(const char* device) {
  return guarded([&] { start(parse_device(&given(device, "the name of the device"))); });
}

parafield_code parafield_wait_for(const char* device, void* waiting, void* awaited) {
  return guarded(
      [&] { wait_for(parse_device(&given(device, "the name of the device")), {waiting}, {awaited}); });
}
