# C++ and Rust names as targets, and in what is shown: exact counts.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program jq
cd "$TARGETS"

# wants TARGETS 'FUNC COUNT'...: what `count() by func` of a probe on them is to show.
script=() wanted=()
wants()
{
	script+=("probe $1 < count() by func >")
	shift
	wanted+=("$(printf '%s\n' "$@" | sort | paste -sd'|')")
}

# Runs PROGRAM under all probes that were asked for, and compares; addresses in names are left out.
run_wanted()
{
	local program=$1 shown i
	run_up -f json -e "$(printf '%s\n' "${script[@]}")" -c "$program"
	expect_status 0
	mapfile -t shown < <(jq -r 'select(.rows) | [.rows[] | "\(.key.func) \(.value)" | sub("@0x[0-9a-f]*"; "")] | sort_by(explode) | join("|")' "$TMP/out")
	for i in "${!wanted[@]}"; do
		expect_eq "${script[i]}" "${shown[i]-}" "${wanted[i]}"
	done
	script=() wanted=()
}
LC_ALL=C

# --- C++ ------------------------------------------------------------------------------------------

# A plain name is a symbol first: the C function, and not main_test() for main.
wants ./t_cxx:fun 'fun 11'
wants ./t_cxx:main 'main 1'
wants '"./t_cxx":"fun(int)"' 'fun 2'
wants './t_cxx:fun, ./t_cxx:fun(int)' 'fun 11' 'fun(int) 2'
# If there is no such symbol, it is a function of the sources.
wants ./t_cxx:area2 'area2 2'
# All overloads, told apart by their parameters; or one.
wants ./t_cxx:geo::Shape::area 'geo::Shape::area(int) const 8' 'geo::Shape::area(double) const 2'
wants '"./t_cxx":"geo::Shape::area(int) const"' 'geo::Shape::area 8'
wants './t_cxx:geo::Shape::area(double)' 'geo::Shape::area 2'
wants '"./t_cxx":"take(const std::string &)"' 'take 1'
# Templates, with and without their arguments.
wants ./t_cxx:geo::Shape::grow 'geo::Shape::grow<int> 6' 'geo::Shape::grow<char> 2'
wants './t_cxx:"geo::Shape::grow<char>"' 'geo::Shape::grow<char> 2'
wants ./t_cxx:box::get 'box<int>::get 2' 'box<long>::get 1'
wants './t_cxx:"box<int>::get"' 'box<int>::get 2'
# Constructors, destructors (that of `delete` is not hit here), operators, a namespace without a name, a lambda.
wants ./t_cxx:geo::Shape::Shape 'geo::Shape::Shape 2'
wants ./t_cxx:geo::Shape::~Shape 'geo::Shape::~Shape() 2'
wants ./t_cxx:geo::Vec::operator+ 'geo::Vec::operator+ 5'
wants './t_cxx:geo::Vec::operator()' 'geo::Vec::operator() 5'
wants './t_cxx:"geo::Vec::operator<"' 'geo::Vec::operator< 5'
wants './t_cxx:"(anonymous namespace)::helper"' '(anonymous namespace)::helper 7'
wants './t_cxx:main::{lambda(int)#1}::operator()' 'main::{lambda(int)#1}::operator() 4'
# Patterns: with "::" they are compared with the sources' names, without with the symbols.
wants './t_cxx:geo::Shape::*r*' 'geo::Shape::area(int) const 8' 'geo::Shape::area(double) const 2' \
	'geo::Shape::grow<int> 6' 'geo::Shape::grow<char> 2'
wants './t_cxx:/^geo::Vec::operator[+(]/' 'geo::Vec::operator+ 5' 'geo::Vec::operator() 5'
wants './t_cxx:_Z5are?2i' 'area2 2'
run_wanted ./t_cxx
expect_line 'no symbol of t_cxx is named area2; probed is area2\(int\)' err
expect_line 'geo::Shape::area stands for 2 places' err

# A return, the name of an address and of the probe.
run_up -f json -e '
	probe "./t_cxx":"geo::Shape::area(int) const" on return when (retval:s32 == 2) < print(probe, func, entry.arg1:s32) >
	probe ./t_cxx:call < print(arg0:sym) >' -c ./t_cxx
expect_status 0
expect_count 1 '"t_cxx:geo::Shape::area".*"geo::Shape::area".*2'
expect_count 1 '"area2"'

# --- Rust -----------------------------------------------------------------------------------------

wants ./t_rust:shop::cache::put 'shop::cache::put 4'
wants ./t_rust:shop::cache::Cache::len '<shop::cache::Cache>::len 5'
wants './t_rust:"<shop::cache::Cache>::len"' '<shop::cache::Cache>::len 5'
wants ./t_rust:shop::cache::find 'shop::cache::find::<usize> 5'
wants ./t_rust:shop::List::push 'shop::List<T>::push 3'
wants ./t_rust:shop::Item::fmt '<shop::Item as core::fmt::Debug>::fmt 5'
wants './t_rust:shop::main::{closure#0}' 'shop::main::{closure#0} 5'
# The hash is left out, so two functions have one name.
wants ./t_rust:shop::cache::get 'shop::cache::get 3' 'shop::cache::get 4'
run_wanted ./t_rust

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

for pattern in geo::Shape::area 'geo::Shape::area(int)' box::get 'geo::*' area2 shop::cache::get '/^geo::.*::gr.w/'; do
	object=./t_cxx
	[[ $pattern != shop* ]] || object=./t_rust
	run_up list "$object:$pattern"
	expect_status 0
	listed=$(wc -l <"$TMP/out")
	run_up plan -e "probe $object:$pattern < count() >"
	expect_eq "places of $pattern" "$(grep -c '^p:' "$TMP/out")" "$listed"
done

nothing_left
