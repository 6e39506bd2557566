/* C++ and Rust names: demangling and its limits, forms of a name, which symbols a name means. */
#include <stdlib.h>
#include <time.h>

#include "lang/base/text.h"
#include "lang/source_name.h"

#include "tests/unit/unit.h"

/* ---- demangling ---- */

struct row {
	const char *symbol;
	const char *bare; /* NULL: not mangled */
	const char *full;
};

static const struct row rows[] = {
	{ "main", NULL, NULL },
	{ "_Z", NULL, NULL },
	{ "_R", NULL, NULL },
	{ "_Zebra", NULL, NULL },
	{ "_Z4area2", NULL, NULL },
	{ "_Z3funi", "fun", "fun(int)" },
	{ "_ZNK3geo5Shape4areaEi", "geo::Shape::area", "geo::Shape::area(int) const" },
	{ "_ZN3geo5Shape4growIiEEiT_", "geo::Shape::grow<int>", "geo::Shape::grow<int>(int)" },
	{ "_ZN3geo5ShapeC1Ev", "geo::Shape::Shape", "geo::Shape::Shape()" },
	{ "_ZN3geo5ShapeD0Ev", "geo::Shape::~Shape", "geo::Shape::~Shape()" },
	{ "_ZN3geo3VecplERKS0_", "geo::Vec::operator+", "geo::Vec::operator+(geo::Vec const&)" },
	{ "_ZN1VclEi", "V::operator()", "V::operator()(int)" },
	{ "_ZN1AcvbEv", "A::operator bool", "A::operator bool()" },
	{ "_ZN12_GLOBAL__N_16helperEi", "(anonymous namespace)::helper",
	  "(anonymous namespace)::helper(int)" },
	{ "_ZZN3geo1fEiENKUlvE_clEv", "geo::f(int)::{lambda()#1}::operator()",
	  "geo::f(int)::{lambda()#1}::operator()() const" },
	{ "_Z3fooB5cxx11v", "foo[abi:cxx11]", "foo[abi:cxx11]()" },
	{ "_ZN3foo3barEv.isra.0", "foo::bar", "foo::bar() [clone .isra.0]" },
	{ "_ZThn16_N3foo3barEv", "non-virtual thunk to foo::bar()",
	  "non-virtual thunk to foo::bar()" },
	{ "_ZN4core3fmt9Formatter3pad17h1234567890abcdefE", "core::fmt::Formatter::pad",
	  "core::fmt::Formatter::pad" },
	{ "_ZN4core3fmt9Formatter3pad17h1234567890abcdefE.llvm.123", "core::fmt::Formatter::pad",
	  "core::fmt::Formatter::pad" },
	{ "_ZN46_$LT$my..Cache$u20$as$u20$core..fmt..Debug$GT$3fmt17h1234567890abcdefE",
	  "<my::Cache as core::fmt::Debug>::fmt", "<my::Cache as core::fmt::Debug>::fmt" },
	{ "_RNvNtCs1234_7mycrate5cache3get", "mycrate::cache::get", "mycrate::cache::get" },
	{ "_RNvMNtCs1234_7mycrate5cacheNtB2_5Cache3get", "<mycrate::cache::Cache>::get",
	  "<mycrate::cache::Cache>::get" },
	{ "_RINvNtCs1234_7mycrate5cache3getjE", "mycrate::cache::get::<usize>",
	  "mycrate::cache::get::<usize>" },
	{ "_RNCNvCs1234_7mycrate4main0", "mycrate::main::{closure#0}",
	  "mycrate::main::{closure#0}" },
	{ "_RNvC7mycrateu8gdel_5qa",
	  "mycrate::g\xc3\xb6"
	  "del",
	  "mycrate::g\xc3\xb6"
	  "del" },
};

