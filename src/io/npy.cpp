// NumPy's .npy: "\x93NUMPY", a version, the length of the header, the header, and the values of the array.
// The header is a Python dictionary with type, order and shape (numpy.lib.format, versions 1.0 to 3.0). Flow
// is height x width x 2, a disparity field height x width.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/fail.hpp"
#include "io/bytes.hpp"
#include "io/formats.hpp"

namespace parafield::io {
namespace {

constexpr std::string_view signature = "\x93NUMPY";
constexpr std::size_t alignment = 64;

struct Npy {
  std::string type;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  ByteSpan values = {};  // all bytes after the header

  bool single() const { return type == "<f4"; }
  Size size() const { return {int(shape[1]), int(shape[0])}; }
};

/// The array that is expected.
struct Wanted {
  const char *what, *shape;
  std::size_t channels;
};
constexpr Wanted wanted_flow{"flow", "height x width x 2", 2},
    wanted_disparity{"disparity", "height x width", 1};

/// Reads the few words of Python that NumPy writes, and no others.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view header) : text_(header) {}

  Npy read() {
    Npy npy;
    bool type = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !type) {
        npy.type = string();
        type = true;
      } else if (key == "fortran_order" && !order) {
        npy.fortran_order = boolean();
        order = true;
      } else if (key == "shape" && !shape) {
        npy.shape = numbers();
        shape = true;
      } else {
        fail_damaged();
      }
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_space();
    if (at_ != text_.size() || !type || !order || !shape) fail_damaged();
    return npy;
  }

