// SPDX-License-Identifier: MIT
// Images from NetCDF files, and motion in them.
#include "parafield/netcdf.hpp"

#include <dlfcn.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "io/folder.hpp"
#include "io/formats.hpp"
#include "io/netcdf_bytes.hpp"
#include "parafield/io.hpp"

namespace parafield {
namespace {

using namespace netcdf_bytes;

const float nan = std::nanf("");

/// Dimensions of two images of 3x4 pixels (rows x columns).
const std::vector<Dimension> two_images = {{"time", 2}, {"y", 3}, {"x", 4}};

std::vector<double> counted(int count, double first = 0) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

class NetCdf : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_netcdf(); !why.empty()) GTEST_SKIP() << why;
  }
  std::filesystem::path saved(const Bytes& bytes, const char* name = "images.nc") const {
    std::ofstream(folder / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
    return folder / name;
  }
  /// All values of all frames.
  std::vector<float> read(const std::filesystem::path& path, const std::string& variable = {}) const {
    FrameReader reader(path, variable);
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
  std::string error(const std::filesystem::path& path, const std::string& variable = {}) const {
    try {
      read(path, variable);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  const Folder folder;
};

void expect_same(const std::vector<float>& found, const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_TRUE(found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i])))
        << i << ": " << found[i] << ", expected " << expected[i];
}

TEST_F(NetCdf, SequencesAndImages) {
  for (const Type type : {byte_type, short_type, int_type, float_type, double_type}) {
    const auto path = saved(
        file(two_images, {{"time", {0}, double_type, {0, 15}}, {"image", {0, 1, 2}, type, counted(24)}}));
    std::vector<float> expected(24);
    std::iota(expected.begin(), expected.end(), 0.0f);
    expect_same(read(path), expected);
    EXPECT_EQ(error(path, "time").substr(folder.path().string().size()),
              "/images.nc: a NetCDF file without images in the variable time; it has image");
  }
  const auto path = saved(file({{"y", 3}, {"x", 4}}, {{"image", {0, 1}, float_type, counted(12)}}));
  EXPECT_EQ(read_frame(path).size(), (Size{4, 3}));
  const auto many = saved(file(two_images, {{"image", {0, 1, 2}, float_type, counted(24)}}));
  try {
    read_frame(many);
    ADD_FAILURE() << "two images are not one";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("holds more than one frame"), std::string::npos);
  }
}

TEST_F(NetCdf, PackedAndMissingValues) {
  const std::vector<Dimension> plane = {{"y", 3}, {"x", 3}};
  const Variable packed{"CMI",
                        {0, 1},
                        short_type,
                        {0, 1, 2, -1, -2, -32768, 100, 32767, 5},
                        {{"_Unsigned", "true"},
                         {"scale_factor", std::vector<double>{0.5}},
                         {"add_offset", std::vector<double>{10}},
                         {"_FillValue", std::vector<double>{-1}},
                         {"valid_range", std::vector<double>{1, -2}}}};
  expect_same(read(saved(file(plane, {packed}))), {nan, 10.5f, 11, nan, 32777, 16394, 60, 16393.5f, 12.5f});
  const Variable floats{"image",
                        {0, 1},
                        float_type,
                        {0, 1, -5, 1e37, 3, -999, 6, 7, 8},
                        {{"missing_value", std::vector<double>{-999, 3}},
                         {"valid_min", std::vector<double>{-2}},
                         {"valid_max", std::vector<double>{7}}}};
  expect_same(read(saved(file(plane, {floats}))), {0, 1, nan, nan, nan, nan, 6, 7, nan});
}

