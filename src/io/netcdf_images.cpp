// SPDX-License-Identifier: MIT
// Reads images of NetCDF files, classic and NetCDF-4.
#include "io/netcdf.hpp"
#include "parafield/netcdf.hpp"

#ifdef PARAFIELD_HAS_NETCDF
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "io/netcdf_library.hpp"
#endif

namespace parafield {
namespace io {

bool is_netcdf(ByteSpan bytes) {
  using namespace std::literals;
  return starts_with(bytes, "CDF\1"sv) || starts_with(bytes, "CDF\2"sv) || starts_with(bytes, "CDF\5"sv) ||
         starts_with(bytes, "\x89HDF\r\n\x1a\n"sv);
}

#ifdef PARAFIELD_HAS_NETCDF
namespace {

void expect(int status) {
  if (status) fail_format("damaged NetCDF file: ", netcdf().why(status));
}

/// The text of an attribute, characters or one string; empty if there is none or it is not text.
std::string text_attribute(int file, int variable, const char* name) {
  nc_type type = NC_NAT;
  std::size_t length = 0;
  if (netcdf().nc_inq_att(file, variable, name, &type, &length)) return {};
  if (type == NC_STRING && length == 1) {
    char* own = nullptr;
    if (netcdf().nc_get_att_string(file, variable, name, &own)) return {};
    std::string value = own ? own : "";
    netcdf().nc_free_string(1, &own);
    return value;
  }
  if (type != NC_CHAR || length > 4096) return {};
  std::string value(length, '\0');
  if (netcdf().nc_get_att_text(file, variable, name, value.data())) return {};
  return value.substr(0, value.find('\0'));
}

/// The numbers of an attribute; empty if there are none.
std::vector<double> attribute(int file, int variable, const char* name) {
  nc_type type = NC_NAT;
  std::size_t length = 0;
  if (netcdf().nc_inq_att(file, variable, name, &type, &length) || type == NC_CHAR || type == NC_STRING ||
      length > 64)
    return {};
  std::vector<double> values(length);
  if (netcdf().nc_get_att_double(file, variable, name, values.data())) return {};
  return values;
}

/// A variable of a file.
struct Variable {
  int id = 0;
  std::string name = {};
  nc_type type = NC_NAT;
  std::vector<int> dimensions = {};
};

Variable variable_of(int file, int id) {
  char name[NC_MAX_NAME + 1] = {};
  int count = 0, dimensions[NC_MAX_VAR_DIMS] = {};
  Variable variable{.id = id};
  expect(netcdf().nc_inq_var(file, id, name, &variable.type, &count, dimensions, nullptr));
  variable.name = name;
  variable.dimensions.assign(dimensions, dimensions + count);
  return variable;
}

std::size_t length_of(int file, int dimension, std::string* name = nullptr) {
  char own[NC_MAX_NAME + 1] = {};
  std::size_t length = 0;
  expect(netcdf().nc_inq_dim(file, dimension, own, &length));
  if (name) *name = own;
  return length;
}

/// Kind of a dimension.
enum class Axis { unknown, time, north, east };

/// Kind of a dimension by the unit of its coordinate, in any of CF's spellings of degrees north and east.
Axis axis_of_unit(std::string_view unit) {
  if (!unit.starts_with("degree")) return Axis::unknown;
  if (unit.ends_with("_north") || unit.ends_with('N')) return Axis::north;
  return unit.ends_with("_east") || unit.ends_with('E') ? Axis::east : Axis::unknown;
}

/// A dimension, and the coordinate variable of the same name.
struct Dimension {
  std::string name;
  std::size_t length = 0;
  Axis axis = Axis::unknown;
  int coordinate = -1;  ///< variable; -1 = none
};

Dimension dimension_of(int file, int id) {
  Dimension found;
  found.length = length_of(file, id, &found.name);
  if (netcdf().nc_inq_varid(file, found.name.c_str(), &found.coordinate)) {
    found.coordinate = -1;
    return found;
  }
  const std::string standard = text_attribute(file, found.coordinate, "standard_name"),
                    units = text_attribute(file, found.coordinate, "units");
  if (standard == "latitude" || standard == "projection_y_coordinate")
    found.axis = Axis::north;
  else if (standard == "longitude" || standard == "projection_x_coordinate")
    found.axis = Axis::east;
  else if (standard == "time" || units.find(" since ") != std::string::npos)
    found.axis = Axis::time;
  else
    found.axis = axis_of_unit(units);
  return found;
}

/// Whether a variable may hold images: it has numbers in two or more dimensions, and they are not flags,
/// coordinates or bounds.
bool holds_images(int file, const Variable& variable) {
  const std::size_t count = variable.dimensions.size();
  if (count < 2 || variable.type == NC_CHAR || variable.type > NC_UINT64) return false;
  for (std::size_t i = count - 2; i < count; ++i)
    if (length_of(file, variable.dimensions[i]) < 3) return false;
  return text_attribute(file, variable.id, "flag_meanings").empty() &&
         axis_of_unit(text_attribute(file, variable.id, "units")) == Axis::unknown;
}

/// Which values of a variable are missing, and how the others are unpacked.
struct Packing {
  double scale = 1, offset = 0, wrap = 0;  ///< wrap: added to negative values of an unsigned type
  double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
  std::vector<double> missing;

