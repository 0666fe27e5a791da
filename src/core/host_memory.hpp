// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>

namespace parafield {

/// Zero-filled host memory, aligned to 64 bytes; null if there is none. On Linux large blocks come from the system,
/// page by page as they are first used: what nobody uses takes no memory. They get huge pages where the system has
/// them: faults of small pages take five times as long as to fill the memory, and steps that read far apart wait for
/// the addresses of small pages.
void* allocate_host(std::size_t bytes);
/// Releases it. `data` may be null; `bytes` are those that were asked for.
void release_host(void* data, std::size_t bytes);

}  // namespace parafield
