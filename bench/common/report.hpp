// SPDX-License-Identifier: MIT
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/pictures.hpp"

/// Tables, written as Markdown and as JSON; the JSON lists pictures, too.
namespace parafield::bench {

using Json = nlohmann::ordered_json;

/// A value of a table, in JSON and in Markdown.
struct Cell {
  Json value;
  std::string text;

  Cell(const char* words) : value(words), text(words) {}
  Cell(const std::string& words) : value(words), text(words) {}
  Cell(int number) : value(number), text(std::to_string(number)) {}
  Cell(double number, int decimals);  ///< a number that is not finite is null in JSON and empty in Markdown
};

struct Table {
  std::string title;
  std::string note;  ///< how it was measured, and how to read it
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  int published_rows = 0;                           ///< the first ones hold the paper's own figures
  std::vector<std::string> published_columns = {};  ///< columns that do
};

/// Measures the load of other processes while it lives.
class Quietness {
 public:
  Quietness();
  /// For example "load average 0.1 at the start; other processes had 2 % of the processors' time", with a
  /// warning above 5 %. "unknown" on systems without /proc/stat.
  std::string text() const;

 private:
  double load_ = 0, busy_ = 0, total_ = 0, own_ = 0;
};

struct Report {
  std::string title;
  std::vector<std::pair<std::string, std::string>> conditions;  ///< name and value: device, commit and so on
  std::vector<Table> tables;
  std::vector<Picture> pictures = {};
};

/// For example "cpu, AMD EPYC, v4, 2 threads".
std::string device_text(const Device& device);

/// For example "640x480".
std::string size_text(Size size);

/// Writes Markdown to `markdown_file`, or to standard output if that is empty, and JSON to `json_file`,
/// unless that is empty. Throws Error(file).
void write(const Report& report, const std::string& markdown_file, const std::string& json_file);

}  // namespace parafield::bench
