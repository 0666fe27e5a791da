// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/color.hpp"
#include "parafield/detection.hpp"
#include "parafield/device.hpp"
#include "parafield/error.hpp"
#include "parafield/evaluation.hpp"
#include "parafield/flow.hpp"
#include "parafield/image.hpp"
#include "parafield/io.hpp"
#include "parafield/scenes.hpp"
#include "parafield/stereo.hpp"
#include "parafield/tracks.hpp"
#include "parafield/version.hpp"
