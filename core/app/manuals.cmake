# Man pages and completions of shells, printed by the program itself and installed where Debian looks for them.
include(GNUInstallDirs)
if(CMAKE_CROSSCOMPILING OR ATOLL_SANITIZE)
  return()
endif()

set(atoll_manuals ${PROJECT_BINARY_DIR}/generated/manuals)
add_custom_command(
  OUTPUT ${atoll_manuals}/done
  COMMAND ${CMAKE_COMMAND} -D ATOLL=$<TARGET_FILE:atoll> -D OUT=${atoll_manuals} -P ${CMAKE_CURRENT_LIST_DIR}/print_manuals.cmake
  DEPENDS atoll ${CMAKE_CURRENT_LIST_DIR}/print_manuals.cmake
  COMMENT "Printing man pages and completions"
  VERBATIM)
add_custom_target(atoll_manuals ALL DEPENDS ${atoll_manuals}/done)
install(CODE "if(NOT EXISTS \"${atoll_manuals}/done\")
  message(FATAL_ERROR \"not all of Atoll is built, which ./bootstrap.sh build or ninja -C ${PROJECT_BINARY_DIR} does (demo builds the program alone)\")
endif()")
install(DIRECTORY ${atoll_manuals}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${atoll_manuals}/atoll DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${atoll_manuals}/_atoll DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
