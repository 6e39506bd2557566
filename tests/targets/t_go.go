// A program in Go whose functions are called a known number of times: its goroutines grow their stacks, go on in other
// threads, panic and recover, and end inside of calls. It checks its own results, and ends with 1 when one is wrong.
package main

import (
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
)

const (
	workers = 200  // goroutines that call work() once
	diggers = 8    // goroutines that call deep() once
	depth   = 3000 // how deep that goes, beyond what a new stack holds
	guards  = 100  // calls of guard(), every third of which meets a panic
	leavers = 10   // goroutines that end inside of inner()
	greets  = 3    // calls of greet()
)

type Cache struct {
	hits int
	name string
}

type Other struct{ hits int }

//go:noinline
func (c *Cache) Get(key string) (string, int) {
	c.hits++
	return key + "!", c.hits
}

//go:noinline
func (o *Other) Get(key string) int {
	o.hits++
	return o.hits
}

//go:noinline
func pair[A, B any](a A, b B) (A, B) {
	return a, b
}

// Many words of arguments: a string is two, a slice three.
//
//go:noinline
func wide(a int, s string, b []int, c, d, e, f int) (int, int) {
	return a + len(s) + len(b) + c + d + e + f, f
}

//go:noinline
func greet(name string, times int) string {
	text := ""
	for i := 0; i < times; i++ {
		text += "hello " + name + ";"
	}
	return text
}

// Two texts, the second behind a pointer.
//
//go:noinline
func texts(a string, b *Cache) []byte {
	return append([]byte(a), b.name...)
}

// It lets others run while it is under way, so it often returns in another thread.
//
//go:noinline
func work(n int) int {
	runtime.Gosched()
	time.Sleep(time.Duration(n%7) * 100 * time.Microsecond)
	return 3*n + 1
}

//go:noinline
func deep(n int) int {
	var room [20]int
	if n == 0 {
		return 0
	}
	room[n%20] = n
	below := deep(n - 1)
	return below + room[n%20]
}

//go:noinline
func risky(n int) int {
	if n%3 == 0 {
		panic(n)
	}
	return n
}

//go:noinline
func guard(n int) (result int) {
	defer func() {
		if r := recover(); r != nil {
			result = -r.(int)
		}
	}()
	return risky(n)
}

//go:noinline
func inner(leave bool) int {
	if leave {
		runtime.Goexit()
	}
	return 1
}

//go:noinline
func outer(leave bool, below int) int {
	if below > 0 {
		return outer(leave, below-1) + 1
	}
	return inner(leave) + 1
}

func check(is_right bool, what string) {
	if !is_right {
		println("wrong:", what)
		os.Exit(1)
	}
}

// Runs f in so many goroutines at once, and waits for all.
func inGoroutines(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := 0; i < n; i++ {
		wg.Add(1)
		go func(i int) {
			defer wg.Done()
			f(i)
		}(i)
	}
	wg.Wait()
}

func main() {
	cache, other := &Cache{name: "the cache"}, &Other{}
	for i := 0; i < 5; i++ {
		text, n := cache.Get("key")
		check(text == "key!" && n == i+1, "Get")
	}
	check(other.Get("x") == 1 && other.Get("y") == 2, "Other")
	a, b := pair(1, "one")
	c, d := pair("two", int8(2))
	check(a == 1 && b == "one" && c == "two" && d == 2, "pair")
	e, f := wide(1, "ab", []int{7, 8, 9}, 4, 5, 6, 77)
	check(e == 1+2+3+4+5+6+77 && f == 77, "wide")
	for i := 1; i <= greets; i++ {
		check(len(greet("gopher", i)) == i*len("hello gopher;"), "greet")
	}

	long := strings.Repeat("0123456789", 60)
	for _, a := range []string{"", "plain", "with\x00NUL", long} {
		check(len(texts(a, cache)) == len(a)+len(cache.name), "texts")
	}

	inGoroutines(workers, func(i int) { check(work(i) == 3*i+1, "work") })
	inGoroutines(diggers, func(i int) { check(deep(depth) == depth*(depth+1)/2, "deep") })
	for i := 0; i < guards; i++ {
		n := guard(i)
		check((i%3 == 0 && n == -i) || (i%3 != 0 && n == i), "guard")
	}
	// One after the other, so that the next gets the structure of the last one.
	for i := 0; i < leavers; i++ {
		inGoroutines(1, func(int) { outer(true, 0) })
		inGoroutines(1, func(int) { check(outer(false, 3) == 5, "outer") })
	}
	println("right")
}
