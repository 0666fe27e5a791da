// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>

namespace parafield {

/// Host memory, aligned to 64 bytes; null if there is none. std::free releases it. On Linux large blocks get huge
/// pages where the system has them: faults of small pages take five times as long as to fill the memory, and steps
/// that read far apart wait for the addresses of small pages.
void* allocate_host(std::size_t bytes);

}  // namespace parafield
