// SPDX-License-Identifier: MIT
// NumPy's .npz: a ZIP archive (PKWARE's APPNOTE.TXT) of .npy files, which numpy.savez stores and
// numpy.savez_compressed deflates. The directory is at the end of the file.
#include "io/npz.hpp"

#ifdef PARAFIELD_HAS_PNG
#include <zlib.h>  // libpng needs it, too
#endif

#include <algorithm>

#include "io/checksum.hpp"

namespace parafield::io {
namespace {

constexpr std::size_t end_bytes = 22, entry_bytes = 46, header_bytes = 30, locator_bytes = 20,
                      wide_end_bytes = 56;
constexpr std::uint32_t unknown = 0xffffffff;  // the value is in a field of 64 bits

std::uint64_t load_u64(const std::uint8_t* p) { return load_u32(p) | std::uint64_t(load_u32(p + 4)) << 32; }

[[noreturn]] void fail_damaged_npz(const auto&... why) { fail_format("damaged .npz file: ", why...); }

/// The record at the end of the file, which may have a comment after it.
const std::uint8_t* find_end(ByteSpan bytes) {
  constexpr std::size_t longest_comment = 65535;
  for (std::size_t after = end_bytes; after <= bytes.size() && after <= end_bytes + longest_comment; ++after)
    if (const ByteSpan record = bytes.last(after); starts_with(record, "PK\5\6")) return record.data();
  fail_damaged_npz("its directory is missing; it is cut off");
}

#ifdef PARAFIELD_HAS_PNG
Bytes inflated_of(ByteSpan packed, std::uint64_t size, const std::string& name) {
  constexpr std::uint64_t most_expanded = 1032;
  if (size > most_expanded * packed.size())
    fail_damaged_npz("the array ", name, " of ", size, " bytes does not fit into ", packed.size());
  struct Stream : z_stream {
    Stream() : z_stream{} {}
    ~Stream() { inflateEnd(this); }
  } stream;
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  Bytes bytes(size);
  std::uint64_t read = 0, written = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    constexpr std::uint64_t most = 1u << 30;  // zlib counts in 32 bits
    stream.next_in = const_cast<std::uint8_t*>(packed.data() + read);
    stream.avail_in = uInt(std::min(most, packed.size() - read));
    stream.next_out = bytes.data() + written;
    stream.avail_out = uInt(std::min(most, size - written));
    const uInt in = stream.avail_in, out = stream.avail_out;
    status = inflate(&stream, Z_NO_FLUSH);
    read += in - stream.avail_in;
    written += out - stream.avail_out;
  }
  if (status != Z_STREAM_END || written != size)
    fail_damaged_npz("the array ", name, " ends after ", written, " of ", size, " bytes");
  return bytes;
}
#else
Bytes inflated_of(ByteSpan, std::uint64_t, const std::string&) {
  fail_unsupported(
      "compressed .npz files cannot be read: parafield was built without zlib and libpng; save with "
      "numpy.savez");
}
#endif

}  // namespace

Npz::Npz(ByteSpan bytes) : bytes_(bytes) {
  const std::uint8_t* const end = find_end(bytes);
  std::uint64_t count = load_u16(end + 10), size = load_u32(end + 12), start = load_u32(end + 16);
  const auto at = std::uint64_t(end - bytes.data());
  if (count == 0xffff || size == unknown || start == unknown) {
    if (at < locator_bytes || !starts_with(bytes.subspan(at - locator_bytes), "PK\6\7"))
      fail_damaged_npz("its directory is missing");
    const std::uint64_t wide = load_u64(end - locator_bytes + 8);
    if (wide > at || at - wide < wide_end_bytes) fail_damaged_npz("its directory is missing");
    count = load_u64(&bytes[wide + 32]);
    size = load_u64(&bytes[wide + 40]);
    start = load_u64(&bytes[wide + 48]);
  }
  if (start > at || size > at - start) fail_damaged_npz("its directory is outside the file");
  const std::uint8_t *entry = bytes.data() + start, *const last = entry + size;
  for (std::uint64_t i = 0; i < count; ++i) members_.push_back(member_at(entry, last));
  if (members_.empty()) fail_format("a .npz file without an array");
}

