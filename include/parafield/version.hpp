// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/export.hpp"

/// Version of these headers, which CMakeLists.txt reads from here.
#define PARAFIELD_VERSION_MAJOR 0
#define PARAFIELD_VERSION_MINOR 1
#define PARAFIELD_VERSION_PATCH 0
/// The version as one number for the preprocessor: 1.2.3 is 10203.
#define PARAFIELD_VERSION_NUMBER \
  (PARAFIELD_VERSION_MAJOR * 10000 + PARAFIELD_VERSION_MINOR * 100 + PARAFIELD_VERSION_PATCH)

namespace parafield {

inline constexpr int version_major = PARAFIELD_VERSION_MAJOR;
inline constexpr int version_minor = PARAFIELD_VERSION_MINOR;
inline constexpr int version_patch = PARAFIELD_VERSION_PATCH;

/// Version of the loaded library, such as "0.1.0". A shared library may have a newer patch version than the
/// headers.
PARAFIELD_API const char* version();

}  // namespace parafield
