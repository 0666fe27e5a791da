// SPDX-License-Identifier: MIT
// NumPy's .npy: "\x93NUMPY", a version, the length of the header, the header, and the values of the array.
// The header is a Python dictionary with type, order and shape (numpy.lib.format, versions 1.0 to 3.0). Flow
// is height x width x 2, a disparity field height x width, a frame height x width or height x width x 1 or 3.
#include <algorithm>
#include <optional>

#include "io/floats.hpp"
#include "io/pixels.hpp"

namespace parafield::io {
namespace {

constexpr std::string_view signature = "\x93NUMPY";

struct Npy {
  std::string type;
  bool fortran_order;
  std::vector<std::int64_t> shape;
  ByteSpan values = {};  // all bytes after the header
};

/// Parses only the subset of Python that NumPy writes.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view header) : text_(header) {}

  Npy read() {
    std::optional<std::string> type;
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::int64_t>> shape;
    read_list('{', '}', [&] {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !type)
        type = string();
      else if (key == "fortran_order" && !fortran_order)
        fortran_order = boolean();
      else if (key == "shape" && !shape)
        shape = numbers();
      else
        fail_damaged();
    });
    skip_space();
    if (at_ != text_.size() || !type || !fortran_order || !shape) fail_damaged();
    return {*type, *fortran_order, *shape};
  }

 private:
  [[noreturn]] void fail_damaged() const {
    fail_format("damaged .npy header, at its byte ", at_,
                ": it should hold descr (a plain type), fortran_order and shape");
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail_damaged();
  }
  /// Calls read_item() for each item. Items are separated by commas; a comma after the last is allowed.
  template <class ReadItem>
  void read_list(char open, char close, ReadItem read_item) {
    expect(open);
    while (!accept(close)) {
      read_item();
      if (accept(',')) continue;
      expect(close);
      break;
    }
  }
  std::string string() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const std::size_t end = std::min(text_.find(quote, at_), text_.size());
    const std::string value(text_.substr(at_, end - at_));
    // Messages show the text, so it must be short and printable.
    const auto plain = [](char c) { return c >= ' ' && c <= '~'; };
    if (value.size() > 40 || !std::all_of(value.begin(), value.end(), plain)) fail_damaged();
    at_ = end;
    expect(quote);
    return value;
  }
  bool boolean() {
    skip_space();
    for (const std::string_view word : {"True", "False"})
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return word == "True";
      }
    fail_damaged();
  }
  std::vector<std::int64_t> numbers() {
    std::vector<std::int64_t> list;
    read_list('(', ')', [&] {
      skip_space();
      const std::size_t start = at_;
      std::int64_t value = 0;
      for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' && at_ - start < 18; ++at_)
        value = 10 * value + (text_[at_] - '0');
      if (at_ == start || list.size() == 32) fail_damaged();
      list.push_back(value);
    });
    return list;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return shape.empty() ? "a single value" : joined(shape, " x ");
}

Npy read_header(ByteSpan bytes) {
  // The length has two bytes in version 1, and four in later versions, which allow longer headers and names
  // in UTF-8.
  const int version = bytes.size() > 6 ? bytes[6] : 1;
  const std::size_t start = version == 1 ? 10 : 12;
  if (bytes.size() < start)
    fail_format("the header of a .npy file has more than ", start, " bytes, the file has ", bytes.size());
  if (version < 1 || version > 3 || bytes[7] != 0)
    fail_format("a .npy file of version ", version, ".", int(bytes[7]), "; 1.0, 2.0 and 3.0 are read");
  const std::uint64_t length = version == 1 ? bytes[8] | std::uint32_t(bytes[9]) << 8 : load_u32(&bytes[8]);
  if (length > bytes.size() - start)
    fail_format("a .npy header of ", length, " bytes, the file has ", bytes.size() - start,
                " after its length");
  Npy npy = HeaderReader(text_of(bytes.subspan(start, length))).read();
  npy.values = bytes.subspan(start + length);
  return npy;
}

[[noreturn]] void fail_fortran_order(const char* what) {
  fail_format("an array in Fortran order is not supported; save numpy.ascontiguousarray(", what, ")");
}

/// Throws Error(format) if a side is not in 1..max_side or the number of bytes does not match the shape.
void check_array(const Npy& npy, const char* what, int channels, int value_bytes) {
  const auto& shape = npy.shape;
  if (shape[0] < 1 || shape[1] < 1 || shape[0] > max_side || shape[1] > max_side)
    fail_format("an array of ", shape_text(shape), "; each side of ", what, " is 1 to ", max_side);
  const std::int64_t needed = std::int64_t(channels) * value_bytes * shape[0] * shape[1];
  if (npy.values.size() != std::uint64_t(needed))
    fail_format("an array of ", shape_text(shape), " needs ", needed,
                " bytes after the header, the file has ", npy.values.size());
}

