#pragma once
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <type_traits>
#include <utility>

/// All mutants of a program in one binary: ATOLL_MUTANT=17 switches the seventeenth on. Included before every file of a
/// scratch copy (mutate.py), never by the simulator.
///
/// An operator is replaced by an object between two operators of the same precedence, so that the text around it is read
/// as before: `a < b` becomes `a < mutation::Less<17, ...>{} < b`.
namespace mutation {

inline constexpr unsigned kMost = 8192;
inline unsigned char reached[kMost];

/// Which mutants a process came by is appended to the file that ATOLL_MUTANTS_REACHED names.
struct Run {
  unsigned active = 0;
  Run() {
    if (const char* text = std::getenv("ATOLL_MUTANT")) active = static_cast<unsigned>(std::atoi(text));
  }
  ~Run() {
    const char* path = std::getenv("ATOLL_MUTANTS_REACHED");
    std::FILE* file = path != nullptr ? std::fopen(path, "a") : nullptr;
    if (file == nullptr) return;
    for (unsigned i = 0; i < kMost; ++i)
      if (reached[i] != 0) std::fprintf(file, "%u\n", i);
    std::fclose(file);
  }
};
inline Run run;

inline bool active(unsigned i) {
  reached[i] = 1;
  return run.active == i;
}
/// What the compiler evaluates stays as it was written, and counts as not reached.
template <unsigned I> constexpr bool on() { return std::is_constant_evaluated() ? false : active(I); }

enum class Op {
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  plus,
  minus,
  times,
  divide,
  bit_and,
  bit_or,
  left,
  right
};

template <Op O, class A, class B> constexpr auto apply(const A& a, const B& b) {
  if constexpr (O == Op::less)
    return a < b;
  else if constexpr (O == Op::less_equal)
    return a <= b;
  else if constexpr (O == Op::greater)
    return a > b;
  else if constexpr (O == Op::greater_equal)
    return a >= b;
  else if constexpr (O == Op::equal)
    return a == b;
  else if constexpr (O == Op::not_equal)
    return a != b;
  else if constexpr (O == Op::plus)
    return a + b;
  else if constexpr (O == Op::minus)
    return a - b;
  else if constexpr (O == Op::times)
    return a * b;
  else if constexpr (O == Op::divide)
    return a / b;
  else if constexpr (O == Op::bit_and)
    return a & b;
  else if constexpr (O == Op::bit_or)
    return a | b;
  else if constexpr (O == Op::left)
    return a << b;
  else
    return a >> b;
}

/// `Mutated` in place of `Original`.
template <unsigned I, Op Original, Op Mutated> struct Between {};
template <class A, unsigned I, Op Original, Op Mutated> struct Half { const A& a; };

template <unsigned I, Op X, Op Y, class A, class B> constexpr auto whole(const Half<A, I, X, Y>& half, const B& b) {
  using Result = decltype(apply<X>(half.a, b));
  return on<I>() ? static_cast<Result>(apply<Y>(half.a, b)) : apply<X>(half.a, b);
}

// One pair of operators for each precedence that is mutated.
template <class A, unsigned I, Op X, Op Y> constexpr Half<A, I, X, Y> operator<(const A& a, Between<I, X, Y>) { return {a}; }
template <class A, unsigned I, Op X, Op Y> constexpr Half<A, I, X, Y> operator!=(const A& a, Between<I, X, Y>) {
  return {a};
}
template <class A, unsigned I, Op X, Op Y> constexpr Half<A, I, X, Y> operator+(const A& a, Between<I, X, Y>) { return {a}; }
template <class A, unsigned I, Op X, Op Y> constexpr Half<A, I, X, Y> operator*(const A& a, Between<I, X, Y>) { return {a}; }
template <class A, unsigned I, Op X, Op Y> constexpr Half<A, I, X, Y> operator&(const A& a, Between<I, X, Y>) { return {a}; }
template <class A, unsigned I, Op X, Op Y> constexpr Half<A, I, X, Y> operator|(const A& a, Between<I, X, Y>) { return {a}; }
template <class A, unsigned I, Op X, Op Y> constexpr Half<A, I, X, Y> operator<<(const A& a, Between<I, X, Y>) {
  return {a};
}
template <class A, unsigned I, Op X, Op Y, class B> constexpr auto operator<(Half<A, I, X, Y> h, const B& b) {
  return whole(h, b);
}
template <class A, unsigned I, Op X, Op Y, class B> constexpr auto operator!=(Half<A, I, X, Y> h, const B& b) {
  return whole(h, b);
}
template <class A, unsigned I, Op X, Op Y, class B> constexpr auto operator+(Half<A, I, X, Y> h, const B& b) {
  return whole(h, b);
}
template <class A, unsigned I, Op X, Op Y, class B> constexpr auto operator*(Half<A, I, X, Y> h, const B& b) {
  return whole(h, b);
}
template <class A, unsigned I, Op X, Op Y, class B> constexpr auto operator&(Half<A, I, X, Y> h, const B& b) {
  return whole(h, b);
}
template <class A, unsigned I, Op X, Op Y, class B> constexpr auto operator|(Half<A, I, X, Y> h, const B& b) {
  return whole(h, b);
}
template <class A, unsigned I, Op X, Op Y, class B> constexpr auto operator<<(Half<A, I, X, Y> h, const B& b) {
  return whole(h, b);
}

/// `a += Signed<17>{} += b`: the inner one, which comes first, turns b's sign.
template <unsigned I> struct Signed {};
template <unsigned I, class B> constexpr auto turned(const B& b) {
  if constexpr (std::integral<B>) {
    const auto n = static_cast<std::int64_t>(b);
    return on<I>() ? -n : n;
  } else {
    return on<I>() ? -b : b;
  }
}
template <unsigned I, class B> constexpr auto operator+=(Signed<I>, const B& b) { return turned<I>(b); }
template <unsigned I, class B> constexpr auto operator-=(Signed<I>, const B& b) { return turned<I>(b); }

/// `Step<17, true>{}->*x` is ++x, or --x.
template <unsigned I, bool Up> struct Step {};
template <unsigned I, bool Up, class T> constexpr T& operator->*(Step<I, Up>, T& x) {
  on<I>() != Up ? ++x : --x;
  return x;
}

/// `Not<17>{}->*!x`.
template <unsigned I> struct Not {};
template <unsigned I> constexpr bool operator->*(Not<I>, bool x) { return on<I>() != x; }

template <unsigned I, class T> constexpr T number(T original, T mutated) { return on<I>() ? mutated : original; }

template <unsigned I, bool Min> struct Bound {
  template <class T> constexpr T operator()(const T& a, const T& b) const {
    return on<I>() != Min ? std::min(a, b) : std::max(a, b);
  }
  template <class T> constexpr T operator()(std::initializer_list<T> all) const {
    return on<I>() != Min ? std::min(all) : std::max(all);
  }
};

}  // namespace mutation
