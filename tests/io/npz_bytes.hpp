// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// .npz files made by hand: ZIP archives whose members are stored.
namespace parafield::npz_bytes {

using Bytes = std::vector<std::uint8_t>;

inline std::uint32_t checksum_of(const Bytes& bytes) {
  std::uint32_t sum = ~0u;
  for (const std::uint8_t byte : bytes) {
    sum ^= byte;
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum;
}

inline void put(Bytes& bytes, std::uint64_t value, int count) {
  for (int i = 0; i < count; ++i) bytes.push_back(std::uint8_t(value >> 8 * i));
}

/// Members are names without .npy, and .npy files. `wide`: sizes have 64 bits, as in archives above 4 GiB.
inline Bytes file(const std::vector<std::pair<std::string, Bytes>>& members, bool wide = false) {
  Bytes bytes, directory;
  for (const std::pair<std::string, Bytes>& member : members) {
    const std::string full = member.first + ".npy";
    const Bytes& data = member.second;
    const std::uint64_t start = bytes.size();
    const auto describe = [&](Bytes& to, bool in_directory) {
      put(to, in_directory ? 0x02014b50 : 0x04034b50, 4);
      if (in_directory) put(to, 45, 2);
      put(to, 45, 2);  // version
      put(to, 0, 2);   // flags
      put(to, 0, 2);   // method: stored
      put(to, 0, 4);   // time
      put(to, checksum_of(data), 4);
      for (int i = 0; i < 2; ++i) put(to, wide ? 0xffffffff : data.size(), 4);
      put(to, full.size(), 2);
      put(to, wide ? (in_directory ? 28 : 20) : 0, 2);
      if (in_directory) {
        put(to, 0, 2);  // comment
        put(to, 0, 2);  // disk
        put(to, 0, 2);
        put(to, 0, 4);  // attributes
        put(to, wide ? 0xffffffff : start, 4);
      }
      to.insert(to.end(), full.begin(), full.end());
      if (!wide) return;
      put(to, 1, 2);
      put(to, in_directory ? 24 : 16, 2);
      for (int i = 0; i < 2; ++i) put(to, data.size(), 8);
      if (in_directory) put(to, start, 8);
    };
    describe(bytes, false);
    bytes.insert(bytes.end(), data.begin(), data.end());
    describe(directory, true);
  }
  const std::uint64_t start = bytes.size(), size = directory.size();
  bytes.insert(bytes.end(), directory.begin(), directory.end());
  if (wide) {
    const std::uint64_t end = bytes.size();
    put(bytes, 0x06064b50, 4);
    put(bytes, 44, 8);
    put(bytes, 45, 2);
    put(bytes, 45, 2);
    put(bytes, 0, 8);
    put(bytes, members.size(), 8);
    put(bytes, members.size(), 8);
    put(bytes, size, 8);
    put(bytes, start, 8);
    put(bytes, 0x07064b50, 4);
    put(bytes, 0, 4);
    put(bytes, end, 8);
    put(bytes, 1, 4);
  }
  put(bytes, 0x06054b50, 4);
  put(bytes, 0, 4);
  for (int i = 0; i < 2; ++i) put(bytes, wide ? 0xffff : members.size(), 2);
  put(bytes, wide ? 0xffffffff : size, 4);
  put(bytes, wide ? 0xffffffff : start, 4);
  put(bytes, 0, 2);
  return bytes;
}

}  // namespace parafield::npz_bytes