bool is_image(const std::vector<std::int64_t>& shape) {
  return shape.size() == 2 || (shape.size() == 3 && (shape[2] == 1 || shape[2] == 3));
}

/// Type of a value: its letter and size ("u2"), and its byte order.
struct ValueType {
  std::string_view name;
  std::endian order;

  explicit ValueType(std::string_view type)
      : name(type.substr(std::min<std::size_t>(type.size(), 1))),
        order(type.starts_with('>') ? std::endian::big : std::endian::little) {
    if (!type.starts_with('<') && !type.starts_with('>') && type != "|u1") name = {};
  }
  bool is_integer() const { return name == "u1" || name == "u2"; }
  bool is_float() const { return name == "f4" || name == "f8"; }
};

}  // namespace

FileKind kind_of_npy(ByteSpan bytes) try {
  const Npy npy = read_header(bytes);
  const bool is_frame = is_image(npy.shape) && (npy.shape.size() == 3 || ValueType(npy.type).is_integer());
  return is_frame ? FileKind::frame : npy.shape.size() == 2 ? FileKind::disparity : FileKind::flow;
} catch (const Error&) {
  return FileKind::flow;
}

FrameBuffer decode_npy(ByteSpan bytes) {
  const Npy npy = read_header(bytes);
  const ValueType type(npy.type);
  if (!is_image(npy.shape))
    fail_format("an array of ", shape_text(npy.shape),
                ", not an image; an image is height x width, height x width x 1 or height x width x 3");
  if (!type.is_integer() && !type.is_float())
    fail_unsupported("an array of type '", npy.type,
                     "' is not supported as an image; uint8, uint16, float32 and float64 are");
  if (npy.fortran_order) fail_fortran_order("image");
  const bool rgb = npy.shape.size() == 3 && npy.shape[2] == 3;
  const int count = rgb ? 3 : 1, value_bytes = type.name[1] - '0';
  check_array(npy, "an image", count, value_bytes);
  const Size size{int(npy.shape[1]), int(npy.shape[0])};
  check_pixels("an array", size.width, size.height);
  if (type.is_float())
    return frame_of({.size = size,
                     .channels = count,
                     .values = npy.values.data(),
                     .order = type.order,
                     .value_bytes = value_bytes});
  FrameBuffer frame(size, integer_format(rgb, value_bytes == 2));
  ByteStream values(npy.values);
  read_rows(values, rows_of(frame));
  if (type.order != std::endian::native && value_bytes == 2) swap_bytes<std::uint16_t>(rows_of(frame));
  return frame;
}

Floats open_npy(ByteSpan bytes, int channels) {
  const Npy npy = read_header(bytes);
  const bool is_flow = channels == 2;
  const char* what = is_flow ? "flow" : "disparity";
  const std::string should = text(", not ", what, "; ", what, " is little-endian float32 or float64, ",
                                  is_flow ? "height x width x 2" : "height x width");
  if (npy.type != "<f4" && npy.type != "<f8") fail_format("an array of type '", npy.type, "'", should);
  if (npy.fortran_order) fail_fortran_order(what);
  const auto& shape = npy.shape;
  if (is_flow ? shape.size() != 3 || shape[2] != 2 : shape.size() != 2)
    fail_format("an array of ", shape_text(shape), should);
  const int value_bytes = npy.type == "<f4" ? 4 : 8;
  check_array(npy, what, channels, value_bytes);
  return {.size = {int(shape[1]), int(shape[0])},
          .channels = channels,
          .values = npy.values.data(),
          .value_bytes = value_bytes};
}

std::string npy_header(Size size, int channels) {
  constexpr std::size_t alignment = 64;
  std::string header = text("{'descr': '<f4', 'fortran_order': False, 'shape': (", size.height, ", ",
                            size.width, channels == 2 ? ", 2" : "", "), }");
  // As in NumPy's own files, the values start at a multiple of 64, and the header ends with a line end.
  while ((10 + header.size() + 1) % alignment != 0) header += ' ';
  header += '\n';
  std::string start(signature);
  for (const std::size_t byte : {std::size_t(1), std::size_t(0), header.size() & 255, header.size() >> 8})
    start += char(byte);
  return start + header;
}

}  // namespace parafield::io
