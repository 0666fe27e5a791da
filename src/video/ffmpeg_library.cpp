// SPDX-License-Identifier: MIT
#include "video/ffmpeg_library.hpp"

extern "C" {
#include <libavdevice/avdevice.h>
}
#include <dlfcn.h>

#include <mutex>

#include "core/fail.hpp"

#define PF_FFMPEG_FILE(name, version) "lib" #name ".so." AV_STRINGIFY(version)

namespace parafield::video {
namespace {

void* load(const char* name) {
  void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail(ErrorCode::unsupported, "videos need FFmpeg, which cannot be loaded: ", ::dlerror());
  return library;
}

/// Finds a function in a library, in the libraries that it depends on, or in `other`.
template <class Function>
Function find(void* library, void* other, const char* name) {
  void* const found = ::dlsym(library, name);
  return reinterpret_cast<Function>(found || !other ? found : ::dlsym(other, name));
}

}  // namespace

void begin_ffmpeg() {
  static std::once_flag once;
  std::call_once(once, [] {
    void* const formats = load(PF_FFMPEG_FILE(avformat, LIBAVFORMAT_VERSION_MAJOR));
    void* const scaling = load(PF_FFMPEG_FILE(swscale, LIBSWSCALE_VERSION_MAJOR));
#define PF_FIND(name)                                      \
  name = find<decltype(&::name)>(formats, scaling, #name); \
  if (!name) fail(ErrorCode::unsupported, "this FFmpeg has no ", #name);
    PF_FFMPEG_FUNCTIONS(PF_FIND)
#undef PF_FIND
    if (av_log_get_level() == AV_LOG_INFO) av_log_set_level(AV_LOG_PANIC);
  });
}

bool begin_filters() {
  static std::once_flag once;
  static bool complete = false;
  std::call_once(once, [] {
    void* const filters =
        ::dlopen(PF_FFMPEG_FILE(avfilter, LIBAVFILTER_VERSION_MAJOR), RTLD_NOW | RTLD_LOCAL);
    complete = filters != nullptr;
#define PF_FIND(name)                                                    \
  if (complete) name = find<decltype(&::name)>(filters, nullptr, #name); \
  complete = complete && name;
    PF_FFMPEG_FILTER_FUNCTIONS(PF_FIND)
#undef PF_FIND
  });
  return complete;
}

void register_devices() {
  static std::once_flag once;
  std::call_once(once, [] {
    void* const devices = load(PF_FFMPEG_FILE(avdevice, LIBAVDEVICE_VERSION_MAJOR));
    const auto all = find<decltype(&::avdevice_register_all)>(devices, nullptr, "avdevice_register_all");
    if (!all) fail(ErrorCode::unsupported, "this FFmpeg has no avdevice_register_all");
    all();
  });
}

}  // namespace parafield::video
