#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/engine/error.hpp"

namespace boost::archive {
class binary_oarchive;
class binary_iarchive;
}  // namespace boost::archive

/// State on its way to and from checkpoints. A component lists what changes during a run, once for both directions:
///
///     template <class Archive> void serialize(Archive& a, unsigned) { state(a, queue_, credits_, timed_); }
///
/// What it was built from (configuration, sizes, references) is not listed: a component is loaded into one that was built
/// alike. Numbers are written as they lie in memory, and so is a record that says so beside its members:
///
///     using PlainState = void;
///
/// It must have neither pointers, whose owner alone knows what they mean, nor padding, which holds whatever was there
/// before: equal states make equal checkpoints. What has either lists its members.
namespace atl {

using SaveArchive = boost::archive::binary_oarchive;
using LoadArchive = boost::archive::binary_iarchive;

template <class T>
concept ListsItsState = requires(T& t, SaveArchive& a) {
  t.serialize(a, 0u);
};

namespace plain {
template <class T> struct Array : std::false_type {};
template <class T, std::size_t N> struct Array<std::array<T, N>> : std::true_type {};

template <class T> consteval bool is() {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_integral_v<T> || std::is_enum_v<T>) {
    return true;
  } else if constexpr (Array<T>::value) {
    return is<typename T::value_type>();
  } else if constexpr (requires { typename T::PlainState; }) {
    static_assert(std::is_trivially_copyable_v<T>, "state that is no plain record lists its members in serialize()");
    static_assert(std::has_unique_object_representations_v<T>, "a record with padding lists its members in serialize()");
    static_assert(!ListsItsState<T>, "a record is plain or lists its members, and not both");
    return true;
  } else {
    return false;
  }
}
}  // namespace plain

/// Written as it lies in memory.
template <class T> inline constexpr bool kPlain = plain::is<T>();

inline constexpr std::size_t kPiece = std::size_t{1} << 20;  ///< bytes that are made room for at a time

template <class Archive> void carry_bytes(Archive& a, void* bytes, std::size_t size) {
  if (size == 0) return;
  if constexpr (Archive::is_saving::value) {
    a.save_binary(bytes, size);
  } else {
    a.load_binary(bytes, size);
  }
}

[[noreturn]] inline void refuse_checkpoint() { throw SimulationError("a checkpoint does not fit the system that it names"); }

/// Whatever else a run relies on, of state that somebody may have put together by hand, checksums and all.
inline void require_state(bool holds) {
  if (!holds) refuse_checkpoint();
}

/// The same while a run goes on: what it comes across may be wrong because lists of a checkpoint do not fit together, which
/// loading cannot always see, or because a component is.
[[noreturn]] inline void refuse_course() {
  throw SimulationError(
      "the run has come to a state that cannot be: if it was resumed, its checkpoint does not fit the system that it names; "
      "if not, this is a defect of Atoll");
}
inline void require_course(bool holds) {
  if (!holds) refuse_course();
}

/// A truth value of a plain record, whose byte was read as it is.
inline bool is_bool(const bool& value) {
  unsigned char byte = 0;
  std::memcpy(&byte, &value, sizeof byte);
  return byte <= 1;
}

/// A component that says when it cannot be: asked as soon as it has been read (const; it calls require_state()). What can be
/// told only from several components together, a process checks when it has read all (core/chip/base/state_check.hpp).
template <class T>
concept ChecksItsState = requires(const T& t) {
  t.check_state();
};

/// In a list of state: a vector of the size that its owner was built with.
template <class T> struct Fixed { std::vector<T>& values; };
template <class T> Fixed<T> fixed(std::vector<T>& values) { return {values}; }

/// Of `numbers`, each names one of `size` places, and none a place twice. [place] whether it is named.
template <class T> std::vector<bool> require_places(const std::vector<T>& numbers, std::size_t size) {
  std::vector<bool> named(size);
  for (const T n : numbers) {
    require_state(n < size && !named[n]);
    named[n] = true;
  }
  return named;
}

