// SPDX-License-Identifier: MIT
#pragma once

/// Compiles a step for a backend (and other template arguments): PF_STEP(median<Cpu>). It stands below the
/// definition, in the step's cpu.cpp or cuda.cu. A definition that differs from the header's declaration
/// would be an overload, which this line refuses.
#define PF_STEP(...) template decltype(__VA_ARGS__) __VA_ARGS__
