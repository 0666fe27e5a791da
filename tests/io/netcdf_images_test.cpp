// SPDX-License-Identifier: MIT
// Images from NetCDF files, and what is said where the library is absent.
#include <numeric>
#include <thread>

#include "io/netcdf_files.hpp"
#include "not_finite.hpp"

namespace parafield {
namespace {

using namespace netcdf_bytes;

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

TEST_F(NetCdf, AFileThatEndsTooEarlyIsNamed) {
  auto bytes = file(two_images, {{"image", {0, 1, 2}, float_type, counted(24)}});
  const std::size_t whole = bytes.size();
  for (const std::size_t end : {whole - 1, whole - 49}) {
    bytes.resize(end);
    const std::string said = error(saved(bytes));
    EXPECT_TRUE(said.ends_with("it ends too early")) << said;
    EXPECT_NE(said.find(end == whole - 1 ? "frame 2" : "frame 1"), std::string::npos) << said;
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
  const std::vector<double> values = counted(12), north_first(values.rbegin(), values.rend());
  const std::vector<Variable> others = {
      {"lat", {0, 1}, float_type, north_first, {{"units", "degrees_north"}}},
      {"DQF", {0, 1}, byte_type, values, {{"flag_meanings", "good bad"}}},
      {"bounds", {0, 2}, float_type, counted(6)}};
  std::vector<Variable> variables = others;
  EXPECT_NE(error(saved(file(dimensions, variables))).find("a NetCDF file without a variable of images"),
            std::string::npos);
  variables.push_back({"C13", {0, 1}, float_type, values});
  expect_same(read(saved(file(dimensions, variables))), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  variables.push_back({"C02", {0, 1}, float_type, counted(12, 100)});
  const auto path = saved(file(dimensions, variables));
  EXPECT_NE(error(path).find("several variables; name one of them (option variable): C13, C02"),
            std::string::npos);
  EXPECT_EQ(read(path, "C02")[0], 100);
  EXPECT_NE(error(path, "C14").find("without images in the variable C14; it has C13, C02"),
            std::string::npos);
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
  EXPECT_EQ(first("units", "1", {10, 11, 12}), 8) << "known by its name";
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

TEST_F(NetCdf, OrdersOfDimensionsDoNotMatter) {
  const Variable time{"time", {0}, double_type, {0, 1, 2}, {{"units", "minutes since 2020-01-01"}}},
      lat{"lat", {1}, double_type, {10, 11, 12}, {{"units", "degrees_north"}}},
      lon{"lon", {2}, double_type, {1, 2, 3}, {{"units", "degrees_east"}}};
  // The value at (time, lat, lon) is 100 time + 10 lat + lon.
  const auto of = [&](std::vector<std::uint32_t> order) {
    std::vector<double> values;
    std::uint32_t at[3];
    for (at[order[0]] = 0; at[order[0]] < 3; ++at[order[0]])
      for (at[order[1]] = 0; at[order[1]] < 3; ++at[order[1]])
        for (at[order[2]] = 0; at[order[2]] < 3; ++at[order[2]])
          values.push_back(100 * at[0] + 10 * at[1] + at[2]);
    return read(saved(
        file({{"time", 3}, {"lat", 3}, {"lon", 3}}, {time, lat, lon, {"rain", order, float_type, values}})));
  };
  const std::vector<float> expected = of({0, 1, 2});
  ASSERT_EQ(expected.size(), 27u);
  EXPECT_EQ(expected[0], 20);  // the north is up
  EXPECT_EQ(expected[9], 120);
  for (const std::vector<std::uint32_t>& order :
       {std::vector<std::uint32_t>{0, 2, 1}, {1, 2, 0}, {1, 0, 2}, {2, 1, 0}, {2, 0, 1}})
    expect_same(of(order), expected);
}

TEST_F(NetCdf, AxesAreKnownByName) {
  const auto image = [&](const char* rows, const char* columns, std::vector<double> values,
                         bool turned = false) {
    const std::uint32_t first = turned, second = !turned;
    return read(saved(file({{rows, 3}, {columns, 3}}, {{rows, {0}, double_type, std::move(values)},
                                                       {"image", {first, second}, float_type, counted(9)}})));
  };
  for (const auto& [rows, columns] :
       {std::pair("lat", "lon"), std::pair("latitude", "longitude"), std::pair("Lat_0", "Lon_0"),
        std::pair("rlat", "rlon"), std::pair("y", "x"), std::pair("nlat", "nlon")}) {
    EXPECT_EQ(image(rows, columns, {10, 11.5, 13})[0], 6) << rows;
    EXPECT_EQ(image(rows, columns, {13, 11.5, 10})[0], 0) << rows;
    expect_same(image(rows, columns, {13, 11.5, 10}, true), {0, 3, 6, 1, 4, 7, 2, 5, 8});
  }
  EXPECT_EQ(image("y", "x", {0, 1, 2})[0], 0) << "numbers of pixels";
  EXPECT_EQ(image("lat", "lon", {0, 1, 2})[0], 6);
  // Coordinates under another name than the dimension's, and coordinates of each pixel.
  EXPECT_EQ(read(saved(file({{"south", 3}, {"west", 3}}, {{"latitude", {0}, double_type, {1, 2, 3}},
                                                          {"image", {0, 1}, float_type, counted(9)}})))[0],
            6);
  EXPECT_EQ(
      read(saved(file({{"south_north", 3}, {"west_east", 3}},
                      {{"XLAT", {0, 1}, float_type, {1, 1, 1, 2, 2, 2, 3, 3, 3}, {{"units", "degree_north"}}},
                       {"image", {0, 1}, float_type, counted(9)}})))[0],
      6);
  EXPECT_EQ(read(saved(file({{"south_north", 3}, {"west_east", 3}},
                            {{"image", {0, 1}, float_type, counted(9)}})))[0],
            6)
      << "the name says it";
  // Longitudes that fall from the left to the right; they jump at the date line.
  const auto longitudes = [&](std::vector<double> values) {
    return read(saved(file({{"lat", 3}, {"lon", 4}}, {{"lon", {1}, double_type, std::move(values)},
                                                      {"image", {0, 1}, float_type, counted(12)}})))[0];
  };
  EXPECT_EQ(longitudes({40, 30, 20, 10}), 3);
  EXPECT_EQ(longitudes({170, -180, -170, -160}), 0);
}

TEST_F(NetCdf, ImagesComeInOrderOfTime) {
  const auto first = [&](std::vector<double> times) {
    const std::vector<float> values =
        read(saved(file({{"time", 3}, {"y", 3}, {"x", 3}}, {{"time", {0}, double_type, std::move(times)},
                                                            {"image", {0, 1, 2}, byte_type, counted(27)}})));
    return std::vector<float>{values[0], values[9], values[18]};
  };
  expect_same(first({0, 5, 10}), {0, 9, 18});
  expect_same(first({10, 5, 0}), {18, 9, 0});
  expect_same(first({5, 10, 0}), {18, 0, 9});
  EXPECT_THROW(first({5, 5, 0}), Error);
  EXPECT_THROW(first({5, NAN, 0}), Error);
}

TEST_F(NetCdf, TimesMayBeText) {
  const auto first = [&](const std::vector<std::string>& times) {
    std::vector<double> characters;
    for (const std::string& time : times) characters.insert(characters.end(), time.begin(), time.end());
    const std::vector<float> values =
        read(saved(file({{"Time", 2}, {"y", 3}, {"x", 3}, {"DateStrLen", std::uint32_t(times[0].size())}},
                        {{"Times", {0, 3}, char_type, std::move(characters)},
                         {"image", {0, 1, 2}, byte_type, counted(18)}})));
    return std::vector<float>{values[0], values[9]};
  };
  expect_same(first({"2024-05-01_12:00:00", "2024-05-01_12:15:00"}), {0, 9});
  expect_same(first({"2024-05-01_12:15:00", "2024-05-01_12:00:00"}), {9, 0});
  expect_same(first({"01 MAY 2024", "30 APR 2024"}), {0, 9});  // cannot be sorted
  EXPECT_THROW(first({"2024-05-01", "2024-05-01"}), Error);
}

TEST_F(NetCdf, AnAxisThatIsNotTimeNeedsAChoice) {
  for (const char* name : {"level", "lev", "band", "z", "member", "strange"}) {
    const auto path =
        saved(file({{name, 3}, {"y", 3}, {"x", 3}}, {{"image", {0, 1, 2}, byte_type, counted(27)}}));
    EXPECT_NE(error(path).find("image has 3 images along " + std::string(name) +
                               ", which is not a time axis; the option level chooses one (1 to 3), and '"),
              std::string::npos)
        << error(path);
    EXPECT_EQ(read(path, "", "2").size(), 9u);
    EXPECT_EQ(read(path, "", "2")[0], 9);
    EXPECT_EQ(read(path, "", std::string(name) + "=3")[0], 18);
    EXPECT_EQ(read(path, "", std::string(name) + "=all").size(), 27u);
    EXPECT_NE(error(path, "", "4").find("has no '4'; it has 1 to 3"), std::string::npos);
    EXPECT_NE(error(path, "", "other=1")
                  .find("names the axis 'other'; the images have " + std::string(name) + ", y, x"),
              std::string::npos);
  }
  const auto deep = saved(file({{"time", 2}, {"plev", 2}, {"lat", 3}, {"lon", 3}},
                               {{"plev", {1}, double_type, {850, 500}, {{"units", "hPa"}}},
                                {"image", {0, 1, 2, 3}, byte_type, counted(36)}}));
  EXPECT_NE(
      error(deep).find("image has 2 images along plev, which is not a time axis; the option level chooses "
                       "one (850, 500), and 'plev=all' treats the axis as time"),
      std::string::npos)
      << error(deep);
  EXPECT_EQ(read(deep, "", "500")[0], 9);
  EXPECT_EQ(read(deep, "", "plev=850")[9], 18);
  EXPECT_EQ(read(deep, "", "plev=850").size(), 18u);
  const auto unnamed =
      saved(file({{"dim_0", 2}, {"dim_1", 3}, {"dim_2", 3}}, {{"image", {0, 1, 2}, byte_type, counted(18)}}));
  EXPECT_EQ(read(unnamed).size(), 18u);
}

TEST_F(NetCdf, FactorsThatAreNoNumbersAreErrors) {
  const std::vector<Dimension> plane = {{"y", 3}, {"x", 3}};
  const auto with = [&](std::vector<Attribute> attributes) {
    return read(saved(file(plane, {{"image", {0, 1}, short_type, counted(9), std::move(attributes)}})));
  };
  using Numbers = std::vector<double>;
  expect_error(ErrorCode::format, "the attribute scale_factor of image is 0; it must be a finite number",
               [&] {
                 with({{"scale_factor", Numbers{0}}});
               });
  expect_error(ErrorCode::format, "the attribute scale_factor of image is no number", [&] {
    with({{"scale_factor", "abc"}});
  });
  expect_error(ErrorCode::format, "the attribute add_offset of image is nan; it must be a finite number",
               [&] {
                 with({{"add_offset", Numbers{nan}}});
               });
}

TEST_F(NetCdf, MissingValuesInAnyForm) {
  const std::vector<Dimension> plane = {{"y", 3}, {"x", 3}};
  const auto of = [&](Type type, std::vector<double> values, std::vector<Attribute> attributes) {
    return read(saved(file(plane, {{"image", {0, 1}, type, std::move(values), std::move(attributes)}})));
  };
  using Numbers = std::vector<double>;
  const Numbers tenths = {1, 2, 3, 4, -9999.9, 6, 7, 8, 9};
  const std::vector<float> without = {1, 2, 3, 4, nan, 6, 7, 8, 9};
  expect_same(of(float_type, tenths, {{"missing_value", Numbers{-9999.9}, double_type}}), without);
  for (const char* text : {"-9999.9", " -9999.9f", "-9999.9, 100"})
    expect_same(of(float_type, tenths, {{"missing_value", text}}), without);
  const Numbers whole = {1, 2, 3, 4, -999, 6, 7, 8, 9};
  expect_same(of(short_type, whole, {{"missing_value", Numbers{-999}, double_type}}), without);
  expect_same(of(int_type, whole, {{"_FillValue", "-999"}}), without);
  expect_same(of(byte_type, {1, 2, 3, 4, -1, 6, 7, 8, 9},
                 {{"_Unsigned", "true"}, {"missing_value", Numbers{255}, short_type}}),
              without);
  // The library's own values where nothing was written; all values of bytes are valid.
  expect_same(of(short_type, {1, 2, 3, 4, -32767, 6, 7, 8, 9}, {}), without);
  expect_same(of(int_type, {1, 2, 3, 4, -2147483647, 6, 7, 8, 9}, {}), without);
  expect_same(of(float_type, {1, 2, 3, 4, 9.969209968386869e+36, 6, 7, 8, 9}, {}), without);
  expect_same(of(short_type, {1, 2, 3, 4, -32767, 6, 7, 8, 9}, {{"_FillValue", Numbers{9}}}),
              {1, 2, 3, 4, -32767, 6, 7, 8, nan});
  EXPECT_EQ(of(byte_type, {1, 2, 3, 4, -127, 6, 7, 8, 9}, {})[4], -127);
  // A valid limit of the unpacked type applies to unpacked values.
  const Attribute scale{"scale_factor", Numbers{0.5}}, offset{"add_offset", Numbers{10}};
  const Numbers stored = {0, 1, 2, 3, 100, 5, 6, 7, 8};
  expect_same(of(short_type, stored, {scale, offset, {"valid_range", Numbers{10, 20}, double_type}}),
              {10, 10.5f, 11, 11.5f, nan, 12.5f, 13, 13.5f, 14});
  expect_same(of(short_type, stored, {scale, offset, {"valid_max", Numbers{20}, float_type}}),
              {10, 10.5f, 11, 11.5f, nan, 12.5f, 13, 13.5f, 14});
  expect_same(of(short_type, stored, {scale, offset, {"valid_range", Numbers{1, 20}}}),
              {nan, 10.5f, 11, 11.5f, nan, 12.5f, 13, 13.5f, 14});
  expect_same(of(short_type, stored, {scale, offset, {"missing_value", Numbers{10.5}, double_type}}),
              {10, nan, 11, 11.5f, 60, 12.5f, 13, 13.5f, 14});
}

TEST_F(NetCdf, UnsignedInAnySpelling) {
  for (const char* spelling : {"true", "TRUE", "True", "1"})
    for (const auto& [type, count] :
         {std::pair(byte_type, 256.0), std::pair(short_type, 65536.0), std::pair(int_type, 4294967296.0)})
      expect_same(read(saved(file({{"y", 4}, {"x", 5}},
                                  {{"image",
                                    {0, 1},
                                    type,
                                    {-1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, -9},
                                    {{"_Unsigned", spelling}}}}))),
                  {float(count - 1), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
                   float(count - 9)});
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

/// A NetCDF-4 file with the images a/rain, b/rain and b/snow.
bool write_with_groups(const std::filesystem::path& path) {
  int id = 0, y = 0, x = 0;
  if (!call_netcdf("nc_create", path.c_str(), 0x1000, &id) ||
      !call_netcdf("nc_def_dim", id, "y", std::size_t(3), &y) ||
      !call_netcdf("nc_def_dim", id, "x", std::size_t(3), &x))
    return false;
  const int sides[] = {y, x};
  float first = 0;
  for (const auto& [group, names] :
       {std::pair("a", std::vector{"rain"}), std::pair("b", std::vector{"rain", "snow"})}) {
    int inner = 0, variable = 0;
    if (!call_netcdf("nc_def_grp", id, group, &inner)) return false;
    for (const char* name : names) {
      float values[9];
      std::iota(values, values + 9, first);
      first += 10;
      if (!call_netcdf("nc_def_var", inner, name, 5, 2, &sides[0], &variable) ||
          !call_netcdf("nc_put_var_float", inner, variable, &values[0]))
        return false;
    }
  }
  return call_netcdf("nc_close", id);
}

TEST_F(NetCdf, GroupsAreSearched) {
  const auto path = folder / "groups.nc";
  if (!write_with_groups(path)) GTEST_SKIP() << "libnetcdf.so is not found or writes no NetCDF-4";
  EXPECT_NE(error(path).find("name one of them (option variable): a/rain, b/rain, b/snow"),
            std::string::npos);
  EXPECT_NE(error(path, "rain").find("name one of them (option variable): a/rain, b/rain"),
            std::string::npos);
  EXPECT_EQ(read(path, "a/rain")[0], 0);
  EXPECT_EQ(read(path, "/b/rain")[0], 10);
  EXPECT_EQ(read(path, "snow")[0], 20);
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
