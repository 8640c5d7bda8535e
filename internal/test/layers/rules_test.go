package layers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// ruleTest applies a rule to a made-up file.
type ruleTest struct {
	name, path, code string
	want             []string
}

func runRule(t *testing.T, rule func(source) []string, tests []ruleTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := parse(tt.path, []byte(tt.code))
			require.NoError(t, err)
			require.Equal(t, tt.want, rule(s))
		})
	}
}

func TestUpward(t *testing.T) {
	t.Parallel()
	importing := func(pkg string) string {
		return "package x\n\nimport _ \"" + module + "/" + pkg + "\"\n"
	}
	runRule(t, upward, []ruleTest{
		{"down", "slice/a.go", importing("sessionstore"), nil},
		{"down by several", "examples/bench/a.go", importing("internal/format/pyjson"), nil},
		{"up", "sessionstore/a.go", importing("slice"), []string{"sessionstore/a.go:3: sessionstore may not import slice"}},
		{"up from internal", "internal/format/pyjson/a.go", importing("eventslog"), []string{"internal/format/pyjson/a.go:3: internal/format/pyjson may not import eventslog"}},
		{"down by the core", "slice/a.go", importing("internal/core"), nil},
		{"the core", "internal/core/a.go", importing("sessionstore"), nil},
		{"the core from below", "sessionstore/a.go", importing("internal/core"), []string{"sessionstore/a.go:3: sessionstore may not import internal/core"}},
		{"the core from internal", "internal/format/jsonl/a.go", importing("internal/core"), []string{"internal/format/jsonl/a.go:3: internal/format/jsonl may not import internal/core"}},
		{"up in a test", "sessionstore/a_test.go", importing("slice"), nil},
		{"inside internal", "internal/disk/sessiondir/a.go", importing("internal/disk/seam"), nil},
		{"workflows from the archive", "sessionstore/archive/a.go", importing("sessionstore/workflow"), nil},
		{"the archive from workflows", "sessionstore/workflow/a.go", importing("sessionstore/archive"), []string{"sessionstore/workflow/a.go:3: sessionstore/workflow may not import sessionstore/archive"}},
		{"the rest of hybrid from internal", "hybrid/internal/gc/a.go", importing("hybrid/redact"), []string{"hybrid/internal/gc/a.go:3: hybrid/internal/gc may not import hybrid/redact"}},
		{"beside", "sessionstore/workflow/a.go", importing("sessionstore/checkpoint"), []string{"sessionstore/workflow/a.go:3: sessionstore/workflow may not import sessionstore/checkpoint"}},
		{"inside one example", "examples/viewer/a.go", importing("examples/viewer/page"), nil},
		{"the viewer from the command", "examples/sessions/cli/a.go", importing("examples/viewer/web"), nil},
		{"the command from the viewer", "examples/viewer/a.go", importing("examples/sessions/cli"), []string{"examples/viewer/a.go:3: examples/viewer may not import examples/sessions/cli"}},
		{"another example", "examples/viewer/a.go", importing("examples/bench"), []string{"examples/viewer/a.go:3: examples/viewer may not import examples/bench"}},
		{"test support", "sessionstore/a.go", importing("internal/test/testenv"), []string{"sessionstore/a.go:3: sessionstore may not import internal/test/testenv"}},
		{"the server of an example", "examples/cloudsync/a.go", importing("internal/test/cosmostest"), nil},
		{"the server of tests", "hybrid/a.go", importing("internal/test/cosmostest"), []string{"hybrid/a.go:3: hybrid may not import internal/test/cosmostest"}},
		{"a foreign server", "examples/cloudsync/a.go", importing("internal/test/cosmostest/foreign"), []string{"examples/cloudsync/a.go:3: examples/cloudsync may not import internal/test/cosmostest/foreign"}},
		{"of test support", "internal/test/conformance/a.go", importing("slice"), nil},
		{"unknown package", "util/a.go", "package util\n", []string{"util/a.go:1: package util has no layer"}},
		{"of an unknown package", "hybrid/a.go", importing("util"), []string{"hybrid/a.go:3: hybrid may not import util"}},
		{"root", "a.go", "package sessionstorage\n", []string{"a.go:1: package . has no layer"}},
	})
}

