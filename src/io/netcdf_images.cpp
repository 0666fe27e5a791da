// SPDX-License-Identifier: MIT
// Reads images of NetCDF files, classic and NetCDF-4.
#include "io/netcdf.hpp"
#include "parafield/netcdf.hpp"

#ifdef PARAFIELD_HAS_NETCDF
#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "io/netcdf_file.hpp"
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

/// The choice of a value on each axis that is neither of the images nor time: "850" or "level=850,member=2".
class Levels {
 public:
  explicit Levels(std::string_view text) : text_(text) {
    while (!text.empty()) {
      const std::string_view one = text.substr(0, text.find(','));
      text.remove_prefix(std::min(one.size() + 1, text.size()));
      const std::size_t equals = one.find('=');
      const std::string_view name = equals == one.npos ? "" : one.substr(0, equals);
      choices_.push_back(
          {std::string(name), std::string(one.substr(equals == one.npos ? 0 : equals + 1)), false});
    }
  }

  /// The chosen index on an axis; none if nothing is chosen. Sets `all` if the axis counts the images.
  /// `unnamed`: whether a value without a name may be of this axis.
  std::optional<std::size_t> index(const NetcdfAxis& axis, bool unnamed, bool& all) {
    const auto chosen = std::ranges::find_if(choices_, [&](const Choice& one) {
      return !one.used && (one.name == axis.name || (one.name.empty() && unnamed));
    });
    if (chosen == choices_.end()) return {};
    chosen->used = true;
    all = chosen->value == "all";
    if (all) return {};
    const std::vector<std::string> values = values_of(axis, most_searched);
    double wanted = 0;
    const bool is_number = read_number(chosen->value, wanted);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] == chosen->value) return i;
      if (double value = 0;
          is_number && read_number(values[i], value) && std::abs(value - wanted) <= 1e-6 * std::abs(value))
        return i;
    }
    fail_value("the axis ", detail::printable(axis.name), " has no ", detail::quoted(chosen->value),
               "; it has ", listed(axis));
  }

  /// The values of an axis for an error.
  static std::string listed(const NetcdfAxis& axis) {
    if (!axis.has_coordinate()) return text("1 to ", axis.length);
    constexpr std::size_t most = 12;
    const std::vector<std::string> values = values_of(axis, most);
    if (axis.length <= most) return joined(values);
    return joined(values) + " ... (" + std::to_string(axis.length) + " values)";
  }

  /// Throws for the names of axes that do not exist.
  void check_names(const std::vector<NetcdfAxis>& axes) const {
    for (const Choice& one : choices_)
      if (!one.name.empty() && std::ranges::find(axes, one.name, &NetcdfAxis::name) == axes.end())
        fail_value("the level ", detail::value_text(text_), " names the axis ", detail::quoted(one.name),
                   "; the images have ", names_of(axes));
  }
  void check_all_used(const std::vector<NetcdfAxis>& axes) const {
    for (const Choice& one : choices_)
      if (!one.used)
        fail_value("the level ", detail::value_text(text_), " chooses ", detail::quoted(one.value),
                   ", but there is no axis to choose from; the images have ", names_of(axes));
  }

 private:
  struct Choice {
    std::string name, value;
    bool used;
  };

  static std::string names_of(const std::vector<NetcdfAxis>& axes) {
    std::vector<std::string> names;
    for (const NetcdfAxis& axis : axes) names.push_back(detail::printable(axis.name));
    return joined(names);
  }
  static constexpr std::size_t most_searched = 1 << 16;  // damaged files may have any length
  /// The first values of an axis.
  static std::vector<std::string> values_of(const NetcdfAxis& axis, std::size_t most) {
    std::vector<std::string> values;
    const std::vector<double> numbers = coordinates_of(axis);
    const std::vector<std::string> texts = texts_of(axis, {axis.coordinate});
    for (std::size_t i = 0; i < std::min(axis.length, most); ++i) {
      std::string value = text(i + 1);
      if (numbers.size() == axis.length) {
        value = text(numbers[i]);
      } else if (i < texts.size()) {
        value = detail::printable(texts[i]);
      }
      values.push_back(std::move(value));
    }
    return values;
  }

  const std::string text_;
  std::vector<Choice> choices_;
};

/// The positions of the rows and columns among a variable's axes; none if it holds no images.
struct Places {
  std::size_t rows, columns;
};

std::optional<Places> places_of(const std::vector<NetcdfAxis>& axes) {
  std::optional<std::size_t> rows, columns;
  std::vector<std::size_t> others, levels;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].kind == Axis::rows) rows = i;
    if (axes[i].kind == Axis::columns) columns = i;
    if (axes[i].kind == Axis::unknown) others.push_back(i);
    if (axes[i].kind != Axis::time) levels.push_back(i);
  }
  if (!rows && !columns && others.size() >= 2) {
    rows = others[others.size() - 2];
    columns = others.back();
  } else if (rows.has_value() != columns.has_value() && !others.empty()) {
    (rows ? columns : rows) = others.back();
  } else if ((!rows || !columns) && levels.size() >= 2) {  // as a section through levels
    rows = levels[levels.size() - 2];
    columns = levels.back();
  }
  if (!rows || !columns || axes[*rows].length < 3 || axes[*columns].length < 3) return {};
  return Places{*rows, *columns};
}

