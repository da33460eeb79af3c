# Helpers that reduce a leaf CMakeLists.txt to a list of files.
#
#   pto_add_plain_library(NAME files.. LINK libs..)   below the border: no MLIR on its path
#   pto_add_library(NAME files.. LINK libs..)   above the border: MLIR and the shared PCH
#   pto_add_dialect(Name namespace [SHARDS n])         tablegen of <Name>{Dialect,Types,Attrs,Ops,..}.td
#   pto_shard_ops(VAR Name)                           sources in VAR, each with one of the dialect's shards of op definitions
#   pto_add_tool(NAME [WITH_MLIR] files.. LINK libs..)   an executable in bin/; one that sees MLIR also links MLIR LLVM
#   pto_add_unittest(NAME [WITH_MLIR] files.. LINK libs..)   a GoogleTest binary registered with CTest
#   pto_add_fuzzer(NAME [WITH_MLIR] files.. COMPILE libs.. [LINK libs..] [SEEDS command..] [SEEDS_DEPEND files..])
#                                                     with PTO_BUILD_FUZZERS, a libFuzzer binary that COMPILE's libraries are compiled into

# All generated headers. Every compiled target depends on them (pto_order_after_generated_headers), so that no target
# needs to list the headers that its includes lead to.
add_custom_target(PTOGeneratedHeaders)

function(pto_add_generated_headers target)
  add_custom_target(${target} DEPENDS ${ARGN})
  add_dependencies(PTOGeneratedHeaders ${target})
endfunction()

function(pto_add_tablegen_target target)
  add_public_tablegen_target(${target})
  add_dependencies(PTOGeneratedHeaders ${target})
endfunction()

# Must be called last, at the root: applies to every compiled target of the folder and its subfolders.
function(pto_order_after_generated_headers folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "_LIBRARY$|^EXECUTABLE$" AND NOT type STREQUAL "INTERFACE_LIBRARY")
      add_dependencies(${target} PTOGeneratedHeaders)
    endif()
  endforeach()
  get_property(below DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(sub ${below})
    pto_order_after_generated_headers(${sub})
  endforeach()
endfunction()

# One section per function and object, so that linkers can drop unused ones.
add_compile_options(-Wall -Wno-unused-parameter -ffunction-sections -fdata-sections)
add_link_options(-fuse-ld=lld)

# Shipped binaries depend on the C library only: the C++ runtime is linked statically.
function(pto_self_contained target)
  if(NOT PTO_SANITIZE AND NOT PTO_SANITIZE_THREAD)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections)
  endif()
endfunction()

# Exports only the symbols listed in MAP (a version script).
function(pto_export_only target map)
  target_link_options(${target} PRIVATE -Wl,--version-script=${map})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
endfunction()

# Installs a target into the package; `component` is runtime (runs models) or compiler (produces them). Binaries are
# identical in the build tree and installed; they find each other by $ORIGIN.
function(pto_install_target target folder component)
  install(PROGRAMS $<TARGET_FILE:${target}> DESTINATION pto_mlir/${folder} COMPONENT ${component})
  install(CODE "execute_process(COMMAND ${CMAKE_STRIP} --strip-unneeded \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/pto_mlir/${folder}/$<TARGET_FILE_NAME:${target}> COMMAND_ERROR_IS_FATAL ANY)"
    COMPONENT ${component})
endfunction()

if(PTO_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=address,undefined)
endif()

if(PTO_SANITIZE_THREAD)
  add_compile_options(-fsanitize=thread -g1)
  add_link_options(-fsanitize=thread)
endif()

# Three quarters of the compile time of a small file is spent in headers: eight files share them.
function(pto_compile_together name)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8
    UNITY_BUILD_CODE_AFTER_INCLUDE "#undef DEBUG_TYPE")
endfunction()

