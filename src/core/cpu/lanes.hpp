// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <cstring>

#include "core/arithmetic.hpp"

#ifdef __SSE4_1__
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/// Register-wide vectors, for loops that the compiler does not vectorize well. They are in an unnamed
/// namespace so that each instruction set has its own copy.
namespace parafield {
namespace {

/// 16-bit values in one register. The compiler handles wider vectors badly.
#if defined(__AVX512BW__)
constexpr int lanes = 32;
#elif defined(__AVX2__)
constexpr int lanes = 16;
#else
constexpr int lanes = 8;
#endif
typedef std::uint16_t Lanes __attribute__((vector_size(2 * lanes)));

/// Bytes in one register.
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
/// a = max(a, b)
template <class Vector>
PF_INLINE void raise_to(Vector& a, const Vector& b) {
  a = a > b ? a : b;
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
#elif defined(__aarch64__)
  return (ByteLanes)vqaddq_u8((uint8x16_t)a, (uint8x16_t)b);
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
#elif defined(__aarch64__)
  return (ByteLanes)vabdq_u8((uint8x16_t)a, (uint8x16_t)b);
#else
  return a < b ? b - a : a - b;
#endif
}

/// Number of set bits in each byte of `once`, plus twice the number in `twice`.
PF_INLINE ByteLanes bits_of(ByteLanes once, ByteLanes twice) {
#ifdef __SSE4_1__
  // In registers of 32 and 64 bytes, the lookup works on each 16 bytes separately, so the table repeats.
#define PF_COUNTS(n) \
  0, n, n, 2 * n, n, 2 * n, 2 * n, 3 * n, n, 2 * n, 2 * n, 3 * n, 2 * n, 3 * n, 3 * n, 4 * n
  constexpr std::uint8_t counts_of_nibbles[2][64] = {
      {PF_COUNTS(1), PF_COUNTS(1), PF_COUNTS(1), PF_COUNTS(1)},
      {PF_COUNTS(2), PF_COUNTS(2), PF_COUNTS(2), PF_COUNTS(2)}};
#undef PF_COUNTS
  const auto count = [&](ByteLanes bytes, int factor) {
    ByteLanes counts;
    load(counts, counts_of_nibbles[factor - 1]);
    const ByteLanes low = bytes & std::uint8_t(15), high = (ByteLanes)((Lanes)bytes >> 4) & std::uint8_t(15);
    return (ByteLanes)PF_REGISTER(shuffle_epi8)((Register)counts, (Register)low) +
           (ByteLanes)PF_REGISTER(shuffle_epi8)((Register)counts, (Register)high);
  };
  return count(once, 1) + count(twice, 2);
#elif defined(__aarch64__)
  const ByteLanes of_twice = (ByteLanes)vcntq_u8((uint8x16_t)twice);
  return (ByteLanes)vcntq_u8((uint8x16_t)once) + of_twice + of_twice;
#else
  const auto count = [](ByteLanes bytes) {
    const ByteLanes pairs = bytes - (bytes >> 1 & std::uint8_t(0x55));
    const ByteLanes fours = (pairs & std::uint8_t(0x33)) + (pairs >> 2 & std::uint8_t(0x33));
    return (fours + (fours >> 4)) & std::uint8_t(0x0f);
  };
  const ByteLanes of_twice = count(twice);
  return count(once) + of_twice + of_twice;
#endif
}

// Bytes are widened to 16-bit values in two vectors. Wide registers unpack each 16 bytes separately: the
// first vector gets the first half of every 16 bytes, the second vector the other half. This is called halved
// order.

/// Position of value i in two vectors in halved order.
constexpr int halved(int i) { return i % 16 / 8 * lanes + i / 16 * 8 + i % 8; }

/// The values a + 256 * b, in halved order.
PF_INLINE void join_bytes(ByteLanes a, ByteLanes b, Lanes (&joined)[2]) {
#ifdef __SSE4_1__
  joined[0] = (Lanes)PF_REGISTER(unpacklo_epi8)((Register)a, (Register)b);
  joined[1] = (Lanes)PF_REGISTER(unpackhi_epi8)((Register)a, (Register)b);
#elif defined(__aarch64__)
  joined[0] = (Lanes)vzip1q_u8((uint8x16_t)a, (uint8x16_t)b);
  joined[1] = (Lanes)vzip2q_u8((uint8x16_t)a, (uint8x16_t)b);
#else
  typedef std::uint16_t Wide __attribute__((vector_size(2 * byte_lanes)));
  const Wide wide = __builtin_convertvector(a, Wide) | __builtin_convertvector(b, Wide) << 8;
  std::memcpy(joined, &wide, sizeof wide);
#endif
}

/// sums = a * low + b * high, in halved order, where each lane of `factors` is low + 256 * high. Values must
/// be below 128, factors below 256, and sums below 32768.
PF_INLINE void weighted_sum(ByteLanes a, ByteLanes b, const Lanes (&factors)[2], Lanes (&sums)[2]) {
#ifdef __aarch64__
  const uint8x16_t low = vuzp1q_u8((uint8x16_t)factors[0], (uint8x16_t)factors[1]),
                   high = vuzp2q_u8((uint8x16_t)factors[0], (uint8x16_t)factors[1]);
  const uint16x8_t first = vmull_u8(vget_low_u8((uint8x16_t)a), vget_low_u8(low)),
                   second = vmull_high_u8((uint8x16_t)a, low);
  sums[0] = (Lanes)vmlal_u8(first, vget_low_u8((uint8x16_t)b), vget_low_u8(high));
  sums[1] = (Lanes)vmlal_high_u8(second, (uint8x16_t)b, high);
#else
  Lanes values[2];
  join_bytes(a, b, values);
  PF_UNROLL
  for (int i = 0; i < 2; ++i)
#ifdef __SSE4_1__
    sums[i] = (Lanes)PF_REGISTER(maddubs_epi16)((Register)factors[i], (Register)values[i]);
#else
    sums[i] = (values[i] & std::uint16_t(255)) * (factors[i] & std::uint16_t(255)) +
              (values[i] >> 8) * (factors[i] >> 8);
#endif
#endif
}

/// Interleaves two vectors, values 0, 2, 4 ... and 1, 3, 5 ..., into one sequence in halved order.
PF_INLINE void interleave(Lanes even, Lanes odd, Lanes (&both)[2]) {
#ifdef __SSE4_1__
  both[0] = (Lanes)PF_REGISTER(unpacklo_epi16)((Register)even, (Register)odd);
  both[1] = (Lanes)PF_REGISTER(unpackhi_epi16)((Register)even, (Register)odd);
#elif defined(__aarch64__)
  both[0] = (Lanes)vzip1q_u16((uint16x8_t)even, (uint16x8_t)odd);
  both[1] = (Lanes)vzip2q_u16((uint16x8_t)even, (uint16x8_t)odd);
#else
  std::uint16_t values[2 * lanes];
  for (int i = 0; i < lanes; ++i) values[2 * i] = even[i], values[2 * i + 1] = odd[i];
  std::memcpy(both, values, sizeof values);
#endif
}

/// Converts values from halved order to natural order.
PF_INLINE void put_in_order(Lanes (&values)[2]) {
#if defined(__AVX512BW__)
  const Register a = (Register)values[0], b = (Register)values[1];
  values[0] = (Lanes)_mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), b);
  values[1] = (Lanes)_mm512_permutex2var_epi64(a, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), b);
