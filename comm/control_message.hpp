#pragma once
#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/array.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/utility.hpp>
#include <boost/serialization/vector.hpp>
#include <sstream>
#include <string>

/// Bodies of control messages: structs with a Boost.Serialization `serialize` member.
namespace atl {

/// Written and read without streams, whose locales cost more than most bodies: bytes are not converted.
inline constexpr unsigned kBareArchive = boost::archive::no_header | boost::archive::no_codecvt;

template <class T> std::string pack(const T& value) {
  std::stringbuf out(std::ios::out | std::ios::binary);
  boost::archive::binary_oarchive archive(out, kBareArchive);
  archive << value;
  return std::move(out).str();
}

template <class T> T unpack(const std::string& body) {
  std::stringbuf in(body, std::ios::in | std::ios::binary);
  boost::archive::binary_iarchive archive(in, kBareArchive);
  T value;
  archive >> value;
  return value;
}

}  // namespace atl