Npz::Member Npz::member_at(const std::uint8_t*& entry, const std::uint8_t* end) const {
  if (std::size_t(end - entry) < entry_bytes || !starts_with({entry, entry_bytes}, "PK\1\2"))
    fail_damaged_npz("an entry of its directory");
  const std::size_t name_bytes = load_u16(entry + 28), extra_bytes = load_u16(entry + 30),
                    comment_bytes = load_u16(entry + 32);
  if (std::size_t(end - entry) - entry_bytes < name_bytes + extra_bytes + comment_bytes)
    fail_damaged_npz("an entry of its directory");
  const int method = load_u16(entry + 10);
  Member member{.name{reinterpret_cast<const char*>(entry + entry_bytes), name_bytes},
                .deflated = method == 8,
                .checksum = load_u32(entry + 16),
                .packed = load_u32(entry + 20),
                .unpacked = load_u32(entry + 24),
                .header = load_u32(entry + 42)};
  if (member.name.ends_with(".npy")) member.name.resize(name_bytes - 4);
  if ((load_u16(entry + 8) & 1) || (method != 0 && method != 8))
    fail_unsupported("a .npz file with the compression ", method,
                     " or a password is not supported; numpy.savez and numpy.savez_compressed write neither");
  // Values of 64 bits: those that did not fit, in this order.
  const std::uint8_t *extra = entry + entry_bytes + name_bytes, *const extra_end = extra + extra_bytes;
  while (extra_end - extra >= 4) {
    const std::uint8_t* const next =
        extra + std::min<std::ptrdiff_t>(4 + load_u16(extra + 2), extra_end - extra);
    const bool is_wide = load_u16(extra) == 1;
    extra += 4;
    for (std::uint64_t* value : {&member.unpacked, &member.packed, &member.header})
      if (is_wide && *value == unknown && next - extra >= 8) {
        *value = load_u64(extra);
        extra += 8;
      }
    extra = next;
  }
  entry += entry_bytes + name_bytes + extra_bytes + comment_bytes;
  return member;
}

const Npz::Member* Npz::find(std::string_view name) const {
  const auto member = std::ranges::find(members_, name, &Member::name);
  return member == members_.end() ? nullptr : &*member;
}

bool Npz::has(std::string_view name) const { return find(name); }

ByteSpan Npz::array(std::string_view name) {
  Member& member = const_cast<Member&>(*find(name));
  if (!member.npy.empty()) return member.npy;
  const std::uint64_t left = bytes_.size() - std::min<std::uint64_t>(member.header, bytes_.size());
  if (left < header_bytes || !starts_with(bytes_.subspan(member.header), "PK\3\4"))
    fail_damaged_npz("the array ", shown(member.name), " is missing");
  const std::uint8_t* const header = &bytes_[member.header];
  const std::uint64_t before = header_bytes + load_u16(header + 26) + load_u16(header + 28);
  if (before > left || member.packed > left - before ||
      (!member.deflated && member.packed != member.unpacked))
    fail_damaged_npz("the array ", shown(member.name), " of ", member.packed, " bytes is cut off");
  member.npy = bytes_.subspan(member.header + before, member.packed);
  if (member.deflated) {
    member.inflated = inflated_of(member.npy, member.unpacked, shown(member.name));
    member.npy = member.inflated;
  }
  if (~zip_crc.add(~0u, text_of(member.npy)) != member.checksum)
    fail_damaged_npz("the array ", shown(member.name), " differs from its checksum");
  return member.npy;
}

std::string Npz::names() const {
  std::string all;
  for (const Member& member : members_) all += (all.empty() ? "" : ", ") + shown(member.name);
  return all;
}

