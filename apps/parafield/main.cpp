// SPDX-License-Identifier: MIT
// The other files are compiled together in builds of the tests, which link them without this one.
namespace parafield::command {
int run_program(int argc, char** argv);
}

int main(int argc, char** argv) { return parafield::command::run_program(argc, argv); }
