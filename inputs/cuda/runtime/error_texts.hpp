#pragma once

namespace atl::cudart {

/// What an error is called: in the runtime, in the driver (null: it has no such error), and in words.
struct ErrorText {
  int status;
  const char *name, *driver_name, *text;
};

/// Null: there is no such error.
const ErrorText* error_text(int status);

}  // namespace atl::cudart
