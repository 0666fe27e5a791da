// SPDX-License-Identifier: MIT
#pragma once
// Headers that most tests include. CMake precompiles them and includes them in every test.
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
