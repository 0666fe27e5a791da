# SPDX-License-Identifier: MIT
# tests/install/ looks at what a user gets: installed libraries, exported symbols, manual pages
# and completions, Debian packages.
set(features "")
foreach(feature PARAFIELD_HAS_CUDA PNG_FOUND JPEG_FOUND TIFF_FOUND FFmpeg_FOUND)
  if(${feature})
    string(REGEX REPLACE "PARAFIELD_HAS_|_FOUND" "" name ${feature})
    string(TOUPPER ${name} name)
    list(APPEND features ${name})
  endif()
endforeach()
list(JOIN features "," features)
add_test(NAME Installed.Libraries COMMAND ${CMAKE_COMMAND}
  -DBUILD=${PROJECT_BINARY_DIR} -DSOURCE=${PROJECT_SOURCE_DIR}
  -DCOMPILER=${CMAKE_CXX_COMPILER} -DSANITIZE=${PARAFIELD_SANITIZE}
  -DVERSION=${PROJECT_VERSION} -DFEATURES=${features} -DFFMPEG=$<BOOL:${FFmpeg_FOUND}> -DHTTPLIB=$<BOOL:${cpp-httplib_FOUND}>
  -P ${CMAKE_CURRENT_SOURCE_DIR}/install/installed.cmake)
if(TARGET parafield_pages)
  add_test(NAME Installed.Pages
    COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/install/pages.sh
      ${PROJECT_BINARY_DIR}/share $<TARGET_FILE:parafield_command>)
endif()
if(TARGET parafield_command AND NOT PARAFIELD_SANITIZE)  # sanitizers add symbols and libraries of their own
  add_test(NAME Installed.ExportedSymbols COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM}
    "-DLIBRARIES=$<TARGET_FILE:parafield_shared>,$<TARGET_FILE:parafield_video_shared>"
    "-DOBJECTS=$<JOIN:$<FILTER:$<TARGET_OBJECTS:parafield_command>;$<TARGET_OBJECTS:parafield_video_objects>,INCLUDE,[.]o$>,$<COMMA>>"
    -P ${CMAKE_CURRENT_SOURCE_DIR}/install/exported_symbols.cmake)
endif()
if(TARGET parafield_frei0r_flow AND NOT PARAFIELD_SANITIZE)
  foreach(name flow motion)
    add_test(NAME Installed.Frei0r.${name} COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM}
      -DMODULE=$<TARGET_FILE:parafield_frei0r_${name}> -P ${CMAKE_CURRENT_SOURCE_DIR}/install/frei0r_symbols.cmake)
  endforeach()
endif()
if(DPKG_SHLIBDEPS AND FILE_COMMAND AND NOT PARAFIELD_SANITIZE)
  set(libraries "")
  if(PNG_FOUND)
    list(APPEND libraries libpng)
  endif()
  if(JPEG_FOUND)
    list(APPEND libraries libjpeg)
  endif()
  if(TIFF_FOUND)
    list(APPEND libraries libtiff)
  endif()
  list(JOIN libraries "," libraries)
  add_test(NAME Installed.Packages COMMAND ${CMAKE_COMMAND}
    -DBUILD=${PROJECT_BINARY_DIR} -DCPACK=${CMAKE_CPACK_COMMAND}
    -DFFMPEG=$<BOOL:${FFmpeg_FOUND}> -DVERSION=${PROJECT_VERSION} -DSHARED=${BUILD_SHARED_LIBS} -DLIBRARIES=${libraries}
    -DCOMMAND_BUILT=$<TARGET_EXISTS:parafield_command> -DFREI0R_BUILT=$<TARGET_EXISTS:parafield_frei0r_flow>
    -P ${CMAKE_CURRENT_SOURCE_DIR}/install/packages.cmake)
endif()
