#pragma once
#include "core/arithmetic.hpp"

namespace parafield {

/// First derivative by (1 -8 0 8 -1) / 12, from the two neighbours on either side.
PF_HD float derivative(float minus2, float minus1, float plus1, float plus2) {
  return fma(8, plus1 - minus1, minus2 - plus2) * (1.0f / 12);
}

}  // namespace parafield
