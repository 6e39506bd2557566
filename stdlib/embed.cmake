# Writes the C file ${OUTPUT} that holds the modules ${MODULES}:
#
#   cmake "-DMODULES=A.up|B.up" -DOUTPUT=FILE -P stdlib/embed.cmake

set(text "/* Made by stdlib/embed.cmake of the modules in stdlib. */\n#include \"runtime/cli/modules.h\"\n")
set(rows "")
string(REPLACE "|" ";" MODULES "${MODULES}")
foreach(module IN LISTS MODULES)
	get_filename_component(name ${module} NAME_WE)
	file(READ ${module} bytes HEX)
	string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
	string(REPEAT "0x..," 16 line)
	string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
	string(APPEND text "\nstatic const char ${name}_text[] = {\n${bytes} 0 };\n")
	string(APPEND rows "\t{ \"${name}\", ${name}_text, sizeof(${name}_text) - 1 },\n")
endforeach()
string(APPEND text "\nconst struct up_builtin_module up_builtin_modules[] = {\n${rows}\t{ 0 },\n};\n")
file(WRITE ${OUTPUT} "${text}")
