package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	if os.Getenv(busyVariable) != "" {
		beBusy()
	}
	os.Exit(m.Run())
}

// A repository is one of a test, which is the working directory meanwhile.
type repository struct{ t *testing.T }

// newRepository makes a repository with one commit of these files.
func newRepository(t *testing.T, files map[string]string) repository {
	t.Helper()
	t.Chdir(t.TempDir())
	r := repository{t}
	r.git("init", "--quiet", "--initial-branch=main")
	r.commit(files)
	return r
}

func (r repository) git(args ...string) string {
	r.t.Helper()
	out, err := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...).CombinedOutput()
	require.NoError(r.t, err, "%s", out)
	return strings.TrimSpace(string(out))
}

func (r repository) write(files map[string]string) {
	r.t.Helper()
	for name, text := range files {
		require.NoError(r.t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(r.t, os.WriteFile(name, []byte(text), 0o600))
	}
}

func (r repository) commit(files map[string]string) {
	r.t.Helper()
	r.write(files)
	r.git("add", "--all")
	r.git("commit", "--quiet", "--message=files")
}

func (r repository) changed(args ...string) (list []string) {
	r.t.Helper()
	tests, err := changedTests(r.t.Context(), args)
	require.NoError(r.t, err)
	for _, t := range tests {
		list = append(list, t.String())
	}
	return list
}

const (
	head   = "package p\n\nimport \"testing\"\n\n"
	testA  = "// TestA is told of.\nfunc TestA(t *testing.T) {\n\thelp(t)\n}\n\n"
	testB  = "func TestB(t *testing.T) {}\n\n"
	helper = "func help(t *testing.T) {}\n\nfunc Testify(t *testing.T) {}\n\nfunc TestNone() {}\n\nfunc TestMain(m *testing.M) {}\n"
)

func TestChanged(t *testing.T) {
	r := newRepository(t, map[string]string{
		"p/a_test.go": head + testA + testB + helper, "p/testdata/a.txt": "1", "p/testdata/fuzz/FuzzX/1": "1", "p/p.go": "package p\n",
	})
	r.commit(other)
	require.Empty(t, r.changed())

	for name, files := range map[string]map[string]string{
		"a line":      {"p/a_test.go": head + strings.Replace(testA, "help(t)", "help(t) // once", 1) + testB + helper},
		"the comment": {"p/a_test.go": head + strings.Replace(testA, "told", "heard", 1) + testB + helper},
		"data":        {"p/testdata/a.txt": "2"},
		"new data":    {"p/testdata/TestA/more.json": "2"},
	} {
		r.write(files)
		require.Equal(t, []string{"p.TestA"}, r.changed(), name)
		r.git("stash", "--quiet", "--include-untracked")
	}
	for name, files := range map[string]map[string]string{
		"a helper":          {"p/a_test.go": head + testA + testB + helper + "\nfunc more() {}\n"},
		"it moves":          {"p/a_test.go": head + testB + helper, "p/b_test.go": head + testA},
		"no name of a test": {"p/testdata/a2.txt": "2", "p/testdata/a_test.go": head + testA, "testdata/a.txt": "1"},
		"another system":    {"p/c_windows_test.go": head + "func TestC(t *testing.T) {}\n"},
		"the code":          {"p/p.go": "package p // it\n"},
	} {
		r.write(files)
		require.Empty(t, r.changed(), name)
		r.git("stash", "--quiet", "--include-untracked")
	}
	require.NoError(t, os.Remove("p/a_test.go"))
	require.Empty(t, r.changed())
}

// other are files of a commit that says nothing about tests.
var other = map[string]string{"README": "more"}

func TestBase(t *testing.T) {
	r := newRepository(t, map[string]string{"a_test.go": head + testA})
	first := r.git("rev-parse", "HEAD")
	r.commit(map[string]string{"b_test.go": head + testB})
	r.commit(map[string]string{"nested/p/go.mod": "module x\n", "nested/p/c_test.go": head + "func TestC(t *testing.T) {}\n"})
	require.Equal(t, []string{"nested/p.TestC"}, r.changed())
	require.Equal(t, []string{"..TestB", "nested/p.TestC"}, r.changed(first))
	r.git("update-ref", "refs/remotes/origin/main", first)
	require.Equal(t, []string{"..TestB", "nested/p.TestC"}, r.changed())

	r.git("checkout", "--quiet", "-b", "landed", first)
	r.commit(map[string]string{"d_test.go": head + "func TestD(t *testing.T) {}\n"})
	r.git("update-ref", "refs/remotes/origin/main", "landed")
	r.git("checkout", "--quiet", "main")
	require.Equal(t, []string{"..TestB", "nested/p.TestC"}, r.changed(), "what landed meanwhile is not ours")

	_, err := changedTests(t.Context(), []string{"nothing"})
	require.ErrorContains(t, err, "git merge-base nothing HEAD: exit status 128")
}

// stressed is the code of tests that end in ways of their own.
const stressed = `package p

import (
	"os"
	"testing"
)

func TestGood(t *testing.T) {}

func TestSeed(t *testing.T) {
	if os.Getenv("TEST_SEED") != "" {
		t.Error("to repeat: TEST_SEED=1 go test .")
	}
}

func TestSkips(t *testing.T) { t.Skip("it lacks something") }

func TestFails(t *testing.T) { t.Error("always") }

func TestRaces(t *testing.T) {
	n, done := 0, make(chan bool)
	go func() { n++; close(done) }()
	n++
	<-done
}
`

func TestStress(t *testing.T) {
	r := newRepository(t, map[string]string{"README": "it"})
	r.write(map[string]string{"nested/go.mod": "module nested\n\ngo 1.26\n", "nested/p/a_test.go": stressed})
	t.Setenv("GOWORK", "off")
	out := &bytes.Buffer{}
	l := limits{runs: 3, races: 2, each: time.Minute, all: 5 * time.Minute, busy: 1}
	r.commit(other)
	require.Equal(t, failure, command(t.Context(), []string{"HEAD~1"}, l, out), out)
	require.Regexp(t, `(?s)^nested/p\.TestFails: failed with its own seed\n.*always.*
repeat: go test -C nested -race=false -count=1 -run='\^TestFails\$' \./p
nested/p\.TestGood: passed 3 times, and 2 times with the race detector
nested/p\.TestRaces: passed 3 times, and 0 times with the race detector, then it failed\n.*DATA RACE.*
repeat: TEST_SEED=\d+ go test -C nested -race=true -count=1 -run='\^TestRaces\$' \./p
nested/p\.TestSeed: passed 0 times, and 0 times with the race detector, then it failed\n.*
repeat: TEST_SEED=1 go test \.
nested/p\.TestSkips: it shows nothing: it was skipped, or is not built\n.*it lacks something\n.*$`, out.String())
}

func TestTimeIsOver(t *testing.T) {
	newRepository(t, map[string]string{"a_test.go": head + testA, "b_test.go": head + testB})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	s, out := &stress{}, &bytes.Buffer{}
	failed, said := s.repeat(ctx, test{".", "TestA"})
	require.False(t, failed)
	require.Equal(t, "not reached", said)

	_, err := stressAll(ctx, nil, limits{busy: 1}, out)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, couldNotRun, command(ctx, nil, limits{all: time.Hour}, out), "stopped")
}

