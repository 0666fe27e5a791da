// SPDX-License-Identifier: MIT
#pragma once
#include <netcdf.h>
#include <netcdf_mem.h>

#include <cerrno>
#include <cstdint>
#include <mutex>
#include <string>

#include "core/fail.hpp"

/// The netCDF C library, which is loaded on first use. It brings some forty other libraries, which most
/// programs do not need.
namespace parafield::io {

// clang-format off
#define PF_NETCDF_FUNCTIONS(F)                                                                            \
  F(nc_initialize)                                                                                        \
  F(nc_strerror)                                                                                          \
  F(nc_open_mem)                                                                                          \
  F(nc_create)                                                                                            \
  F(nc_close)                                                                                             \
  F(nc_def_dim)                                                                                           \
  F(nc_def_var)                                                                                           \
  F(nc_def_var_chunking) F(nc_def_var_deflate) F(nc_put_att_text) F(nc_put_att_float) F(nc_put_att_schar) \
      F(nc_enddef) F(nc_put_vara_double) F(nc_put_vara_float) F(nc_put_vara_uchar) F(nc_sync)             \
          F(nc_inq_nvars) F(nc_inq_var) F(nc_inq_varid) F(nc_inq_dim) F(nc_inq_att) F(nc_get_att_text)    \
              F(nc_get_att_string) F(nc_free_string) F(nc_get_att_double) F(nc_get_vara_double)           \
                  F(nc_get_vara_string) F(nc_get_vara_text) F(nc_inq_grps) F(nc_inq_grpname) F(nc_inq_grp_parent)             \
                      F(nc_inq_unlimdims)
// clang-format on

/// The library's functions.
struct Netcdf {
#define PF_MEMBER(name) decltype(&::name) name = nullptr;
  PF_NETCDF_FUNCTIONS(PF_MEMBER)
#undef PF_MEMBER
  std::string why_not;  ///< empty if it is loaded
  /// HDF5's H5Eget_auto2 and H5Eset_auto2: get and set the function that prints the errors of a thread. 0
  /// selects the thread's default error stack. Null if the library comes without HDF5.
  int (*get_printer)(std::int64_t, void** function, void** data) = nullptr;
  int (*set_printer)(std::int64_t, void* function, void* data) = nullptr;

  /// The reason for a status. Reading beyond the end of a file in memory is reported as a lack of permission.
  std::string why(int status) const { return status == EPERM ? "it ends too early" : nc_strerror(status); }
};

const Netcdf& netcdf();
/// Throws Error(unsupported) if the library cannot be loaded.
const Netcdf& loaded_netcdf();

/// Hold this during calls. It lets only one thread call at a time, because the library is not thread-safe. It
/// also keeps HDF5 from printing errors in this thread: the library provokes some errors deliberately, and
/// turns printing off only in the first thread.
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

/// Discards everything that descriptors other than `file` write to its file from now on. Call it before
/// closing a file that is abandoned: HDF5 (1.10) crashes at the end of the program if it could not close a
/// file, for example on a full disk or above the limit of file sizes.
void detach_from_disk(int file);

}  // namespace parafield::io