namespace {

/// Where the fields are valid, an array of bool.
std::optional<Npy> valid_of(Npz& npz, const Planes& fields) {
  if (!npz.has("valid")) return {};
  const Npy valid = read_npy(npz.array("valid"));
  const bool several = valid.shape.size() == 3;
  if ((valid.type != "|b1" && valid.type != "|u1") || (!several && valid.shape.size() != 2))
    fail_format("the array valid is ", shape_text(valid.shape), " of type '", valid.type,
                "'; it should be bool, of the same shape as the fields");
  check_npy(valid, "valid", several ? valid.shape[0] : -1, 1, 1);
  const Size size{int(valid.shape[several ? 2 : 1]), int(valid.shape[several ? 1 : 0])};
  if (size != fields.first.size || (several ? valid.shape[0] : 1) != fields.count)
    fail_format("the array valid is ", shape_text(valid.shape), "; it should have the shape of the fields");
  return valid;
}

/// Clears the pixels that the array says are not valid.
void clear_invalid(const std::optional<Npy>& valid, int index, View<std::uint8_t> known) {
  if (!valid) return;
  const std::size_t pixels = std::size_t(known.width) * std::size_t(known.height);
  const std::uint8_t* flag = valid->values.data() + pixels * std::size_t(index);
  for_each_pixel(known.size(), [&](int x, int y) { known(x, y) = known(x, y) && *flag++; });
}

bool has_flow(const Npz& npz) { return (npz.has("u") && npz.has("v")) || npz.has("flow"); }
const char* disparity_in(const Npz& npz) {
  return npz.has("disparity") ? "disparity" : npz.has("d") ? "d" : nullptr;
}

}  // namespace

NpzFlows::NpzFlows(ByteSpan bytes) : npz_(bytes) {
  if (npz_.has("u") && npz_.has("v")) {
    u_ = planes_of(npz_.array("u"), 1, true);
    v_ = planes_of(npz_.array("v"), 1, true);
    if (u_.first.size != v_.first.size || u_.count != v_.count)
      fail_format("the arrays u and v differ in shape: ", u_.count, " of ", u_.first.size, " and ", v_.count,
                  " of ", v_.first.size, " pixels");
  } else {
    if (!has_flow(npz_) && (npz_.count() > 1 || disparity_in(npz_)))
      fail_format("a .npz file of ", npz_.names(), ", not flow, whose arrays are u and v, or flow");
    u_ = v_ = planes_of(npz_.array(has_flow(npz_) ? "flow" : npz_.only()), 2, true);
    v_channel_ = 1;
  }
  valid_ = valid_of(npz_, u_);
}

FlowField NpzFlows::operator()(int index) const {
  const Floats u = u_[index], v = v_[index];
  FlowField flow(u.size, {}, false);
  for_each_pixel(u.size, [&](int x, int y) {
    flow.u(x, y) = u(x, y);
    flow.v(x, y) = v(x, y, v_channel_);
    flow.valid(x, y) = has_value(flow.u(x, y), flow.v(x, y));
  });
  clear_invalid(valid_, index, flow.valid);
  return flow;
}

FileKind kind_of_npz(ByteSpan bytes) try {
  Npz npz(bytes);
  if (has_flow(npz)) return FileKind::flow;
  if (disparity_in(npz)) return FileKind::disparity;
  return npz.count() == 1 ? kind_of_npy(npz.array(npz.only())) : FileKind::unknown;
} catch (const Error&) {
  return FileKind::flow;
}

DisparityField decode_npz_disparity(ByteSpan bytes) {
  Npz npz(bytes);
  const char* const name = disparity_in(npz);
  if (!name && (npz.count() > 1 || has_flow(npz)))
    fail_format("a .npz file of ", npz.names(), ", not disparities, whose array is disparity or d");
  const Planes planes = planes_of(npz.array(name ? name : npz.only()), 1, false);
  DisparityField field = disparity_of(planes.first.size, planes.first);
  clear_invalid(valid_of(npz, planes), 0, field.valid);
  return field;
}

}  // namespace parafield::io
