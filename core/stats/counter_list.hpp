#pragma once
#include <string>

/// All counters with their units and meanings.
namespace atl {

std::string counter_list();           ///< for a terminal
std::string counter_list_markdown();  ///< the table of docs/results.md

}  // namespace atl
