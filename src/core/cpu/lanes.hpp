// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <cstring>

#ifdef __SSE4_1__
#include <immintrin.h>
#endif

/// Vectors as wide as a register, for loops that the compiler does not vectorize well. In an unnamed namespace: each
/// instruction set has a copy.
namespace parafield {
namespace {

/// 16-bit values in a register. The compiler handles wider vectors badly.
#if defined(__AVX512BW__)
constexpr int lanes = 32;
#elif defined(__AVX2__)
constexpr int lanes = 16;
#else
constexpr int lanes = 8;
#endif
typedef std::uint16_t Lanes __attribute__((vector_size(2 * lanes)));

/// And bytes.
constexpr int byte_lanes = 2 * lanes;
typedef std::uint8_t ByteLanes __attribute__((vector_size(byte_lanes)));

#define PF_INLINE __attribute__((always_inline)) inline

PF_INLINE void load(Lanes& to, const std::uint16_t* from) { std::memcpy(&to, from, sizeof to); }
PF_INLINE void load(ByteLanes& to, const std::uint8_t* from) { std::memcpy(&to, from, sizeof to); }
PF_INLINE void store(std::uint16_t* to, const Lanes& from) { std::memcpy(to, &from, sizeof from); }

/// a = min(a, b)
template <class Vector>
PF_INLINE void lower_to(Vector& a, const Vector& b) {
  a = a < b ? a : b;
}

#ifdef __SSE4_1__
#if defined(__AVX512BW__)
typedef __m512i Register;
#define PF_REGISTER(operation) _mm512_##operation
#elif defined(__AVX2__)
typedef __m256i Register;
#define PF_REGISTER(operation) _mm256_##operation
#else
typedef __m128i Register;
#define PF_REGISTER(operation) _mm_##operation
#endif
#endif

/// min(a + b, 255)
PF_INLINE ByteLanes add_saturated(ByteLanes a, ByteLanes b) {
#ifdef __SSE4_1__
  return (ByteLanes)PF_REGISTER(adds_epu8)((Register)a, (Register)b);
#else
  const ByteLanes sum = a + b;
  return sum | (ByteLanes)(sum < a);
#endif
}

/// |a - b|
PF_INLINE ByteLanes distance(ByteLanes a, ByteLanes b) {
#ifdef __SSE4_1__
  return (ByteLanes)PF_REGISTER(subs_epu8)((Register)a, (Register)b) |
         (ByteLanes)PF_REGISTER(subs_epu8)((Register)b, (Register)a);
#else
  return a < b ? b - a : a - b;
#endif
}

/// Number of bits of each byte.
PF_INLINE ByteLanes bits_of(ByteLanes bytes) {
#ifdef __SSE4_1__
  // Registers of 32 and 64 bytes are looked up by 16.
#define PF_COUNTS 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4
  constexpr std::uint8_t counts_of_nibbles[64] = {PF_COUNTS, PF_COUNTS, PF_COUNTS, PF_COUNTS};
#undef PF_COUNTS
  ByteLanes counts;
  load(counts, counts_of_nibbles);
  const ByteLanes low = bytes & std::uint8_t(15), high = (ByteLanes)((Lanes)bytes >> 4) & std::uint8_t(15);
  return (ByteLanes)PF_REGISTER(shuffle_epi8)((Register)counts, (Register)low) +
         (ByteLanes)PF_REGISTER(shuffle_epi8)((Register)counts, (Register)high);
#else
  const ByteLanes pairs = bytes - (bytes >> 1 & std::uint8_t(0x55));
  const ByteLanes fours = (pairs & std::uint8_t(0x33)) + (pairs >> 2 & std::uint8_t(0x33));
  return (fours + (fours >> 4)) & std::uint8_t(0x0f);
#endif
}

/// sums = a * low + b * high, where the lanes of `factors` are low + 256 * high, both below 128. No sum may exceed
/// 32767.
PF_INLINE void weighted_sum(ByteLanes a, ByteLanes b, const Lanes (&factors)[2], Lanes (&sums)[2]) {
#ifdef __SSE4_1__
  Register first = (Register)a, second = (Register)b;
  // Wider registers are unpacked by halves or quarters of theirs.
#if defined(__AVX512BW__)
  const Register order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
  first = _mm512_maskz_permutexvar_epi64(0xff, order, first);  // g++ 12 warns of the one without a mask
  second = _mm512_maskz_permutexvar_epi64(0xff, order, second);
#elif defined(__AVX2__)
  first = _mm256_permute4x64_epi64(first, 0xd8), second = _mm256_permute4x64_epi64(second, 0xd8);
#endif
  const Register low = PF_REGISTER(unpacklo_epi8)(first, second),
                 high = PF_REGISTER(unpackhi_epi8)(first, second);
  sums[0] = (Lanes)PF_REGISTER(maddubs_epi16)(low, (Register)factors[0]);
  sums[1] = (Lanes)PF_REGISTER(maddubs_epi16)(high, (Register)factors[1]);
#else
  typedef std::uint16_t Wide __attribute__((vector_size(2 * byte_lanes)));
  const Wide wide_a = __builtin_convertvector(a, Wide), wide_b = __builtin_convertvector(b, Wide);
  Wide both, of_a, of_b;
  std::memcpy(&both, factors, sizeof both);
  of_a = both & std::uint16_t(255), of_b = both >> 8;
  both = wide_a * of_a + wide_b * of_b;
  std::memcpy(sums, &both, sizeof both);
#endif
}

/// Takes values 0, 2, 4 ... and 1, 3, 5 ... apart.
PF_INLINE void take_apart(const Lanes (&both)[2], Lanes& even, Lanes& odd) {
#ifdef __SSE4_1__
  typedef std::uint32_t Pairs __attribute__((vector_size(2 * lanes)));
  const Pairs first = (Pairs)both[0], second = (Pairs)both[1];
  const auto join = [](const Pairs& a, const Pairs& b) {
    const Register joined = PF_REGISTER(packus_epi32)((Register)a, (Register)b);
#if defined(__AVX512BW__)
    return (Lanes)_mm512_maskz_permutexvar_epi64(0xff, _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), joined);
#elif defined(__AVX2__)
    return (Lanes)_mm256_permute4x64_epi64(joined, 0xd8);
#else
    return (Lanes)joined;
#endif
  };
  even = join(first & 0xffffu, second & 0xffffu);
  odd = join(first >> 16, second >> 16);
#else
  std::uint16_t values[2 * lanes], apart[2][lanes];
  std::memcpy(values, both, sizeof values);
  for (int i = 0; i < lanes; ++i) apart[0][i] = values[2 * i], apart[1][i] = values[2 * i + 1];
  load(even, apart[0]), load(odd, apart[1]);
#endif
}

}  // namespace
}  // namespace parafield