func TestCommand(t *testing.T) {
	r := newRepository(t, map[string]string{"README": "it"})
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"HEAD"}, clean, "no test is new or changed\n"},
		{nil, couldNotRun, "git merge-base HEAD~1 HEAD"},
		{[]string{"-x"}, couldNotRun, "usage"},
		{[]string{"a", "b"}, couldNotRun, "usage"},
	} {
		out := &bytes.Buffer{}
		require.Equal(t, tt.code, command(t.Context(), tt.args, limits{all: time.Minute}, out))
		require.Contains(t, out.String(), tt.says)
	}
	r.write(map[string]string{"go.mod": "module m\n", "a_test.go": head + testA})
	out := &bytes.Buffer{}
	require.Equal(t, couldNotRun, command(t.Context(), []string{"HEAD"}, limits{all: time.Minute}, out))
	require.Contains(t, out.String(), ". does not build: exit status 1\n")
}

func TestModuleOf(t *testing.T) {
	newRepository(t, map[string]string{"go.mod": "module m\n", "n/go.mod": "module n\n", "n/p/q/x": "", "p/q/x": ""})
	for folder, want := range map[string][2]string{".": {".", "./."}, "p/q": {".", "./p/q"}, "n": {"n", "./"}, "n/p/q": {"n", "./p/q"}} {
		module, pkg := moduleOf(folder)
		require.Equal(t, want, [2]string{module, pkg}, folder)
	}
}

// TestLoad shows that the load ends.
func TestLoad(t *testing.T) {
	idle, err := startLoad(2)
	require.NoError(t, err)
	idle()
}