bool holds_images(const NetcdfVariable& variable, const std::vector<NetcdfVariable>& all) {
  return variable.has_numbers() && variable.dimensions.size() >= 2 && places_of(axes_of(variable, all));
}

/// Whether a variable describes others: coordinates, bounds, flags.
bool describes(const NetcdfVariable& variable, const std::vector<NetcdfVariable>& all) {
  const Axis kind = axis_by_attributes(variable);
  std::string name = variable.name;
  for (char& c : name) c = char(std::tolower(static_cast<unsigned char>(c)));
  const bool is_place = kind == Axis::rows || kind == Axis::columns || kind == Axis::time ||
                        ((name.find("lat") != name.npos || name.find("lon") != name.npos) &&
                         axis_by_name(name) != Axis::unknown);
  if (is_place || !text_attribute(variable, "flag_meanings").empty()) return true;
  for (const NetcdfVariable& other : all)
    for (const char* const attribute : {"coordinates", "bounds", "ancillary_variables"}) {
      const std::string names = " " + text_attribute(other, attribute) + " ";
      if (other.path != variable.path && names.find(" " + variable.name + " ") != names.npos) return true;
    }
  return false;
}

struct ImagesOfVariable : NetcdfImages {
  int file = -1;
  NetcdfVariable variable;
  std::optional<NetcdfPacking> packing;
  Places places{};
  std::vector<std::size_t> start, counts;
  std::optional<std::size_t> counted;  ///< position of the axis over which the images are counted
  std::size_t count = 1;               ///< its length
  std::vector<std::size_t> order;      ///< its indices in order of time; empty if they are in order
  std::size_t width = 0, height = 0, at = 0;
  bool upward = false;    ///< the first row is the southernmost
  bool leftward = false;  ///< the first column is the easternmost

  ImagesOfVariable(ByteSpan bytes, const NetcdfChoice& choice) {
    const Netcdf& nc = loaded_netcdf();
    const NetcdfCalls calls;
    // The library does not write to the memory of a file that is opened read-only.
    if (const int status = nc.nc_open_mem("memory", NC_NOWRITE, bytes.size(),
                                          const_cast<std::uint8_t*>(bytes.data()), &file))
      fail_format("not a NetCDF file, or a damaged one: ", netcdf().why(status));
    try {
      const std::vector<NetcdfVariable> all = variables_of(file);
      variable = chosen(all, choice.variable);
      read_shape(all, choice.level);
      packing.emplace(variable);
    } catch (...) {
      nc.nc_close(file);
      throw;
    }
  }
  ~ImagesOfVariable() override {
    const NetcdfCalls calls;
    netcdf().nc_close(file);
  }

  static NetcdfVariable chosen(const std::vector<NetcdfVariable>& all, std::string_view name) {
    if (name.starts_with('/')) name.remove_prefix(1);
    std::vector<NetcdfVariable> found, named;
    for (const NetcdfVariable& one : all) {
      if (!holds_images(one, all)) continue;
      if (one.path == name) return one;
      if (one.name == name) named.push_back(one);
      if (!describes(one, all)) found.push_back(one);
    }
    if (named.size() == 1) return named[0];
    std::vector<std::string> names;
    for (const NetcdfVariable& one : named.empty() ? found : named)
      names.push_back(detail::printable(one.path));
    if (names.empty()) fail_format("a NetCDF file without a variable of images");
    if (name.empty() && found.size() == 1) return found[0];
    if (name.empty() || !named.empty())
      fail_value("a NetCDF file of several variables; name one of them (option variable): ", joined(names));
    fail_value("a NetCDF file without images in the variable ", detail::value_text(name), "; it has ",
               joined(names));
  }

