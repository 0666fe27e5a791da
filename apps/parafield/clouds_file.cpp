// SPDX-License-Identifier: MIT
#include "clouds.hpp"

namespace parafield::command {

void CloudFileOptions::add_to(App& command) {
  const Option file = command.add_option("--netcdf FILE", path),
               first = command.add_option("--start TIME", start),
               unit = command.add_option("--height-unit UNIT", height_unit);
  file.help(
      "write motion, speeds where they are known, and heights of all images into one file by the CF "
      "conventions: "
      ".nc");
  first.help("with --netcdf and --minutes: time of the first image, UTC, as 2017-09-06T12:00").needs(file);
  unit.help("with --netcdf: unit of the heights, m or km").needs(file);
  command.leave_out_of_help(first);
  command.leave_out_of_help(unit);
}

void CloudFileOptions::check(CloudUnits units, bool has_heights) const {
  if (path.empty()) return;
  if (const std::string why = why_no_netcdf(); !why.empty())
    throw Error(ErrorCode::unsupported, fmt::format("--netcdf: {}", why));
  if (!start.empty() && !(units.minutes > 0)) throw UsageError("--start needs --minutes");
  if (!height_unit.empty() && !has_heights) throw UsageError("--height-unit needs --stereo, the other view");
}

CloudFile::CloudFile(const CloudFileOptions& options, Size size, CloudUnits units, bool has_heights,
                     int first)
    : file_(typed([&] {
        return MotionFile(options.path, size,
                          {.km_per_pixel = units.km_per_pixel,
                           .minutes = units.minutes,
                           .start = options.start,
                           .height_unit = options.height_unit,
                           .has_heights = has_heights,
                           .first_image = first});
      })) {}

}  // namespace parafield::command
