// SPDX-License-Identifier: MIT
// Writes the motion of a sequence as NetCDF-4, following the CF conventions.
#include "parafield/netcdf.hpp"

#ifdef PARAFIELD_HAS_NETCDF
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>
#include <vector>

#include "core/views.hpp"
#include "io/file.hpp"
#include "io/netcdf_library.hpp"
#include "parafield/version.hpp"

namespace parafield {
namespace {

using io::netcdf;

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

/// Converts "2017-09-06T12:00" to "minutes since 2017-09-06 12:00:00".
std::string units_of_time(const std::string& start) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, end = 0, more = 0;
  const bool date =
      std::sscanf(start.c_str(), "%4d-%2d-%2dT%2d:%2d%n", &year, &month, &day, &hour, &minute, &end) == 5;
  if (date && std::sscanf(start.c_str() + end, ":%2d%n", &second, &more) == 1) end += more;
  const bool known = date && (start.substr(std::size_t(end)) == "" || start.substr(std::size_t(end)) == "Z");
  if (!known || year < 1583 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 23 ||
      minute < 0 || minute > 59 || second < 0 || second > 59)
    fail_value("the start cannot be ", detail::value_text(start),
               "; it must be a time in UTC, such as 2017-09-06T12:00");
  char text[64];
  std::snprintf(text, sizeof text, "minutes since %04d-%02d-%02d %02d:%02d:%02d", year, month, day, hour,
                minute, second);
  return text;
}

void check(const MotionFileOptions& options) {
  for (const double value : {options.km_per_pixel, options.minutes})
    if (!(value >= 0) || !std::isfinite(value))
      fail_value("the size of a pixel is ", options.km_per_pixel, " km and the time from image to image ",
                 options.minutes, " minutes; both must be finite and at least 0");
  if (!options.start.empty() && options.minutes == 0)
    fail_value("a start needs the minutes from image to image");
  if (!options.height_unit.empty() && options.height_unit != "m" && options.height_unit != "km")
    fail_value("heights cannot have the unit ", detail::value_text(options.height_unit),
               "; it must be m or km");
  if (!options.height_unit.empty() && !options.has_heights) fail_value("a unit of heights needs heights");
  if (options.first_image < 1)
    fail_value("the first image is ", options.first_image, "; images are counted from 1");
}

}  // namespace

struct MotionFile::Impl {
  io::NewFile file;
  std::filesystem::path path;
  Size size;
  MotionFileOptions options;
  int id = -1;
  int time_dimension = -1, y_dimension = -1, x_dimension = -1;
  int u = -1, v = -1, valid = -1, x_wind = -1, y_wind = -1, height = -1, time = -1, image = -1;
  int u_sigma = -1, v_sigma = -1, x_wind_sigma = -1, y_wind_sigma = -1, outlier = -1;
  std::size_t count = 0;
  std::int64_t skipped = 0;  // images that were left out
  std::vector<float> plane;

  Impl(const std::filesystem::path& target, Size frames, const MotionFileOptions& given)
      : file(target), path(target), size(frames), options(given) {
    if (size.width < 1 || size.height < 1) fail_value("a field of ", size, " pixels");
    check(options);
    const io::Netcdf& nc = io::loaded_netcdf();
    const io::NetcdfCalls calls;
    expect(nc.nc_create(file.path().c_str(), NC_NETCDF4 | NC_CLASSIC_MODEL, &id));
    try {
      define();
    } catch (...) {
      abandon();
      throw;
    }
  }
  ~Impl() {
    const io::NetcdfCalls calls;
    abandon();
  }
  void abandon() {
    if (id < 0) return;
    io::detach_from_disk(file.descriptor());
    netcdf().nc_close(id);
    id = -1;
  }