  Packing(int file, const Variable& variable) {
    if (text_attribute(file, variable.id, "_Unsigned") == "true")
      wrap = variable.type == NC_BYTE ? 256 : variable.type == NC_SHORT ? 65536 : 0;
    const auto numbers = [&](const char* name, std::size_t count) -> std::vector<double> {
      std::vector<double> values = attribute(file, variable.id, name);
      if (count > 0 && values.size() != count) return {};
      for (double& value : values) value = unsigned_value(value);
      return values;
    };
    const std::vector<double> scales = attribute(file, variable.id, "scale_factor"),
                              offsets = attribute(file, variable.id, "add_offset");
    if (!scales.empty()) scale = scales[0];
    if (!offsets.empty()) offset = offsets[0];
    missing = numbers("_FillValue", 1);
    for (const double value : numbers("missing_value", 0)) missing.push_back(value);
    if (const auto range = numbers("valid_range", 2); !range.empty()) least = range[0], most = range[1];
    if (const auto value = numbers("valid_min", 1); !value.empty()) least = value[0];
    if (const auto value = numbers("valid_max", 1); !value.empty()) most = value[0];
    if (variable.type == NC_FLOAT || variable.type == NC_DOUBLE)
      most = std::min(most, 9e36);  // above is netCDF's fill value for data that were never written
  }
  double unsigned_value(double value) const { return value < 0 ? value + wrap : value; }
  float operator()(double packed) const {
    const double value = unsigned_value(packed);
    const bool known = value >= least && value <= most && std::ranges::find(missing, value) == missing.end();
    return known ? float(value * scale + offset) : std::numeric_limits<float>::quiet_NaN();
  }
};

struct ImagesOfVariable : NetcdfImages {
  int file = -1;
  Variable variable;
  std::optional<Packing> packing;
  std::size_t width = 0, height = 0, count = 1, at = 0;
  int counted = -1;     ///< index of the dimension over which the images are counted; -1 = one image
  bool upward = false;  ///< the first row is the southernmost

  ImagesOfVariable(ByteSpan bytes, std::string_view name) {
    const Netcdf& nc = loaded_netcdf();
    const NetcdfCalls calls;
    // The library does not write to the memory of a file that is opened read-only.
    if (const int status = nc.nc_open_mem("memory", NC_NOWRITE, bytes.size(),
                                          const_cast<std::uint8_t*>(bytes.data()), &file))
      fail_format("not a NetCDF file, or a damaged one: ", netcdf().why(status));
    try {
      variable = chosen(name);
      read_shape();
      packing.emplace(file, variable);
    } catch (...) {
      nc.nc_close(file);
      throw;
    }
  }
  ~ImagesOfVariable() override {
    const NetcdfCalls calls;
    netcdf().nc_close(file);
  }