static void test_demangle(void)
{
	struct up_buf b = { 0 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row *r = &rows[i];
		bool is = up_demangle(r->symbol, UP_NAME_FULL, &b);

		CHECK(is == (r->full != NULL));
		if (r->full && (!b.s || strcmp(b.s, r->full)))
			fprintf(stderr, "%s: %s\n", r->symbol, b.s ? b.s : "");
		CHECK(r->full ? b.s && !strcmp(b.s, r->full) : !b.len);
		up_buf_reset(&b);
		if (r->bare)
			CHECK(up_demangle(r->symbol, UP_NAME_BARE, &b) && !strcmp(b.s, r->bare));
		up_buf_reset(&b);
	}
	up_buf_puts(&b, "before ");
	CHECK(!up_demangle("_Zebra!", UP_NAME_FULL, &b));
	CHECK(up_demangle("_ZN3geo5Shape4growIiEEiT_", UP_NAME_RETURN, &b));
	CHECK_BUF(&b, "before int geo::Shape::grow<int>(int)");
	CHECK(up_is_piece("_ZN3foo3barEv.cold") && up_is_piece("_ZN3foo3barEv.isra.0.cold.7"));
	CHECK(up_is_piece("_Z1fv.part.0") && !up_is_piece("_Z1fv.constprop.0"));
	up_buf_fini(&b);
}

/* ---- limits ---- */

static void put_substitution(struct up_buf *b, unsigned i)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	if (!i)
		up_buf_puts(b, "S_");
	else if (i <= 36)
		up_buf_printf(b, "S%c_", digits[i - 1]);
	else
		up_buf_printf(b, "S%c%c_", digits[(i - 1) / 36], digits[(i - 1) % 36]);
}

/* void f<int>(v<a,a>, v<v<a,a>,v<a,a>>, ...): each type is twice as long as the one before. */
static void put_doubling(struct up_buf *b, unsigned levels)
{
	up_buf_puts(b, "_Z1fIiEv1vI1aS1_E");
	for (unsigned i = 0; i < levels; i++) {
		up_buf_puts(b, "S0_I");
		put_substitution(b, i + 2);
		put_substitution(b, i + 2);
		up_buf_putc(b, 'E');
	}
}

/* The same in one type, behind a pack expansion, for which all of it would be searched. */
static void put_pack(struct up_buf *b, unsigned levels)
{
	up_buf_puts(b, "_Z1fIiEvDp");
	for (unsigned i = 0; i < levels; i++)
		up_buf_puts(b, "1vI");
	up_buf_puts(b, "1a");
	for (unsigned i = 0; i < levels; i++) {
		put_substitution(b, levels + 1 + i);
		up_buf_putc(b, 'E');
	}
}

