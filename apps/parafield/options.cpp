#include "options.hpp"

#include <charconv>
#include <sstream>

namespace parafield::command {
namespace {

class WrappedHelp : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return described(make_option_name(option, is_positional) + make_option_opts(option),
                     make_option_desc(option));
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return described(command->get_name(), command->get_description());
  }

 private:
  static constexpr std::size_t indent = 26, width = 100;

  static std::string described(const std::string& name, const std::string& description) {
    std::string out = "  " + name;
    std::size_t column = out.size();
    if (column + 2 > indent) {
      out += '\n';
      column = 0;
    }
    std::istringstream words(description);
    for (std::string word; words >> word;) {
      if (column > indent && column + 1 + word.size() > width) {
        out += '\n';
        column = 0;
      }
      const std::size_t gap = column < indent ? indent - column : 1;
      out += std::string(gap, ' ') + word;
      column += gap + word.size();
    }
    return out + '\n';
  }
};

}  // namespace

std::shared_ptr<CLI::Formatter> help_formatter() { return std::make_shared<WrappedHelp>(); }

void DeviceOptions::add_to(CLI::App& command) {
  command.add_option("-d,--device", name, "auto (CUDA where it can be used), cpu, cuda or cuda:N")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--threads", threads, "CPU threads; 0 = one for each core")
      ->type_name("N")
      ->capture_default_str();
}

Device DeviceOptions::device() const {
  return typed([&] { return parse_device(name, threads); });
}

Size parse_size(const std::string& text) {
  Size size;
  const char* const end = text.data() + text.size();
  const auto width = std::from_chars(text.data(), end, size.width);
  if (width.ec == std::errc{} && width.ptr != end && *width.ptr == 'x') {
    const auto height = std::from_chars(width.ptr + 1, end, size.height);
    if (height.ec == std::errc{} && height.ptr == end && size.width > 0 && size.height > 0) return size;
  }
  throw UsageError(fmt::format("'{}' is no size; a size is WIDTHxHEIGHT in pixels, as 640x480", text));
}

}  // namespace parafield::command
