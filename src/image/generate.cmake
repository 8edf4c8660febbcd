# The embedded base image: packed from a static busybox, its bytes and digests part of this layer.

set(PLIMSOLL_BUSYBOX /bin/busybox CACHE FILEPATH "The static busybox of the embedded base image")
find_package(Python3 REQUIRED COMPONENTS Interpreter)
if(NOT EXISTS ${PLIMSOLL_BUSYBOX})
  message(FATAL_ERROR "${PLIMSOLL_BUSYBOX} is missing: install busybox-static or set PLIMSOLL_BUSYBOX")
endif()

set(base_dir ${CMAKE_BINARY_DIR}/generated/image)
add_custom_command(OUTPUT ${base_dir}/layer.tar.gz ${base_dir}/base_image_data.h
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/images/base/pack ${PLIMSOLL_BUSYBOX} ${base_dir}
  DEPENDS ${CMAKE_SOURCE_DIR}/images/base/pack ${PLIMSOLL_BUSYBOX}
  COMMENT "Packing the embedded base image" VERBATIM)
plimsoll_embed(plimsoll_base_layer_blob plimsoll_base_layer ${base_dir}/layer.tar.gz)
add_dependencies(plimsoll_image plimsoll_base_layer_blob_bytes)
target_link_libraries(plimsoll_image PUBLIC plimsoll_base_layer_blob)
