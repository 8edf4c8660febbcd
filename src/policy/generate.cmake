# The shipped policy as a filter, made while building (see compile_main.cc).

set(policy_dir ${CMAKE_SOURCE_DIR}/src/policy)
set(policy_out ${CMAKE_BINARY_DIR}/generated)
# The tool is built from the sources, not from the layer, which waits for what the tool makes.
set(policy_compiler bpf compile_main describe difference guard profile program search_tree verdicts)
list(TRANSFORM policy_compiler PREPEND ${policy_dir}/)
list(TRANSFORM policy_compiler APPEND .cc)
add_executable(plimsoll_policy_compile ${policy_compiler})
target_link_libraries(plimsoll_policy_compile PRIVATE
  plimsoll_base plimsoll_json plimsoll_crypto seccomp)

set(policy_made ${policy_out}/policy_shipped.h ${policy_out}/policy_calls.h
  ${policy_out}/default.bpf ${policy_out}/guard.bpf ${policy_out}/profile.bpf)
file(GLOB policy_texts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/policy/*.json)
add_custom_command(OUTPUT ${policy_made}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${policy_out}
  COMMAND plimsoll_policy_compile ${CMAKE_SOURCE_DIR}/policy ${policy_out}
  DEPENDS plimsoll_policy_compile ${policy_texts} VERBATIM)
set_source_files_properties(${policy_dir}/shipped.cc PROPERTIES
  OBJECT_DEPENDS ${policy_out}/policy_shipped.h)
set_source_files_properties(${policy_dir}/calls.cc PROPERTIES
  OBJECT_DEPENDS ${policy_out}/policy_calls.h)
add_custom_target(plimsoll_policy_made DEPENDS ${policy_made})
add_dependencies(plimsoll_policy plimsoll_policy_made)
