// SPDX-License-Identifier: MIT
#pragma once
#include <netcdf.h>
#include <netcdf_mem.h>

#include <mutex>
#include <string>

#include "core/fail.hpp"

/// The netCDF C library. It is loaded when it is used: it brings some forty other libraries, which most
/// programs do not need.
namespace parafield::io {

#define PF_NETCDF_FUNCTIONS(F)                                                                          \
  F(nc_strerror)                                                                                        \
  F(nc_open_mem) F(nc_create) F(nc_close) F(nc_def_dim) F(nc_def_var) F(nc_def_var_chunking)            \
      F(nc_def_var_deflate) F(nc_put_att_text) F(nc_put_att_float) F(nc_put_att_schar) F(nc_enddef)     \
          F(nc_put_vara_double) F(nc_put_vara_float) F(nc_put_vara_uchar) F(nc_inq_nvars) F(nc_inq_var) \
              F(nc_inq_varid) F(nc_inq_dim) F(nc_inq_att) F(nc_get_att_text) F(nc_get_att_double)       \
                  F(nc_get_vara_double)

/// Its functions.
struct Netcdf {
#define PF_MEMBER(name) decltype(&::name) name = nullptr;
  PF_NETCDF_FUNCTIONS(PF_MEMBER)
#undef PF_MEMBER
  std::string why_not;  ///< empty if it is loaded

  std::string why(int status) const { return nc_strerror(status); }
};

const Netcdf& netcdf();
/// Throws Error(unsupported) where it cannot be loaded.
const Netcdf& loaded_netcdf();
/// Held by calls: the library has no threads.
std::mutex& netcdf_mutex();

}  // namespace parafield::io
