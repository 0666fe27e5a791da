// SPDX-License-Identifier: MIT
#pragma once
#include <netcdf.h>
#include <netcdf_mem.h>

#include <cstdint>
#include <mutex>
#include <string>

#include "core/fail.hpp"

/// The netCDF C library. It is loaded when it is used: it brings some forty other libraries, which most
/// programs do not need.
namespace parafield::io {

#define PF_NETCDF_FUNCTIONS(F)                                                                              \
  F(nc_initialize)                                                                                          \
  F(nc_strerror) F(nc_open_mem) F(nc_create) F(nc_close) F(nc_def_dim) F(nc_def_var) F(nc_def_var_chunking) \
      F(nc_def_var_deflate) F(nc_put_att_text) F(nc_put_att_float) F(nc_put_att_schar) F(nc_enddef)         \
          F(nc_put_vara_double) F(nc_put_vara_float) F(nc_put_vara_uchar) F(nc_sync) F(nc_inq_nvars)        \
              F(nc_inq_var) F(nc_inq_varid) F(nc_inq_dim) F(nc_inq_att) F(nc_get_att_text)                  \
                  F(nc_get_att_string) F(nc_free_string) F(nc_get_att_double) F(nc_get_vara_double)

/// Its functions.
struct Netcdf {
#define PF_MEMBER(name) decltype(&::name) name = nullptr;
  PF_NETCDF_FUNCTIONS(PF_MEMBER)
#undef PF_MEMBER
  std::string why_not;  ///< empty if it is loaded
  /// H5Eget_auto2 and H5Eset_auto2 of HDF5: what prints the errors of a thread. 0 names the thread's own
  /// errors. Null where the library comes without HDF5.
  int (*get_printer)(std::int64_t, void** function, void** data) = nullptr;
  int (*set_printer)(std::int64_t, void* function, void* data) = nullptr;

  std::string why(int status) const { return nc_strerror(status); }
};

const Netcdf& netcdf();
/// Throws Error(unsupported) where it cannot be loaded.
const Netcdf& loaded_netcdf();

/// Held by calls. One thread calls at a time, since the library has no threads. Meanwhile HDF5 prints no
/// errors in it: the library expects some, and turns printing off in the first thread alone.
class NetcdfCalls {
 public:
  NetcdfCalls();
  ~NetcdfCalls();
  NetcdfCalls(const NetcdfCalls&) = delete;
  NetcdfCalls& operator=(const NetcdfCalls&) = delete;

 private:
  const std::lock_guard<std::mutex> lock_;
  bool quiet_ = false;
  void *printer_ = nullptr, *data_ = nullptr;
};

/// What other descriptors than `file` write to its file is lost from now on. Call it before a file that is
/// given up is closed: HDF5 (1.10) crashes at the end of a program where it could not close one, as on a full
/// disk or above the limit of file sizes.
void detach_from_disk(int file);

}  // namespace parafield::io
