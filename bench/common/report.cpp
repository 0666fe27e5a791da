// SPDX-License-Identifier: MIT
#include "common/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

namespace parafield::bench {
namespace {

std::string markdown(const Json& header, const std::vector<Table>& tables) {
  std::string text = fmt::format("# {}\n\n", header["title"].get<std::string>());
  for (const auto& [name, value] : header.items())
    if (name != "title")
      text += fmt::format("- {}: {}\n", name, value.is_string() ? value.get<std::string>() : value.dump());
  for (const Table& table : tables) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& cells : table.rows) {
      rows.emplace_back();
      for (const Cell& cell : cells) rows.back().push_back(cell.text);
    }
    text += fmt::format("\n## {}\n\n{}\n\n{}", table.title, table.note,
                        command::markdown_table(table.columns, rows));
  }
  return text;
}

Json json_of(const Table& table) {
  Json rows = Json::array();
  for (const auto& cells : table.rows) {
    rows.push_back(Json::array());
    for (const Cell& cell : cells) rows.back().push_back(cell.value);
  }
  return {{"title", table.title},
          {"note", table.note},
          {"columns", table.columns},
          {"published_rows", table.published_rows},
          {"published_columns", table.published_columns},
          {"rows", std::move(rows)}};
}

/// JSON in which a list or object of plain values, for example a row, takes one line.
std::string json_text(const Json& json, const std::string& indent = "\n") {
  if (std::ranges::none_of(json, [](const Json& item) { return item.is_structured(); })) return json.dump();
  std::string text;
  for (const auto& [key, value] : json.items())
    text += (text.empty() ? "" : ",") + indent + " " + (json.is_object() ? Json(key).dump() + ": " : "") +
            json_text(value, indent + " ");
  return json.is_object() ? "{" + text + indent + "}" : "[" + text + indent + "]";
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw Error(ErrorCode::file, path + ": the file cannot be written");
}

}  // namespace

Cell::Cell(double number, int decimals) : value(nullptr) {
  if (!std::isfinite(number)) return;
  value = std::stod(fmt::format("{:.6g}", number));
  text = fmt::format("{:.{}f}", number, decimals);
}

std::string size_text(Size size) { return fmt::format("{}x{}", size.width, size.height); }

void write(const Json& header, const std::vector<Table>& tables, const std::vector<Picture>& pictures,
           const std::string& markdown_file, const std::string& json_file) {
  if (markdown_file.empty())
    std::fputs(markdown(header, tables).c_str(), stdout);
  else
    write_file(markdown_file, markdown(header, tables));
  if (json_file.empty()) return;
  Json report = header;
  report["tables"] = Json::array();
  for (const Table& table : tables) report["tables"].push_back(json_of(table));
  report["pictures"] = Json::array();
  for (const Picture& picture : pictures)
    report["pictures"].push_back(
        {{"figure", picture.figure}, {"caption", picture.caption}, {"file", picture.file}});
  write_file(json_file, json_text(report) + "\n");
}

}  // namespace parafield::bench
