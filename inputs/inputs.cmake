# Compiles the ready-made systems into atoll_inputs. Include after the library's own line in the root CMakeLists.txt.
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
