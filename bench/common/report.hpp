// SPDX-License-Identifier: MIT
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/pictures.hpp"
#include "measure.hpp"

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
  std::vector<std::vector<Cell>> rows = {};
  std::vector<std::string> published_columns = {};  ///< columns that hold the paper's own figures
  int published_rows = int(rows.size());            ///< the first ones do

  template <class... Cells>
  void add(const Cells&... cells) {
    rows.push_back({Cell(cells)...});
  }
};

/// For example "640x480".
std::string size_text(Size size);

/// Writes a report: Markdown to `markdown_file`, or to standard output if that is empty, and JSON to
/// `json_file`, unless that is empty. `header` has the title and the conditions. Throws Error(file).
void write(const Json& header, const std::vector<Table>& tables, const std::vector<Picture>& pictures,
           const std::string& markdown_file, const std::string& json_file);

}  // namespace parafield::bench