func TestMisimported(t *testing.T) {
	t.Parallel()
	const cosmos = "package x\n\nimport _ \"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos\"\n"
	const renameio = "package x\n\nimport _ \"github.com/google/renameio/v2\"\n"
	const crashsim = "package x\n\nimport _ \"" + module + "/internal/test/crashsim\"\n"
	const access = "package x\n\nimport _ \"" + module + "/internal/store/access\"\n"
	const remote = "package x\n\nimport _ \"" + module + "/hybrid/remote\"\n"
	const memremote = "package x\n\nimport _ \"" + module + "/hybrid/internal/memremote\"\n"
	const cgo = "package x\n\nimport \"C\"\n"
	runRule(t, misimported, []ruleTest{
		{"azcosmos in hybrid", "hybrid/a.go", cosmos, []string{`hybrid/a.go:3: hybrid may not import "github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"`}},
		{"azcosmos where requests are made", "hybrid/cosmos/a.go", cosmos, nil},
		{"azcosmos where an account is opened", "examples/cloudsync/a.go", cosmos, nil},
		{"azcosmos elsewhere", "examples/viewer/a.go", cosmos, []string{`examples/viewer/a.go:3: examples/viewer may not import "github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"`}},
		{"azcosmos in a test", "internal/test/cosmostest/a_test.go", cosmos, nil},
		{"renameio in vfs", "internal/disk/vfs/a.go", renameio, nil},
		{"renameio elsewhere", "sessionstore/a.go", renameio, []string{`sessionstore/a.go:3: sessionstore may not import "github.com/google/renameio/v2"`}},
		{"crashes in a test", "slice/a_test.go", crashsim, nil},
		{"crashes elsewhere", "slice/a.go", crashsim, []string{`slice/a.go:3: slice may not import "` + module + `/internal/test/crashsim"`}},
		{"access in the core", "internal/core/a.go", access, nil},
		{"access elsewhere", "slice/a.go", access, []string{`slice/a.go:3: slice may not import "` + module + `/internal/store/access"`}},
		{"a remote where requests are made", "hybrid/cosmos/a.go", remote, nil},
		{"a remote in its tests", "hybrid/remote/remotetest/a.go", remote, nil},
		{"a remote elsewhere", "sessionstore/a.go", remote, []string{`sessionstore/a.go:3: sessionstore may not import "` + module + `/hybrid/remote"`}},
		{"memory in a test", "hybrid/internal/gc/a_test.go", memremote, nil},
		{"memory elsewhere", "hybrid/internal/gc/a.go", memremote, []string{`hybrid/internal/gc/a.go:3: hybrid/internal/gc may not import "` + module + `/hybrid/internal/memremote"`}},
		{"cgo", "internal/disk/lock/a.go", cgo, []string{`internal/disk/lock/a.go:3: internal/disk/lock may not import "C"`}},
		{"cgo in a test", "internal/disk/lock/a_test.go", cgo, []string{`internal/disk/lock/a_test.go:3: internal/disk/lock may not import "C"`}},
		{"others", "slice/a.go", "package x\n\nimport _ \"github.com/Azure/azure-sdk-for-go/sdk/azcore\"\n", nil},
	})
}

