// SPDX-License-Identifier: MIT
#include "parafield/version.hpp"

#define PARAFIELD_TEXT_OF(number) #number
#define PARAFIELD_VERSION_TEXT(major, minor, patch) \
  PARAFIELD_TEXT_OF(major) "." PARAFIELD_TEXT_OF(minor) "." PARAFIELD_TEXT_OF(patch)

namespace parafield {

const char* version() {
  return PARAFIELD_VERSION_TEXT(PARAFIELD_VERSION_MAJOR, PARAFIELD_VERSION_MINOR, PARAFIELD_VERSION_PATCH);
}

}  // namespace parafield
