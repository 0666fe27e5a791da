// SPDX-License-Identifier: MIT
#pragma once
#include <dlfcn.h>

#include <cmath>
#include <optional>

#include "io/folder.hpp"
#include "io/formats.hpp"
#include "io/frame_reader.hpp"
#include "io/netcdf_bytes.hpp"
#include "parafield/io.hpp"
#include "parafield/netcdf.hpp"

namespace parafield {

/// Tests of NetCDF files in a folder of their own. They are skipped where the netCDF library is absent.
class NetCdf : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_netcdf(); !why.empty()) GTEST_SKIP() << why;
  }
  std::filesystem::path saved(const netcdf_bytes::Bytes& bytes, const char* name = "images.nc") const {
    std::ofstream(folder / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
    return folder / name;
  }
  /// All values of all frames.
  std::vector<float> read(const std::filesystem::path& path, const std::string& variable = {},
                          const std::string& level = {}) const {
    FrameReader reader(path, {variable, level});
    std::vector<float> values;
    while (const std::optional<FrameBuffer> frame = reader.next()) {
      EXPECT_EQ(frame->format(), PixelFormat::gray_f32);
      for (int y = 0; y < frame->size().height; ++y) {
        const auto* const row = static_cast<const float*>(frame->row(y));
        values.insert(values.end(), row, row + frame->size().width);
      }
    }
    return values;
  }
  std::string error(const std::filesystem::path& path, const std::string& variable = {},
                    const std::string& level = {}) const {
    try {
      read(path, variable, level);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  const Folder folder;
};

/// Calls a function of the netCDF library, and whether it succeeds.
template <class... Values>
bool call_netcdf(const char* name, Values... values) {
  static void* const library = ::dlopen("libnetcdf.so", RTLD_NOW | RTLD_LOCAL);
  void* const found = library ? ::dlsym(library, name) : nullptr;
  return found && reinterpret_cast<int (*)(Values...)>(found)(values...) == 0;
}

}  // namespace parafield