function(pto_add_plain_library name)
  cmake_parse_arguments(ARG "SHARED" "" "LINK" ${ARGN})
  if(ARG_SHARED)
    add_library(${name} SHARED ${ARG_UNPARSED_ARGUMENTS})
  else()
    add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  endif()
  pto_compile_together(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

if(PTO_BUILD_COMPILER)
  include(PrecompiledHeaders)
  # One precompiled header for all users of MLIR: a file compiles in 1.5 s with it and in 5 s without.
  # -O1: the compiler spends most of its time inside libMLIR, and the build takes a third less time.
  set(PTO_MLIR_OPTIONS -Xclang -fno-pch-timestamp -O1)
  file(WRITE ${CMAKE_BINARY_DIR}/pch_anchor.cpp "")
  add_library(PTOPch STATIC ${CMAKE_BINARY_DIR}/pch_anchor.cpp)
  target_include_directories(PTOPch SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(PTOPch PUBLIC ${LLVM_DEFINITIONS_LIST})
  target_compile_options(PTOPch PRIVATE ${PTO_MLIR_OPTIONS})
  target_precompile_headers(PTOPch PRIVATE ${PTO_PRECOMPILED_HEADERS})
endif()

function(pto_use_mlir name)
  target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  # -fPIC for executables as well: they share the precompiled header, which is built with it.
  target_compile_options(${name} PRIVATE ${PTO_MLIR_OPTIONS} -fPIC)
  target_precompile_headers(${name} REUSE_FROM PTOPch)
endfunction()

function(pto_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  pto_use_mlir(${name})
  pto_compile_together(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

function(pto_add_dialect base namespace)
  cmake_parse_arguments(ARG "" "SHARDS" "" ${ARGN})
  if(ARG_SHARDS)
    set(shards -op-shard-count=${ARG_SHARDS})
    set_property(GLOBAL PROPERTY ${base}_SHARDS ${ARG_SHARDS})
  endif()
  set(LLVM_TARGET_DEFINITIONS ${base}Ops.td)
  mlir_tablegen(${base}Ops.h.inc -gen-op-decls ${shards})
  mlir_tablegen(${base}Ops.cpp.inc -gen-op-defs ${shards})
  mlir_tablegen(${base}Types.h.inc -gen-typedef-decls -typedefs-dialect=${namespace})
  mlir_tablegen(${base}Types.cpp.inc -gen-typedef-defs -typedefs-dialect=${namespace})
  mlir_tablegen(${base}Dialect.h.inc -gen-dialect-decls -dialect=${namespace})
  mlir_tablegen(${base}Dialect.cpp.inc -gen-dialect-defs -dialect=${namespace})
  mlir_tablegen(${base}Enums.h.inc -gen-enum-decls)
  mlir_tablegen(${base}Enums.cpp.inc -gen-enum-defs)
  mlir_tablegen(${base}Attrs.h.inc -gen-attrdef-decls -attrdefs-dialect=${namespace})
  mlir_tablegen(${base}Attrs.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${namespace})
  pto_add_tablegen_target(PTO${base}IncGen)
endfunction()

# The definitions of all ops of a dialect in one file take a minute to compile: <Name>Ops.cpp is compiled once per shard
# of `-op-shard-count` instead (as upstream's mlir-src-sharder does, which Debian lacks).
function(pto_shard_ops out base)
  get_property(count GLOBAL PROPERTY ${base}_SHARDS)
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    set(shard ${CMAKE_CURRENT_BINARY_DIR}/${base}Ops.${index}.cpp)
    file(CONFIGURE OUTPUT ${shard}
      CONTENT "#define GET_OP_DEFS_${index}\n#include \"${base}Ops.cpp\"\n")
    list(APPEND shards ${shard})
  endforeach()
  set_source_files_properties(${shards} PROPERTIES INCLUDE_DIRECTORIES ${CMAKE_CURRENT_SOURCE_DIR})
  set(${out} ${shards} PARENT_SCOPE)
endfunction()

# Generates Passes.h.inc from the Passes.td next to the CMakeLists.txt.
function(pto_add_passes prefix target)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name=${prefix})
  pto_add_tablegen_target(${target})
endfunction()

function(pto_add_tool name)
  cmake_parse_arguments(ARG "WITH_MLIR" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_WITH_MLIR)
    pto_use_mlir(${name})
  else()
    # The hot code is in libraries; tools mostly instantiate command-line templates.
    target_compile_options(${name} PRIVATE -O1)
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
endfunction()

add_custom_target(PTOUnitTests)
function(pto_add_unittest name)
  cmake_parse_arguments(ARG "WITH_MLIR" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_WITH_MLIR)
    pto_use_mlir(${name})
  else()
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/unittests)
  if(ARG_WITH_MLIR) # the shared libMLIR and libLLVM
    set_target_properties(${name} PROPERTIES INSTALL_RPATH "${LLVM_LIBRARY_DIR}")
  endif()
  add_test(NAME ${name} COMMAND ${name})
  add_dependencies(PTOUnitTests ${name})
endfunction()

# The sources of a library once more, with coverage that guides fuzzers, sanitizers and assertions.
# Debian's MLIR has none of them: unittests/FuzzMLIR.h says what the sanitizer must therefore ignore.
function(pto_fuzz_options part with_mlir)
  target_compile_definitions(${part} PRIVATE FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION) # libFuzzer's name for such limits
  target_compile_options(${part} PRIVATE -g1 -UNDEBUG -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined)
  if(with_mlir)
    # -O0, and no checks of arithmetic in MLIR's headers: a file takes a minute otherwise.
    target_compile_options(${part} PRIVATE -O0 -fno-sanitize=vptr,function -fsanitize-ignorelist=${CMAKE_SOURCE_DIR}/cmake/SanitizeOurs.txt -fPIC
                                           -Xclang -fno-pch-timestamp)
    target_include_directories(${part} SYSTEM PRIVATE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
    if(NOT TARGET PTOFuzzPch)
      add_library(PTOFuzzPch OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/pch_anchor.cpp)
      pto_fuzz_options(PTOFuzzPch TRUE)
      target_precompile_headers(PTOFuzzPch PRIVATE ${PTO_PRECOMPILED_HEADERS})
    endif()
    if(NOT part STREQUAL PTOFuzzPch)
      target_precompile_headers(${part} REUSE_FROM PTOFuzzPch)
    endif()
  else()
    target_compile_options(${part} PRIVATE -O1)
  endif()
endfunction()

function(pto_fuzz_library out library with_mlir)
  set(${out} ${library}.Fuzz PARENT_SCOPE)
  if(TARGET ${library}.Fuzz)
    return()
  endif()
  get_target_property(sources ${library} SOURCES)
  get_target_property(folder ${library} SOURCE_DIR)
  # Generated sources, which have absolute paths, come from the library.
  list(FILTER sources EXCLUDE REGEX "^/")
  list(TRANSFORM sources PREPEND ${folder}/)
  add_library(${library}.Fuzz OBJECT EXCLUDE_FROM_ALL ${sources})
  pto_compile_together(${library}.Fuzz)
  target_include_directories(${library}.Fuzz PRIVATE ${folder} $<TARGET_PROPERTY:${library},INCLUDE_DIRECTORIES>)
  pto_fuzz_options(${library}.Fuzz ${with_mlir})
endfunction()

# All of them, none built by default. Each begins with the files in unittests/seeds/<name>, which its SEEDS command writes.
add_custom_target(PTOFuzzers)
function(pto_add_fuzzer name)
  if(NOT PTO_BUILD_FUZZERS)
    return()
  endif()
  cmake_parse_arguments(ARG "WITH_MLIR" "" "COMPILE;LINK;SEEDS;SEEDS_DEPEND" ${ARGN})
  foreach(library ${ARG_COMPILE})
    pto_fuzz_library(part ${library} ${ARG_WITH_MLIR})
    list(APPEND parts ${part})
  endforeach()
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_UNPARSED_ARGUMENTS})
  pto_fuzz_options(${name} ${ARG_WITH_MLIR})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer,address,undefined)
  # The libraries themselves come after their instrumented objects: for generated sources, and for what they link.
  target_link_libraries(${name} PRIVATE ${parts} ${ARG_COMPILE} ${ARG_LINK})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/unittests)
  if(ARG_WITH_MLIR) # the shared libMLIR and libLLVM
    set_target_properties(${name} PROPERTIES INSTALL_RPATH "${LLVM_LIBRARY_DIR}")
  endif()
  add_dependencies(PTOFuzzers ${name})
  if(ARG_SEEDS)
    set(folder ${CMAKE_BINARY_DIR}/unittests/seeds/${name})
    add_custom_command(OUTPUT ${folder}.made
      COMMAND ${CMAKE_COMMAND} -E rm -rf ${folder}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND ${ARG_SEEDS}
      COMMAND ${CMAKE_COMMAND} -E touch ${folder}.made
      DEPENDS ${ARG_SEEDS_DEPEND} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} VERBATIM
      COMMENT "Making the seeds of ${name}")
    add_custom_target(${name}Seeds DEPENDS ${folder}.made)
    add_dependencies(PTOFuzzers ${name}Seeds)
  endif()
endfunction()
