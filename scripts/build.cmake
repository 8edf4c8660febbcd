# How a layer, the init program and the final program are built. CMakeLists.txt says what there is.

find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Warnings, hardening and sanitizers that every target of ours has.
add_library(plimsoll_options INTERFACE)
target_compile_features(plimsoll_options INTERFACE cxx_std_20)
# For "quoted" includes only: <sys/file.h> has to stay libc's, and we have a sys/file.h too.
set(plimsoll_includes "SHELL:-iquote ${CMAKE_SOURCE_DIR}/src"
                      "SHELL:-iquote ${CMAKE_BINARY_DIR}/generated")
target_compile_options(plimsoll_options INTERFACE ${plimsoll_includes})
target_compile_options(plimsoll_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wformat=2 -Wimplicit-fallthrough
  -Wundef
  $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast> $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
  $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>
  $<$<BOOL:${PLIMSOLL_WERROR}>:-Werror>
  -fstack-protector-strong -ffunction-sections -fdata-sections -fvisibility=hidden)
target_compile_definitions(plimsoll_options INTERFACE _GNU_SOURCE _GLIBCXX_ASSERTIONS
  $<$<CONFIG:RelWithDebInfo,Release>:_FORTIFY_SOURCE=2>)
if(PLIMSOLL_SANITIZE)
  target_compile_options(plimsoll_options INTERFACE
    -fsanitize=${PLIMSOLL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(plimsoll_options INTERFACE -fsanitize=${PLIMSOLL_SANITIZE})
endif()
if(PLIMSOLL_BUILD_FUZZERS)
  target_compile_options(plimsoll_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# libarchive with what its tar, gzip and zstd readers need; its archive names more than we link.
add_library(plimsoll_archive INTERFACE)
if(PLIMSOLL_STATIC)
  set(plimsoll_crypto_libraries libcrypto.a libsodium.a)
  target_link_libraries(plimsoll_archive INTERFACE libarchive.a libzstd.a libz.a)
else()
  set(plimsoll_crypto_libraries OpenSSL::Crypto sodium)
  target_link_libraries(plimsoll_archive INTERFACE archive zstd z)
endif()

# plimsoll_layer(NAME [USES layer...] [LINKS library...]): all of src/NAME/*.cc but *_main.cc.
function(plimsoll_layer name)
  cmake_parse_arguments(ARG "" "" "USES;LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_main\\.cc$")
  list(TRANSFORM ARG_USES PREPEND plimsoll_ OUTPUT_VARIABLE uses)
  if(sources)
    add_library(plimsoll_${name} STATIC ${sources})
    target_link_libraries(plimsoll_${name} PUBLIC plimsoll_options ${uses} ${ARG_LINKS})
    if(name STREQUAL "crypto")
      target_link_libraries(plimsoll_crypto PUBLIC ${plimsoll_crypto_libraries})
    endif()
  else()
    add_library(plimsoll_${name} INTERFACE)
    target_link_libraries(plimsoll_${name} INTERFACE plimsoll_options ${uses} ${ARG_LINKS})
  endif()
  set_property(GLOBAL APPEND PROPERTY PLIMSOLL_LAYERS ${name})
  if(EXISTS ${CMAKE_SOURCE_DIR}/src/${name}/generate.cmake)
    include(${CMAKE_SOURCE_DIR}/src/${name}/generate.cmake)  # what this layer makes at build time
  endif()
endfunction()

# src/init: freestanding, static, position independent without a single relocation. The program is
# embedded in the launch layer as the bytes of `plimsoll_init_program`.
function(plimsoll_init)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/init/*.cc)
  add_executable(plimsoll-init ${sources})
  target_compile_options(plimsoll-init PRIVATE ${plimsoll_includes})
  target_compile_features(plimsoll-init PRIVATE cxx_std_20)
  target_compile_options(plimsoll-init PRIVATE
    -Os -ffreestanding -fno-exceptions -fno-rtti -fno-stack-protector -fno-threadsafe-statics
    -fno-asynchronous-unwind-tables -fno-builtin -fcf-protection=none -fPIE -fvisibility=hidden
    -mno-sse -mgeneral-regs-only -U_FORTIFY_SOURCE
    -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
    $<$<BOOL:${PLIMSOLL_WERROR}>:-Werror>)
  target_link_options(plimsoll-init PRIVATE
    -static-pie -nostdlib -nostartfiles -Wl,--no-dynamic-linker -Wl,-z,noexecstack -Wl,-z,relro
    -Wl,-z,now -Wl,--build-id=none -Wl,--gc-sections -Wl,-z,max-page-size=4096
    -Wl,-z,separate-code)
  set(stripped ${CMAKE_BINARY_DIR}/generated/plimsoll-init.bin)
  add_custom_command(OUTPUT ${stripped}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/generated
    COMMAND ${CMAKE_OBJCOPY} --strip-all $<TARGET_FILE:plimsoll-init> ${stripped}
    COMMAND sh ${CMAKE_SOURCE_DIR}/scripts/check_init_symbols $<TARGET_FILE:plimsoll-init>
    DEPENDS plimsoll-init ${CMAKE_SOURCE_DIR}/scripts/check_init_symbols VERBATIM)
  add_library(plimsoll_init INTERFACE)  # for wire.h
  target_link_libraries(plimsoll_init INTERFACE plimsoll_options)
  plimsoll_embed(plimsoll_init_blob plimsoll_init_program ${stripped})
endfunction()

# A static library TARGET with `extern "C" const unsigned char SYMBOL[], SYMBOL_end[]` = FILE's bytes.
function(plimsoll_embed target symbol file)
  set(source ${CMAKE_BINARY_DIR}/generated/${symbol}.S)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[
  .section .rodata.@symbol@, "a"
  .global @symbol@, @symbol@_end
  .balign 16
@symbol@:
  .incbin "@file@"
@symbol@_end:
  .byte 0
  .section .note.GNU-stack, "", @progbits
]])
  add_library(${target} STATIC ${source})
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${file})
  add_custom_target(${target}_bytes DEPENDS ${file})
  add_dependencies(${target} ${target}_bytes)
endfunction()

# plimsoll_program(NAME USES layer...): a shipped program: its version, its link line.
function(plimsoll_program name)
  cmake_parse_arguments(ARG "" "" "USES" ${ARGN})
  list(TRANSFORM ARG_USES PREPEND plimsoll_ OUTPUT_VARIABLE uses)
  target_link_libraries(${name} PRIVATE ${uses})
  target_compile_definitions(${name} PRIVATE PLIMSOLL_VERSION="${PROJECT_VERSION}")
  target_link_options(${name} PRIVATE -Wl,-z,relro,-z,now -Wl,--gc-sections -Wl,--build-id)
  if(NOT PLIMSOLL_STATIC)
    target_link_options(${name} PRIVATE -pie)
  else()
    # No loader: a start is 0.3 ms shorter, and one file runs on any distribution.
    target_link_options(${name} PRIVATE -static-pie -Wl,-z,pack-relative-relocs)
    set_target_properties(${name} PROPERTIES LINK_SEARCH_START_STATIC ON LINK_SEARCH_END_STATIC ON)
    add_custom_command(TARGET ${name} POST_BUILD
      COMMAND sh ${CMAKE_SOURCE_DIR}/scripts/check_static $<TARGET_FILE:${name}>
      COMMAND ${CMAKE_OBJCOPY} --only-keep-debug $<TARGET_FILE:${name}> $<TARGET_FILE:${name}>.debug
      COMMAND ${CMAKE_OBJCOPY} --strip-unneeded
              --add-gnu-debuglink=$<TARGET_FILE:${name}>.debug $<TARGET_FILE:${name}>
      COMMENT "Splitting ${name}'s debug information off" VERBATIM)
  endif()
endfunction()
