cmake_minimum_required(VERSION 3.25)
# Writes OUT: an assembler stub for each exported name in NAMES, and a table TABLE of all of them. Stubs call HANDLER. All are weak: a name that Atoll implements replaces its stub,
# the others say their name when called. Twins for per-thread streams (_ptsz, _ptds) go on to the ordinary name, because
# everything happens in order here. The table is
# for redirect.cpp, which redirects a static runtime, and for cuGetProcAddress (driver.cpp).
file(STRINGS ${NAMES} names)
set(stubs "")
set(table "")
foreach(name IN LISTS names)
  string(REGEX REPLACE "_(ptsz|ptds)$" "" plain ${name})
  if(NOT plain STREQUAL name AND plain IN_LIST names)
    set(body "jmp ${plain}@PLT")
  else()
    set(body "lea .Lname_${name}(%rip), %rdi\\n  jmp ${HANDLER}@PLT")
  endif()
  string(APPEND stubs "  \".weak ${name}\\n.type ${name}, @function\\n${name}:\\n  ${body}\\n.size ${name}, .-${name}\\n\"\n")
  string(APPEND stubs "  \".pushsection .rodata\\n.Lname_${name}: .asciz \\\"${name}\\\"\\n.popsection\\n\"\n")
  string(APPEND table "  \".quad .Lname_${name}, ${name}\\n\"\n")
endforeach()
file(WRITE ${OUT} "// Generated from ${NAMES}.
asm(\".text\\n\"
${stubs}  \".pushsection .data.rel.ro, \\\"aw\\\"\\n.balign 16\\n\"
  \".globl ${TABLE}\\n.hidden ${TABLE}\\n${TABLE}:\\n\"
${table}  \".quad 0, 0\\n.popsection\\n\");
")
