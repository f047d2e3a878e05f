#include "core/stats/progress.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace atl;
using namespace std::chrono_literals;

namespace {

/// What a ProgressLine wrote, updated every 100 ms for `seconds`.
std::string output_of(ProgressLine::Style style, int seconds, std::size_t columns = 80) {
  std::FILE* file = std::tmpfile();
  {
    const auto start = ProgressLine::Clock::now();
    ProgressLine line(file, style, false, columns, start);
    for (int tick = 1; tick <= 10 * seconds; ++tick) line.update({1, 2, 1000, 5, 10, 500, 0}, start + tick * 100ms);
  }
  std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  CHECK(std::fread(text.data(), 1, text.size(), file) == text.size());
  std::fclose(file);
  return text;
}

auto count(const std::string& text, char c) { return std::count(text.begin(), text.end(), c); }

}  // namespace

TEST_CASE("progress names kernel, cycle, CTAs, speed and time left") {
  const ProgressState state{2, 7, 1'200'000, 1024, 4096, 5'120'000, 10};
  CHECK(format_progress(state) == "kernel 2/7 | cycle 1.20 M | CTAs 1024/4096 | 512 k requests/s | 30 s left");
}

TEST_CASE("progress promises no time left before the first CTA is done") {
  CHECK(format_progress({1, 7, 10, 0, 4096, 50, 10}) == "kernel 1/7 | cycle 10 | CTAs 0/4096 | 5 requests/s");
  CHECK(format_progress({}) == "kernel 0/0 | cycle 0 | CTAs 0/0");
}

TEST_CASE("the time left of a run that was gone on with is known once a hundredth of what was left has ended") {
  ProgressState s;
  s.ctas_total = 2000, s.ctas_before = 1000, s.seconds = 2;
  s.ctas_done = 1009;
  CHECK_FALSE(seconds_left(s));
  s.ctas_done = 1010;
  CHECK(*seconds_left(s) == doctest::Approx(2.0 * 990 / 10));
}

TEST_CASE("what was done before a run was gone on with counts neither for its speed nor for the time left") {
  std::FILE* file = std::tmpfile();
  const auto start = ProgressLine::Clock::now();
  ProgressLine line(file, ProgressLine::Style::log, true, 80, start);
  line.update({2, 7, 1'000'000, 1000, 1300, 90'000, 0}, start + 1s);
  line.update({2, 7, 1'200'000, 1100, 1300, 120'000, 0}, start + 30s);
  char text[200] = {};
  std::rewind(file);
  CHECK(std::fgets(text, sizeof text, file) == text);
  CHECK(std::string(text) == "kernel 2/7 | cycle 1.20 M | CTAs 1100/1300 | 1.00 k requests/s | 1 min 00 s left\n");
  std::fclose(file);
}

TEST_CASE("a quiet progress line writes nothing") { CHECK(output_of(ProgressLine::Style::quiet, 100).empty()); }

TEST_CASE("a terminal line is rewritten five times a second and removed at the end") {
  const auto text = output_of(ProgressLine::Style::terminal, 2);
  CHECK(count(text, '\r') == 10 + 1);
  CHECK(count(text, '\n') == 0);
  CHECK(text.ends_with("\r\033[K"));
}

TEST_CASE("a terminal line stays narrower than the terminal") {
  CHECK(output_of(ProgressLine::Style::terminal, 1, 11).starts_with("\rkernel 1/2\033[K"));
}

TEST_CASE("a log gets a plain line every 30 seconds") {
  const auto text = output_of(ProgressLine::Style::log, 100);
  CHECK(count(text, '\n') == 3);
  CHECK(count(text, '\r') == 0);
}

TEST_CASE("a file is no terminal, and quiet wins over both") {
  std::FILE* file = std::tmpfile();
  CHECK(ProgressLine::style_for(file, false) == ProgressLine::Style::log);
  CHECK(ProgressLine::style_for(file, true) == ProgressLine::Style::quiet);
  std::fclose(file);
}
