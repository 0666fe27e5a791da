// SPDX-License-Identifier: MIT
#include "run_command.hpp"

// The JSON of the commands (--json), checked against docs/report.schema.json.
namespace parafield::test {
namespace {

using nlohmann::json;

/// Checks a value by the keywords of JSON Schema that the schema uses. It is stricter than the schema: a key
/// that an object's schema does not name is an error.
class Validator {
 public:
  explicit Validator(const json& root) : root_(root) {}

  /// Deviations of the value from the schema, one line each.
  Words problems(const json& schema, const json& value, const std::string& path) const {
    Words found;
    const auto fail = [&](const std::string& what) { found.push_back(path + ": " + what); };
    const auto add = [&](const Words& more) { found.insert(found.end(), more.begin(), more.end()); };
    for (const auto& [keyword, rule] : schema.items()) {
      if (keyword == "$ref") {
        const std::string name = rule.get<std::string>().substr(1);
        add(problems(root_.at(json::json_pointer(name)), value, path));
      } else if (keyword == "type") {
        const json types = rule.is_array() ? rule : json::array({rule});
        if (std::ranges::none_of(types, [&](const json& type) { return is(value, type); }))
          fail("is " + value.dump() + ", not " + rule.dump());
      } else if (keyword == "const") {
        if (value != rule) fail("is " + value.dump() + ", not " + rule.dump());
      } else if (keyword == "enum") {
        if (std::ranges::find(rule, value) == rule.end())
          fail("is " + value.dump() + ", none of " + rule.dump());
      } else if (keyword == "minimum") {
        if (value < rule) fail("is " + value.dump() + ", below " + rule.dump());
      } else if (keyword == "maximum") {
        if (value > rule) fail("is " + value.dump() + ", above " + rule.dump());
      } else if (keyword == "required") {
        for (const json& key : rule)
          if (!value.contains(key.get<std::string>())) fail("has no " + key.dump());
      } else if (keyword == "properties") {
        for (const auto& [key, one] : value.items())
          if (rule.contains(key))
            add(problems(rule.at(key), one, path + "." + key));
          else
            fail("has an unknown key: " + key);
      } else if (keyword == "additionalProperties") {
        for (const auto& [key, one] : value.items()) add(problems(rule, one, path + "." + key));
      } else if (keyword == "items") {
        if (value.is_array())
          for (const json& one : value) add(problems(rule, one, path + "[]"));
      } else if (keyword == "oneOf") {
        const auto fits = [&](const json& one) { return problems(one, value, path).empty(); };
        if (std::ranges::count_if(rule, fits) != 1) fail("does not fit one schema");
      } else if (keyword != "description" && keyword != "title" && keyword != "$schema" &&
                 keyword != "$defs") {
        fail("the test does not know the keyword " + keyword);
      }
    }
    return found;
  }

 private:
  static bool is(const json& value, const std::string& type) {
    return type == "object"    ? value.is_object()
           : type == "array"   ? value.is_array()
           : type == "string"  ? value.is_string()
           : type == "boolean" ? value.is_boolean()
           : type == "null"    ? value.is_null()
           : type == "integer" ? value.is_number_integer()
                               : value.is_number();
  }

  const json& root_;
};

class JsonSchema : public CommandTest {
 protected:
  const json schema_ = json::parse(read_text(std::string(PARAFIELD_SOURCE_DIR) + "/docs/report.schema.json"));

