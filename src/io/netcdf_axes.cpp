// SPDX-License-Identifier: MIT
// Which axes of a NetCDF variable are time, levels, rows and columns.
#ifdef PARAFIELD_HAS_NETCDF
#include <cctype>
#include <cmath>

#include "io/netcdf_file.hpp"

namespace parafield::io {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = char(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

/// Whether a unit is degrees north or east, in any of CF's spellings.
bool is_degrees(std::string_view unit, std::string_view direction, char initial) {
  if (!unit.starts_with("degree")) return false;
  unit.remove_prefix(6);
  if (unit.starts_with('s')) unit.remove_prefix(1);
  if (unit.starts_with('_')) unit.remove_prefix(1);
  return unit == direction || unit == std::string_view(&initial, 1);
}

/// Whether a coordinate's unit is an angle or a length, so that rows have a direction in space.
bool is_spatial(const std::string& unit) {
  return is_one_of(unit, {"m", "meter", "meters", "metre", "metres", "km", "kilometer", "kilometers",
                          "kilometre", "kilometres", "rad", "radian", "radians", "microradian"}) ||
         unit.starts_with("degree");
}

/// Whether coordinates are the numbers of pixels: 0, 1, 2 ..., 0.5, 1.5, 2.5 ... or 1, 2, 3 ...
bool are_numbers_of_pixels(const std::vector<double>& values) {
  if (values.empty() || !(values[0] >= 0 && values[0] <= 1)) return false;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != values[0] + double(i)) return false;
  return true;
}

bool is_place(Axis axis) { return axis == Axis::rows || axis == Axis::columns; }

/// Reads part of a variable. Empty on failure.
std::vector<double> part_of(const NetcdfVariable& variable, const std::vector<std::size_t>& start,
                            const std::vector<std::size_t>& counts) {
  std::size_t count = 1;
  for (const std::size_t one : counts) count *= one;
  std::vector<double> values(count);
  if (netcdf().nc_get_vara_double(variable.group, variable.id, start.data(), counts.data(), values.data()))
    return {};
  const NetcdfPacking unpacked(variable);
  for (double& value : values) value = unpacked(value);
  return values;
}

std::size_t length_of(const NetcdfVariable& variable, int dimension, std::string* name = nullptr) {
  char own[NC_MAX_NAME + 1] = {};
  std::size_t length = 0;
  expect_netcdf(netcdf().nc_inq_dim(variable.group, dimension, own, &length));
  if (name) *name = own;
  return length;
}

bool is_unlimited(const NetcdfVariable& variable, int dimension) {
  for (const int group : groups_above(variable.group)) {
    int count = 0, own[NC_MAX_DIMS] = {};
    if (netcdf().nc_inq_unlimdims(group, &count, own) == 0 &&
        std::find(own, own + count, dimension) != own + count)
      return true;
  }
  return false;
}

}  // namespace

Axis axis_by_attributes(const NetcdfVariable& variable) {
  const std::string axis = text_attribute(variable, "axis"),
                    standard = text_attribute(variable, "standard_name"),
                    unit = text_attribute(variable, "units");
  if (is_one_of(standard,
                {"latitude", "grid_latitude", "projection_y_coordinate", "projection_y_angular_coordinate"}))
    return Axis::rows;
  if (is_one_of(standard, {"longitude", "grid_longitude", "projection_x_coordinate",
                           "projection_x_angular_coordinate"}))
    return Axis::columns;
  if (is_one_of(standard, {"time", "forecast_period", "forecast_reference_time"}) ||
      unit.find(" since ") != std::string::npos)
    return Axis::time;
  if (is_degrees(unit, "north", 'N')) return Axis::rows;
  if (is_degrees(unit, "east", 'E')) return Axis::columns;
  if (is_one_of(axis, {"X", "x"})) return Axis::columns;
  if (is_one_of(axis, {"Y", "y"})) return Axis::rows;
  if (is_one_of(axis, {"T", "t"})) return Axis::time;
  if (is_one_of(axis, {"Z", "z"}) || !text_attribute(variable, "positive").empty()) return Axis::level;
  return Axis::unknown;
}

