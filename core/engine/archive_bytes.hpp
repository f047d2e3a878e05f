#pragma once
#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <sstream>
#include <string>
#include <utility>

#include "core/engine/archive.hpp"

/// State as a string of bytes, and back.
namespace atl {

/// What save(archive) writes.
template <class Save> std::string bytes_of_state(Save&& save) {
  std::ostringstream out(std::ios::binary);
  boost::archive::binary_oarchive archive(out, boost::archive::no_header);
  save(archive);
  return std::move(out).str();
}

/// load(archive) takes all of `bytes`; if there are too few of them, or too many, they are refused (refuse_checkpoint).
template <class Load> void load_state(const std::string& bytes, Load&& load) {
  std::istringstream in(bytes, std::ios::binary);
  try {
    boost::archive::binary_iarchive archive(in, boost::archive::no_header);
    load(archive);
  } catch (const boost::archive::archive_exception&) {  // the only one here: the data have ended
    refuse_checkpoint();
  }
  if (in.peek() != std::istringstream::traits_type::eof()) refuse_checkpoint();
}

}  // namespace atl