  void read_shape(const std::vector<NetcdfVariable>& all, std::string_view level) {
    const std::vector<NetcdfAxis> axes = axes_of(variable, all);
    places = places_of(axes).value();
    const NetcdfAxis &rows = axes[places.rows], &columns = axes[places.columns];
    height = rows.length;
    width = columns.length;
    check_sides("a NetCDF file", std::int64_t(width), std::int64_t(height));
    check_pixels("a NetCDF file", std::int64_t(width), std::int64_t(height));
    start.assign(axes.size(), 0);
    counts.assign(axes.size(), 1);
    counts[places.rows] = height;
    counts[places.columns] = width;
    Levels levels(level);
    levels.check_names(axes);
    const auto is_level = [&](const NetcdfAxis& axis) {
      return &axis != &rows && &axis != &columns && axis.kind != Axis::time;
    };
    const bool some_choice =
        std::ranges::any_of(axes, [&](const NetcdfAxis& axis) { return is_level(axis) && axis.length > 1; });
    std::vector<std::size_t> times;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (i == places.rows || i == places.columns) continue;
      bool is_time = axes[i].kind == Axis::time;
      const bool unnamed = is_level(axes[i]) && (axes[i].length > 1 || !some_choice);
      if (const auto index = levels.index(axes[i], unnamed, is_time)) {
        start[i] = *index;
        continue;
      }
      const bool generic = axes[i].kind == Axis::unknown && !axes[i].has_coordinate() &&
                           axis_by_name(axes[i].name) == Axis::time;  // dim_0
      if (is_time || generic) {
        times.push_back(i);
      } else if (axes[i].length != 1) {
        const std::string name = detail::printable(axes[i].name);
        fail_value(detail::printable(variable.path), " has ", axes[i].length, " images along ", name,
                   ", which is not a time axis; the option level chooses one (", Levels::listed(axes[i]),
                   "), and '", name, "=all' treats the axis as time");
      }
    }
    levels.check_all_used(axes);
    std::erase_if(times, [&](std::size_t i) { return times.size() > 1 && axes[i].length == 1; });
    if (times.size() > 1)
      fail_value(detail::printable(variable.path), " has images along ",
                 detail::printable(axes[times[0]].name), " and ", detail::printable(axes[times[1]].name),
                 "; the option level chooses one of either, as '", detail::printable(axes[times[0]].name),
                 "=VALUE': ", Levels::listed(axes[times[0]]));
    if (!times.empty()) count_over(axes[times[0]], times[0], all);
    upward = is_reversed(rows, Axis::rows, variable, all);
    leftward = is_reversed(columns, Axis::columns, variable, all);
  }

  /// Counts the images along an axis, in order of time.
  void count_over(const NetcdfAxis& axis, std::size_t position, const std::vector<NetcdfVariable>& all) {
    counted = position;
    count = axis.length;
    const std::vector<double> times = coordinates_of(axis);
    const auto is_missing = [](double time) { return std::isnan(time); };
    if (times.size() != axis.length || std::ranges::all_of(times, is_missing)) {
      if (const auto texts = texts_of(axis, all); are_sortable(texts)) sort_by(texts, axis.name);
      return;
    }
    if (const auto none = std::ranges::find_if(times, is_missing); none != times.end())
      fail_format("the time of image ", none - times.begin() + 1, " is missing in ",
                  detail::printable(axis.coordinate.path));
    sort_by(times, axis.coordinate.path);
  }

  /// Whether times as text sort by their characters: they begin with a year, and digits are at the same
  /// places, as in 2024-05-01_12:00:00.
  static bool are_sortable(const std::vector<std::string>& times) {
    const auto layout_of = [](std::string time) {
      for (char& c : time)
        if (std::isdigit(static_cast<unsigned char>(c))) c = '0';
      return time;
    };
    const std::string layout = times.empty() ? "" : layout_of(times[0]);
    return layout.starts_with("0000") &&
           std::ranges::all_of(times, [&](const std::string& time) { return layout_of(time) == layout; });
  }

  /// `name`: of the variable or axis with the times.
  void sort_by(const auto& times, const std::string& name) {
    order.resize(count);
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return times[a] < times[b]; });
    for (std::size_t i = 1; i < order.size(); ++i)
      if (times[order[i]] == times[order[i - 1]])
        fail_format("images ", order[i - 1] + 1, " and ", order[i] + 1, " have the same time, ",
                    times[order[i]], ", in ", detail::printable(name));
  }

  bool has_next() const override { return at < count; }
  FrameBuffer next() override {
    const std::size_t number = at++;  // an image that cannot be read is passed over
    if (counted) start[*counted] = order.empty() ? number : order[number];
    std::vector<double> values(width * height);  // at once: one row may need the whole image decompressed
    {
      const NetcdfCalls calls;
      expect_netcdf(netcdf().nc_get_vara_double(variable.group, variable.id, start.data(), counts.data(),
                                                values.data()));
    }
    FrameBuffer frame({int(width), int(height)}, PixelFormat::gray_f32);
    const std::size_t row_step = places.rows < places.columns ? width : 1,
                      column_step = places.rows < places.columns ? 1 : height;
    for (std::size_t y = 0; y < height; ++y) {
      const double* const from = values.data() + (upward ? height - 1 - y : y) * row_step;
      auto* const to = static_cast<float*>(frame.row(int(y)));
      for (std::size_t x = 0; x < width; ++x)
        to[x] = float((*packing)(from[(leftward ? width - 1 - x : x) * column_step]));
    }
    return frame;
  }
};

}  // namespace

std::unique_ptr<NetcdfImages> open_netcdf(ByteSpan bytes, const NetcdfChoice& choice) {
  return std::make_unique<ImagesOfVariable>(bytes, choice);
}
#else
std::unique_ptr<NetcdfImages> open_netcdf(ByteSpan, const NetcdfChoice&) {
  fail_unsupported(why_no_netcdf());
}
#endif

}  // namespace io
}  // namespace parafield