Axis axis_by_name(std::string_view name) {
  std::string word = lower(name);
  while (!word.empty() &&
         (std::isdigit(static_cast<unsigned char>(word.back())) || word.back() == '_' || word.back() == '-'))
    word.pop_back();
  for (const std::string_view before : {"num_", "n_", "n"})  // numbers, as nlat
    if (word.starts_with(before) && word.size() > before.size() && word != "north_south") {
      const std::string rest = word.substr(before.size());
      if (is_one_of(rest, {"lat", "lats", "lon",   "lons",  "latitude", "longitude", "x",
                           "y",   "t",    "time",  "times", "lev",      "level",     "levels",
                           "z",   "band", "bands", "row",   "rows",     "col",       "cols"}))
        word = rest;
    }
  if (is_one_of(word, {"y", "lat", "lats", "latitude", "latitudes", "rlat", "yc", "row", "rows", "j", "line",
                       "lines", "south_north", "northing", "nav_lat", "ydim", "yt", "xlat"}))
    return Axis::rows;
  if (is_one_of(word,
                {"x",       "lon",     "lons",   "long",    "longitude", "longitudes", "rlon",   "xc",
                 "col",     "cols",    "column", "columns", "i",         "pixel",      "pixels", "west_east",
                 "easting", "nav_lon", "width",  "xdim",    "xt",        "xlong"}))
    return Axis::columns;
  if (word.find("time") != std::string::npos || word.find("date") != std::string::npos ||
      is_one_of(word, {"t",      "frame",   "frames", "image",  "images", "step",  "steps", "tstep",
                       "record", "records", "scan",   "scans",  "day",    "days",  "hour",  "hours",
                       "minute", "minutes", "month",  "months", "year",   "years", "dim",   "phony_dim"}))
    return Axis::time;
  if (is_one_of(word,
                {"lev",      "level",       "levels",   "plev",      "pressure",   "isobaric", "z",
                 "depth",    "height",      "altitude", "elevation", "sigma",      "layer",    "layers",
                 "band",     "bands",       "channel",  "channels",  "wavelength", "member",   "members",
                 "ensemble", "realization", "number",   "bottom_top"}))
    return Axis::level;
  return Axis::unknown;
}

std::vector<NetcdfAxis> axes_of(const NetcdfVariable& variable, const std::vector<NetcdfVariable>& all) {
  const std::vector<int> groups = groups_above(variable.group);
  std::vector<NetcdfAxis> axes;
  for (const int dimension : variable.dimensions) {
    NetcdfAxis axis{.dimension = dimension};
    axis.length = length_of(variable, dimension, &axis.name);
    // A variable of the dimension's name has its coordinates; otherwise one along it that is known by itself.
    for (const int group : groups)
      for (const NetcdfVariable& one : all) {
        if (one.group != group || one.is(variable)) continue;
        if (one.dimensions.size() != 1 || one.dimensions[0] != dimension) continue;
        const Axis kind = axis_by_attributes(one);
        const bool named = one.name == axis.name,
                   known = kind != Axis::unknown ||
                           (one.has_numbers() && axis_by_name(one.name) != Axis::unknown);
        if (!named && (axis.has_coordinate() || !known)) continue;
        axis.coordinate = one;
        axis.kind = kind != Axis::unknown ? kind : axis_by_name(one.name);
        if (named) break;
      }
    if (axis.kind == Axis::unknown) axis.kind = axis_by_name(axis.name);
    const bool is_generic =
        lower(axis.name).starts_with("dim_") || lower(axis.name).starts_with("phony_dim_");
    if (axis.kind == Axis::unknown && is_unlimited(variable, dimension)) axis.kind = Axis::time;
    if (is_generic && !axis.has_coordinate())
      axis.kind = Axis::unknown;  // dim_0, dim_1: decided by their order
    axes.push_back(std::move(axis));
  }
  // Next to a width, a height is rows, not a level.
  for (NetcdfAxis& axis : axes)
    if (axis.kind == Axis::level && lower(axis.name) == "height" &&
        std::ranges::any_of(axes, [](const NetcdfAxis& one) { return lower(one.name) == "width"; }))
      axis.kind = Axis::rows;
  return axes;
}

std::vector<double> coordinates_of(const NetcdfAxis& axis) {
  if (!axis.has_coordinate() || !axis.coordinate.has_numbers() || axis.length > (1u << 24)) return {};
  return part_of(axis.coordinate, {0}, {axis.length});
}

