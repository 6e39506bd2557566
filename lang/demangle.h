/*
 * C++ and Rust names as their sources have them, out of the symbol names that compilers make of
 * them: the Itanium C++ ABI, Rust's older scheme (_ZN...17h<hash>E) and its newer one (_R...). Owns
 * the limits: a symbol's name comes from a file that nobody vouches for, and can be made to
 * expand without end. Pure; the knowledge is libiberty's.
 */
#ifndef UP_DEMANGLE_H
#define UP_DEMANGLE_H

#include <stdbool.h>

#include "lang/base/buf.h"

#define UP_DEMANGLE_MAX 16384 /* bytes; longer names stay as they are */

enum up_demangle_form {
	UP_NAME_BARE,  /* geo::Shape::area */
	UP_NAME_FULL,  /* geo::Shape::area(int) const, geo::grow<int>(int) */
	UP_NAME_RETURN /* int geo::grow<int>(int), as other tools show instances of templates */
};

/* Does it begin as a mangled name does? Cheap. */
bool up_is_mangled(const char *symbol);

/*
 * Appends the source name. False, and nothing is appended, when it is not mangled or goes beyond a
 * limit. Rust names have no parameters, and their hash is left out. UP_NAME_BARE cares nothing for
 * what stands behind the name, even where the whole is no mangled name at all.
 */
bool up_demangle(const char *symbol, enum up_demangle_form form, struct up_buf *out);

/* Is it a piece that the compiler cut out of a function (.cold, .part.0), not a function? */
bool up_is_piece(const char *symbol);

#endif
