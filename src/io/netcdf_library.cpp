// SPDX-License-Identifier: MIT
#include "parafield/netcdf.hpp"

#ifdef PARAFIELD_HAS_NETCDF
#include <dlfcn.h>

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
  return all;
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

std::mutex& netcdf_mutex() {
  static std::mutex one;
  return one;
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
