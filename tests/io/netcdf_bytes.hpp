// SPDX-License-Identifier: MIT
#pragma once
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// Classic NetCDF files (CDF-1), made by hand.
namespace parafield::netcdf_bytes {

using Bytes = std::vector<std::uint8_t>;

enum Type { byte_type = 1, char_type = 2, short_type = 3, int_type = 4, float_type = 5, double_type = 6 };

struct Attribute {
  std::string name;
  std::variant<std::string, std::vector<double>> value;
  Type type = Type(0);  ///< of numbers; 0: the variable's, of scale_factor and add_offset double
};
struct Variable {
  std::string name;
  std::vector<std::uint32_t> dimensions;
  Type type;
  std::vector<double> values;
  std::vector<Attribute> attributes = {};
};
struct Dimension {
  std::string name;
  std::uint32_t length;
};

inline void append(Bytes& bytes, std::uint64_t value, int size) {
  for (int i = size - 1; i >= 0; --i) bytes.push_back(std::uint8_t(value >> (8 * i)));
}
inline void pad(Bytes& bytes) {
  while (bytes.size() % 4) bytes.push_back(0);
}
inline void append_name(Bytes& bytes, std::string_view name) {
  append(bytes, name.size(), 4);
  bytes.insert(bytes.end(), name.begin(), name.end());
  pad(bytes);
}
inline void append_value(Bytes& bytes, Type type, double value) {
  if (type == byte_type || type == char_type) append(bytes, std::uint64_t(std::int64_t(value)), 1);
  if (type == short_type) append(bytes, std::uint64_t(std::int64_t(value)), 2);
  if (type == int_type) append(bytes, std::uint64_t(std::int64_t(value)), 4);
  if (type == float_type) append(bytes, std::bit_cast<std::uint32_t>(float(value)), 4);
  if (type == double_type) append(bytes, std::bit_cast<std::uint64_t>(value), 8);
}
inline Bytes values_of(const Variable& variable) {
  Bytes bytes;
  for (const double value : variable.values) append_value(bytes, variable.type, value);
  pad(bytes);
  return bytes;
}
/// A list of the header: its tag and number of elements.
inline void append_list(Bytes& bytes, std::uint32_t tag, std::size_t count) {
  append(bytes, count ? tag : 0, 4);
  append(bytes, count, 4);
}

/// Numbers of attributes have the variable's type.
inline Bytes file(const std::vector<Dimension>& dimensions, const std::vector<Variable>& variables) {
  const auto header = [&](std::uint32_t first) {
    Bytes bytes = {'C', 'D', 'F', 1};
    append(bytes, 0, 4);
    append_list(bytes, 10, dimensions.size());
    for (const auto& [name, length] : dimensions) {
      append_name(bytes, name);
      append(bytes, length, 4);
    }
    append_list(bytes, 0, 0);
    append_list(bytes, 11, variables.size());
    for (const Variable& variable : variables) {
      append_name(bytes, variable.name);
      append(bytes, variable.dimensions.size(), 4);
      for (const std::uint32_t dimension : variable.dimensions) append(bytes, dimension, 4);
      append_list(bytes, 12, variable.attributes.size());
      for (const auto& [name, value, given] : variable.attributes) {
        append_name(bytes, name);
        if (const auto* const text = std::get_if<std::string>(&value)) {
          append(bytes, char_type, 4);
          append_name(bytes, *text);
          continue;
        }
        const auto& numbers = std::get<std::vector<double>>(value);
        const bool scales = name == "scale_factor" || name == "add_offset";
        const Type type = given != 0 ? given : scales ? double_type : variable.type;
        append(bytes, type, 4);
        append(bytes, numbers.size(), 4);
        for (const double number : numbers) append_value(bytes, type, number);
        pad(bytes);
      }
      const std::size_t size = values_of(variable).size();
      append(bytes, variable.type, 4);
      append(bytes, size, 4);
      append(bytes, first, 4);
      first += std::uint32_t(size);
    }
    return bytes;
  };
  Bytes bytes = header(std::uint32_t(header(0).size()));
  for (const Variable& variable : variables)
    for (const std::uint8_t value : values_of(variable)) bytes.push_back(value);
  return bytes;
}

}  // namespace parafield::netcdf_bytes
