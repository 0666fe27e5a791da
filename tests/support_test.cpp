// SPDX-License-Identifier: MIT
#include "support.hpp"

#include <fstream>
#include <string>

namespace parafield::test {
namespace {

/// Sets PARAFIELD_DATA for one test.
class DataFolder : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* value = std::getenv("PARAFIELD_DATA")) before_ = value;
  }
  void TearDown() override {
    if (before_)
      setenv("PARAFIELD_DATA", before_->c_str(), 1);
    else
      unsetenv("PARAFIELD_DATA");
  }

 private:
  std::optional<std::string> before_;
};

TEST_F(DataFolder, IsTheOneThatIsNamed) {
  const std::filesystem::path source = PARAFIELD_SOURCE_DIR;
  setenv("PARAFIELD_DATA", source.c_str(), 1);
  EXPECT_EQ(data_folder(), source);
  EXPECT_EQ(find_data("tests/support.hpp"), source / "tests/support.hpp");
  EXPECT_EQ(find_data("no/such/file"), std::nullopt);
  PARAFIELD_DATA_OR_SKIP(tests, "tests");
  EXPECT_TRUE(std::ifstream(tests / "support_test.cpp").good());
}

TEST_F(DataFolder, IsEmptyWhereTheNamedOneIsMissing) {
  setenv("PARAFIELD_DATA", "/no/such/folder", 1);
  EXPECT_EQ(data_folder(), std::nullopt);
  EXPECT_EQ(find_data("yosemite"), std::nullopt);
}

}  // namespace
}  // namespace parafield::test