 private:
  [[noreturn]] void fail_damaged() const {
    fail(ErrorCode::format, "damaged .npy header, at its byte ", at_,
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
  std::string string() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const std::size_t end = std::min(text_.find(quote, at_), text_.size());
    const std::string value(text_.substr(at_, end - at_));
    // Messages show it.
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
    expect('(');
    while (!accept(')')) {
      skip_space();
      const std::size_t start = at_;
      std::int64_t value = 0;
      for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9' && at_ - start < 18; ++at_)
        value = 10 * value + (text_[at_] - '0');
      if (at_ == start || list.size() == 32) fail_damaged();
      list.push_back(value);
      if (accept(',')) continue;
      expect(')');
      break;
    }
    return list;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string all;
  for (const std::int64_t side : shape) all += text(all.empty() ? "" : " x ", side);
  return all.empty() ? "a single value" : all;
}

Npy read_header(ByteSpan bytes) {
  // The length has two bytes in version 1, four in later ones (longer headers, names in UTF-8).
  const int version = bytes.size() > 6 ? bytes[6] : 1;
  const std::size_t start = version == 1 ? 10 : 12;
  if (bytes.size() < start)
    fail(ErrorCode::format, "the header of a .npy file has more than ", start, " bytes, the file has ",
         bytes.size());
  if (version < 1 || version > 3 || bytes[7] != 0)
    fail(ErrorCode::format, "a .npy file of version ", version, ".", int(bytes[7]),
         "; 1.0, 2.0 and 3.0 are read");
  const std::uint64_t length = version == 1 ? bytes[8] | std::uint32_t(bytes[9]) << 8 : load_u32(&bytes[8]);
  if (length > bytes.size() - start)
    fail(ErrorCode::format, "a .npy header of ", length, " bytes, the file has ", bytes.size() - start,
         " after its length");
  Npy npy = HeaderReader({reinterpret_cast<const char*>(bytes.data()) + start, length}).read();
  npy.values = bytes.subspan(start + length);
  return npy;
}

/// Reads the header; checks type, order, shape and the number of bytes after it.
Npy open_npy(ByteSpan bytes, const Wanted& wanted) {
  Npy npy = read_header(bytes);
  const std::string should =
      text(", not ", wanted.what, "; ", wanted.what, " is little-endian float32 or float64, ", wanted.shape);
  if (npy.type != "<f4" && npy.type != "<f8")
    fail(ErrorCode::format, "an array of type '", npy.type, "'", should);
  if (npy.fortran_order)
    fail(ErrorCode::format, "an array in Fortran order is not read; save numpy.ascontiguousarray(",
         wanted.what, ")");
  const auto& shape = npy.shape;
  if (wanted.channels == 1 ? shape.size() != 2 : shape.size() != 3 || shape[2] != 2)
    fail(ErrorCode::format, "an array of ", shape_text(shape), should);
  if (shape[0] < 1 || shape[1] < 1 || shape[0] > max_side || shape[1] > max_side)
    fail(ErrorCode::format, "an array of ", shape_text(shape), "; each side of ", wanted.what, " is 1 to ",
         max_side);
  const std::uint64_t needed =
      wanted.channels * (npy.single() ? 4 : 8) * std::uint64_t(shape[0]) * std::uint64_t(shape[1]);
  if (npy.values.size() != needed)
    fail(ErrorCode::format, "an array of ", shape_text(shape), " needs ", needed,
         " bytes after the header, the file has ", npy.values.size());
  return npy;
}

/// Reads the values one after the other.
class ValueReader {
 public:
  explicit ValueReader(const Npy& npy) : p_(npy.values.data()), single_(npy.single()) {}
  float next() {
    const float value = single_ ? load_float(p_) : float(load_double(p_));
    p_ += single_ ? 4 : 8;
    return value;
  }

 private:
  const std::uint8_t* p_;
  bool single_;
};

StartedFile start_npy(Size size, const Wanted& wanted) {
  std::string header = text("{'descr': '<f4', 'fortran_order': False, 'shape': (", size.height, ", ",
                            size.width, wanted.channels == 2 ? ", 2" : "", "), }");
  // As in NumPy's own files, the values begin at a multiple of 64 and a line end is the last byte of the
  // header.
  while ((10 + header.size() + 1) % alignment != 0) header += ' ';
  header += '\n';
  std::string start(signature);
  for (const std::size_t byte : {std::size_t(1), std::size_t(0), header.size() & 255, header.size() >> 8})
    start += char(byte);
  return start_file(start + header, 4 * wanted.channels * std::size_t(size.width) * std::size_t(size.height));
}

}  // namespace

bool is_npy(ByteSpan bytes) { return starts_with(bytes, signature); }

bool is_npy_of_disparity(ByteSpan bytes) try {
  return is_npy(bytes) && read_header(bytes).shape.size() == 2;
} catch (const Error&) {
  return false;
}

FlowField decode_npy_flow(ByteSpan bytes) {
  const Npy npy = open_npy(bytes, wanted_flow);
  ValueReader values(npy);
  FlowField flow(npy.size(), {}, false);
  for (int y = 0; y < flow.size().height; ++y)
    for (int x = 0; x < flow.size().width; ++x) {
      const float u = values.next(), v = values.next();
      set_flow(flow, x, y, u, v);
    }
  return flow;
}

FrameBuffer decode_npy_plane(ByteSpan bytes) {
  const Npy npy = open_npy(bytes, wanted_disparity);
  ValueReader values(npy);
  FrameBuffer plane(npy.size(), PixelFormat::gray_f32);
  for (int y = 0; y < plane.size().height; ++y) {
    auto* row = static_cast<float*>(plane.row(y));
    for (int x = 0; x < plane.size().width; ++x) row[x] = values.next();
  }
  return plane;
}

Bytes encode_npy_flow(const FlowView& flow, bool mark_invalid) {
  auto [bytes, p] = start_npy(flow.size(), wanted_flow);
  for (int y = 0; y < flow.size().height; ++y)
    for (int x = 0; x < flow.size().width; ++x) {
      const auto [u, v] = written_flow(flow, x, y, mark_invalid);
      p = store_float(store_float(p, u), v);
    }
  return std::move(bytes);
}

Bytes encode_npy_plane(const Frame& frame) {
  auto [bytes, p] = start_npy(frame.size(), wanted_disparity);
  for (int y = 0; y < frame.height; ++y) {
    const auto* row = reinterpret_cast<const float*>(static_cast<const char*>(frame.data) + y * frame.pitch);
    for (int x = 0; x < frame.width; ++x) p = store_float(p, row[x]);
  }
  return std::move(bytes);
}

}  // namespace parafield::io
