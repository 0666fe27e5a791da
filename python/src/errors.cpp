// SPDX-License-Identifier: MIT
#include "errors.hpp"

#include <nanobind/eval.h>
#include <nanobind/stl/string.h>

#include <exception>

namespace nb = nanobind;

namespace parafield::python {
namespace {

PyObject *error_type = nullptr, *frames_warning_type = nullptr, *pair_warning_type = nullptr,
         *range_warning_type = nullptr, *file_warning_type = nullptr;

const char* code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::format:
      return "format";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::file:
      return "file";
    case ErrorCode::device:
      return "device";
    case ErrorCode::memory:
      return "memory";
    case ErrorCode::cancelled:
      return "cancelled";
  }
  return "";
}

std::string one_line(const std::string& text) {
  constexpr std::size_t longest = 100;
  std::string line;
  for (const char letter : text) {
    const bool is_space = letter == ' ' || letter == '\n' || letter == '\r' || letter == '\t';
    if (is_space && (line.empty() || line.back() == ' ')) continue;
    const bool begins_character = (static_cast<unsigned char>(letter) & 0xC0) != 0x80;
    if (line.size() >= longest && begins_character) return line + "...";
    line += is_space ? ' ' : letter;
  }
  return line;
}

void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Error& error) {
    const nb::object value = nb::handle(error_type)(error.what(), code_name(error.code()));
    PyErr_SetObject(error_type, value.ptr());
  }
}

/// Returns the stack level of the innermost Python function outside the package; 1 is the innermost function
/// on the stack.
int level_of_caller() {
  int level = 1;
  nb::object frame = nb::module_::import_("sys").attr("_getframe")();
  for (; !frame.is_none(); frame = frame.attr("f_back"), ++level) {
    const std::string module = str_text(frame.attr("f_globals").attr("get")("__name__", ""));
    if (module != "parafield" && !module.starts_with("parafield.")) return level;
  }
  return 1;
}

void warn(PyObject* type, const std::string& text) {
  if (PyErr_WarnEx(type, text.c_str(), level_of_caller()) != 0) throw nb::python_error();
}

}  // namespace

std::string str_text(nb::handle object) {
  const nb::object text = nb::str(object);
  Py_ssize_t size = 0;
  if (const char* const utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) return {utf8, std::size_t(size)};
  PyErr_Clear();
  return nb::cast<std::string>(text.attr("encode")("utf-8", "backslashreplace").attr("decode")("utf-8"));
}

std::string name_text(nb::handle object) { return one_line(str_text(object)); }

std::string repr_text(nb::handle object) { return name_text(nb::repr(object)); }

std::string message_of(const nb::python_error& error) {
  const std::string text = str_text(error.value());
  return text.substr(0, text.find('\n'));  // Torch appends the call stack
}

std::string type_text(nb::handle object) {
  const nb::handle type = object.type();
  const auto name = str_text(nb::getattr(type, "__name__"));
  const auto module = str_text(nb::getattr(type, "__module__"));
  return module == "builtins" ? name : module + "." + name;
}

int read_whole_number(nb::handle number, const char* name, int least, int most) {
  int value = 0;
  if (!nb::try_cast(number, value) || value < least || value > most)
    fail(name, " cannot be ", repr_text(number), ": a whole number, ", least, " to ", most);
  return value;
}

void warn_of_frames(const std::string& text) { warn(frames_warning_type, text); }

void warn_of_pair(const std::string& text) { warn(pair_warning_type, text); }

void warn_of_range(const std::string& text) { warn(range_warning_type, text); }

void warn_of_file(const std::string& text) { warn(file_warning_type, text); }

void bind_errors(nb::module_& module) {
  // The classes are written in Python because instances of Error have a field and must be picklable.
  nb::dict scope;
  scope["__name__"] = module.attr("__name__");
  nb::exec(R"(
class Error(ValueError):
    """An error of parafield: a value, file or device that cannot be used.

    The message is one line. It names the argument or file and its value, and says what would be right.
    """

    code: str
    """Kind of error: invalid_argument, format, unsupported, file, device, memory or cancelled."""

    def __init__(self, message: str, code: str = "invalid_argument") -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return (type(self), (str(self), self.code))


class FileWarning(UserWarning):
    """Something is unusual about a file that was read, such as a missing end marker or interlaced frames."""


class FramesWarning(UserWarning):
    """Frames have a cut between them or no texture, so that their result is not valid."""


class PairWarning(UserWarning):
    """Something seems to be wrong with a stereo pair or its calibration: see check_pair, read_calibration."""


class RangeWarning(UserWarning):
    """Black and white are guessed from the frames (`range` sets them), or values do not fit into a file."""
)",
           scope);
  error_type = nb::object(scope["Error"]).release().ptr();
  module.attr("Error") = nb::handle(error_type);
  frames_warning_type = nb::object(scope["FramesWarning"]).release().ptr();
  module.attr("FramesWarning") = nb::handle(frames_warning_type);
  pair_warning_type = nb::object(scope["PairWarning"]).release().ptr();
  module.attr("PairWarning") = nb::handle(pair_warning_type);
  range_warning_type = nb::object(scope["RangeWarning"]).release().ptr();
  module.attr("RangeWarning") = nb::handle(range_warning_type);
  file_warning_type = nb::object(scope["FileWarning"]).release().ptr();
  module.attr("FileWarning") = nb::handle(file_warning_type);
  nb::register_exception_translator(translate);
}

}  // namespace parafield::python
