// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <string>

namespace parafield::video {

/// The parts that the structure of a video file lacks, in words that follow the file's name: its end, if the
/// file is shorter than its container says, or the index of an MP4 or MOV file. Empty for a file that is
/// whole, and for containers and streams whose size is unknown. It reads a few bytes of each part of the
/// file: of MP4 and MOV, Matroska and WebM, AVI, Ogg and GIF.
std::string missing_part(const std::filesystem::path& file);

}  // namespace parafield::video
