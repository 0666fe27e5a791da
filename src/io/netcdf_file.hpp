// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "io/formats.hpp"
#include "io/netcdf_library.hpp"

/// Groups, variables, attributes and axes of an open NetCDF file. Hold NetcdfCalls during all calls.
namespace parafield::io {

inline void expect_netcdf(int status) {
  if (status) fail_format("damaged NetCDF file: ", netcdf().why(status));
}

/// A variable of a group.
struct NetcdfVariable {
  int group = 0, id = -1;
  std::string name = {}, path = {};  ///< "rain", "group/rain"
  nc_type type = NC_NAT;
  std::vector<int> dimensions = {};

  bool is(const NetcdfVariable& other) const { return group == other.group && id == other.id; }
  bool has_numbers() const { return type != NC_CHAR && type <= NC_UINT64; }
};

/// All variables of a file: first the root group's, then each inner group's.
std::vector<NetcdfVariable> variables_of(int file);

/// The groups that a variable of a group can refer to: the group, its parent, and so on.
std::vector<int> groups_above(int group);

/// The text of an attribute, characters or one string; empty if there is none or it is not text.
std::string text_attribute(const NetcdfVariable& variable, const char* name);

/// The numbers of an attribute, also if they are written as text; empty if there are none.
struct NetcdfNumbers {
  std::vector<double> values;
  nc_type type = NC_NAT;  ///< NC_CHAR or NC_STRING for text
};
NetcdfNumbers numbers_attribute(const NetcdfVariable& variable, const char* name);

/// Meaning of a dimension.
enum class Axis { unknown, time, level, rows, columns };

/// Kind of axis of a variable's values, by its attributes (axis, standard_name, units, positive) alone.
Axis axis_by_attributes(const NetcdfVariable& variable);
/// Kind of axis by a name, as CF and xarray users write it: lat, longitude, time, level, band, x, nlat ...
Axis axis_by_name(std::string_view name);

/// A dimension of a variable, and the variable with its coordinates.
struct NetcdfAxis {
  int dimension = -1;
  std::string name = {};
  std::size_t length = 0;
  Axis kind = Axis::unknown;
  NetcdfVariable coordinate = {};  ///< id -1: none

  bool has_coordinate() const { return coordinate.id >= 0; }
};
/// The axes of a variable, in the order of its dimensions. `all`: the file's variables.
std::vector<NetcdfAxis> axes_of(const NetcdfVariable& variable, const std::vector<NetcdfVariable>& all);

/// The values of an axis's coordinate, unpacked; NaN where missing. Empty without numbers.
std::vector<double> coordinates_of(const NetcdfAxis& axis);

/// The values of an axis's coordinate as text: one string each, or characters along a second dimension, as
/// WRF's `Times(Time, DateStrLen)`. Empty without text. `all`: the file's variables.
std::vector<std::string> texts_of(const NetcdfAxis& axis, const std::vector<NetcdfVariable>& all);

/// Whether the images must be turned so that the axis, of rows or columns, runs from the north down or from
/// the west to the right. `images`: the variable that holds them; `all`: the file's variables.
bool is_reversed(const NetcdfAxis& axis, Axis place, const NetcdfVariable& images,
                 const std::vector<NetcdfVariable>& all);

/// Which values of a variable are missing, and how the others are unpacked.
class NetcdfPacking {
 public:
  explicit NetcdfPacking(const NetcdfVariable& variable);

  /// The value of a stored number; NaN if it is missing.
  double operator()(double stored) const;

 private:
  /// Brings a number to the variable's type as it is meant: signed or unsigned.
  double meant(double stored) const;

  nc_type type_;
  bool is_unsigned_ = false;
  double wrap_ = 0;  // number of values of an integer type; 0 = not an integer
  double scale_ = 1, offset_ = 0;
  double least_ = -std::numeric_limits<double>::infinity(), most_ = -least_;                    // stored
  double least_value_ = -std::numeric_limits<double>::infinity(), most_value_ = -least_value_;  // unpacked
  std::vector<double> missing_, missing_values_;  // stored; unpacked
};

}  // namespace parafield::io
