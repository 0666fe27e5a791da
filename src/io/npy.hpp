// SPDX-License-Identifier: MIT
#pragma once
#include "io/floats.hpp"

/// Arrays of NumPy: .npy files, and the members of .npz files.
namespace parafield::io {

struct Npy {
  std::string type;  ///< NumPy's name, such as "<f4"
  bool fortran_order;
  std::vector<std::int64_t> shape;
  ByteSpan values = {};  ///< all bytes after the header
};
/// Parses the header of an array. Throws Error(format).
Npy read_npy(ByteSpan bytes);
std::string shape_text(const std::vector<std::int64_t>& shape);

/// Throws Error(format) if the array is in Fortran order, a side is not in 1..max_side, or the number of
/// bytes does not match the shape. `count`: number of fields of an array whose first axis numbers them; below
/// 0, the array has no such axis.
void check_npy(const Npy& npy, const char* what, std::int64_t count, int channels, int value_bytes);

/// One or several fields of the same size in an array of floats.
struct Planes {
  Floats first;
  int count;

  Floats operator[](int index) const {
    Floats one = first;
    one.values += std::size_t(index) * one.bytes();
    return one;
  }
};
/// The fields of an array, height x width or, with two or three channels, height x width x channels. If
/// `several`, an axis before them may number them. Throws Error(format).
Planes planes_of(ByteSpan bytes, int channels, bool several);

}  // namespace parafield::io
