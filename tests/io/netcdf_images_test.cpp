// SPDX-License-Identifier: MIT
// Images from NetCDF files, and what is said where the library is absent.
#include <numeric>
#include <thread>

#include "io/netcdf_files.hpp"

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
  EXPECT_NE(error(path).find("several variables; name one of them: C13, C02"), std::string::npos);
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

/// A NetCDF-4 file of an image of 3x4 pixels, whose first row is the southernmost one. Its attributes are
/// strings, as those that h5netcdf writes.
bool write_with_strings(const std::filesystem::path& path) {
  int id = 0, y = 0, x = 0, lat = 0, image = 0;
  const char *north = "degrees_north", *kelvin = "K";
  const double rows[] = {10, 11, 12};
  float values[12];
  std::iota(values, values + 12, 0.0f);
  return call_netcdf("nc_create", path.c_str(), 0x1000, &id) &&
         call_netcdf("nc_def_dim", id, "lat", std::size_t(3), &y) &&
         call_netcdf("nc_def_dim", id, "x", std::size_t(4), &x) &&
         call_netcdf("nc_def_var", id, "lat", 6, 1, std::initializer_list<int>{y}.begin(), &lat) &&
         call_netcdf("nc_def_var", id, "image", 5, 2, std::initializer_list<int>{y, x}.begin(), &image) &&
         call_netcdf("nc_put_att_string", id, lat, "units", std::size_t(1), &north) &&
         call_netcdf("nc_put_att_string", id, image, "units", std::size_t(1), &kelvin) &&
         call_netcdf("nc_enddef", id) && call_netcdf("nc_put_var_double", id, lat, &rows[0]) &&
         call_netcdf("nc_put_var_float", id, image, &values[0]) && call_netcdf("nc_close", id);
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

TEST(NetCdfAbsent, IsSaid) {
  if (why_no_netcdf().empty()) GTEST_SKIP() << "it is here";
  EXPECT_THROW(MotionFile("motion.nc", {4, 3}), Error);
  EXPECT_THROW(io::decode_frame(file(two_images, {})), Error);
}

}  // namespace
}  // namespace parafield