func TestPrivate(t *testing.T) {
	t.Parallel()
	importing := func(pkg string) string {
		return "package x\n\nimport _ \"" + module + "/" + pkg + "\"\n"
	}
	runRule(t, private, []ruleTest{
		{"a public package", "examples/viewer/web/a.go", importing("sessionstore/archive"), nil},
		{"a public package of another module", "examples/viewer/web/a.go", importing("hybrid/telemetry"), nil},
		{"an internal package", "examples/viewer/web/a.go", importing("internal/format/pyjson"), []string{"examples/viewer/web/a.go:3: examples/viewer/web may import public packages only, not internal/format/pyjson"}},
		{"an internal package below a public one", "examples/viewer/web/a.go", importing("hybrid/internal/x"), []string{"examples/viewer/web/a.go:3: examples/viewer/web may import public packages only, not hybrid/internal/x"}},
		{"an internal package in a bridge", "examples/bridges/eino/a.go", importing("internal/core"), []string{"examples/bridges/eino/a.go:3: examples/bridges/eino may import public packages only, not internal/core"}},
		{"an internal package in a test", "examples/viewer/web/a_test.go", importing("internal/test/testenv"), nil},
		{"its own internal package", "examples/sessions/cli/a.go", importing("examples/sessions/internal/screen"), nil},
		{"the server of an example", "examples/cloudsync/a.go", importing("internal/test/cosmostest"), nil},
		{"the server in another example", "examples/sessions/cli/a.go", importing("internal/test/cosmostest"), []string{"examples/sessions/cli/a.go:3: examples/sessions/cli may import public packages only, not internal/test/cosmostest"}},
		{"the library", "slice/a.go", importing("internal/format/pyjson"), nil},
	})
}

func TestForeign(t *testing.T) {
	t.Parallel()
	imports := map[string][]string{
		module + "/sessionstore":         {"os", "github.com/zeebo/xxh3", module + "/internal/store/watch"},
		module + "/internal/store/watch": {"github.com/fsnotify/fsnotify"},
		"github.com/fsnotify/fsnotify":   {"golang.org/x/sys/unix", "golang.org/x/system"},
		"github.com/zeebo/xxh3":          {"github.com/klauspost/cpuid/v2"},
		"github.com/klauspost/cpuid/v2":  {"runtime"},
	}
	require.Equal(t,
		[]string{module + "/sessionstore depends on golang.org/x/system by way of github.com/fsnotify/fsnotify"},
		foreign(imports, module+"/sessionstore"))
	require.Empty(t, foreign(imports, "github.com/zeebo/xxh3"))
}

func TestStrangers(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"util", "doc.go"}, strangers([]string{".ci", "go.mod", "util", "slice", "doc.go"}))
}

func TestPostponed(t *testing.T) {
	t.Parallel()
	runRule(t, postponed, []ruleTest{
		{"in a comment", "slice/a.go", "package x\n\n// TODO: later\n", []string{"slice/a.go:3: TODO in a comment"}},
		{"in a test", "slice/a_test.go", "package x // FIXME\n", []string{"slice/a_test.go:1: FIXME in a comment"}},
		{"in a text", "slice/a.go", "package x\n\nconst s = \"TODO\"\n", nil},
		{"in a word", "slice/a.go", "package x // TODOS\n", nil},
	})
}

func TestPanics(t *testing.T) {
	t.Parallel()
	const code = "package x\n\nfunc f() {\n\tpanic(1)\n}\n"
	runRule(t, panics, []ruleTest{
		{"in a library", "slice/a.go", code, []string{"slice/a.go:4: panic in library code"}},
		{"in a test", "slice/a_test.go", code, nil},
		{"in an example", "examples/bench/a.go", code, nil},
		{"excused", "slice/a.go", "package x\n\nfunc f() {\n\tpanic(1) // unreachable: f is never called\n}\n", nil},
		{"excused on another line", "slice/a.go", "package x\n\nfunc f() {\n\t// unreachable: no\n\tpanic(1)\n}\n", []string{"slice/a.go:5: panic in library code"}},
		{"without a reason", "slice/a.go", "package x\n\nfunc f() {\n\tpanic(1) // unreachable:\n}\n", []string{"slice/a.go:4: panic in library code"}},
	})
}

