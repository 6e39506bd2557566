# C++ and Rust names as targets, and in what is shown: exact counts.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program jq
cd "$TARGETS"

shown()
{
	jq -r '.rows[]? | "\(.key.func) \(.value)"' "$TMP/out" | sort
}

# counts TARGETS PROGRAM LINE...: what `count() by func` shows for a run of the program, sorted.
counts()
{
	local targets=$1 program=$2
	shift 2
	run_up -f json -e "probe $targets < count() by func >" -c "$program"
	expect_status 0
	expect_eq "counts of $targets" "$(shown)" "$(printf '%s\n' "$@" | sort)"
}

# --- C++ ------------------------------------------------------------------------------------------

# A plain name is a symbol first: the C function, and not main_test() for main.
counts ./t_cxx:fun ./t_cxx 'fun 11'
counts ./t_cxx:main ./t_cxx 'main 1'
counts '"./t_cxx":"fun(int)"' ./t_cxx 'fun 2'
counts './t_cxx:fun, ./t_cxx:fun(int)' ./t_cxx 'fun 11' 'fun(int) 2'
# If there is no such symbol, it is a function of the sources.
counts ./t_cxx:area2 ./t_cxx 'area2 2'
expect_line 'no symbol of t_cxx is named area2; probed is area2\(int\)' err

# All overloads, told apart by their parameters; or one.
counts ./t_cxx:geo::Shape::area ./t_cxx 'geo::Shape::area(int) const 8' 'geo::Shape::area(double) const 2'
expect_line 'geo::Shape::area stands for 2 places' err
counts '"./t_cxx":"geo::Shape::area(int) const"' ./t_cxx 'geo::Shape::area 8'
counts './t_cxx:geo::Shape::area(double)' ./t_cxx 'geo::Shape::area 2'
counts '"./t_cxx":"take(const std::string &)"' ./t_cxx 'take 1'

# Templates, with and without their arguments.
counts ./t_cxx:geo::Shape::grow ./t_cxx 'geo::Shape::grow<int> 6' 'geo::Shape::grow<char> 2'
counts './t_cxx:"geo::Shape::grow<char>"' ./t_cxx 'geo::Shape::grow<char> 2'
counts ./t_cxx:box::get ./t_cxx 'box<int>::get 2' 'box<long>::get 1'
counts './t_cxx:"box<int>::get"' ./t_cxx 'box<int>::get 2'

# Constructors, destructors, operators, a namespace without a name, a lambda.
counts ./t_cxx:geo::Shape::Shape ./t_cxx 'geo::Shape::Shape 2'
counts './t_cxx:geo::Vec::operator+' ./t_cxx 'geo::Vec::operator+ 5'
counts './t_cxx:geo::Vec::operator()' ./t_cxx 'geo::Vec::operator() 5'
counts './t_cxx:"geo::Vec::operator<"' ./t_cxx 'geo::Vec::operator< 5'
counts './t_cxx:"(anonymous namespace)::helper"' ./t_cxx '(anonymous namespace)::helper 7'
counts './t_cxx:main::{lambda(int)#1}::operator()' ./t_cxx 'main::{lambda(int)#1}::operator() 4'

# Patterns: with "::" they are compared with the sources' names, without with the symbols.
counts './t_cxx:geo::Shape::*r*' ./t_cxx 'geo::Shape::area(int) const 8' 'geo::Shape::area(double) const 2' \
	'geo::Shape::grow<int> 6' 'geo::Shape::grow<char> 2'
counts './t_cxx:/^geo::Vec::operator[+(]/' ./t_cxx 'geo::Vec::operator+ 5' 'geo::Vec::operator() 5'
counts './t_cxx:_Z5are?2i' ./t_cxx 'area2 2'

# A return, the name of an address and of the probe.
run_up -f json -e '
	probe "./t_cxx":"geo::Shape::area(int) const" on return when (retval:s32 == 2) < print(probe, func, entry.arg1:s32) >
	probe ./t_cxx:call < print(arg0:sym) >' -c ./t_cxx
expect_status 0
expect_count 1 '"t_cxx:geo::Shape::area".*"geo::Shape::area".*2'
expect_count 1 '"area2"'

# --- Rust -----------------------------------------------------------------------------------------

counts ./t_rust:shop::cache::put ./t_rust 'shop::cache::put 4'
counts ./t_rust:shop::cache::Cache::len ./t_rust '<shop::cache::Cache>::len 5'
counts './t_rust:"<shop::cache::Cache>::len"' ./t_rust '<shop::cache::Cache>::len 5'
counts ./t_rust:shop::cache::find ./t_rust 'shop::cache::find::<usize> 5'
counts ./t_rust:shop::List::push ./t_rust 'shop::List<T>::push 3'
counts ./t_rust:shop::Item::fmt ./t_rust '<shop::Item as core::fmt::Debug>::fmt 5'
counts './t_rust:shop::main::{closure#0}' ./t_rust 'shop::main::{closure#0} 5'
# The hash is left out, so two functions have one name.
run_up -f json -e 'probe ./t_rust:shop::cache::get < count() by func >' -c ./t_rust
expect_eq "counts by address" "$(shown | sed 's/@0x[0-9a-f]* / /' | sort)" \
	$'shop::cache::get 3\nshop::cache::get 4'

# --- what is wrong --------------------------------------------------------------------------------

refused()
{
	run_up check -e "probe $1 < count() >"
	expect_status 2
	expect_line "$2" err
}
refused ./t_cxx:area 'did you mean `geo::Shape::area`'
refused ./t_cxx:geo::Shape::arae 'did you mean `geo::Shape::area`'
refused './t_cxx:geo::Shape::area(char)' 'it has `"geo::Shape::area\(int\) const"`'
refused './t_cxx:geo::Circle::*' 'no function of t_cxx matches geo::Circle::\*'

# --- list -----------------------------------------------------------------------------------------

for pattern in geo::Shape::area 'geo::Shape::area(int)' 'geo::*' area2 shop::cache::get '/^geo::.*::gr.w/'; do
	object=./t_cxx
	[[ $pattern != shop* ]] || object=./t_rust
	run_up list "$object:$pattern"
	expect_status 0
	listed=$(wc -l <"$TMP/out")
	run_up plan -e "probe $object:$pattern < count() >"
	expect_eq "places of $pattern" "$(grep -c '^p:' "$TMP/out")" "$listed"
done

nothing_left
