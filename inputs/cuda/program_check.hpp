#pragma once
#include <string>
#include <string_view>

namespace atl::cuda {

/// Whether a library of this file name, without its folder, is NVIDIA's with kernels as machine code only.
bool only_machine_code(std::string_view library);

/// The file that a shell would run for `program`: with a slash itself, else the first on the PATH. Throws InputError.
std::string find_program(const std::string& program);

/// Throws InputError, with the remedy, for a program whose kernels cannot be recorded: no PTX in it, a CUDA runtime that
/// cannot be replaced because the program is stripped, or one of another version. Scripts and programs without device
/// code of their own pass: what they start may have some. Returns a library of kernels without PTX that the program asks for
/// besides its own kernels, or an empty name: what that library computes is missing.
std::string check_recordable(const std::string& path);

}  // namespace atl::cuda
