/* build: -O1 -g -fno-inline */
/* C++ functions that are called a known number of times: overloads, templates, operators,
 * constructors, a lambda, a C function and a C++ one of the same name. */
#include <string>

#define CODE __asm__ volatile("")

namespace geo
{
struct Shape {
	int side;
	explicit Shape(int s);
	virtual ~Shape();
	int area(int n) const;
	int area(double d) const;
	template <class T> int grow(T t);
};
Shape::Shape(int s) : side(s)
{
	CODE;
}
Shape::~Shape()
{
	CODE;
}
int Shape::area(int n) const
{
	CODE;
	return n * side;
}
int Shape::area(double d) const
{
	CODE;
	return (int)d;
}
template <class T> int Shape::grow(T t)
{
	CODE;
	return (int)t;
}
template int Shape::grow<int>(int);
template int Shape::grow<char>(char);

struct Vec {
	int x;
	Vec operator+(const Vec &o) const
	{
		CODE;
		return { x + o.x };
	}
	int operator()(int n) const
	{
		CODE;
		return n;
	}
	bool operator<(const Vec &o) const
	{
		CODE;
		return x < o.x;
	}
};
} // namespace geo

template <class T> struct box {
	T v;
	T get()
	{
		CODE;
		return v;
	}
};

/* Data that is exactly so named as box<int>::get() is in short. */
extern int data __asm__("_ZN3box3getE");
int data = 1;

namespace
{
int helper(int n)
{
	CODE;
	return n;
}
} // namespace

extern "C" int fun(void);
int fun(void)
{
	CODE;
	return 1;
}
int fun(int n)
{
	CODE;
	return n;
}
int area2(int n)
{
	CODE;
	return n;
}
int main_test(int n)
{
	CODE;
	return n;
}
int take(const std::string &s)
{
	CODE;
	return (int)s.size();
}
/* What it is called with is the address of a function. */
int call(int (*f)(int))
{
	CODE;
	return f(1);
}

int main()
{
	int sum = 0;

	for (int i = 0; i < 2; i++) {
		geo::Shape s(i);

		sum += s.area(1) + s.area(2.0);
		for (int k = 0; k < 3; k++)
			sum += s.area(k) + s.grow(k);
		sum += s.grow('a');
	}
	geo::Vec a = { 1 }, b = { 2 };
	for (int i = 0; i < 5; i++)
		sum += (a + b).x + a(i) + (a < b);
	box<int> i = { 1 };
	box<long> l = { 1 };
	sum += i.get() + i.get() + (int)l.get();
	for (int k = 0; k < 7; k++)
		sum += helper(k);
	for (int k = 0; k < 11; k++)
		sum += fun();
	sum += fun(1) + fun(2) + area2(3) + main_test(4) + take("hello c++") + call(area2);
	auto lambda = [](int n) {
		CODE;
		return n;
	};
	for (int k = 0; k < 4; k++)
		sum += lambda(k);
	return sum & 0;
}
