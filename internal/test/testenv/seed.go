package testenv

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// seedVariable names the environment variable that sets the seed of all tests.
const seedVariable = "TEST_SEED"

// Seed returns the seed of a random test. The test's name decides it, so that each
// run does the same. The environment variable TEST_SEED sets it for all tests, as
// .ci/soak does with a new number each time. A test that fails prints the command
// that repeats it, as far as the seed decides.
//
// Tests have no other source of chance: .golangci.yml forbids them.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed, err := seedOf(t.Name(), os.Getenv(seedVariable))
	if err != nil {
		t.Fatal(err)
	}
	Repeat(t, seed)
	return seed
}

func seedOf(test, given string) (uint64, error) {
	if given != "" {
		seed, err := strconv.ParseUint(given, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", seedVariable, err)
		}
		return seed, nil
	}
	h := fnv.New32a()
	h.Write([]byte(test)) // never fails
	return uint64(h.Sum32()), nil
}

// Rand returns random numbers that [Seed] begins.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(Seed(t), 1))
}

// Repeat has the test print, if it fails, the command that repeats it with that seed.
// [Seed] calls it; so does a test that goes on from its seed to others. The arguments are
// flags of the test that the command needs besides the flags that are set.
func Repeat(t testing.TB, seed uint64, arguments ...string) {
	t.Helper()
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("to repeat: %s", command(info, t.Name(), seed, append(setFlags(), arguments...)))
		}
	})
}

// setFlags returns the flags of this run that change the work of a test.
func setFlags() (set []string) {
	flag.Visit(func(f *flag.Flag) {
		name, ofGo := strings.CutPrefix(f.Name, "test.")
		if !ofGo || name == "short" || name == "cpu" {
			set = append(set, fmt.Sprintf("-%s=%s", name, f.Value))
		}
	})
	return set
}

// command returns the line for a shell at the top of the repository that runs the
// test of the program that info describes.
func command(info *debug.BuildInfo, test string, seed uint64, arguments []string) string {
	var words []string
	if long := os.Getenv("TEST_LONG"); long != "" {
		words = append(words, "TEST_LONG="+quoted(long))
	}
	words = append(words, fmt.Sprintf("%s=%d", seedVariable, seed), "go test")
	const root = "github.com/amplifier-go/sessionstorage"
	module, pkg := info.Main.Path, strings.TrimSuffix(strings.TrimSuffix(info.Path, ".test"), "_test")
	if nested, ok := strings.CutPrefix(module, root+"/"); ok {
		words = append(words, "-C "+nested)
	}
	for _, s := range info.Settings {
		if s.Key == "-race" && s.Value == "true" {
			words = append(words, "-race")
		}
	}
	var levels []string
	for level := range strings.SplitSeq(test, "/") {
		levels = append(levels, "^"+regexp.QuoteMeta(level)+"$")
	}
	words = append(words, "-count=1", "-run="+quoted(strings.Join(levels, "/")))
	folder := "."
	if below, ok := strings.CutPrefix(pkg, module+"/"); ok {
		folder = "./" + below
	}
	words = append(words, folder)
	for _, a := range arguments {
		words = append(words, quoted(a))
	}
	return strings.Join(words, " ")
}

// quoted returns the word as a shell reads it.
func quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !strings.ContainsRune(plain, r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./,:"

// Some returns n of the cases, chosen by the test's seed and in their order, four
// times as many where [Long] holds, or all of them where [All] does. It is for a test
// whose cases prove the same in several ways and cost much time.
func Some[T any](t testing.TB, n int, cases ...T) []T {
	t.Helper()
	if Long() {
		n *= 4
	}
	if All() || n >= len(cases) {
		return cases
	}
	chosen := Rand(t).Perm(len(cases))[:n]
	slices.Sort(chosen)
	some := make([]T, n)
	for i, c := range chosen {
		some[i] = cases[c]
	}
	return some
}