/* Rust's newer scheme has references, too: ((u8, u8), (u8, u8)) ... */
static void put_tuples(struct up_buf *b, unsigned levels)
{
	up_buf_puts(b, "_RINvC1k1f");
	for (unsigned i = 0; i < levels; i++)
		up_buf_puts(b, "T");
	up_buf_puts(b, "h");
	for (unsigned i = 0; i < levels; i++)
		up_buf_printf(b, "B%cE", 'a' + 7 - 1 + (int)(levels - 1 - i) % 19);
	up_buf_puts(b, "E");
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void test_limits(void)
{
	struct up_buf b = { 0 }, out = { 0 };
	double from = seconds();

	put_doubling(&b, 3);
	CHECK(up_demangle(b.s, UP_NAME_FULL, &out) && out.len > 50);
	up_buf_reset(&out);
	up_buf_reset(&b);
	put_pack(&b, 3);
	CHECK(up_demangle(b.s, UP_NAME_FULL, &out) && out.len > 50);
	up_buf_reset(&out);
	for (unsigned levels = 20; levels < 60; levels += 13) {
		up_buf_reset(&b);
		put_doubling(&b, levels);
		CHECK(!up_demangle(b.s, UP_NAME_FULL, &out) && !out.len);
		up_buf_reset(&b);
		put_pack(&b, levels);
		CHECK(!up_demangle(b.s, UP_NAME_FULL, &out) && !out.len);
		up_buf_reset(&b);
		put_tuples(&b, levels);
		up_demangle(b.s, UP_NAME_FULL, &out);
		CHECK(out.len <= UP_DEMANGLE_MAX);
		up_buf_reset(&out);
	}
	/* Nested without end. */
	up_buf_reset(&b);
	up_buf_puts(&b, "_Z1f");
	up_buf_fill(&b, 'P', 100000);
	up_buf_puts(&b, "i");
	CHECK(!up_demangle(b.s, UP_NAME_FULL, &out) && !out.len);
	up_buf_reset(&b);
	up_buf_puts(&b, "_RMC0");
	up_buf_fill(&b, 'R', 10000);
	CHECK(!up_demangle(b.s, UP_NAME_FULL, &out) && !out.len);
	CHECK(seconds() - from < 5);
	up_buf_fini(&b);
	up_buf_fini(&out);
}

/* ---- forms ---- */

static void test_forms(void)
{
	static const struct {
		const char *in, *canon, *plain;
	} forms[] = {
		{ "geo::Shape::area", "geo::Shape::area", "geo::Shape::area" },
		{ " unsigned  int f ( unsigned int , char )", "unsigned int f(unsigned int,char)",
		  NULL },
		{ "f(const char*, const a::b<const int> &)", "f(char const*,a::b<int const>const&)",
		  NULL },
		{ "f(char const* const)", "f(char const*const)", NULL },
		{ "std::vector<int, std::allocator<int> >::push_back",
		  "std::vector<int,std::allocator<int>>::push_back", "std::vector::push_back" },
		{ "operator< <int>", "operator< <int>", NULL },
		{ "ns::operator<< <int>", "ns::operator<< <int>", NULL },
		{ "V::operator-><int>", "V::operator-><int>", "V::operator->" },
		{ "V::operator()", "V::operator()", "V::operator()" },
		{ "foo[abi:cxx11]", "foo[abi:cxx11]", "foo" },
		{ "(anonymous namespace)::helper", "(anonymous namespace)::helper", "helper" },
		{ "a::(anonymous namespace)::b<c>::d", "a::(anonymous namespace)::b<c>::d",
		  "a::b::d" },
		{ "geo::f(int) const::{lambda(int)#1}::operator()",
		  "geo::f(int)const::{lambda(int)#1}::operator()",
		  "geo::f::{lambda(int)#1}::operator()" },
		{ "<krate::T as core::fmt::Debug>::fmt", "<krate::T as core::fmt::Debug>::fmt",
		  "krate::T::fmt" },
		{ "<krate::T<u8> as Debug>::fmt", "<krate::T<u8>as Debug>::fmt", "krate::T::fmt" },
		{ "<krate::T<u8>>::get::<usize>", "<krate::T<u8>>::get::<usize>", "krate::T::get" },
		{ "<<<<<<<<<<<<", "<< < < < < < < < < < <", NULL },
		{ "a<(>::b", "a<(>::b", "a<(>::b" },
	};
	struct up_buf b = { 0 };

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms) - 2; i++) {
		up_source_canon(forms[i].in, strlen(forms[i].in), &b);
		if (!b.s || strcmp(b.s, forms[i].canon))
			fprintf(stderr, "canon of %s: %s\n", forms[i].in, b.s);
		CHECK(b.s && !strcmp(b.s, forms[i].canon));
		up_buf_reset(&b);
		if (!forms[i].plain)
			continue;
		up_source_plain(forms[i].canon, strlen(forms[i].canon), &b);
		if (!b.s || strcmp(b.s, forms[i].plain))
			fprintf(stderr, "plain of %s: %s\n", forms[i].in, b.s);
		CHECK(b.s && !strcmp(b.s, forms[i].plain));
		up_buf_reset(&b);
	}
	up_buf_fini(&b);
