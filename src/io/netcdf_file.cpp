// SPDX-License-Identifier: MIT
#ifdef PARAFIELD_HAS_NETCDF
#include "io/netcdf_file.hpp"

#include <cctype>

namespace parafield::io {
namespace {

void add_variables(int group, const std::string& path, int depth, std::vector<NetcdfVariable>& all) {
  const Netcdf& nc = netcdf();
  int count = 0;
  expect_netcdf(nc.nc_inq_nvars(group, &count));
  for (int id = 0; id < count; ++id) {
    char name[NC_MAX_NAME + 1] = {};
    int sides = 0, dimensions[NC_MAX_VAR_DIMS] = {};
    NetcdfVariable one{.group = group, .id = id};
    expect_netcdf(nc.nc_inq_var(group, id, name, &one.type, &sides, dimensions, nullptr));
    one.name = name;
    one.path = path + one.name;
    one.dimensions.assign(dimensions, dimensions + sides);
    all.push_back(std::move(one));
  }
  int groups = 0;
  if (depth == 32 || nc.nc_inq_grps(group, &groups, nullptr) || groups < 1) return;
  std::vector<int> inner(static_cast<std::size_t>(groups));
  expect_netcdf(nc.nc_inq_grps(group, nullptr, inner.data()));
  for (const int one : inner) {
    char name[NC_MAX_NAME + 1] = {};
    expect_netcdf(nc.nc_inq_grpname(one, name));
    add_variables(one, path + name + "/", depth + 1, all);
  }
}

/// The numbers in a text, separated by spaces or commas, possibly with a type's letter as in "-999.f"; empty
/// unless all are numbers.
std::vector<double> numbers_in(std::string_view text) {
  std::vector<double> values;
  constexpr std::string_view between = " \t\r\n,;";
  while ((text = text.substr(std::min(text.find_first_not_of(between), text.size()))).size() > 0) {
    std::string_view word = text.substr(0, text.find_first_of(between));
    text.remove_prefix(word.size());
    double value = 0;
    if (word.starts_with('+')) word.remove_prefix(1);
    if (!read_number(word, value)) {
      while (!word.empty() && std::string_view("bBsSfFdDlLuU").find(word.back()) != std::string_view::npos)
        word.remove_suffix(1);
      if (!read_number(word, value)) return {};
    }
    values.push_back(value);
  }
  return values;
}

/// Bits of an integer type; 0 for others.
int bits_of(nc_type type) {
  switch (type) {
    case NC_BYTE:
    case NC_UBYTE:
      return 8;
    case NC_SHORT:
    case NC_USHORT:
      return 16;
    case NC_INT:
    case NC_UINT:
      return 32;
    case NC_INT64:
    case NC_UINT64:
      return 64;
    default:
      return 0;
  }
}

bool is_unsigned(nc_type type) {
  return type == NC_UBYTE || type == NC_USHORT || type == NC_UINT || type == NC_UINT64;
}

/// The value that the library stores where nothing was written; none for bytes, all of whose values are
/// valid.
std::vector<double> default_fill(nc_type type) {
  switch (type) {
    case NC_SHORT:
      return {NC_FILL_SHORT};
    case NC_INT:
      return {NC_FILL_INT};
    case NC_USHORT:
      return {NC_FILL_USHORT};
    case NC_UINT:
      return {NC_FILL_UINT};
    case NC_INT64:
      return {double(NC_FILL_INT64)};
    case NC_UINT64:
      return {double(NC_FILL_UINT64)};
    default:
      return {};  // floats have a limit instead
  }
}

/// Width of a type: a wider one holds values of a narrower one.
int rank_of(nc_type type) { return type == NC_DOUBLE ? 100 : type == NC_FLOAT ? 90 : bits_of(type); }

}  // namespace

std::vector<NetcdfVariable> variables_of(int file) {
  std::vector<NetcdfVariable> all;
  add_variables(file, "", 0, all);
  return all;
}

std::vector<int> groups_above(int group) {
  std::vector<int> all = {group};
  int parent = 0;
  while (all.size() < 64 && !netcdf().nc_inq_grp_parent(all.back(), &parent)) all.push_back(parent);
  return all;
}

std::string text_attribute(const NetcdfVariable& variable, const char* name) {
  const auto [group, id] = std::pair(variable.group, variable.id);
  nc_type type = NC_NAT;
  std::size_t length = 0;
  if (netcdf().nc_inq_att(group, id, name, &type, &length)) return {};
  if (type == NC_STRING && length == 1) {
    char* own = nullptr;
    if (netcdf().nc_get_att_string(group, id, name, &own)) return {};
    std::string value = own ? own : "";
    netcdf().nc_free_string(1, &own);
    return value;
  }
  if (type != NC_CHAR || length > 4096) return {};
  std::string value(length, '\0');
  if (netcdf().nc_get_att_text(group, id, name, value.data())) return {};
  return value.substr(0, value.find('\0'));
}

NetcdfNumbers numbers_attribute(const NetcdfVariable& variable, const char* name) {
  nc_type type = NC_NAT;
  std::size_t length = 0;
  if (netcdf().nc_inq_att(variable.group, variable.id, name, &type, &length)) return {};
  if (type == NC_CHAR || type == NC_STRING) return {numbers_in(text_attribute(variable, name)), type};
  if (type > NC_UINT64 || length > 64) return {};
  std::vector<double> values(length);
  if (netcdf().nc_get_att_double(variable.group, variable.id, name, values.data())) return {};
  return {values, type};
}

NetcdfPacking::NetcdfPacking(const NetcdfVariable& variable) : type_(variable.type) {
  const int bits = bits_of(type_);
  is_unsigned_ = is_unsigned(type_);
  if (bits > 0) {
    wrap_ = bits == 64 ? 18446744073709551616.0 : double(1ull << bits);
    std::string said = text_attribute(variable, "_Unsigned");
    for (char& c : said) c = char(std::tolower(static_cast<unsigned char>(c)));
    const std::vector<double> number = numbers_attribute(variable, "_Unsigned").values;
    if (said == "true" || said == "yes" || (!number.empty() && number[0] != 0)) is_unsigned_ = true;
    if (said == "false" || said == "no" || (!number.empty() && number[0] == 0)) is_unsigned_ = false;
  }
  const NetcdfNumbers scales = numbers_attribute(variable, "scale_factor"),
                      offsets = numbers_attribute(variable, "add_offset");
  const auto read_factor = [&](const NetcdfNumbers& numbers, const char* name, bool may_be_0,
                               double& factor) {
    if (numbers.type == NC_NAT) return;
    if (numbers.values.empty() || !std::isfinite(numbers.values[0]) || (!may_be_0 && numbers.values[0] == 0))
      fail_format("the attribute ", name, " of ", variable.name, " is ",
                  numbers.values.empty() ? "no number" : text(numbers.values[0]),
                  "; it must be a finite number", may_be_0 ? "" : " other than 0");
    factor = numbers.values[0];
  };
  read_factor(scales, "scale_factor", false, scale_);
  read_factor(offsets, "add_offset", true, offset_);
  const bool packed = !scales.values.empty() || !offsets.values.empty();
  const int unpacked_rank = std::max(rank_of(scales.type), rank_of(offsets.type));

  const auto add_missing = [&](double value) {
    if (type_ == NC_FLOAT) return missing_.push_back(double(float(value)));
    if (type_ == NC_DOUBLE) return missing_.push_back(value);
    const bool stored = value == std::floor(value) && value >= -wrap_ / 2 && value < wrap_;
    if (stored) missing_.push_back(meant(value));
    if (!stored && packed)
      missing_values_.push_back(value);  // against the conventions, a value of the unpacked
  };
  const NetcdfNumbers fill = numbers_attribute(variable, "_FillValue");
  for (const double value : fill.values) add_missing(value);
  if (fill.type == NC_NAT)
    for (const double value : default_fill(type_)) add_missing(value);
  for (const double value : numbers_attribute(variable, "missing_value").values) add_missing(value);

  // By the NetCDF Users' Guide, limits of the unpacked values' type, if that is wider than the stored one,
  // are limits of the unpacked values. So are all floats for stored integers.
  const auto limit = [&](const NetcdfNumbers& given, std::size_t at, double& stored, double& unpacked) {
    if (given.values.size() <= at) return;
    const int rank = rank_of(given.type);
    const bool floats = rank_of(given.type) >= rank_of(NC_FLOAT) && rank_of(type_) < rank_of(NC_FLOAT);
    if (packed && (floats || (rank == unpacked_rank && rank > rank_of(type_))))
      unpacked = given.values[at];
    else
      stored = type_ == NC_FLOAT ? double(float(given.values[at])) : meant(given.values[at]);
  };
  if (const NetcdfNumbers range = numbers_attribute(variable, "valid_range"); range.values.size() == 2) {
    limit(range, 0, least_, least_value_);
    limit(range, 1, most_, most_value_);
  }
  limit(numbers_attribute(variable, "valid_min"), 0, least_, least_value_);
  limit(numbers_attribute(variable, "valid_max"), 0, most_, most_value_);
  if (bits == 0) most_ = std::min(most_, 9e36);  // above is the default fill value of floats
}

double NetcdfPacking::meant(double stored) const {
  if (is_unsigned_ && stored < 0) return stored + wrap_;
  return !is_unsigned_ && wrap_ > 0 && stored >= wrap_ / 2 ? stored - wrap_ : stored;
}

double NetcdfPacking::operator()(double stored) const {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const double number = meant(stored);
  if (!(number >= least_ && number <= most_) || std::ranges::find(missing_, number) != missing_.end())
    return unknown;
  const double value = number * scale_ + offset_;
  if (!(value >= least_value_ && value <= most_value_)) return unknown;
  for (const double missing : missing_values_)
    if (float(value) == float(missing)) return unknown;
  return value;
}

}  // namespace parafield::io
#endif
