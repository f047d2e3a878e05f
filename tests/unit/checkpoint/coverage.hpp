#pragma once
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/chip/sm/warp.hpp"
#include "core/engine/archive.hpp"

/// An archive that writes nothing and notes which bytes of which objects are listed as their state. What is not listed was
/// built from the configuration, or was forgotten; and what changes during a run was not built from the configuration.
namespace atl::test {

class Coverage {
 public:
  struct is_saving {
    static constexpr bool value = true;
  };
  using Bytes = std::pair<const char*, const char*>;

  template <class T> void object(const T& o) { objects_.push_back(range(o)); }
  template <class T> void listed(const T& o) { listed_.push_back(range(o)); }
  template <class T> Coverage& operator&(T& value) {
    carry(*this, value);
    return *this;
  }

  /// Contents of all bytes of the objects that are not listed, by where they lie.
  std::map<Bytes, std::string> rest() {
    std::sort(objects_.begin(), objects_.end());
    std::sort(listed_.begin(), listed_.end());
    std::map<Bytes, std::string> found;
    const char* from = nullptr;  // what lies before is done
    std::size_t next = 0;
    for (const auto& [begin, end] : objects_) {
      const char* at = std::max(begin, from);
      for (; next < listed_.size() && listed_[next].first < end; ++next) {
        if (listed_[next].first > at) found.emplace(Bytes{at, listed_[next].first}, std::string(at, listed_[next].first));
        at = std::max(at, listed_[next].second);
      }
      if (at < end) found.emplace(Bytes{at, end}, std::string(at, end));
      from = std::max({at, end, from});
    }
    return found;
  }

 private:
  template <class T> static Bytes range(const T& o) {
    const char* p = reinterpret_cast<const char*>(&o);
    return {p, p + sizeof(T)};  // NOLINT(bugprone-sizeof-expression): of a pointer itself, if that is what the object is
  }
  std::vector<Bytes> objects_, listed_;
};

/// Small records count as a whole: they are assigned with whatever lies between their members.
template <class T> void carry(Coverage& a, T& value) {
  if constexpr (std::is_trivially_copyable_v<T>) {
    a.listed(value);
  } else {
    a.object(value);
    value.serialize(a, 0);
  }
}
/// The program is the workload's.
inline void carry(Coverage& a, CtaSlot& slot) {
  a.object(slot), a.listed(slot.program);
  slot.serialize(a, 0);
}
inline void carry(Coverage& a, std::string& text) { a.listed(text); }
template <class T> void carry(Coverage& a, std::vector<T>& values) {
  a.listed(values);
  if constexpr (!kPlain<T>) {
    for (T& v : values) carry(a, v);
  }
}
template <class T> void carry(Coverage& a, Fixed<T>& fixed) { carry(a, fixed.values); }
template <class T, std::size_t N> void carry(Coverage& a, std::array<T, N>& values) {
  if constexpr (kPlain<T>) {
    a.listed(values);
  } else {
    for (T& v : values) carry(a, v);
  }
}
template <class T> void carry(Coverage& a, std::optional<T>& value) { a.listed(value); }
template <class T> void carry(Coverage& a, std::unique_ptr<T>& part) {
  a.listed(part);
  if (part) carry(a, *part);
}
template <class A, class B> void carry(Coverage& a, std::pair<A, B>& pair) { state(a, pair.first, pair.second); }
template <class K, class T> void carry(Coverage& a, std::map<K, T>& map) { a.listed(map); }

}  // namespace atl::test
