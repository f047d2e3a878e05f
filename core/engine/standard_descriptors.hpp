#pragma once

namespace atl {

/// A file that is opened while descriptor 0, 1 or 2 is closed becomes standard input, output or error: what is printed then
/// goes into it. While one of these objects is there, descriptors 0 to 2 that were closed are open on /dev/null, the wrong
/// way round: to read and to write still fails, as it does where nothing is.
class [[nodiscard]] StandardDescriptors {
 public:
  StandardDescriptors();
  ~StandardDescriptors();
  StandardDescriptors(const StandardDescriptors&) = delete;
  StandardDescriptors& operator=(const StandardDescriptors&) = delete;

 private:
  bool taken_[3] = {};
};

}  // namespace atl