std::vector<std::string> texts_of(const NetcdfAxis& axis, const std::vector<NetcdfVariable>& all) {
  constexpr std::size_t most_texts = 1 << 20, most_characters = 1 << 10;  // damaged files may have any length
  std::vector<std::string> texts;
  if (axis.length > most_texts) return {};
  const auto along = [&](const NetcdfVariable& one, std::size_t dimensions) {
    return one.dimensions.size() == dimensions && one.dimensions[0] == axis.dimension &&
           (one.name == axis.name || axis_by_name(one.name) == axis.kind);
  };
  for (const NetcdfVariable& one : all) {
    const bool strings = one.type == NC_STRING && along(one, 1),
               characters = one.type == NC_CHAR && along(one, 2);
    if (!strings && !characters) continue;
    const std::size_t length = characters ? length_of(one, one.dimensions[1]) : 1;
    if (length > most_characters) continue;
    for (std::size_t i = 0; i < axis.length; ++i) {
      const std::size_t start[] = {i, 0}, counts[] = {1, length};
      std::string value(length, '\0');
      char* own = nullptr;
      if (characters) {
        if (netcdf().nc_get_vara_text(one.group, one.id, start, counts, value.data())) return {};
        value.erase(std::min(value.find('\0'), value.size()));
      } else {
        if (netcdf().nc_get_vara_string(one.group, one.id, start, counts, &own)) return {};
        value = own ? own : "";
        if (own) netcdf().nc_free_string(1, &own);
      }
      texts.push_back(std::move(value));
    }
    break;
  }
  return texts;
}

bool is_reversed(const NetcdfAxis& axis, Axis place, const NetcdfVariable& images,
                 const std::vector<NetcdfVariable>& all) {
  std::vector<double> values;
  if (axis.has_coordinate()) {
    const Axis kind = axis_by_attributes(axis.coordinate);
    const std::string unit = text_attribute(axis.coordinate, "units");
    if (is_place(kind) ? kind != place : axis.kind != place) return false;
    values = coordinates_of(axis);
    const bool by_unit = (kind == place && text_attribute(axis.coordinate, "standard_name") != "") ||
                         is_degrees(unit, "north", 'N') || is_degrees(unit, "east", 'E') || is_spatial(unit);
    const std::string name = lower(axis.coordinate.name);
    const bool by_name = name.find("lat") != std::string::npos || name.find("lon") != std::string::npos;
    if (!by_unit && !by_name && (!unit.empty() || are_numbers_of_pixels(values))) return false;
  } else {
    // Latitudes or longitudes of each pixel, along the middle of the image.
    for (const NetcdfVariable& one : all) {
      if (one.dimensions.size() < 2 || !one.has_numbers() || one.is(images)) continue;
      const std::string name = lower(one.name), unit = text_attribute(one, "units");
      Axis kind = axis_by_attributes(one);
      if (kind == Axis::unknown &&
          (name.find("lat") != std::string::npos || name.find("lon") != std::string::npos))
        kind = axis_by_name(one.name);
      if (kind != place || std::ranges::find(one.dimensions, axis.dimension) == one.dimensions.end())
        continue;
      std::vector<std::size_t> start, counts;
      bool shared = true;
      for (const int dimension : one.dimensions) {
        const bool along = dimension == axis.dimension;
        const std::size_t length = length_of(one, dimension);
        shared = shared && length > 0 &&
                 (along || length == 1 ||
                  std::ranges::find(images.dimensions, dimension) != images.dimensions.end());
        start.push_back(along ? 0 : length / 2);
        counts.push_back(along ? length : 1);
      }
      if (shared && !(values = part_of(one, start, counts)).empty()) break;
    }
    if (values.empty() && lower(axis.name) == "south_north") return place == Axis::rows;
  }
  // Most steps decide, because longitudes jump by 360 degrees.
  int up = 0;
  for (std::size_t i = 1; i < values.size(); ++i)
    up += values[i] > values[i - 1], up -= values[i] < values[i - 1];
  return place == Axis::rows ? up > 0 : up < 0;
}

}  // namespace parafield::io
#endif
