// NumPy's .npy: "\x93NUMPY", a version, the header's length, and the header: a Python dictionary that says type, order
// and shape of the array, whose values follow (numpy.lib.format, versions 1.0 to 3.0). Flow is height x width x 2.
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "core/fail.hpp"
#include "io/bytes.hpp"
#include "io/formats.hpp"

namespace parafield::io {
namespace {

constexpr std::array<std::uint8_t, 6> signature = {0x93, 'N', 'U', 'M', 'P', 'Y'};
constexpr std::size_t alignment = 64;

struct Npy {
  std::string type;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

/// Reads the few words of Python that NumPy writes here, and no other.
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
    // So that messages can show it.
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

}  // namespace

bool is_npy(ByteSpan bytes) {
  return bytes.size() >= signature.size() && std::equal(signature.begin(), signature.end(), bytes.begin());
}

FlowField decode_npy(ByteSpan bytes) {
  // Version 1 has a length of two bytes, the later ones (longer headers, names in UTF-8) of four.
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
  const Npy npy = HeaderReader({reinterpret_cast<const char*>(bytes.data()) + start, length}).read();

  const std::string wanted = "; flow is little-endian float32 or float64, height x width x 2";
  if (npy.type != "<f4" && npy.type != "<f8")
    fail(ErrorCode::format, "an array of type '", npy.type, "', not flow", wanted);
  if (npy.fortran_order)
    fail(ErrorCode::format, "an array in Fortran order is not read; save numpy.ascontiguousarray(flow)");
  if (npy.shape.size() != 3 || npy.shape[2] != 2)
    fail(ErrorCode::format, "an array of ", shape_text(npy.shape), ", not flow", wanted);
  if (npy.shape[0] < 1 || npy.shape[1] < 1 || npy.shape[0] > max_side || npy.shape[1] > max_side)
    fail(ErrorCode::format, "an array of ", shape_text(npy.shape), "; each side of flow is 1 to ", max_side);
  const Size size{int(npy.shape[1]), int(npy.shape[0])};
  const bool single = npy.type == "<f4";
  const std::size_t value_bytes = single ? 4 : 8;
  const std::uint64_t needed = 2 * value_bytes * std::uint64_t(size.width) * std::uint64_t(size.height);
  const std::uint64_t found = bytes.size() - start - length;
  if (found != needed)
    fail(ErrorCode::format, "an array of ", shape_text(npy.shape), " needs ", needed,
         " bytes after the header, the file has ", found);

  FlowField flow = flow_without_confidence(size);
  const std::uint8_t* p = bytes.data() + start + length;
  const auto next = [&] {
    const float value = single ? load_float(p) : float(load_double(p));
    p += value_bytes;
    return value;
  };
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const float u = next(), v = next();
      set_flow(flow, x, y, u, v);
    }
  return flow;
}

Bytes encode_npy(const FlowView& flow, bool mark_invalid) {
  const auto [width, height] = flow.size();
  std::string header =
      text("{'descr': '<f4', 'fortran_order': False, 'shape': (", height, ", ", width, ", 2), }");
  // NumPy's own files: the values begin at a multiple of 64, and the header ends in a line end.
  while ((10 + header.size() + 1) % alignment != 0) header += ' ';
  header += '\n';
  Bytes bytes(10 + header.size() + 8 * std::size_t(width) * std::size_t(height));
  std::uint8_t* p = std::copy(signature.begin(), signature.end(), bytes.data());
  for (const std::size_t byte : {std::size_t(1), std::size_t(0), header.size() & 255, header.size() >> 8})
    *p++ = std::uint8_t(byte);
  p = std::copy(header.begin(), header.end(), p);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const auto [u, v] = written_flow(flow, x, y, mark_invalid);
      p = store_float(store_float(p, u), v);
    }
  return bytes;
}

}  // namespace parafield::io
