// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>

namespace parafield {

/// Allocates zero-filled host memory, aligned to 64 bytes; returns null on failure. On Linux, large blocks
/// come directly from the system and get each page on first use, so unused parts take no memory. They use
/// huge pages if the system has them: with small pages, page faults take five times as long as filling the
/// memory, and steps that read at distant addresses wait for address translation.
void* allocate_host(std::size_t bytes);
/// Frees memory of `allocate_host`. `data` may be null; `bytes` must be the size that was requested.
void release_host(void* data, std::size_t bytes);

}  // namespace parafield
