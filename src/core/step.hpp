// SPDX-License-Identifier: MIT
#pragma once

/// Compiles a step for a backend (and other template arguments): PF_STEP(median<Cpu>). Put it below the
/// definition, in the step's cpu.cpp or cuda.cu. It fails to compile if the definition differs from the
/// header's declaration and would therefore be an overload.
#define PF_STEP(...) template decltype(__VA_ARGS__) __VA_ARGS__