#define PARAMS(s, want) CHECK(up_source_params(s, strlen(s)) == (want))
	PARAMS("f", 1);
	PARAMS("f(int)", 1);
	PARAMS("f(int)const", 1);
	PARAMS("f(int(*)(char))&&", 1);
	PARAMS("V::operator()", 13);
	PARAMS("V::operator()()const", 13);
	PARAMS("(anonymous namespace)::f", 24);
	PARAMS("f()[clone.isra.0]", 1);
	PARAMS("", 0);
	PARAMS(")", 1);
	PARAMS("()", 2);
}

/* ---- which symbols a name means ---- */

static void test_match(void)
{
	static const struct {
		const char *name, *symbol;
		enum up_match want;
	} matches[] = {
		{ "geo::Shape::area", "_ZNK3geo5Shape4areaEi", UP_MATCH_EXACT },
		{ "geo::Shape::area(int) const", "_ZNK3geo5Shape4areaEi", UP_MATCH_EXACT },
		{ "geo::Shape::area( int )const", "_ZNK3geo5Shape4areaEi", UP_MATCH_EXACT },
		{ "geo::Shape::area(int)", "_ZNK3geo5Shape4areaEi", UP_MATCH_LOOSE },
		{ "geo::Shape::area(double) const", "_ZNK3geo5Shape4areaEi", UP_MATCH_NOT },
		{ "geo::Shape::area()", "_ZNK3geo5Shape4areaEi", UP_MATCH_NOT },
		{ "Shape::area", "_ZNK3geo5Shape4areaEi", UP_MATCH_NOT },
		{ "area", "_ZNK3geo5Shape4areaEi", UP_MATCH_NOT },
		{ "geo::Shape", "_ZNK3geo5Shape4areaEi", UP_MATCH_NOT },
		{ "fun", "_Z3funi", UP_MATCH_EXACT },
		{ "fun(int)", "_Z3funi", UP_MATCH_EXACT },
		{ "fun", "fun", UP_MATCH_NOT },
		{ "fun", "_Z3funigarbage!", UP_MATCH_NOT },
		{ "geo::Shape::grow", "_ZN3geo5Shape4growIiEEiT_", UP_MATCH_LOOSE },
		{ "geo::Shape::grow<int>", "_ZN3geo5Shape4growIiEEiT_", UP_MATCH_EXACT },
		{ "geo::Shape::grow<char>", "_ZN3geo5Shape4growIiEEiT_", UP_MATCH_NOT },
		{ "int geo::Shape::grow<int>(int)", "_ZN3geo5Shape4growIiEEiT_", UP_MATCH_EXACT },
		{ "geo::Shape::grow(int)", "_ZN3geo5Shape4growIiEEiT_", UP_MATCH_LOOSE },
		{ "std::vector<int>::push_back", "_ZNSt6vectorIiSaIiEE9push_backERKi",
		  UP_MATCH_LOOSE },
		{ "std::vector<int>::push_back(const int&)", "_ZNSt6vectorIiSaIiEE9push_backERKi",
		  UP_MATCH_LOOSE },
		{ "std::vector<int, std::allocator<int>>::push_back",
		  "_ZNSt6vectorIiSaIiEE9push_backERKi", UP_MATCH_EXACT },
		{ "std::vector::push_back", "_ZNSt6vectorIiSaIiEE9push_backERKi", UP_MATCH_LOOSE },
		{ "std::vector<char>::push_back", "_ZNSt6vectorIiSaIiEE9push_backERKi",
		  UP_MATCH_NOT },
		{ "box::get", "_ZN3boxIiE3getEv", UP_MATCH_LOOSE },
		{ "box<int>::get", "_ZN3boxIiE3getEv", UP_MATCH_EXACT },
		{ "take(const std::string&)",
		  "_Z4takeRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", UP_MATCH_EXACT },
		{ "std::string::append", "_ZNSs6appendEPKc", UP_MATCH_EXACT },
		{ "std::basic_string::append",
		  "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc",
		  UP_MATCH_LOOSE },
		{ "std::string::append(char const*)",
		  "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc",
		  UP_MATCH_EXACT },
		{ "std::string::basic_string", "_ZNSsC1Ev", UP_MATCH_EXACT },
		{ "geo::Shape::Shape", "_ZN3geo5ShapeC2Ev", UP_MATCH_EXACT },
		{ "geo::Shape::~Shape", "_ZN3geo5ShapeD1Ev", UP_MATCH_EXACT },
		{ "geo::Vec::operator+", "_ZN3geo3VecplERKS0_", UP_MATCH_EXACT },
		{ "V::operator()", "_ZN1VclEi", UP_MATCH_EXACT },
		{ "V::operator()(int)", "_ZN1VclEi", UP_MATCH_EXACT },
		{ "V::operator[]", "_ZN1VixEi", UP_MATCH_EXACT },
		{ "V::operator>=", "_ZN1VgeERKS_", UP_MATCH_EXACT },
		{ "V::operator>", "_ZN1VgeERKS_", UP_MATCH_NOT },
		{ "A::operator bool", "_ZN1AcvbEv", UP_MATCH_EXACT },
		{ "geo::operator<<", "_ZN3geolsIiEERSoS1_T_", UP_MATCH_LOOSE },
		{ "geo::operator<", "_ZN3geolsIiEERSoS1_T_", UP_MATCH_NOT },
		{ "foo", "_Z3fooB5cxx11v", UP_MATCH_LOOSE },
		{ "foo[abi:cxx11]", "_Z3fooB5cxx11v", UP_MATCH_EXACT },
		{ "helper", "_ZN12_GLOBAL__N_16helperEi", UP_MATCH_LOOSE },
		{ "(anonymous namespace)::helper(int)", "_ZN12_GLOBAL__N_16helperEi",
		  UP_MATCH_EXACT },
		{ "main::{lambda(int)#1}::operator()", "_ZZ4mainENKUliE_clEi", UP_MATCH_EXACT },
		{ "geo::f::{lambda()#1}::operator()", "_ZZN3geo1fEiENKUlvE_clEv", UP_MATCH_LOOSE },
		{ "foo::bar", "_ZN3foo3barEv.isra.0", UP_MATCH_EXACT },
		{ "foo::bar()", "_ZN3foo3barEv.isra.0", UP_MATCH_EXACT },
		{ "foo::bar", "_ZN3foo3barEv.cold", UP_MATCH_NOT },
		{ "foo::bar", "_ZThn16_N3foo3barEv", UP_MATCH_NOT },
		{ "core::fmt::Formatter::pad", "_ZN4core3fmt9Formatter3pad17h1234567890abcdefE",
		  UP_MATCH_EXACT },
		{ "my::Cache::fmt",
		  "_ZN46_$LT$my..Cache$u20$as$u20$core..fmt..Debug$GT$3fmt17h1234567890abcdefE",
		  UP_MATCH_LOOSE },
		{ "alloc::vec::Vec::push", "_ZN5alloc3vec12Vec$LT$T$GT$4push17h1234567890abcdefE",
		  UP_MATCH_LOOSE },
		{ "mycrate::cache::get", "_RNvNtCs1234_7mycrate5cache3get", UP_MATCH_EXACT },
		{ "mycrate::cache::get", "_RINvNtCs1234_7mycrate5cache3getjE", UP_MATCH_LOOSE },
		{ "mycrate::cache::Cache::get", "_RNvMNtCs1234_7mycrate5cacheNtB2_5Cache3get",
		  UP_MATCH_LOOSE },
		{ "mycrate::main::{closure#0}", "_RNCNvCs1234_7mycrate4main0", UP_MATCH_EXACT },
		{ "mycrate::g\xc3\xb6"
		  "del",
		  "_RNvC7mycrateu8gdel_5qa", UP_MATCH_EXACT },
	};

	for (size_t i = 0; i < sizeof(matches) / sizeof(*matches); i++) {
		struct up_source_name n;

		up_source_name_init(&n, matches[i].name, strlen(matches[i].name));
		enum up_match got = up_source_name_match(&n, matches[i].symbol);
		if (got != matches[i].want)
			fprintf(stderr, "%s on %s: %d\n", matches[i].name, matches[i].symbol, got);
		CHECK(got == matches[i].want);
		/* What matches must pass the prefilter, or nobody ever asks. */
		if (got != UP_MATCH_NOT && !up_glob_match(n.glob.s, n.glob.len, matches[i].symbol,
							  strlen(matches[i].symbol)))
			fprintf(stderr, "%s: %s\n", matches[i].name, n.glob.s);
		CHECK(got == UP_MATCH_NOT || up_glob_match(n.glob.s, n.glob.len, matches[i].symbol,
							   strlen(matches[i].symbol)));
		up_source_name_fini(&n);
	}
}

