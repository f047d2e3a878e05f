# Run at every build that links the program anew: ATOLL prints a page for each command, and the completions, below OUT.
function(print to)
  execute_process(COMMAND ${ATOLL} ${ARGN} OUTPUT_FILE ${to} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT}/man1)
execute_process(COMMAND ${ATOLL} completion commands OUTPUT_VARIABLE commands COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" commands "${commands}")
list(REMOVE_ITEM commands help)  # shows what the pages have
print(${OUT}/man1/atoll.1 manual)
foreach(command IN LISTS commands)
  print(${OUT}/man1/atoll-${command}.1 manual ${command})
endforeach()
print(${OUT}/atoll completion bash)
print(${OUT}/_atoll completion zsh)
find_program(gzip gzip)
if(gzip)  # as Debian has its pages
  file(GLOB pages ${OUT}/man1/*.1)
  execute_process(COMMAND ${gzip} -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()
file(TOUCH ${OUT}/done)
