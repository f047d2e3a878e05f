# The runtime that programs get instead of NVIDIA's: build/.../cuda/libcudart.so.13, found there by `atoll record`.
#
# The executor is linked into it, so it must be position-independent too; calls inside it need not be replaceable.
set_target_properties(atoll_inputs PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_options(atoll_inputs PRIVATE -fno-semantic-interposition)
# A sanitizer's run-time library would have to be in the recorded program.
if(ATOLL_SANITIZE)
  return()
endif()

set(atoll_cudart_dir ${PROJECT_SOURCE_DIR}/inputs/cuda/runtime)
set(atoll_cudart_names ${PROJECT_BINARY_DIR}/generated/cudart_names.cpp)
add_custom_command(
  OUTPUT ${atoll_cudart_names}
  COMMAND ${CMAKE_COMMAND} -D NAMES=${atoll_cudart_dir}/cudart_names.txt -D OUT=${atoll_cudart_names} -P
          ${atoll_cudart_dir}/names.cmake
  DEPENDS ${atoll_cudart_dir}/cudart_names.txt ${atoll_cudart_dir}/names.cmake
  COMMENT "Generating a stub for every name of the CUDA runtime"
  VERBATIM)
file(GLOB atoll_cudart_sources CONFIGURE_DEPENDS ${atoll_cudart_dir}/*.cpp)
add_library(atoll_cudart SHARED ${atoll_cudart_sources} ${atoll_cudart_names})
target_link_libraries(atoll_cudart PRIVATE atoll_inputs Threads::Threads)
# Own names come before the program's: an executable may export a CUDA runtime of its own.
target_link_options(atoll_cudart PRIVATE -Wl,-Bsymbolic -Wl,--no-undefined -Wl,--version-script=${atoll_cudart_dir}/libcudart.map)
set_target_properties(
  atoll_cudart
  PROPERTIES OUTPUT_NAME cudart
             PREFIX lib
             SUFFIX .so.13
             NO_SONAME OFF
             LINK_DEPENDS ${atoll_cudart_dir}/libcudart.map
             LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/cuda)
if(TARGET atoll)
  add_dependencies(atoll atoll_cudart)
endif()
install(TARGETS atoll_cudart LIBRARY DESTINATION lib/atoll/cuda)
