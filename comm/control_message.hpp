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

template <class T> std::string pack(const T& value) {
  std::ostringstream out(std::ios::binary);
  boost::archive::binary_oarchive archive(out, boost::archive::no_header);
  archive << value;
  return std::move(out).str();
}

template <class T> T unpack(const std::string& body) {
  std::istringstream in(body, std::ios::binary);
  boost::archive::binary_iarchive archive(in, boost::archive::no_header);
  T value;
  archive >> value;
  return value;
}

}  // namespace atl
