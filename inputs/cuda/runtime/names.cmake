cmake_minimum_required(VERSION 3.25)
# Writes OUT: an assembler stub for each exported name in NAMES. All are weak: a name that Atoll implements replaces its stub,
# the others say their name when called. Twins for per-thread streams (_ptsz, _ptds) go on to the ordinary name, because
# everything happens in order here. Last comes the table that redirects a static runtime (redirect.cpp).
file(STRINGS ${NAMES} names)
set(stubs "")
set(table "")
foreach(name IN LISTS names)
  string(REGEX REPLACE "_(ptsz|ptds)$" "" plain ${name})
  if(NOT plain STREQUAL name AND plain IN_LIST names)
    set(body "jmp ${plain}@PLT")
  else()
    set(body "lea .Lname_${name}(%rip), %rdi\\n  jmp atoll_cudart_unsupported@PLT")
  endif()
  string(APPEND stubs "  \".weak ${name}\\n.type ${name}, @function\\n${name}:\\n  ${body}\\n.size ${name}, .-${name}\\n\"\n")
  string(APPEND stubs "  \".pushsection .rodata\\n.Lname_${name}: .asciz \\\"${name}\\\"\\n.popsection\\n\"\n")
  string(APPEND table "  \".quad .Lname_${name}, ${name}\\n\"\n")
endforeach()
file(WRITE ${OUT} "// Generated from ${NAMES}.
asm(\".text\\n\"
${stubs}  \".pushsection .data.rel.ro, \\\"aw\\\"\\n.balign 16\\n\"
  \".globl atoll_cudart_names\\n.hidden atoll_cudart_names\\natoll_cudart_names:\\n\"
${table}  \".quad 0, 0\\n.popsection\\n\");
")
