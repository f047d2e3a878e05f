# The plug-in that runs policies in Python, where pybind11 and Python's development files are. Debian's own Python comes
# first: another one on the PATH may have no numpy.
set(ATOLL_PYTHON_ROOT /usr CACHE PATH "Prefix of the Python that runs policies")
set(Python_ROOT_DIR ${ATOLL_PYTHON_ROOT})
set(Python_FIND_STRATEGY LOCATION)
find_package(Python 3.9 COMPONENTS Interpreter Development.Embed)
find_package(pybind11 2.10 CONFIG)
if(NOT Python_Development.Embed_FOUND OR NOT pybind11_FOUND)
  message(STATUS "No pybind11 or no Python headers: policies in Python are left out (python3-dev, pybind11-dev)")
  return()
endif()

# Sources that it shares with the program are compiled again: a module's code is position-independent.
add_library(atoll_python_policy MODULE policies/plugin/python/host.cpp policies/plugin/python/values.cpp
                                       inputs/config/words.cpp inputs/config/dram_presets.cpp core/stats/counters.cpp)
set_target_properties(atoll_python_policy PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
                                                     CXX_VISIBILITY_PRESET hidden)
target_link_libraries(atoll_python_policy PRIVATE atoll_flags pybind11::headers Python::Python Boost::serialization fmt::fmt)
target_include_directories(atoll_python_policy PRIVATE $<TARGET_PROPERTY:atoll_policies,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_definitions(atoll_python_policy PRIVATE ATOLL_PYTHON="${Python_EXECUTABLE}")
add_dependencies(atoll atoll_python_policy)
