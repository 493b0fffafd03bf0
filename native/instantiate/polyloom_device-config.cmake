# SPDX-License-Identifier: Apache-2.0
# For firmware built with CMake: `find_package(polyloom_device PATHS FOLDER NO_DEFAULT_PATH)`, where FOLDER is what
# `polyloom device --cmake` prints, makes the library `polyloom::device`, compiled with the options of the project.
if(NOT TARGET polyloom_device)
  file(GLOB polyloom_device_sources ${CMAKE_CURRENT_LIST_DIR}/*.c)
  add_library(polyloom_device STATIC ${polyloom_device_sources})
  target_include_directories(polyloom_device PUBLIC ${CMAKE_CURRENT_LIST_DIR})
  set_target_properties(polyloom_device PROPERTIES C_STANDARD 11)
  add_library(polyloom::device ALIAS polyloom_device)
endif()
