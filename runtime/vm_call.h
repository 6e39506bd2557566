/* The machine's built-in functions: what OP_CALL does. */
#ifndef UP_VM_CALL_H
#define UP_VM_CALL_H

#include "lang/functions.h"
#include "runtime/vm.h"

/* Calls function i->b with v[0..i->c). A fault among them gives a fault. */
struct up_value up_vm_call(struct up_vm *vm, const struct up_insn *i, const struct up_value *v);

#endif