/// Elements of a container after their number. What is read grows as its bytes arrive, so that a wrong number ends at the
/// end of the data and not in an allocation. Elements that cannot be made from nothing are those that the owner has built.
template <class Archive, class Container, class Carry>
void carry_elements(Archive& a, Container& c, std::size_t at_once, Carry&& carry_some) {
  std::uint64_t size = c.size();
  carry_bytes(a, &size, sizeof size);
  if constexpr (!std::is_default_constructible_v<typename Container::value_type>) {
    if (size != c.size()) refuse_checkpoint();
  } else if constexpr (!Archive::is_saving::value) {
    if (size < c.size()) c.resize(size);
  }
  for (std::size_t done = 0; done < size;) {
    const std::size_t end = done + std::min<std::uint64_t>(size - done, at_once);
    if constexpr (std::is_default_constructible_v<typename Container::value_type>) {
      if (c.size() < end) c.resize(end);
    }
    carry_some(done, end);
    done = end;
  }
}

template <class Archive, class T> void carry(Archive& a, T& value);
template <class Archive> void carry(Archive& a, std::string& text);
template <class Archive, class T> void carry(Archive& a, std::vector<T>& values);
template <class Archive, class T> void carry(Archive& a, Fixed<T> fixed);
template <class Archive, class T, std::size_t N> void carry(Archive& a, std::array<T, N>& values);
template <class Archive, class T> void carry(Archive& a, std::optional<T>& value);
template <class Archive, class A, class B> void carry(Archive& a, std::pair<A, B>& pair);
template <class Archive, class K, class T> void carry(Archive& a, std::map<K, T>& map);

template <class Archive, class... T> void state(Archive& a, T&&... parts) { (carry(a, parts), ...); }

template <class Archive, class T> void carry(Archive& a, T& value) {
  static_assert(kPlain<T> || ListsItsState<T>, "state lists its members in serialize(), or says that it is plain");
  if constexpr (std::is_same_v<T, bool>) {
    std::uint8_t byte = value;
    carry_bytes(a, &byte, sizeof byte);
    if (byte > 1) refuse_checkpoint();
    value = byte != 0;
  } else if constexpr (kPlain<T>) {
    carry_bytes(a, &value, sizeof value);
  } else {
    value.serialize(a, 0);
    if constexpr (!Archive::is_saving::value && ChecksItsState<T>) value.check_state();
  }
}
template <class Archive> void carry(Archive& a, std::string& text) {
  carry_elements(a, text, kPiece, [&](std::size_t from, std::size_t to) { carry_bytes(a, &text[from], to - from); });
}
template <class Archive, class T> void carry(Archive& a, std::vector<T>& values) {
  if constexpr (kPlain<T>) {
    carry_elements(a, values, std::max<std::size_t>(1, kPiece / sizeof(T)),
                   [&](std::size_t from, std::size_t to) { carry_bytes(a, &values[from], (to - from) * sizeof(T)); });
  } else {
    carry_elements(a, values, 1, [&](std::size_t at, std::size_t) { carry(a, values[at]); });
  }
}
template <class Archive, class T> void carry(Archive& a, Fixed<T> fixed) {
  const std::size_t size = fixed.values.size();
  carry(a, fixed.values);
  require_state(fixed.values.size() == size);
}
template <class Archive, class T, std::size_t N> void carry(Archive& a, std::array<T, N>& values) {
  if constexpr (kPlain<T>) {
    carry_bytes(a, values.data(), sizeof values);
  } else {
    for (T& v : values) carry(a, v);
  }
}
template <class Archive, class T> void carry(Archive& a, std::optional<T>& value) {
  bool there = value.has_value();
  carry(a, there);
  if (there && !value) value.emplace();
  if (!there) value.reset();
  if (there) carry(a, *value);
}
template <class Archive, class A, class B> void carry(Archive& a, std::pair<A, B>& pair) {
  state(a, pair.first, pair.second);
}
template <class Archive, class K, class T> void carry(Archive& a, std::map<K, T>& map) {
  std::vector<std::pair<K, T>> flat(map.begin(), map.end());
  carry(a, flat);
  if constexpr (!Archive::is_saving::value) {
    map = std::map<K, T>(flat.begin(), flat.end());
    if (map.size() != flat.size()) refuse_checkpoint();
  }
}

}  // namespace atl