  /// The JSON of the command, if it fits the schema.
  json checked(const Words& arguments, int code = 0) const {
    SCOPED_TRACE(testing::PrintToString(arguments));
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    const json value = outcome.json();
    const json& own = schema_.at("$defs").at(arguments[0]);
    EXPECT_EQ(Validator(schema_).problems(own, value, arguments[0]), Words{});
    EXPECT_EQ(Validator(schema_).problems(schema_, value, "report"), Words{});
    return value;
  }
};

TEST_F(JsonSchema, FitsWhatEveryCommandPrints) {
  if (tests_sanitized_command()) GTEST_SKIP() << takes_minutes;
  render();
  const Words pair{frame0(), frame1()};
  const auto with = [&](Words first, const Words& more) {
    first.insert(first.end(), pair.begin(), pair.end());
    first.emplace_back("--json");
    first.insert(first.end(), more.begin(), more.end());
    return first;
  };
  EXPECT_EQ(checked(with({"flow"}, {})).at("range"), json::parse("[0, 255]"));
  checked(
      with({"flow"}, {"--gt", truth(), "--preset", "fast", "-o", path("f.flo"), "--color", path("f.png")}));
  checked(with({"flow"}, {"--color", path("a.png"), "--arrows", "--repeat", "2"}));
  checked(with({"flow", frame0()}, {"-o", path("f%d.flo"), "-q"}));
  checked(with({"flow"}, {"-m", "icm", "--energy", "sweeps", "--sweeps", "2"}));
  checked(with({"stereo"}, {"-m", "icm", "--energy", "result", "--sweeps", "2", "-o", path("d.pfm")}));
  std::ofstream(path("calib.txt"))
      << "cam0=[90 0 40; 0 90 30; 0 0 1]\ncam1=[90 0 42; 0 90 30; 0 0 1]\nbaseline=2\n";
  checked(with({"stereo"}, {"--calibration", path("calib.txt"), "--points", path("p.ply")}));
  checked(with({"stereo"}, {"--gt", path("d.pfm"), "--mask", frame0()}));
  checked(with({"stereo"}, {"--gt", path("d.pfm"), "--mask", frame0(), "--confidence", path("c.pfm")}));
  checked(with({"detect"}, {"-o", path("m.png"), "--energy", "result"}));
  checked(with({"detect", frame1()}, {"-o", path("m%d.png")}));
  checked(with({"detect"}, {"--gt", path("m.png")}));
  checked({"detect", path("scene/frame%04d.png"), "-o", path("m.y4m"), "--boxes", path("b.jsonl"), "--json"});
  checked({"video", path("scene/frame%04d.png"), "-o", path("v.y4m"), "--flow-dir", path("v"), "--preset",
           "fast", "--json"});
  checked(with({"tracks"}, {"--gt", truth(), "-o", path("t.csv")}));
  checked(with({"flow"}, {"-m", "direct-interpolation", "--tracks", path("t.csv")}));
  checked(with({"clouds"}, {"--csv", path("c.csv"), "--km-per-pixel", "4", "--minutes", "15", "--arrows",
                            path("a%d.png"), "--input-mask", frame0()}));
  checked(
      with({"clouds"}, {"--stereo", frame1(), frame0(), "--disparities", "8", "--height", path("h%d.npy")}));
  checked(with({"flow"}, {"--input-mask", frame0()}));
  checked({"eval", path("f.flo"), truth(), "--json"});
  checked(with({"flow"}, {"--gt", truth(), "--confidence", path("c.npy")}));
  checked(with({"flow"}, {"--gt", truth(), "--covariance", path("b.npy"), "--outlier", path("o.npy")}));
  checked({"eval", path("f.flo"), truth(), "--covariance", path("b.npy"), "--json"});
  checked(with({"stereo"}, {"--gt", path("d.pfm"), "--sigma", path("s.npy")}));
  checked({"eval", path("f.flo"), truth(), "--json", "--confidence", path("c.npy")});
  checked(
      {"eval", path("d.pfm"), path("d.pfm"), "--json", "--mask", frame0(), "--confidence", path("c.pfm")});
  checked({"eval", path("m.png"), path("m.png"), "--task", "mask", "--json"});
  checked({"devices", "--json"});
  checked({"methods", "--json"});
  checked({"methods", "icm", "--json"});
  checked({"bench", "-m", "gradient-tensor", "--size", "64x48", "-d", "cpu", "--repeat", "2", "--streams",
           "2", "--json"});
  checked({"bench", "--task", "stereo", "detection", "--preset", "paper", "-m", "icm", "--disparities", "16",
           "--size", "64x48", "-d", "cpu", "--repeat", "2", "--json"});
  checked({"bench", "--preset", "fast", "--size", "600000x1", "-d", "cpu", "--repeat", "2", "--json"}, 1);
}

TEST_F(JsonSchema, IsRefusedForOtherReports) {
  json value = run_well({"devices", "--json"}).json();
  const auto problems = [&] { return Validator(schema_).problems(schema_, value, "report"); };
  EXPECT_EQ(problems(), Words{});
  value["schema_version"] = 3;
  EXPECT_NE(problems(), Words{});
  value["schema_version"] = 2;
  value["unknown"] = 1;
  EXPECT_NE(problems(), Words{});
}

}  // namespace
}  // namespace parafield::test
