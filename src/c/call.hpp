// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "core/fail.hpp"
#include "parafield/parafield.h"

/// Shared by the functions of the C interface: errors, buffers, structs of several versions.
namespace parafield::c {

/// Keeps the text of an error for parafield_error_text(). Returns the code.
parafield_code keep_error(parafield_code code, const char* text) noexcept;
parafield_code code_of(ErrorCode code) noexcept;

/// A buffer of the caller that is too small.
struct TooSmall {
  std::string text;
};

/// Calls f(), which throws on errors. Returns the code of the call.
template <class F>
parafield_code guarded(F f) noexcept {
  try {
    f();
    return PARAFIELD_OK;
  } catch (const Error& error) {
    return keep_error(code_of(error.code()), error.what());
  } catch (const TooSmall& error) {
    return keep_error(PARAFIELD_TOO_SMALL, error.text.c_str());
  } catch (const std::bad_alloc&) {
    return keep_error(PARAFIELD_MEMORY, "cannot allocate host memory");
  } catch (const std::exception& error) {
    return keep_error(PARAFIELD_FAILED, error.what());
  } catch (...) {
    return keep_error(PARAFIELD_FAILED, "an unknown error");
  }
}

/// Returns what a pointer argument points to. Throws Error(invalid_argument) for null.
template <class T>
T& given(T* pointer, const char* name) {
  if (!pointer) fail_value(name, " is null");
  return *pointer;
}

/// Reads a struct that begins with its size, from a program that was compiled with this header, an older or a
/// newer one. Fields that the caller's struct lacks are 0. A struct that has grown needs the size of its
/// first version as `first`. Throws Error(invalid_argument) for null or a size below that, and
/// Error(unsupported) if a field that this library does not know is not 0.
template <class Struct>
Struct read_struct(const Struct* pointer, const char* name, std::size_t first = sizeof(Struct)) {
  constexpr std::size_t most = 4096;  // no struct grows to this; a size without a value may be any number
  std::size_t size = 0;
  std::memcpy(&size, &given(pointer, name), sizeof size);
  if (size < first || size > most)
    fail_value(name, ": size cannot be ", size, "; it is sizeof the struct, at least ", first, " bytes");
  Struct result{};
  std::memcpy(&result, pointer, std::min(size, sizeof result));
  const auto* const bytes = reinterpret_cast<const unsigned char*>(pointer);
  if (size > sizeof result && std::any_of(bytes + sizeof result, bytes + size, [](int byte) { return byte; }))
    fail(ErrorCode::unsupported, name, " has ", size, " bytes and sets a field behind the ", sizeof result,
         " bytes that this version of the library knows (", parafield_version(), ")");
  return result;
}

/// Copies values to a buffer of the caller and sets *count. A null buffer with capacity 0 asks for the count.
/// Throws TooSmall or Error(invalid_argument).
template <class T>
void write_values(std::span<const T> values, T* buffer, std::size_t capacity, std::size_t* count,
                  const char* what, std::size_t end = 0) {
  given(count, "the pointer to the count or length") = values.size();
  if (!buffer && capacity == 0) return;
  given(buffer, what);
  if (capacity < values.size() + end)
    throw TooSmall{text(what, " has room for ", capacity, "; ", values.size() + end, " are needed",
                        end ? ", with the 0 at the end" : "")};
  std::ranges::copy(values, buffer);
}
inline void write_text(std::string_view json, char* buffer, std::size_t capacity, std::size_t* length) {
  write_values<char>(json, buffer, capacity, length, "the buffer of the text", 1);
  if (buffer) buffer[json.size()] = 0;
}

/// While it exists, the thread alone uses an object. Throws Error(invalid_argument) if another call uses it.
class Use {
 public:
  Use(std::atomic<bool>& used, const char* what) : used_(used) {
    if (used.exchange(true, std::memory_order_acquire))
      fail_value(what,
                 " is in use: only one thread may call it at a time, and its progress callback only "
                 "parafield_cancel");
  }
  ~Use() { used_.store(false, std::memory_order_release); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  std::atomic<bool>& used_;
};

/// Frees an object unless a call uses it. Throws Error(invalid_argument).
template <class Object>
void destroy(Object* object, const char* what) {
  if (!object) return;
  { const Use use(object->used, what); }
  delete object;
}

}  // namespace parafield::c
