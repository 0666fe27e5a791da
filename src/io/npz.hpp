// SPDX-License-Identifier: MIT
#pragma once
#include <optional>

#include "io/npy.hpp"

namespace parafield::io {

/// Reads a .npz file of NumPy: a ZIP archive of arrays, stored or deflated.
class Npz {
 public:
  /// Reads the directory. `bytes` must outlive this object. Throws Error(format).
  explicit Npz(ByteSpan bytes);
  Npz(const Npz&) = delete;
  Npz& operator=(const Npz&) = delete;

  bool has(std::string_view name) const;
  /// The .npy file of an array. Throws Error(format) if it is damaged.
  ByteSpan array(std::string_view name);
  const std::string& only() const { return members_.front().name; }
  /// The names of all arrays, for messages.
  std::string names() const;
  std::size_t count() const { return members_.size(); }

 private:
  struct Member {
    std::string name;  // without .npy
    bool deflated;
    std::uint32_t checksum;
    std::uint64_t packed, unpacked, header;  // bytes of the data; offset of the member's header
    ByteSpan npy = {};                       // once it has been read
    Bytes inflated = {};
  };
  const Member* find(std::string_view name) const;
  Member member_at(const std::uint8_t*& entry, const std::uint8_t* end) const;

  ByteSpan bytes_;
  std::vector<Member> members_;
};

/// The flow fields of a .npz file: the arrays u and v, height x width or, for several fields, count x height
/// x width, as parafield-extract writes them; or one array flow, or only one array of any name, which has u
/// and v in its last axis. An array valid, of the same fields, may say where they are valid.
class NpzFlows {
 public:
  /// `bytes` must outlive this object. Throws Error(format).
  explicit NpzFlows(ByteSpan bytes);
  int count() const { return u_.count; }
  FlowField operator()(int index) const;

 private:
  Npz npz_;
  Planes u_, v_;
  int v_channel_ = 0;
  std::optional<Npy> valid_;
};

/// The kind of field that a .npz file holds, by the names of its arrays.
FileKind kind_of_npz(ByteSpan bytes);
/// Disparities of a .npz file: the array disparity or d, or only one array of any name, height x width, with
/// or without valid.
DisparityField decode_npz_disparity(ByteSpan bytes);

}  // namespace parafield::io
