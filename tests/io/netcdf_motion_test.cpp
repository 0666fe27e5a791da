// SPDX-License-Identifier: MIT
// Motion in NetCDF files.
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>

#include "io/netcdf_files.hpp"
#include "not_finite.hpp"

namespace parafield {
namespace {

FlowField flow_field(Size size) {
  FlowField flow(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      flow.u(x, y) = float(x) / 4;
      flow.v(x, y) = float(y) / 2;
      flow.valid(x, y) = x != 1;
    }
  flow.u(2, 1) = flow.v(2, 1) = nan;
  return flow;
}

TEST_F(NetCdf, MotionIsWritten) {
  const Size size{5, 4};
  const FlowField flow = flow_field(size);
  Image<float> heights(size);
  heights(3, 2) = 7;
  heights(0, 0) = nan;
  const auto path = folder / "motion.nc";
  MotionFile motion(path, size,
                    {.km_per_pixel = 4,
                     .minutes = 10,
                     .start = "2017-09-06T12:00:30Z",
                     .height_unit = "km",
                     .has_heights = true});
  motion.add(flow, heights);
  motion.add(flow, heights);
  EXPECT_FALSE(std::filesystem::exists(path)) << "it is not whole yet";
  motion.close();
  motion.close();
  const std::vector<float> u = read(path, "u"), wind = read(path, "y_wind"), height = read(path, "height");
  ASSERT_EQ(u.size(), 40u);
  for (int i = 0; i < 40; ++i) {
    const int x = i % 5, y = i / 5 % 4;
    const auto at = std::size_t(i);
    EXPECT_EQ(std::isnan(u[at]), x == 2 && y == 1);
    if (std::isnan(u[at])) continue;
    EXPECT_EQ(u[at], flow.u(x, y));
    EXPECT_FLOAT_EQ(wind[at], -flow.v(x, y) * 4000 / 600);
    EXPECT_EQ(std::isnan(height[at]), x == 0 && y == 0);
  }
  EXPECT_EQ(height[13], 7);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST_F(NetCdf, MotionHasErrorBars) {
  const Size size{5, 4};
  FlowField flow = flow_field(size);
  const auto path = folder / "motion.nc";
  MotionFile motion(path, size, {.km_per_pixel = 4, .minutes = 10, .has_bars = true});
  EXPECT_THROW(motion.add(flow), Error) << "the flow has none";
  for (Image<float>* plane : {&flow.covariance.xx, &flow.covariance.xy, &flow.covariance.yy, &flow.outlier})
    *plane = Image<float>(size);
  flow.covariance.xx(3, 2) = 4;
  flow.covariance.yy(3, 2) = 9;
  flow.outlier(3, 2) = 0.25f;
  motion.add(flow);
  motion.close();
  const auto value = [&](const char* name) { return read(path, name)[13]; };
  EXPECT_EQ(value("u_sigma"), 2);
  EXPECT_EQ(value("v_sigma"), 3);
  EXPECT_FLOAT_EQ(value("x_wind_sigma"), 2 * 4000 / 600.0f);
  EXPECT_FLOAT_EQ(value("y_wind_sigma"), 3 * 4000 / 600.0f);
  EXPECT_EQ(value("outlier"), 0.25f);
  EXPECT_TRUE(std::isnan(read(path, "u_sigma")[7])) << "the flow is unknown";
}

TEST_F(NetCdf, MotionIsThatOfItsImage) {
  const Size size{5, 4};
  const auto path = folder / "motion.nc";
  MotionFile motion(path, size, {.minutes = 10, .start = "2017-09-06T12:00", .first_image = 3});
  for (int i = 0; i < 2; ++i) motion.add(flow_field(size));
  motion.close();
  int id = 0, image = 0, time = 0;
  double images[2] = {}, times[2] = {};
  if (!call_netcdf("nc_open", path.c_str(), 0, &id)) GTEST_SKIP() << "libnetcdf.so is not found";
  EXPECT_TRUE(call_netcdf("nc_inq_varid", id, "image", &image) &&
              call_netcdf("nc_get_var_double", id, image, &images[0]));
  EXPECT_TRUE(call_netcdf("nc_inq_varid", id, "time", &time) &&
              call_netcdf("nc_get_var_double", id, time, &times[0]));
  EXPECT_TRUE(call_netcdf("nc_close", id));
  EXPECT_EQ(images[0], 3);
  EXPECT_EQ(images[1], 4);
  EXPECT_EQ(times[0], 20);
  EXPECT_EQ(times[1], 30);
}

TEST_F(NetCdf, MotionFilesAreWholeOrNotThere) {
  const Size size{5, 4};
  const auto path = saved({'k', 'e', 'p', 't'}, "motion.nc");
  {
    MotionFile motion(path, size);
    motion.add(flow_field(size));
  }
  EXPECT_EQ(std::filesystem::file_size(path), 4u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  const auto refused = [&](const MotionFileOptions& options) -> std::string {
    try {
      MotionFile(path, size, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refused({.km_per_pixel = -1}).find("the size of a pixel is -1 km"), std::string::npos);
  EXPECT_NE(refused({.minutes = 5, .start = "yesterday"})
                .find("the start cannot be yesterday; it must be a time in UTC"),
            std::string::npos);
  for (const char* start :
       {"2017-13-06T12:00", "2017-09-06", "2017-09-06T12:00x", "2017-09-06T24:00", "2017-09-06T12:00:61"})
    EXPECT_NE(refused({.minutes = 5, .start = start}).find("the start cannot be"), std::string::npos)
        << start;
  EXPECT_NE(refused({.start = "2017-09-06T12:00"}).find("a start needs the minutes"), std::string::npos);
  EXPECT_NE(refused({.height_unit = "ft", .has_heights = true}).find("it must be m or km"),
            std::string::npos);
  EXPECT_NE(refused({.height_unit = "km"}).find("needs heights"), std::string::npos);
  EXPECT_NE(refused({.first_image = 0}).find("the first image is 0; images are counted from 1"),
            std::string::npos);
  EXPECT_THROW(MotionFile(folder / "no" / "motion.nc", size), Error);
  EXPECT_THROW(MotionFile(folder.path(), size), Error);
  MotionFile motion(path, size);
  EXPECT_THROW(motion.add(flow_field({4, 4})), Error);
  EXPECT_THROW(motion.add(flow_field(size), Image<float>(size).view()), Error);
  motion.close();
  EXPECT_THROW(motion.add(flow_field(size)), Error);
}

/// Writes a file of more than the 64 KiB that the system allows, and ends the program: 0 if the error says
/// why.
[[noreturn]] void write_without_space(const std::filesystem::path& path) {
  const Size size{200, 200};
  FlowField flow(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) flow.u(x, y) = std::sin(float(x * x + y * y));
  bool said = false;
  {
    MotionFile motion(path, size);
    motion.add(flow);
    rlimit limit = {};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit little = {65536, limit.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &little);
    std::signal(SIGXFSZ, SIG_IGN);
    try {
      motion.close();
    } catch (const Error& error) {
      said = std::string(error.what()).find("cannot be written: File too large") != std::string::npos;
    }
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  std::exit(said && !std::filesystem::exists(path) ? 0 : 1);
}

TEST_F(NetCdf, AFullDiskIsAnErrorAndNoCrashAtTheEnd) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(write_without_space(folder / "motion.nc"), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace parafield