  void expect(int status) const {
    if (status == NC_NOERR) return;
    // HDF5 does not report the system's error. If the disk is full, writing one more block fails with the
    // same error; if only a part of the block fits, the next write fails.
    const std::vector<std::uint8_t> block(4096);
    ssize_t put = 0;
    do put = ::pwrite(file.descriptor(), block.data(), block.size(), ::lseek(file.descriptor(), 0, SEEK_END));
    while (put > 0 && put < ssize_t(block.size()));
    if (put == ssize_t(block.size())) io::fail_writing(netcdf().why(status));
    io::fail_writing(io::reason(put < 0 ? errno : ENOSPC));
  }
  void say(int variable, const char* name, const std::string& value) const {
    expect(netcdf().nc_put_att_text(id, variable, name, value.size(), value.c_str()));
  }
  int defined(const char* name, nc_type type, const std::vector<int>& dimensions, const char* long_name,
              const char* standard_name, const std::string& units) const {
    int variable = -1;
    expect(netcdf().nc_def_var(id, name, type, int(dimensions.size()), dimensions.data(), &variable));
    say(variable, "long_name", long_name);
    if (*standard_name) say(variable, "standard_name", standard_name);
    if (!units.empty()) say(variable, "units", units);
    return variable;
  }
  static bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
  }
  /// A compressed variable with one image per time.
  int defined_plane(const char* name, nc_type type, const char* long_name, const char* standard_name,
                    const std::string& units) const {
    const int variable =
        defined(name, type, {time_dimension, y_dimension, x_dimension}, long_name, standard_name, units);
    const std::size_t chunk[] = {1, std::size_t(size.height), std::size_t(size.width)};
    expect(netcdf().nc_def_var_chunking(id, variable, NC_CHUNKED, chunk));
    expect(netcdf().nc_def_var_deflate(id, variable, 1, 1, 1));
    if (type == NC_FLOAT) {
      expect(netcdf().nc_put_att_float(id, variable, "_FillValue", NC_FLOAT, 1, &unknown));
      const bool is_motion = one_of(name, {"u", "v", "x_wind", "y_wind"});
      if (is_motion && options.has_bars)
        say(variable, "ancillary_variables", std::string("valid outlier ") + name + "_sigma");
      else if (is_motion)
        say(variable, "ancillary_variables", "valid");
    }
    return variable;
  }

  void define() {
    const bool has_size = options.km_per_pixel > 0, has_winds = has_size && options.minutes > 0;
    say(NC_GLOBAL, "Conventions", "CF-1.8");
    say(NC_GLOBAL, "title", "Motion of an image sequence");
    say(NC_GLOBAL, "source", std::string("parafield ") + parafield::version());
    expect(netcdf().nc_def_dim(id, "time", NC_UNLIMITED, &time_dimension));
    expect(netcdf().nc_def_dim(id, "y", std::size_t(size.height), &y_dimension));
    expect(netcdf().nc_def_dim(id, "x", std::size_t(size.width), &x_dimension));
    const std::string unit = has_size ? "km" : "1";
    const int y = defined("y", NC_DOUBLE, {y_dimension}, has_size ? "distance from the top, upward" : "row",
                          has_size ? "projection_y_coordinate" : "", unit),
              x = defined("x", NC_DOUBLE, {x_dimension}, has_size ? "distance from the left" : "column",
                          has_size ? "projection_x_coordinate" : "", unit);
    say(y, "axis", "Y");
    say(x, "axis", "X");
    if (!options.start.empty()) {
      time = defined("time", NC_DOUBLE, {time_dimension}, "time of the image whose pixels move", "time",
                     units_of_time(options.start));
      say(time, "calendar", "standard");
      say(time, "axis", "T");
    }
    image = defined("image", NC_DOUBLE, {time_dimension}, "number of the image whose pixels move", "", "1");
    u = defined_plane("u", NC_FLOAT, "motion to the next image, pixels to the right", "", "1");
    v = defined_plane("v", NC_FLOAT, "motion to the next image, pixels down", "", "1");
    valid = defined_plane("valid", NC_BYTE, "where the motion is reliable", "quality_flag", "");
    const signed char flags[] = {0, 1};
    expect(netcdf().nc_put_att_schar(id, valid, "flag_values", NC_BYTE, 2, flags));
    say(valid, "flag_meanings", "not_valid valid");
    if (has_winds) {
      x_wind = defined_plane("x_wind", NC_FLOAT, "speed to the right", "x_wind", "m s-1");
      y_wind = defined_plane("y_wind", NC_FLOAT, "speed upward in the image", "y_wind", "m s-1");
    }
    if (options.has_bars) {
      const auto sigma = [&](const char* name, const char* of, const char* standard_name, const char* units) {
        return defined_plane(name, NC_FLOAT,
                             (std::string("standard deviation of the error of ") + of).c_str(), standard_name,
                             units);
      };
      u_sigma = sigma("u_sigma", "u", "", "1");
      v_sigma = sigma("v_sigma", "v", "", "1");
      if (has_winds) {
        x_wind_sigma = sigma("x_wind_sigma", "x_wind", "x_wind standard_error", "m s-1");
        y_wind_sigma = sigma("y_wind_sigma", "y_wind", "y_wind standard_error", "m s-1");
      }
      outlier = defined_plane("outlier", NC_FLOAT, "probability of an error above 1 pixel", "", "1");
    }
    if (options.has_heights)
      height = defined_plane("height", NC_FLOAT, "height of the cloud top",
                             options.height_unit.empty() ? "" : "height_at_cloud_top", options.height_unit);
    expect(netcdf().nc_enddef(id));
    const double step = has_size ? options.km_per_pixel : 1;
    put_places(x, size.width, step);
    put_places(y, size.height, has_size ? -step : 1);
  }
  void put_places(int variable, int number, double step) const {
    std::vector<double> values;
    for (int i = 0; i < number; ++i) values.push_back(i ? i * step : 0);  // 0, not -0
    const std::size_t start = 0, length = values.size();
    expect(netcdf().nc_put_vara_double(id, variable, &start, &length, values.data()));
  }

  /// Writes value(x, y) for each pixel of the next image.
  template <class Value>
  void put(int variable, Value value) {
    if (variable < 0) return;
    plane.resize(std::size_t(size.width) * std::size_t(size.height));
    auto to = plane.begin();
    for_each_pixel(size, [&](int x, int y) { *to++ = value(x, y); });
    const std::size_t start[] = {count, 0, 0},
                      length[] = {1, std::size_t(size.height), std::size_t(size.width)};
    expect(netcdf().nc_put_vara_float(id, variable, start, length, plane.data()));
  }
  void put_number(int variable, double value) const {
    const std::size_t one = 1;
    if (variable >= 0) expect(netcdf().nc_put_vara_double(id, variable, &count, &one, &value));
  }

  void add(const FlowView& flow, View<const float> heights) {
    check_flow(flow, "the flow field");
    check_same_size("the flow field", flow.size(), "the file", size);
    if (bool(heights) != options.has_heights)
      fail_value(heights ? "the file has no heights" : "heights are missing");
    if (options.has_bars && !(flow.covariance && flow.outlier))
      fail_value("the flow has no covariance or no probability of outliers: see FlowOptions");
    if (heights) check_same_size("the height field", heights.size(), "the file", size);
    if (id < 0) fail_value("the file is closed");
    const io::NetcdfCalls calls;
    const double speed = options.minutes > 0 ? 1000 * options.km_per_pixel / (60 * options.minutes) : 0;
    const auto known = [&](int x, int y) {
      return std::abs(flow.u(x, y)) <= 1e9f && std::abs(flow.v(x, y)) <= 1e9f;
    };
    put(u, [&](int x, int y) { return known(x, y) ? flow.u(x, y) : unknown; });
    put(v, [&](int x, int y) { return known(x, y) ? flow.v(x, y) : unknown; });
    put(valid, [&](int x, int y) { return known(x, y) && is_set(flow.valid, x, y) ? 1.0f : 0.0f; });
    put(x_wind, [&](int x, int y) { return known(x, y) ? float(flow.u(x, y) * speed) : unknown; });
    put(y_wind, [&](int x, int y) { return known(x, y) ? float(-flow.v(x, y) * speed) : unknown; });
    const auto sigma = [&](const View<const float>& variance, double scale) {
      return [=](int x, int y) { return known(x, y) ? float(std::sqrt(variance(x, y)) * scale) : unknown; };
    };
    put(u_sigma, sigma(flow.covariance.xx, 1));
    put(v_sigma, sigma(flow.covariance.yy, 1));
    put(x_wind_sigma, sigma(flow.covariance.xx, speed));
    put(y_wind_sigma, sigma(flow.covariance.yy, speed));
    put(outlier, [&](int x, int y) { return known(x, y) ? flow.outlier(x, y) : unknown; });
    put(height, [&](int x, int y) { return std::isfinite(heights(x, y)) ? heights(x, y) : unknown; });
    const double number = double(count) + double(skipped) + options.first_image;
    put_number(time, (number - 1) * options.minutes);
    put_number(image, number);
    ++count;
  }

  void close() {
    {
      const io::NetcdfCalls calls;
      if (id < 0) return;
      expect(netcdf().nc_sync(id));
      expect(netcdf().nc_close(std::exchange(id, -1)));
    }
    file.take_place();
  }
};

MotionFile::MotionFile(const std::filesystem::path& path, Size size, const MotionFileOptions& options)
    : impl_(io::naming(path, [&] { return std::make_unique<Impl>(path, size, options); })) {}
void MotionFile::skip(int images) { impl_->skipped += images; }
void MotionFile::add(const In<FlowView>& flow, View<const float> heights) {
  io::naming(impl_->path, [&] { impl_->add(flow, heights); });
}
void MotionFile::close() {
  io::naming(impl_->path, [&] { impl_->close(); });
}
#else
#include "core/fail.hpp"

namespace parafield {

struct MotionFile::Impl {};
MotionFile::MotionFile(const std::filesystem::path&, Size, const MotionFileOptions&) {
  fail(ErrorCode::unsupported, why_no_netcdf());
}
void MotionFile::skip(int) {}
void MotionFile::add(const In<FlowView>&, View<const float>) {}
void MotionFile::close() {}
#endif

MotionFile::~MotionFile() = default;
MotionFile::MotionFile(MotionFile&&) noexcept = default;
MotionFile& MotionFile::operator=(MotionFile&&) noexcept = default;

}  // namespace parafield
