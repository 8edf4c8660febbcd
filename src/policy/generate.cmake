# The shipped policy as a filter, made while building (see compile_main.cc).

set(policy_dir ${CMAKE_SOURCE_DIR}/src/policy)
set(policy_out ${CMAKE_BINARY_DIR}/generated)
file(GLOB policy_compiler CONFIGURE_DEPENDS ${policy_dir}/*.cc)
# The tool is built from the sources, not from the layer, which waits for what the tool makes.
list(REMOVE_ITEM policy_compiler ${policy_dir}/policy.cc)
add_executable(plimsoll_policy_compile ${policy_compiler})
target_link_libraries(plimsoll_policy_compile PRIVATE
  plimsoll_base plimsoll_json plimsoll_crypto seccomp)

set(policy_made ${policy_out}/policy_default.h
  ${policy_out}/default.bpf ${policy_out}/guard.bpf ${policy_out}/profile.bpf)
add_custom_command(OUTPUT ${policy_made}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${policy_out}
  COMMAND plimsoll_policy_compile ${CMAKE_SOURCE_DIR}/policy/default.json ${policy_out}
  DEPENDS plimsoll_policy_compile ${CMAKE_SOURCE_DIR}/policy/default.json VERBATIM)
set_source_files_properties(${policy_dir}/policy.cc PROPERTIES
  OBJECT_DEPENDS ${policy_out}/policy_default.h)
add_custom_target(plimsoll_policy_made DEPENDS ${policy_made})
add_dependencies(plimsoll_policy plimsoll_policy_made)
