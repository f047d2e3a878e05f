# More of atoll_inputs. Include after the library's own line in the root CMakeLists.txt.

# The ready-made systems.
function(atoll_embed target function folder)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.json)
  list(SORT files)
  string(REPLACE ";" "," joined "${files}")
  set(out ${PROJECT_BINARY_DIR}/generated/${function}.cpp)
  set(script ${PROJECT_SOURCE_DIR}/inputs/embed.cmake)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DFUNCTION=${function} -DFILES=${joined} -P ${script}
    DEPENDS ${files} ${script}
    COMMENT "Embedding ${folder}"
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()

atoll_embed(atoll_inputs embedded_systems inputs/systems)

# What runs for each instruction of a recorded program.
file(GLOB executors CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/inputs/ptx/exec_*.cpp)
add_library(atoll_executors OBJECT ${executors})
set_target_properties(atoll_executors PROPERTIES ATOLL_HOT ON POSITION_INDEPENDENT_CODE ON)
target_compile_options(atoll_executors PRIVATE -fno-semantic-interposition)
target_link_libraries(atoll_executors PRIVATE atoll_flags atoll_engine atoll_hdf5 nlohmann_json::nlohmann_json fmt::fmt)
atoll_headers(atoll_executors PRIVATE inputs)
target_sources(atoll_inputs PRIVATE $<TARGET_OBJECTS:atoll_executors>)
