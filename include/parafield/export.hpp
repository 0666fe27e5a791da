// SPDX-License-Identifier: MIT
#pragma once

/// Marks the symbols that the shared library exports. All others are hidden.
#define PARAFIELD_API __attribute__((visibility("default")))
