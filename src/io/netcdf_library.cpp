// SPDX-License-Identifier: MIT
#include "parafield/netcdf.hpp"

#ifdef PARAFIELD_HAS_NETCDF
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "io/netcdf_library.hpp"

namespace parafield {
namespace io {
namespace {

Netcdf load() {
  Netcdf all;
  void* const library = ::dlopen(PARAFIELD_NETCDF_NAME, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    all.why_not = text("NetCDF needs a library that cannot be loaded: ", ::dlerror());
    return all;
  }
#define PF_FIND(name)                                                      \
  all.name = reinterpret_cast<decltype(&::name)>(::dlsym(library, #name)); \
  if (!all.name) all.why_not = text("NetCDF: ", PARAFIELD_NETCDF_NAME, " has no ", #name);
  PF_NETCDF_FUNCTIONS(PF_FIND)
#undef PF_FIND
  if (!all.why_not.empty()) return all;
  // nc_initialize() turns off HDF5's error printing in this thread, and the program's own netCDF calls rely
  // on that. It must run before any NetcdfCalls, which would turn printing on again when they end.
  if (const int status = all.nc_initialize()) all.why_not = text("NetCDF: ", all.why(status));
  all.get_printer = reinterpret_cast<decltype(all.get_printer)>(::dlsym(library, "H5Eget_auto2"));
  all.set_printer = reinterpret_cast<decltype(all.set_printer)>(::dlsym(library, "H5Eset_auto2"));
  return all;
}

std::mutex& mutex() {
  static std::mutex one;
  return one;
}

/// Opens a file that absorbs discarded writes; -1 on failure. A file in memory also obeys the limit of file
/// sizes. /dev/null does not, but it cannot be truncated, which HDF5 does after it failed to write a plane
/// above 64 MiB; in that case HDF5 still crashes.
int open_sink() {
  rlimit limit = {};
  const bool limited = ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? ::open("/dev/null", O_RDWR | O_CLOEXEC) : ::memfd_create("parafield", MFD_CLOEXEC);
}

}  // namespace

const Netcdf& netcdf() {
  static const Netcdf all = load();
  return all;
}

const Netcdf& loaded_netcdf() {
  if (!netcdf().why_not.empty()) fail(ErrorCode::unsupported, netcdf().why_not);
  return netcdf();
}

NetcdfCalls::NetcdfCalls() : lock_(mutex()) {
  const Netcdf& nc = netcdf();
  quiet_ = nc.get_printer && nc.set_printer && nc.get_printer(0, &printer_, &data_) >= 0 &&
           nc.set_printer(0, nullptr, nullptr) >= 0;
}

NetcdfCalls::~NetcdfCalls() {
  if (quiet_) netcdf().set_printer(0, printer_, data_);
}

void detach_from_disk(int file) {
  struct stat same = {};
  if (::fstat(file, &same) != 0) return;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", none)) {
    struct stat one = {};
    const int descriptor = std::atoi(entry.path().filename().c_str());
    if (descriptor == file || ::fstat(descriptor, &one) != 0) continue;
    if (one.st_dev != same.st_dev || one.st_ino != same.st_ino) continue;
    const int sink = open_sink();
    if (sink < 0) return;
    ::dup3(sink, descriptor, O_CLOEXEC);
    ::close(sink);
  }
}

}  // namespace io

std::string why_no_netcdf() { return io::netcdf().why_not; }

}  // namespace parafield
#else
namespace parafield {

std::string why_no_netcdf() {
  return "parafield was built without NetCDF, which needs the netCDF C library (Debian: libnetcdf-dev)";
}

}  // namespace parafield
#endif
