#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "core/engine/error.hpp"
#include "inputs/cuda/elf_file.hpp"
#include "inputs/cuda/program_check.hpp"
#include "inputs/cuda/record_options.hpp"

using namespace atl;
using namespace atl::cuda;

extern "C" void a_function_to_be_found() {}

TEST_CASE("a program's functions and libraries are read from its file") {
  const auto self = ElfFile::open("/proc/self/exe");
  REQUIRE(self);
  const auto functions = self->functions();
  CHECK(std::any_of(functions.begin(), functions.end(), [](const auto& f) { return f.name == "a_function_to_be_found"; }));
  const auto needed = self->needed();
  CHECK(std::find(needed.begin(), needed.end(), "libc.so.6") != needed.end());
  CHECK(self->section(".nv_fatbin").empty());
  CHECK_FALSE(self->section(".text").empty());
  CHECK(self->has_loader());
}

TEST_CASE("a script is no ELF file and passes, as does a program without device code") {
  const char* path = "program_test.sh";
  std::ofstream(path) << "#!/bin/sh\n";
  CHECK_FALSE(ElfFile::open(path));
  CHECK_NOTHROW(check_recordable(path));
  std::remove(path);
  CHECK_NOTHROW(check_recordable("/proc/self/exe"));
}

TEST_CASE("a program that does not exist or cannot be run is refused") {
  CHECK_THROWS_WITH_AS(find_program("./no-such-program"), "./no-such-program: there is no such program", InputError);
  CHECK_THROWS_WITH_AS(find_program("no-such-program"), doctest::Contains("on the PATH"), InputError);
  CHECK_THROWS_WITH_AS(find_program("/etc/passwd"), "/etc/passwd: is not an executable file", InputError);
  CHECK(find_program("sh").find("/sh") != std::string::npos);
}

TEST_CASE("options reach the program through its environment unchanged") {
  RecordOptions out;
  out.output = "/tmp/a b.h5", out.kernels = "3-10,a<int, 2>:0-1", out.max_ctas = 7;
  out.stop_after = 12, out.first_cta = 64;
  out.max_ops = 5000, out.threads = 6, out.compression = 2, out.check = true;
  out.quiet = true, out.source = "./a 'b'", out.importer = "atoll";
  for (const std::string& line : to_environment(out)) {
    const auto equals = line.find('=');
    setenv(line.substr(0, equals).c_str(), line.substr(equals + 1).c_str(), 1);
  }
  const auto in = options_from_environment();
  REQUIRE(in);
  CHECK(in->output == out.output);
  CHECK(in->kernels == out.kernels);
  CHECK(in->stop_after == 12);
  CHECK(in->first_cta == 64);
  CHECK(in->max_ctas == 7);
  CHECK(in->max_ops == 5000);
  CHECK(in->threads == 6);
  CHECK(in->check);
  CHECK(in->compression == 2);
  CHECK(in->quiet);
  CHECK(in->source == out.source);
  setenv("ATOLL_RECORD_COMPRESSION", "10", 1);
  CHECK_THROWS_WITH_AS(options_from_environment(), doctest::Contains("'10' is not in 0 to 9"), InputError);
  unsetenv("ATOLL_RECORD_OUTPUT");
  CHECK_FALSE(options_from_environment());
}
