// SPDX-License-Identifier: MIT
// Wrong files and streams, and signals, give an exit code, an error of one line, and no files.
#include <sys/stat.h>

#include <thread>

#include "command/errors.hpp"

namespace parafield::test {
namespace {

class FileErrors : public ErrorTest {};

TEST_F(FileErrors, FilesThatCannotBeRead) {
  const std::string missing = path("missing.png"), short_png = path("short.png"),
                    short_flo = path("short.flo"), text = path("text.png");
  cut(frame0(), short_png, 60);
  cut(truth(), short_flo, 100);
  std::ofstream(text) << "no picture\n";
  std::ofstream(path("empty.png")).flush();
  std::filesystem::create_directory(path("empty"));
  const std::string out = path("out.flo");
  for (const std::string& bad : {missing, short_png, text, path("empty.png"), path("empty"), truth()}) {
    expect_failure(1, {"flow", frame0(), bad, "-o", out, "-d", "cpu"}, {bad});
    expect_failure(1, {"flow", bad, frame1(), "-o", out, "-d", "cpu"}, {bad});
    expect_failure(1, flow({"--gt", truth(), "--mask", bad, "-o", out}), {bad});
  }
  for (const std::string& bad : {missing, short_flo, text, path("empty.png"), path("scene"), frame0()}) {
    expect_failure(1, flow({"--gt", bad, "-o", out}), {bad});
    expect_failure(1, {"color", bad, "-o", path("out.png")}, {bad});
    expect_failure(1, {"eval", bad, truth()}, {bad});
    expect_failure(1, {"eval", truth(), bad}, {bad});
  }
}

TEST_F(FileErrors, FilesOfAnotherKind) {
  expect_failure(1, {"eval", frame0(), frame1()},
                 {frame0() + " holds a picture", frame1() + " holds a picture"});
  expect_failure(1, {"eval", truth(), frame1()}, {truth() + " holds flow", frame1() + " holds a picture"});
}

TEST_F(FileErrors, SizesThatDiffer) {
  run_well({"synth", "zoom", "-o", path("other"), "--size", "50x40"});
  const std::string other_frame = path("other/frame0001.png"), other_flow = path("other/flow0000.flo");
  const auto named = [&](const std::string& a, const std::string& b) {
    return Words{a, b, "96x64", "50x40"};
  };
  expect_failure(1, {"flow", frame0(), other_frame, "-o", path("out.flo"), "-d", "cpu"},
                 named(frame0(), other_frame));
  expect_failure(1, flow({"--gt", other_flow, "-o", path("out.flo")}), named(frame0(), other_flow));
  expect_failure(1, flow({"--gt", truth(), "--mask", other_frame, "-o", path("out.flo")}),
                 named(frame0(), other_frame));
  expect_failure(1, {"color", truth(), "--frame", other_frame, "--beside", "-o", path("out.png")},
                 named(truth(), other_frame));
  expect_failure(1, {"eval", other_flow, truth()}, named(truth(), other_flow));
  expect_failure(1, {"eval", truth(), truth(), "--mask", other_frame}, named(truth(), other_frame));
}

TEST_F(FileErrors, ReportsThatCannotBePrinted) {
  const std::string pair = "scene/frame0000.png scene/frame0001.png -d cpu ";
  const auto expect = [&](const std::string& words, const Words& files, const std::string& names) {
    for (const char* where : {" > /dev/full", " >&-"}) {
      SCOPED_TRACE(words + where);
      const Outcome outcome = shell(words + where);
      EXPECT_EQ(outcome.code, 1);
      EXPECT_TRUE(outcome.err.starts_with("parafield: error: standard output cannot be written: "));
      EXPECT_TRUE(outcome.err.ends_with("; these files are complete: " + names + "\n")) << outcome.err;
      for (const std::string& file : files) {
        const std::string written = read_text(path(file));
        std::filesystem::remove(path(file));
        EXPECT_EQ(shell(words + " > /dev/null").code, 0);
        EXPECT_EQ(read_text(path(file)), written) << file;
        std::filesystem::remove(path(file));
      }
    }
  };
  expect("flow " + pair + "-o a.flo --color a.png", {"a.flo", "a.png"}, "a.flo, a.png");
  expect("flow " + pair + "-o a.flo --json", {"a.flo"}, "a.flo");
  expect("stereo " + pair + "-o a.pfm", {"a.pfm"}, "a.pfm");
  expect("detect " + pair + "-o m.png", {"m.png"}, "m.png");
  expect("detect " + pair + "scene/frame0001.png -o m%d.png", {"m1.png", "m2.png"}, "m%d.png");
  expect("tracks " + pair + "-o t.csv", {"t.csv"}, "t.csv");
  expect("color scene/flow0000.flo -o c.png", {"c.png"}, "c.png");
  expect("synth zoom --size 8x8 -o new", {"new/frame0001.png"}, "new");
  EXPECT_EQ(shell("flow " + pair + "-o a.flo -q >&-").code, 0) << "there is no report";
  EXPECT_EQ(shell("eval scene/flow0000.flo scene/flow0000.flo >&-").err,
            "parafield: error: standard output cannot be written: Bad file descriptor\n");
}

TEST_F(FileErrors, ClosedStreamsDisturbNoFiles) {
  std::ofstream(path("tracks.csv")) << "20,20,1,1\nnan,1,1,1\n";  // gives a note on stderr
  const std::string words =
      "flow scene/frame0000.png scene/frame0001.png -d cpu -m direct-interpolation --tracks tracks.csv -o ";
  EXPECT_EQ(shell(words + "whole.flo > /dev/null").code, 0);
  const std::string whole = read_text(path("whole.flo"));
  for (const char* closed :
       {" > /dev/null 2>&-", " > /dev/null 2> /dev/full", " <&- > /dev/null", " <&- >&- 2>&-"}) {
    EXPECT_EQ(shell(words + "a.flo" + closed).code, std::string_view(closed).find(">&- 2") == 5 ? 1 : 0)
        << closed;
    EXPECT_EQ(read_text(path("a.flo")), whole) << closed;
    std::filesystem::remove(path("a.flo"));
  }
}

TEST_F(FileErrors, NamesThatAreTooLong) {
  const std::string name(300, 'x');
  expect_failure(1, flow({"-o", path(name + ".flo"), "--valid", path(name + ".png")}),
                 {"File name too long"});
  expect_failure(1, {"synth", "zoom", "--size", "8x8", "-o", path(name)}, {"File name too long"});
  expect_failure(1, {"generate", path(name)}, {"parafield: error: " + path(name), ": File name too long"});
}

TEST_F(FileErrors, LinksToOutputsAreFollowed) {
  std::ofstream(path("real.json")) << "old";
  std::filesystem::create_symlink(path("real.json"), path("link.json"));
  run_well({"bench", "-d", "cpu", "--size", "8x8", "--repeat", "1", "--preset", "fast", "--json",
            path("link.json")});
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.json")));
  EXPECT_TRUE(read_text(path("real.json")).starts_with("{"));
}

TEST_F(FileErrors, OnlyRegularFilesAreReplaced) {
  const std::string pipe = path("pipe.json"), link = path("link");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_directory_symlink(path("nowhere"), link);
  expect_failure(1, {"bench", "-d", "cpu", "--size", "8x8", "--repeat", "1", "--json", pipe},
                 {pipe, "regular"});
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  for (const std::string& to : {link, link + "/new"})
    expect_failure(1, {"synth", "zoom", "--size", "8x8", "-o", to}, {link, "leads nowhere"});
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST_F(FileErrors, TwoSpellingsOfOneOutput) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(path("scene"));
  expect_failure(2, flow({"-o", "x.png", "--valid", "./x.png"}), {"-o", "--valid", "same file"});
  expect_failure(2, flow({"-o", path("scene/x.png"), "--color", "x.png"}), {"same file"});
  expect_failure(
      2, {"detect", frame0(), frame1(), frame0(), "-d", "cpu", "-o", "m%d.png", "--overlay", ".//m%d.png"},
      {"-o", "--overlay", "same file"});
  std::filesystem::current_path(before);
}

TEST_F(FileErrors, HelpThatCannotBeWritten) {
  const std::string command = tested_command();
  for (const char* words : {"--help", "--version", "flow --help", "help stereo", "methods"})
    EXPECT_EQ(WEXITSTATUS(std::system((command + " " + words + " > /dev/full 2> /dev/null").c_str())), 1)
        << words;
}

TEST_F(FileErrors, OutputsThatCannotBeWritten) {
  expect_failure(2, flow({"-o", path("out.jpg")}), {"-o", ".flo"});
  expect_failure(2, flow({"-o", path("out")}), {"-o", ".flo"});
  expect_failure(2, flow({"--valid", path("out.flo")}), {"--valid", ".png"});
  expect_failure(2, flow({"--confidence", path("out.png")}), {"--confidence", ".pfm or .npy"});
  expect_failure(2, flow({"-o", path("a.npy"), "--confidence", path("a.npy")}),
                 {"--confidence", "same file"});
  expect_failure(2, flow({"-o", path("a.png"), "--valid", path("a.png")}), {"-o", "--valid", path("a.png")});
  expect_failure(2, flow({"-o", path("a.flo"), "--color", path("out.flo")}), {"--color", ".png"});
  expect_failure(2, flow({"-o", path("a.png"), "--color", path("scene/../a.png")}),
                 {"-o", "--color", "a.png"});
  expect_failure(1, flow({"-o", path("none/out.flo"), "--color", path("out.png")}), {path("none/out.flo")});
  expect_failure(1, flow({"-o", path("out.flo"), "--color", path("none/out.png")}), {path("none/out.png")});
  expect_failure(1, flow({"-o", path("scene/flow0000.flo/out.flo")}), {"out.flo"});
  expect_failure(1, flow({"-o", frame1()}), {frame1(), "input"});
  expect_failure(1, {"color", truth(), "-o", "/proc/out.png"}, {"/proc/out.png"});
  expect_failure(1, flow({"-o", "/proc/out.flo"}), {"/proc/out.flo"});
  expect_failure(1, {"synth", "zoom", "--size", "8x8", "-o", frame0()}, {frame0()});
  expect_failure(1, {"synth", "zoom", "--size", "8x8", "-o", path("scene/frame0000.png/new")},
                 {path("scene/frame0000.png/new")});
  expect_failure(1, {"synth", "zoom", "--size", "8x8", "-o", "/proc/new"}, {"/proc/new"});
  expect_failure(1,
                 {"bench", "-d", "cpu", "--size", "8x8", "--repeat", "1", "--json", path("none/bench.json")},
                 {"bench.json"});
  std::filesystem::create_directory(path("folder.flo"));
  expect_failure(1, flow({"-o", path("folder.flo")}), {"folder.flo", "folder"});
}

TEST_F(FileErrors, FoldersWithoutPermission) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  std::filesystem::create_directory(path("closed"));
  std::filesystem::permissions(path("closed"),
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  expect_failure(1, flow({"-o", path("closed/out.flo")}), {path("closed/out.flo")});
  expect_failure(1, {"synth", "zoom", "--size", "8x8", "-o", path("closed/new")}, {path("closed/new")});
  std::ofstream(path("kept.flo")) << "kept";
  std::filesystem::permissions(path("kept.flo"), std::filesystem::perms::owner_read);
  expect_failure(1, {"flow", frame0(), path("missing.png"), "-d", "cpu", "-o", path("kept.flo")},
                 {path("kept.flo") + ": cannot be written: Permission denied"});  // before frames are read
}

TEST_F(FileErrors, MissingData) {
  expect_failure(1, {"bench", "-d", "cpu", "--size", "8x8", "--repeat", "1", "--data", path("none")},
                 {"yos08.png"});
}

TEST_F(FileErrors, MessagesStayOnOneLine) {
  expect_failure(1, {"eval", path("two\nlines.flo"), truth()}, {"lines.flo"});
  for (const Words& words :
       {Words{"eval", truth(), truth(), "\x1b[31mred"}, Words{"eval", truth(), "\x1b[31m"},
        Words{"synth", "\x1b[31m", "-o", path("new")}})
    EXPECT_EQ(run(words).err.find('\x1b'), std::string::npos);
  // A mark that turns the direction of writing, and a control that some terminals obey.
  for (const std::string& odd : Words{"gnp.\u202eolf.flo", "\u009b31m.flo",
                                      "\x9b"
                                      "31m.flo"}) {
    const Outcome outcome = run({"eval", path(odd), truth()});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(outcome.err.find('?'), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find(odd.substr(odd.find_first_of("\xe2\xc2\x9b"), 2)), std::string::npos)
        << outcome.err;
    EXPECT_EQ(run(flow({"-o", path(odd)})).out.find(odd), std::string::npos);
  }
}

TEST_F(FileErrors, CtrlCEndsWith130) {
  const auto before = contents();
  const pid_t process = start(flow({"-o", path("out.flo"), "--repeat", "1000000"}));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  kill(process, SIGINT);
  const Outcome outcome = finish(process);
  EXPECT_EQ(outcome.code, 130);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(contents(), before);
}

TEST_F(FileErrors, ASignalWhileASeriesIsWrittenLeavesNothing) {
  for (const int signal : {SIGINT, SIGHUP, SIGQUIT, SIGXCPU}) {
    const auto before = contents();
    const pid_t process =
        start({"synth", "zoom", "-o", path("new/scene"), "--size", "64x48", "--frames", "400"});
    for (int i = 0; i < 20000 && !std::filesystem::exists(path("new/scene")); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    kill(process, signal);
    EXPECT_EQ(finish(process).code, 128 + signal);
    EXPECT_EQ(contents(), before);
  }
}

}  // namespace
}  // namespace parafield::test
