// SPDX-License-Identifier: MIT
// The C interface lists the methods, parameters and presets that the command lists.
#include <nlohmann/json.hpp>

#include "c/c_support.hpp"
#include "report.hpp"

namespace parafield::command {
namespace {

using Tree = nlohmann::json;  // in which the order of keys does not count

TEST(CMethods, AreTheCommands) {
  std::size_t length = 0;
  ASSERT_OK(parafield_methods(nullptr, 0, &length));
  std::string text(length + 1, 0);
  ASSERT_OK(parafield_methods(text.data(), text.size(), &length));
  const Tree listed = Tree::parse(text.c_str()), expected = Tree::parse(methods_report("").json.dump());
  EXPECT_EQ(listed["flow"]["methods"], expected["flow"]);
  EXPECT_EQ(listed["stereo"]["methods"], expected["stereo"]);
  EXPECT_EQ(listed["detection"]["methods"], expected["detect"]);
  EXPECT_EQ(listed["flow"]["options"][0]["name"], "fb_check");
}

TEST(CDevices, AreTheCommands) {
  std::size_t length = 0;
  ASSERT_OK(parafield_devices(nullptr, 0, &length));
  std::string text(length + 1, 0);
  ASSERT_OK(parafield_devices(text.data(), text.size(), &length));
  const Tree listed = Tree::parse(text.c_str());
  Tree expected = Tree::parse(devices_report().json.dump());
  EXPECT_EQ(listed["why_no_cuda"], expected["why_no_cuda"]);
  ASSERT_EQ(listed["devices"].size(), expected["devices"].size());
  for (std::size_t i = 0; i < listed["devices"].size(); ++i)
    for (const auto& [name, value] : listed["devices"][i].items())
      EXPECT_EQ(value, expected["devices"][i][name]) << name;
}

}  // namespace
}  // namespace parafield::command
