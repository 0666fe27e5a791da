// SPDX-License-Identifier: MIT
#pragma once

/// Marks what the shared library exports. Everything else in it is hidden.
#define PARAFIELD_API __attribute__((visibility("default")))