  Variable chosen(std::string_view name) const {
    int count = 0;
    expect(netcdf().nc_inq_nvars(file, &count));
    std::vector<Variable> found;
    for (int id = 0; id < count; ++id)
      if (Variable one = variable_of(file, id); holds_images(file, one)) found.push_back(std::move(one));
    std::vector<std::string> names;
    for (const Variable& one : found) names.push_back(detail::printable(one.name));
    if (found.empty())
      fail_format("a NetCDF file without a variable of images; groups in it are not searched");
    if (name.empty() && found.size() > 1)
      fail_value("a NetCDF file of several variables; name one of them: ", joined(names));
    const auto named = std::ranges::find(found, name, &Variable::name);
    if (!name.empty() && named == found.end())
      fail_value("a NetCDF file without images in the variable ", detail::value_text(name), "; it has ",
                 joined(names));
    return name.empty() ? found[0] : *named;
  }

  void read_shape() {
    const std::vector<int>& dimensions = variable.dimensions;
    const Dimension rows = dimension_of(file, dimensions[dimensions.size() - 2]),
                    columns = dimension_of(file, dimensions.back());
    if (rows.axis == Axis::time || rows.axis == Axis::east || columns.axis == Axis::time ||
        columns.axis == Axis::north) {
      std::vector<std::string> order;
      for (const int each : dimensions) order.push_back(detail::printable(dimension_of(file, each).name));
      fail_unsupported(
          "the variable ", detail::printable(variable.name), " is by ", joined(order),
          "; images are by time, latitude (rows) and longitude (columns), in this order. NCO's ncpdq "
          "changes it");
    }
    height = rows.length;
    width = columns.length;
    check_sides("a NetCDF file", std::int64_t(width), std::int64_t(height));
    check_pixels("a NetCDF file", std::int64_t(width), std::int64_t(height));
    for (std::size_t i = 0; i + 2 < dimensions.size(); ++i) {
      const std::size_t length = length_of(file, dimensions[i]);
      if (length == 1) continue;
      if (counted >= 0)
        fail_unsupported("the variable ", detail::printable(variable.name), " has ", dimensions.size(),
                         " dimensions; images have rows, columns and, before them, time");
      counted = int(i);
      count = length;
    }
    if (rows.axis != Axis::north) return;
    const Variable places = variable_of(file, rows.coordinate);
    double first = 0, last = 0;
    const std::size_t start = 0, end = height - 1, one = 1;
    if (places.dimensions.size() != 1 || netcdf().nc_get_vara_double(file, places.id, &start, &one, &first) ||
        netcdf().nc_get_vara_double(file, places.id, &end, &one, &last))
      return;
    const Packing unpacked(file, places);  // GOES-R's coordinates count from the north with a negative scale
    upward = unpacked(last) > unpacked(first);
  }

  bool has_next() const override { return at < count; }
  FrameBuffer next() override {
    std::vector<std::size_t> start(variable.dimensions.size(), 0), lengths(variable.dimensions.size(), 1);
    if (counted >= 0) start[std::size_t(counted)] = at;
    lengths[lengths.size() - 2] = height;
    lengths.back() = width;
    std::vector<double> values(width * height);  // at once: one row may need the whole image decompressed
    {
      const NetcdfCalls calls;
      expect(netcdf().nc_get_vara_double(file, variable.id, start.data(), lengths.data(), values.data()));
    }
    FrameBuffer frame({int(width), int(height)}, PixelFormat::gray_f32);
    for (std::size_t y = 0; y < height; ++y) {
      const auto row = values.begin() + std::ptrdiff_t((upward ? height - 1 - y : y) * width);
      std::transform(row, row + std::ptrdiff_t(width), static_cast<float*>(frame.row(int(y))), *packing);
    }
    ++at;
    return frame;
  }
};

}  // namespace

std::unique_ptr<NetcdfImages> open_netcdf(ByteSpan bytes, std::string_view variable) {
  return std::make_unique<ImagesOfVariable>(bytes, variable);
}
#else
std::unique_ptr<NetcdfImages> open_netcdf(ByteSpan, std::string_view) { fail_unsupported(why_no_netcdf()); }
#endif

}  // namespace io
}  // namespace parafield