static bool pattern_fits(const char *glob, const char *symbol)
{
	struct up_source_pattern p;

	up_source_pattern_init(&p, glob, NULL);
	bool fits = up_source_pattern_match(&p, symbol);
	CHECK(!fits || up_glob_match(p.prefilter.s, p.prefilter.len, symbol, strlen(symbol)));
	up_source_pattern_fini(&p);
	return fits;
}

static void test_patterns(void)
{
	struct up_source_pattern p;
	char why[128];
	regex_t re;

	CHECK(pattern_fits("geo::*", "_ZNK3geo5Shape4areaEi"));
	CHECK(pattern_fits("*::area", "_ZNK3geo5Shape4areaEi"));
	CHECK(pattern_fits("geo::Sh*::ar?a", "_ZNK3geo5Shape4areaEi"));
	CHECK(pattern_fits("geo::*(int)*", "_ZNK3geo5Shape4areaEi"));
	CHECK(!pattern_fits("geo::*(char)*", "_ZNK3geo5Shape4areaEi"));
	CHECK(!pattern_fits("eo::*", "_ZNK3geo5Shape4areaEi"));
	CHECK(!pattern_fits("geo::*", "_Z3funi"));
	CHECK(pattern_fits("box::*", "_ZN3boxIiE3getEv"));
	CHECK(pattern_fits("box<int>::*", "_ZN3boxIiE3getEv"));
	CHECK(pattern_fits("std::*::push_*", "_ZNSt6vectorIiSaIiEE9push_backERKi"));
	CHECK(pattern_fits("std::basic_str*::*", "_ZNSsC1Ev"));
	CHECK(pattern_fits("std::str*::*", "_ZNSs6appendEPKc"));
	CHECK(pattern_fits("geo::*oper*", "_ZN3geo3VecplERKS0_"));
	CHECK(pattern_fits("mycrate::*", "_RNvMNtCs1234_7mycrate5cacheNtB2_5Cache3get"));
	CHECK(pattern_fits("odd::*", "odd::name"));
	CHECK(!pattern_fits("foo::*", "_ZN3foo3barEv.cold"));
	CHECK(!up_regex_compile(&re, "^geo::[A-Z]", 11, why) ? false : true);
	up_source_pattern_init(&p, NULL, &re);
	CHECK(up_source_pattern_match(&p, "_ZNK3geo5Shape4areaEi"));
	CHECK(!up_source_pattern_match(&p, "_ZN3geo4areaEi"));
	up_source_pattern_fini(&p);
	regfree(&re);
}

int main(void)
{
	test_demangle();
	test_limits();
	test_forms();
	test_match();
	test_patterns();
	return unit_report("names");
}
