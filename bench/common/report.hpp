#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "parafield/parafield.hpp"

/// Tables, written as Markdown and as JSON.
namespace parafield::bench {

using Json = nlohmann::ordered_json;

/// A value as JSON keeps it and as Markdown shows it.
struct Cell {
  Json value;
  std::string text;

  Cell(const char* words) : value(words), text(words) {}
  Cell(const std::string& words) : value(words), text(words) {}
  Cell(int number) : value(number), text(std::to_string(number)) {}
  Cell(double number, int decimals);  ///< NaN: null, an empty cell
};

struct Table {
  std::string title, note;  ///< the note says what was done and how to read it
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
};

/// What else a machine did while something ran.
class Quietness {
 public:
  Quietness();
  /// "load average 0.1 at the start; other processes had 2 % of the processors' time", and a warning where
  /// that was much. Empty on systems that do not tell.
  std::string text() const;

 private:
  double load_ = 0, busy_ = 0, total_ = 0, own_ = 0;
};

struct Report {
  std::string title;
  std::vector<std::pair<std::string, std::string>> conditions;  ///< device, commit ...
  std::vector<Table> tables;
};

/// "cpu, AMD EPYC, v4, 2 threads".
std::string device_text(const Device& device);

/// "640x480".
std::string size_text(Size size);

/// Markdown to `markdown_file` (standard output where that is empty) and JSON to `json_file`, if one is named.
/// Throws Error(file).
void write(const Report& report, const std::string& markdown_file, const std::string& json_file);

}  // namespace parafield::bench