#elif defined(__AVX2__)
  const Register a = (Register)values[0], b = (Register)values[1];
  values[0] = (Lanes)_mm256_permute2x128_si256(a, b, 0x20);
  values[1] = (Lanes)_mm256_permute2x128_si256(a, b, 0x31);
#else
  (void)values;
#endif
}

/// Converts values from natural order to halved order.
PF_INLINE void put_in_halves(Lanes (&values)[2]) {
#if defined(__AVX512BW__)
  const Register a = (Register)values[0], b = (Register)values[1];
  values[0] = (Lanes)_mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 1, 4, 5, 8, 9, 12, 13), b);
  values[1] = (Lanes)_mm512_permutex2var_epi64(a, _mm512_setr_epi64(2, 3, 6, 7, 10, 11, 14, 15), b);
#elif defined(__AVX2__)
  put_in_order(values);  // with two halves per vector, the permutation is its own inverse
#else
  (void)values;
#endif
}

/// Splits a sequence in halved order into values 0, 2, 4 ... and 1, 3, 5 ...
PF_INLINE void take_apart(const Lanes (&both)[2], Lanes& even, Lanes& odd) {
#ifdef __SSE4_1__
  typedef std::uint32_t Pairs __attribute__((vector_size(2 * lanes)));
  const Pairs first = (Pairs)both[0], second = (Pairs)both[1];
  even = (Lanes)PF_REGISTER(packus_epi32)((Register)(first & 0xffffu), (Register)(second & 0xffffu));
  odd = (Lanes)PF_REGISTER(packus_epi32)((Register)(first >> 16), (Register)(second >> 16));
#elif defined(__aarch64__)
  even = (Lanes)vuzp1q_u16((uint16x8_t)both[0], (uint16x8_t)both[1]);
  odd = (Lanes)vuzp2q_u16((uint16x8_t)both[0], (uint16x8_t)both[1]);
#else
  std::uint16_t values[2 * lanes], apart[2][lanes];
  std::memcpy(values, both, sizeof values);
  for (int i = 0; i < lanes; ++i) apart[0][i] = values[2 * i], apart[1][i] = values[2 * i + 1];
  load(even, apart[0]), load(odd, apart[1]);
#endif
}

/// Splits 16 interleaved pixels into their three channels.
PF_INLINE void take_channels_apart(const std::uint8_t* pixels, std::uint8_t (&channels)[3][16]) {
#ifdef __SSE4_1__
  __m128i part[3];
  PF_UNROLL
  for (int j = 0; j < 3; ++j) part[j] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(pixels + 16 * j));
  PF_UNROLL
  for (int k = 0; k < 3; ++k) {
    __m128i all = _mm_setzero_si128();
    PF_UNROLL
    for (int j = 0; j < 3; ++j) {
      // Byte i is byte 3 i + k of the pixels if that is in this part, otherwise 0.
      typedef char Order __attribute__((vector_size(16)));
      Order order;
      PF_UNROLL
      for (int i = 0; i < 16; ++i) order[i] = (3 * i + k) / 16 == j ? char((3 * i + k) % 16) : char(-1);
      all = _mm_or_si128(all, _mm_shuffle_epi8(part[j], (__m128i)order));
    }
    _mm_storeu_si128(reinterpret_cast<__m128i*>(channels[k]), all);
  }
#elif defined(__aarch64__)
  const uint8x16x3_t apart = vld3q_u8(pixels);
  PF_UNROLL
  for (int k = 0; k < 3; ++k) vst1q_u8(channels[k], apart.val[k]);
#else
  for (int i = 0; i < 16; ++i)
    for (int k = 0; k < 3; ++k) channels[k][i] = pixels[3 * i + k];
#endif
}

}  // namespace
}  // namespace parafield
