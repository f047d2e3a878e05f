#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Numbers for people: on terminals only, never in result files.
namespace atl {

std::string si(double value);                    ///< `950`, `12.3 k`, `4.56 M`
std::string grouped(std::uint64_t value);        ///< `1,234,567`
std::string percent(double part, double whole);  ///< `42.0 %`, or `-` when there is no whole
std::string duration(double seconds);            ///< `8 s`, `3 min 20 s`, `2 h 05 min`, `4 d 03 h`
std::string hex(std::uint64_t value);            ///< 16 digits
/// `a, b, c, d, e and 3 more`
std::string listed(std::span<const std::string> names);
/// A function's name in so many columns. One that is too long loses its template arguments, then as many of the scopes it
/// begins with as it takes, and its end last: what tells the kernels of a library apart stands at the end of their names.
std::string shortened(const std::string& function, std::size_t width);
std::vector<std::string> lines_of(const std::string& text);
/// The first of the lines of `text`, and how many follow: `first line; and 2 more`.
std::string first_line(const std::string& text);

}  // namespace atl
