// SPDX-License-Identifier: MIT
// NumPy's .npy: "\x93NUMPY", a version, the length of the header, the header, and the values of the array.
// The header is a Python dictionary with type, order and shape (numpy.lib.format, versions 1.0 to 3.0). Flow
// is height x width x 2, a disparity field height x width, a frame height x width or height x width x 1 or 3.
#include "io/npy.hpp"

#include <algorithm>
#include <optional>

#include "io/pixels.hpp"

namespace parafield::io {
namespace {

constexpr std::string_view signature = "\x93NUMPY";

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

[[noreturn]] void fail_fortran_order(const char* what) {
  fail_format("an array in Fortran order is not supported; save numpy.ascontiguousarray(", what, ")");
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
  bool is_pixel() const { return name == "u1" || name == "u2"; }
};

std::optional<Number> number_of(std::string_view name) {
  if (name == "f2") return Number::f16;
  if (name == "f4") return Number::f32;
  if (name == "f8") return Number::f64;
  if (name == "i2") return Number::i16;
  if (name == "i4") return Number::i32;
  if (name == "u4") return Number::u32;
  return {};
}

bool is_float(const Number& type) {
  return type == Number::f16 || type == Number::f32 || type == Number::f64;
}

}  // namespace

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return shape.empty() ? "a single value" : joined(shape, " x ");
}

Npy read_npy(ByteSpan bytes) {
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

void check_npy(const Npy& npy, const char* what, std::int64_t count, int channels, int value_bytes) {
  const std::int64_t height = npy.shape[count < 0 ? 0 : 1], width = npy.shape[count < 0 ? 1 : 2];
  if (npy.fortran_order) fail_fortran_order(what);
  if (height < 1 || width < 1 || height > max_side || width > max_side)
    fail_format("an array of ", shape_text(npy.shape), "; each side of the ", what, " is 1 to ", max_side);
  constexpr std::int64_t most = 100'000;  // the number of bytes cannot overflow
  if (count == 0 || count > most)
    fail_format("an array of ", shape_text(npy.shape), "; it should hold 1 to ", most, " fields");
  const std::int64_t needed = channels * value_bytes * height * width * (count < 0 ? 1 : count);
  if (npy.values.size() != std::uint64_t(needed))
    fail_format("an array of ", shape_text(npy.shape), " needs ", needed,
                " bytes after the header, the file has ", npy.values.size());
}

FileKind kind_of_npy(ByteSpan bytes) try {
  const Npy npy = read_npy(bytes);
  const std::optional<Number> number = number_of(ValueType(npy.type).name);
  const bool is_frame = is_image(npy.shape) && (npy.shape.size() == 3 || !number || !is_float(*number));
  return is_frame ? FileKind::frame : npy.shape.size() == 2 ? FileKind::disparity : FileKind::flow;
} catch (const Error&) {
  return FileKind::flow;
}

FrameBuffer decode_npy(ByteSpan bytes) {
  const Npy npy = read_npy(bytes);
  const ValueType type(npy.type);
  const std::optional<Number> number = number_of(type.name);
  if (!is_image(npy.shape))
    fail_format("an array of ", shape_text(npy.shape),
                ", not an image; an image is height x width, height x width x 1 or height x width x 3");
  if (!type.is_pixel() && !number)
    fail_unsupported("an array of type '", npy.type,
                     "' is not supported as an image; 8-, 16- and 32-bit integers and floats are");
  const bool rgb = npy.shape.size() == 3 && npy.shape[2] == 3;
  const int count = rgb ? 3 : 1, value_bytes = type.name[1] - '0';
  check_npy(npy, "image", -1, count, value_bytes);
  const Size size{int(npy.shape[1]), int(npy.shape[0])};
  check_pixels("an array", size.width, size.height);
  if (number)
    return frame_of(
        {.size = size, .channels = count, .values = npy.values.data(), .order = type.order, .type = *number});
  FrameBuffer frame(size, integer_format(rgb, value_bytes == 2));
  ByteStream values(npy.values);
  read_rows(values, rows_of(frame));
  if (type.order != std::endian::native && value_bytes == 2) swap_bytes<std::uint16_t>(rows_of(frame));
  return frame;
}

Planes planes_of(ByteSpan bytes, int channels, bool several) {
  const char* const what = channels == 3 ? "covariance" : channels == 2 || several ? "flow" : "disparity";
  const Npy npy = read_npy(bytes);
  const auto& shape = npy.shape;
  const ValueType type(npy.type);
  const std::optional<Number> number = number_of(type.name);
  const std::string should = text(", not ", what, "; ", what, " is float16, float32 or float64, ",
                                  "height x width", channels > 1 ? text(" x ", channels) : "");
  if (!number || !is_float(*number)) fail_format("an array of type '", npy.type, "'", should);
  const std::size_t axes = channels > 1 ? 3 : 2;
  if ((shape.size() != axes && !(several && shape.size() == axes + 1)) ||
      (channels > 1 && shape.back() != channels))
    fail_format("an array of ", shape_text(shape), should);
  const std::int64_t count = shape.size() == axes ? -1 : shape[0];
  check_npy(npy, what, count, channels, bytes_of(*number));
  const std::size_t first = count < 0 ? 0 : 1;
  return {.first = {.size = {int(shape[first + 1]), int(shape[first])},
                    .channels = channels,
                    .values = npy.values.data(),
                    .order = type.order,
                    .type = *number},
          .count = count < 0 ? 1 : int(count)};
}

Floats open_npy(ByteSpan bytes, int channels) { return planes_of(bytes, channels, false).first; }

std::string npy_header(Size size, int channels) {
  constexpr std::size_t alignment = 64;
  std::string header = text("{'descr': '<f4', 'fortran_order': False, 'shape': (", size.height, ", ",
                            size.width, channels > 1 ? text(", ", channels) : "", "), }");
  // As in NumPy's own files, the values start at a multiple of 64, and the header ends with a line end.
  while ((10 + header.size() + 1) % alignment != 0) header += ' ';
  header += '\n';
  std::string start(signature);
  for (const std::size_t byte : {std::size_t(1), std::size_t(0), header.size() & 255, header.size() >> 8})
    start += char(byte);
  return start + header;
}

}  // namespace parafield::io