func TestChance(t *testing.T) {
	t.Parallel()
	code := func(line string) string {
		return "package x\n\nimport (\n\t\"flag\"\n\t\"math/rand/v2\"\n\tsecret \"crypto/rand\"\n\t\"os\"\n\t\"time\"\n)\n\nfunc f() {\n" + line + "\n}\n"
	}
	found := func(text string) []string { return []string{"slice/a_test.go:12: " + text} }
	const time = "a seed of the time or of the process's number: see testenv.Seed"
	runRule(t, chance, []ruleTest{
		{"a given seed", "slice/a_test.go", code("r := rand.New(rand.NewPCG(seed, 1))"), nil},
		{"a type", "slice/a_test.go", code("var r *rand.Rand"), nil},
		{"the global source", "slice/a_test.go", code("n := rand.IntN(3)"), found("math/rand/v2.IntN: tests draw by testenv.Seed; see mayDraw")},
		{"the global source in a library", "slice/a.go", code("n := rand.N(3)"), []string{"slice/a.go:12: math/rand/v2.N: tests draw by testenv.Seed; see mayDraw"}},
		{"another name", "slice/a_test.go", code("secret.Read(b)"), found("crypto/rand.Read: tests draw by testenv.Seed; see mayDraw")},
		{"excepted", "sessionstore/id.go", code("secret.Read(b)"), nil},
		{"the time", "slice/a_test.go", code("r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))"), found(time)},
		{"the process", "slice/a_test.go", code("seed := uint64(os.Getpid())"), found(time)},
		{"the time in a member", "slice/a_test.go", code("a := arg{Seed: uint64(time.Now().Unix())}"), found(time)},
		{"the time for something else", "slice/a_test.go", code("began := time.Now()"), nil},
		{"a flag", "slice/a_test.go", code("flag.Uint64(\"x.seed\", 0, \"\")"), found("-x.seed: TEST_SEED sets the seed")},
		{"a flag of seeds", "slice/a_test.go", code("flag.Int(\"seeds\", 0, \"\")"), nil},
	})
}

func TestMisplaced(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pkg, name string
		bad       bool
	}{
		{"internal/disk/vfs", "os.Rename", false},
		{"internal/disk/vfs", "(*os.Root).Rename", false},
		{"internal/disk/sessiondir", "(*os.Root).Rename", true},
		{"internal/disk/sessiondir", "golang.org/x/sys/unix.Renameat2", true},
		{"internal/disk/sessiondir", "golang.org/x/sys/windows.MoveFileEx", true},
		{"internal/disk/sessiondir", "(*" + module + "/internal/disk/vfs.Dir).Rename", false},
		{"internal/disk/sessiondir", "os.MkdirAll", false},
		{"internal/disk/lock", "(*os.Root).OpenFile", false},
		{"examples/bench", "os.WriteFile", false},
		{"examples/bench", "os.Rename", false},
		{"examples/agent", "os.Rename", true},
		{"sessionstore", "os.WriteFile", true},
		{"sessionstore", "(*os.Root).Mkdir", true},
		{"sessionstore", "(*os.File).Truncate", true},
		{"sessionstore", "syscall.Unlink", true},
		{"sessionstore", "golang.org/x/sys/windows.DeleteFile", true},
		{"sessionstore", "os.ReadFile", false},
		{"sessionstore", "os.Open", false},
		{"sessionstore", "(*os.Root).Open", false},
	}
	for _, tt := range tests {
		t.Run(tt.pkg+" "+tt.name, func(t *testing.T) {
			t.Parallel()
			got := misplaced([]reference{{tt.pkg, tt.pkg + "/a.go:1", tt.name}})
			require.Equal(t, tt.bad, len(got) == 1, "%v", got)
		})
	}
}

func TestQualified(t *testing.T) {
	t.Parallel()
	const code = "package x\n\nimport (\n\tsystem \"os\"\n\t\"golang.org/x/sys/unix\"\n)\n\n" +
		"var w = system.WriteFile\n\nfunc f(os T) {\n\tos.Create()\n\tunix.Unlinkat()\n}\n"
	s, err := parse("slice/a_windows.go", []byte(code))
	require.NoError(t, err)
	require.Equal(t, []reference{
		{"slice", "slice/a_windows.go:8", "os.WriteFile"},
		{"slice", "slice/a_windows.go:12", "golang.org/x/sys/unix.Unlinkat"},
	}, qualified(s))

	s, err = parse("slice/a_test.go", []byte(code))
	require.NoError(t, err)
	require.Empty(t, qualified(s))
}
