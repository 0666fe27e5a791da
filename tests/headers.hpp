// SPDX-License-Identifier: MIT
#pragma once
// What most tests include. CMake precompiles it and includes it in every test.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "parafield/parafield.hpp"