TEST_F(NetCdf, TheVariableIsFoundOrNamed) {
  const std::vector<Dimension> dimensions = {{"y", 3}, {"x", 4}, {"ends", 2}};
  const std::vector<double> values = counted(12);
  const std::vector<Variable> others = {{"lat", {0, 1}, float_type, values, {{"units", "degrees_north"}}},
                                        {"DQF", {0, 1}, byte_type, values, {{"flag_meanings", "good bad"}}},
                                        {"bounds", {0, 2}, float_type, counted(6)}};
  std::vector<Variable> variables = others;
  EXPECT_NE(error(saved(file(dimensions, variables)))
                .find("a NetCDF file without a variable of images; groups in it are not searched"),
            std::string::npos);
  variables.push_back({"C13", {0, 1}, float_type, values});
  expect_same(read(saved(file(dimensions, variables))), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  variables.push_back({"C02", {0, 1}, float_type, counted(12, 100)});
  const auto path = saved(file(dimensions, variables));
  EXPECT_NE(error(path).find("several variables; one has to be named: C13, C02"), std::string::npos);
  EXPECT_EQ(read(path, "C02")[0], 100);
  EXPECT_NE(error(path, "C14").find("without images in the variable C14; it has C13, C02"),
            std::string::npos);
  const auto deep = saved(file({{"time", 2}, {"level", 2}, {"y", 3}, {"x", 3}},
                               {{"image", {0, 1, 2, 3}, byte_type, counted(36)}}));
  EXPECT_NE(error(deep).find("images have rows, columns and, before them, time"), std::string::npos);
  const auto flat = saved(file({{"band", 1}, {"time", 2}, {"y", 3}, {"x", 3}},
                               {{"image", {0, 1, 2, 3}, byte_type, counted(18)}}));
  EXPECT_EQ(read(flat)[17], 17);
}

TEST_F(NetCdf, TheNorthernmostRowComesFirst) {
  const auto first = [&](const char* attribute, const char* value, std::vector<double> rows) {
    return read(saved(file({{"lat", 3}, {"lon", 4}}, {{"lat", {0}, double_type, rows, {{attribute, value}}},
                                                      {"image", {0, 1}, float_type, counted(12)}})))[0];
  };
  EXPECT_EQ(first("units", "degrees_north", {10, 11, 12}), 8);
  EXPECT_EQ(first("standard_name", "latitude", {10, 11, 12}), 8);
  EXPECT_EQ(first("standard_name", "projection_y_coordinate", {10, 11, 12}), 8);
  EXPECT_EQ(first("units", "degrees_north", {12, 11, 10}), 0);
  EXPECT_EQ(first("units", "1", {10, 11, 12}), 0) << "a number of rows";
  const auto packed = [&](double scale) {  // as the coordinates of GOES-R
    return read(saved(file({{"y", 3}, {"x", 4}}, {{"y",
                                                   {0},
                                                   short_type,
                                                   {0, 1, 2},
                                                   {{"standard_name", "projection_y_coordinate"},
                                                    {"scale_factor", std::vector<double>{scale}},
                                                    {"add_offset", std::vector<double>{0.15}}}},
                                                  {"image", {0, 1}, float_type, counted(12)}})))[0];
  };
  EXPECT_EQ(packed(-5.6e-5), 0);
  EXPECT_EQ(packed(5.6e-5), 8);
}

TEST_F(NetCdf, UnitsOfPlacesHaveSeveralSpellings) {
  for (const char* unit : {"degree_north", "degrees_N", "degree_N", "degreesN", "degreeN"})
    EXPECT_EQ(
        read(saved(file({{"lat", 3}, {"lon", 4}},
                        {{"lat", {0}, double_type, {10, 11, 12}, {{"units", unit}}},
                         {"image", {0, 1}, float_type, counted(12), {{"units", "degrees_Celsius"}}}})))[0],
        8)
        << unit;
}

TEST_F(NetCdf, OtherOrdersOfDimensionsAreErrors) {
  const Variable time{"time", {0}, double_type, {0, 1, 2}, {{"units", "minutes since 2020-01-01"}}},
      lat{"lat", {1}, double_type, {10, 11, 12}, {{"units", "degrees_north"}}},
      lon{"lon", {2}, double_type, {1, 2, 3}, {{"units", "degrees_east"}}};
  const auto of = [&](std::vector<std::uint32_t> order) {
    return saved(file({{"time", 3}, {"lat", 3}, {"lon", 3}},
                      {time, lat, lon, {"rain", std::move(order), float_type, counted(27)}}));
  };
  EXPECT_EQ(error(of({0, 1, 2})), "");
  EXPECT_NE(
      error(of({0, 2, 1}))
          .find("the variable rain is by time, lon, lat; images are by time, latitude (rows) and longitude"),
      std::string::npos);
  EXPECT_NE(error(of({1, 2, 0})).find("the variable rain is by lat, lon, time;"), std::string::npos);
  EXPECT_NE(error(of({1, 0, 2})).find("the variable rain is by lat, time, lon;"), std::string::npos);
}

/// Calls a function of the netCDF library, and whether it succeeds.
template <class... Values>
bool call(const char* name, Values... values) {
  static void* const library = ::dlopen("libnetcdf.so", RTLD_NOW | RTLD_LOCAL);
  void* const found = library ? ::dlsym(library, name) : nullptr;
  return found && reinterpret_cast<int (*)(Values...)>(found)(values...) == 0;
}

/// A NetCDF-4 file of an image of 3x4 pixels, whose first row is the southernmost one. Its attributes are
/// strings, as those that h5netcdf writes.
bool write_with_strings(const std::filesystem::path& path) {
  int id = 0, y = 0, x = 0, lat = 0, image = 0;
  const char *north = "degrees_north", *kelvin = "K";
  const double rows[] = {10, 11, 12};
  float values[12];
  std::iota(values, values + 12, 0.0f);
  return call("nc_create", path.c_str(), 0x1000, &id) && call("nc_def_dim", id, "lat", std::size_t(3), &y) &&
         call("nc_def_dim", id, "x", std::size_t(4), &x) &&
         call("nc_def_var", id, "lat", 6, 1, std::initializer_list<int>{y}.begin(), &lat) &&
         call("nc_def_var", id, "image", 5, 2, std::initializer_list<int>{y, x}.begin(), &image) &&
         call("nc_put_att_string", id, lat, "units", std::size_t(1), &north) &&
         call("nc_put_att_string", id, image, "units", std::size_t(1), &kelvin) && call("nc_enddef", id) &&
         call("nc_put_var_double", id, lat, &rows[0]) && call("nc_put_var_float", id, image, &values[0]) &&
         call("nc_close", id);
}

TEST_F(NetCdf, AttributesMayBeStrings) {
  const auto path = folder / "strings.nc";
  if (!write_with_strings(path)) GTEST_SKIP() << "libnetcdf.so is not found or writes no NetCDF-4";
  expect_same(read(path), {8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3});
}

TEST_F(NetCdf, NothingIsPrintedInOtherThreads) {
  const auto path = folder / "strings.nc";
  if (!write_with_strings(path)) GTEST_SKIP() << "libnetcdf.so is not found or writes no NetCDF-4";
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i) std::thread([&] { read(path); }).join();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(NetCdf, DamagedFilesAreErrors) {
  const Bytes whole =
      file(two_images,
           {{"time", {0}, double_type, {0, 15}},
            {"image", {0, 1, 2}, short_type, counted(24), {{"scale_factor", std::vector<double>{0.5}}}}});
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_THROW(read(saved(Bytes(whole.begin(), whole.begin() + std::ptrdiff_t(length)))), Error) << length;
  EXPECT_NE(error(saved(Bytes{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n', 0, 0, 0, 0})).find("damaged"),
            std::string::npos);
  EXPECT_EQ(error("/dev/null").substr(0, 9), "/dev/null");
}

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

TEST_F(NetCdf, MotionIsThatOfItsImage) {
  const Size size{5, 4};
  const auto path = folder / "motion.nc";
  MotionFile motion(path, size, {.minutes = 10, .start = "2017-09-06T12:00", .first_image = 3});
  for (int i = 0; i < 2; ++i) motion.add(flow_field(size));
  motion.close();
  int id = 0, image = 0, time = 0;
  double images[2] = {}, times[2] = {};
  if (!call("nc_open", path.c_str(), 0, &id)) GTEST_SKIP() << "libnetcdf.so is not found";
  EXPECT_TRUE(call("nc_inq_varid", id, "image", &image) && call("nc_get_var_double", id, image, &images[0]));
  EXPECT_TRUE(call("nc_inq_varid", id, "time", &time) && call("nc_get_var_double", id, time, &times[0]));
  EXPECT_TRUE(call("nc_close", id));
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
                .find("the start cannot be yesterday; it is a time in UTC"),
            std::string::npos);
  for (const char* start :
       {"2017-13-06T12:00", "2017-09-06", "2017-09-06T12:00x", "2017-09-06T24:00", "2017-09-06T12:00:61"})
    EXPECT_NE(refused({.minutes = 5, .start = start}).find("the start cannot be"), std::string::npos)
        << start;
  EXPECT_NE(refused({.start = "2017-09-06T12:00"}).find("a start needs the minutes"), std::string::npos);
  EXPECT_NE(refused({.height_unit = "ft", .has_heights = true}).find("it is m or km"), std::string::npos);
  EXPECT_NE(refused({.height_unit = "km"}).find("needs heights"), std::string::npos);
  EXPECT_NE(refused({.first_image = 0}).find("the first image is 0; images count from 1"), std::string::npos);
  EXPECT_THROW(MotionFile(folder / "no" / "motion.nc", size), Error);
  EXPECT_THROW(MotionFile(folder.path(), size), Error);
  MotionFile motion(path, size);
  EXPECT_THROW(motion.add(flow_field({4, 4})), Error);
  EXPECT_THROW(motion.add(flow_field(size), Image<float>(size).view()), Error);
  motion.close();
  EXPECT_THROW(motion.add(flow_field(size)), Error);
}

/// Writes a file of more than the 64 KiB that the system allows, and ends the program: 0 if the error says why.
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

TEST(NetCdfAbsent, IsSaid) {
  if (why_no_netcdf().empty()) GTEST_SKIP() << "it is here";
  EXPECT_THROW(MotionFile("motion.nc", {4, 3}), Error);
  EXPECT_THROW(io::decode_frame(file(two_images, {})), Error);
}

}  // namespace
}  // namespace parafield
