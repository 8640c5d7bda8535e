package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// patience ends a test that hangs.
const patience = time.Minute

// TestMain runs the program itself, with parts of the tests, where SOAKER_PARTS is set.
func TestMain(m *testing.M) {
	if names := os.Getenv("SOAKER_PARTS"); names != "" {
		use(names)
		main()
	}
	os.Exit(m.Run())
}

// samples are parts whose runs end in ways of their own.
var samples = []part{
	{name: "good", weight: 1, shows: "did", commands: []string{"echo did; echo kills: 3 rounds, 0 lost"}},
	{name: "bad", weight: 1, env: []string{"CI=true", "WITH=2"}, commands: []string{`env; echo "--- FAIL: TestX"; echo "to repeat: TEST_SEED=5 go test ."; false`, "echo goes on"}},
	{name: "idle", weight: 1, shows: "did", commands: []string{"echo"}},
	{name: "slow", weight: 1, commands: []string{"sleep 1000"}},
	{name: "lacks", weight: 1, needs: []need{{"no-such-program", "none"}}},
}

// use takes the named samples for the parts.
func use(names string) {
	parts = samples
	chosen, err := named(strings.Split(names, ","))
	if err != nil {
		panic(err)
	}
	parts = chosen
}

// newSoak returns a soak whose clone is an empty folder.
func newSoak(t *testing.T) (*soak, *bytes.Buffer) {
	t.Helper()
	out := &bytes.Buffer{}
	s := &soak{state: t.TempDir(), folder: t.TempDir(), commit: "c0", poll: time.Millisecond, grace: patience, out: out}
	require.NoError(t, os.Mkdir(s.clone(), 0o700))
	return s, out
}

// do runs the part and returns what became of it.
func do(t *testing.T, s *soak, p part, seed uint32) run {
	t.Helper()
	require.NoError(t, s.run(t.Context(), p, seed, nil))
	return s.runs[len(s.runs)-1]
}

func TestChoose(t *testing.T) {
	r, met := rand.New(rand.NewPCG(1, 1)), map[string]int{}
	for range 1000 {
		met[choose(r, []part{{name: "a", weight: 1}, {name: "b"}, {name: "c", weight: 9}}).name]++
	}
	require.Zero(t, met["b"])
	require.InDelta(t, 100, met["a"], 30)
	require.Equal(t, 1000, met["a"]+met["c"])
}

func TestParse(t *testing.T) {
	out := &bytes.Buffer{}
	o, err := parse(nil, out)
	require.NoError(t, err)
	require.Equal(t, names(parts), names(o.parts))
	require.False(t, o.once)

	o, err = parse([]string{"-only", "fuzz,long", "-seed", "7"}, out)
	require.NoError(t, err)
	require.Equal(t, []string{"fuzz", "long"}, names(o.parts))
	require.True(t, o.once)
	require.EqualValues(t, 7, o.seed)

	o, err = parse([]string{"-only=fuzz", "-minutes=0.5"}, out)
	require.NoError(t, err)
	require.False(t, o.once)

	for _, args := range [][]string{{"-only=fuss"}, {"fuzz"}, {"-minutes=-1"}, {"-minutes=x"}} {
		_, err := parse(args, out)
		require.Error(t, err, args)
	}
}

func TestParts(t *testing.T) {
	wanted := "faults, kills, simulation, harsh, powercut-ext4, powercut-xfs, powercut-btrfs, powercut-modes, strace, fuzz, realtools, acpx, importers, windows, arm64, arm, 386, noavx2, race, long, cpu, shuffle, cross, notices"
	require.Equal(t, wanted, strings.Join(names(parts), ", "))
	for _, p := range parts {
		require.Positive(t, p.weight)
		require.NotEmpty(t, p.commands)
		out, err := exec.Command("bash", "-n", "-c", script(p.lines(3))).CombinedOutput()
		require.NoError(t, err, "%s: %s", p.name, out)
	}
	require.Contains(t, partNamed("shuffle").lines(3)[0], "-shuffle=3'")
	require.NotContains(t, strings.Join(partNamed("long").lines(3), ""), "\n")
}

func TestJudge(t *testing.T) {
	shown := findings{shown: true}
	for _, tt := range []struct {
		e              ended
		f              findings
		result, reason string
	}{
		{ended{}, shown, passed, ""},
		{ended{}, findings{}, notRun, "it tested nothing: the machine may lack something"},
		{ended{}, findings{shown: true, flaky: true}, failed, "a test failed, and passed when it was run again"},
		{ended{paused: true}, shown, passed, ""},
		{ended{paused: true}, findings{shown: true, flaky: true, failing: true}, notRun, "it was paused while a gate ran, and failed"},
		{ended{}, findings{shown: true, flaky: true, killed: true}, notRun, "a process of it was killed"},
		{ended{code: 1}, shown, failed, ""},
		{ended{code: 1}, findings{failing: true}, failed, ""},
		{ended{code: 1, paused: true}, findings{failing: true}, notRun, "it was paused while a gate ran, and failed"},
		{ended{code: 143, cut: "it was stopped"}, shown, notRun, "it was stopped"},
		{ended{code: 143, cut: "it was stopped"}, findings{failing: true}, failed, "it was stopped"},
		{ended{code: 1}, findings{killed: true}, notRun, "a process of it was killed"},
		{ended{code: 1}, findings{killed: true, failing: true}, failed, ""},
		{ended{code: 137}, shown, notRun, "a process of it was killed"},
		{ended{code: -1}, shown, notRun, "a process of it was killed"},
	} {
		result, reason := judge(tt.e, tt.f)
		require.Equal(t, tt.result+": "+tt.reason, result+": "+reason, "%+v", tt)
	}
}

func TestRead(t *testing.T) {
	f, err := read(strings.NewReader(`
power cuts ext4: 200 states, acknowledged 31, lost 1
power cuts ext4: a second cut: acknowledged 5, lost 2
power cuts ext4: controls: renamed without sync lost 4 of 9, synced lost 0 of 9, a disk that lies lost 1 of 2
simulation: 8 seeds, 900 records, lost 2, converged 8, 70 reader checks, bad 3, late 4
kills: 130 rounds, 0 lost
real tools: newer on npm: pi 1.7.0 (proven: 1.6.0)
    x_test.go:9: group: faults: 10 points, 0 lost
    x_test.go:9: total: faults: 70 points, 0 lost
    seed.go:60: to repeat: TEST_SEED=1 go test .
    seed.go:60: to repeat: TEST_SEED=2 go test .
    --- PASS: TestX
`+strings.Repeat("x", 100_000)), "--- PASS")
	require.NoError(t, err)
	require.Equal(t, findings{
		shown: true, repeat: "TEST_SEED=1 go test .",
		figures: map[string]int{"states": 200, "acknowledged": 31, "lost": 3, "seeds": 8, "bad": 3, "late": 4, "rounds": 130, "points": 70, "pi 1.7.0 (proven: 1.6.0), runs": 1},
	}, f)

	for line, want := range map[string]findings{
		"    --- FAIL: TestX (0.00s)":       {failing: true},
		"panic: test timed out after 1h":    {failing: true},
		"WARNING: DATA RACE":                {failing: true},
		"LOST TestX":                        {failing: true},
		"FLAKY sessionstore.TestX: said":    {flaky: true},
		"compile: signal: killed":           {killed: true},
		"FAIL\tsessionstore [build failed]": {},
	} {
		want.figures = map[string]int{}
		got, err := read(strings.NewReader(line), "-")
		require.NoError(t, err)
		got.shown = false
		require.Equal(t, want, got, line)
	}
}

// TestRun runs samples, and looks at what is kept of them.
func TestRun(t *testing.T) {
	t.Setenv("TEST_LONG", "1")
	s, _ := newSoak(t)
	good := do(t, s, samples[0], 4)
	require.Equal(t, passed, good.Result)
	require.Equal(t, map[string]int{"rounds": 3, "lost": 0}, good.Figures)
	require.Empty(t, good.Log)
	require.Equal(t, notRun, do(t, s, samples[2], 4).Result)

	bad := do(t, s, samples[1], 4)
	require.Equal(t, failed, bad.Result)
	require.Equal(t, "WITH=2 TEST_SEED=5 go test .", bad.Repeat)
	require.Equal(t, "CI=true WITH=2 TEST_SEED=4 env; ", bad.Command[:32])
	log, err := os.ReadFile(filepath.Join(s.state, bad.Log))
	require.NoError(t, err)
	for _, line := range []string{"TEST_SEED=4\n", "CI=true\n", "WITH=2\n", "goes on\n", "TMPDIR=" + s.temporary() + "\n"} {
		require.Contains(t, string(log), line)
	}
	require.NotContains(t, string(log), "TEST_LONG")

	whole := samples[1]
	whole.whole = true
	bad = do(t, s, whole, 4)
	require.Equal(t, bad.Command, bad.Repeat)

	lines := readLines(t, filepath.Join(s.state, "runs.jsonl"))
	require.Len(t, lines, 4)
	for i, line := range lines {
		var r run
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		if len(r.Figures) == 0 {
			r.Figures = s.runs[i].Figures
		}
		require.Equal(t, s.runs[i], r)
	}
	require.Equal(t, found, s.code())
	require.NoDirExists(t, s.temporary())
}

func readLines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// TestPriority shows that a run does not hinder others.
func TestPriority(t *testing.T) {
	s, _ := newSoak(t)
	require.Equal(t, passed, do(t, s, part{shows: "nice 19", commands: []string{"echo nice $(nice)"}}, 1).Result)
}

func TestCode(t *testing.T) {
	for _, tt := range []struct {
		runs []run
		code int
	}{
		{nil, couldNotRun},
		{[]run{{Result: notRun}}, couldNotRun},
		{[]run{{Result: notRun}, {Result: passed}}, clean},
		{[]run{{Result: failed, Planned: true}}, clean},
		{[]run{{Result: failed}, {Result: passed}}, found},
	} {
		require.Equal(t, tt.code, (&soak{runs: tt.runs}).code(), "%+v", tt)
	}
}

func TestConcludePlanned(t *testing.T) {
	p := part{fails: 100}
	fails, passes := findings{failing: true, shown: true}, findings{shown: true}
	for _, tt := range []struct {
		seed    uint32
		code    int
		f       findings
		planned bool
		result  string
	}{
		{200, 1, fails, true, failed},
		{201, 0, passes, false, passed},
		{201, 1, fails, false, failed},
		{200, 0, passes, false, failed},
		{200, 1, findings{}, false, failed}, // it does not build
		{200, 0, findings{}, false, notRun},
	} {
		r := run{Seed: tt.seed}
		r.conclude(p, ended{code: tt.code}, tt.f)
		require.Equal(t, tt.result, r.Result, "%+v", tt)
		require.Equal(t, tt.planned, r.Planned, "%+v", tt)
	}
}

// TestNotices runs part notices as it is, in this tree.
func TestNotices(t *testing.T) {
	s, _ := newSoak(t)
	require.NoError(t, os.Remove(s.clone()))
	here, err := filepath.Abs(top)
	require.NoError(t, err)
	require.NoError(t, os.Symlink(here, s.clone()))
	good, bad := do(t, s, partNamed("notices"), 101), do(t, s, partNamed("notices"), 300)
	require.Equal(t, passed, good.Result, "%+v", good)
	require.True(t, bad.Planned, "%+v", bad)
	require.Regexp(t, `TEST_SEED=300 go test .*-run='\^TestNotices\$' \./\.ci/soaker/testdata/notices`, bad.Repeat)
	require.Equal(t, clean, s.code())
}

func TestReport(t *testing.T) {
	s, out := newSoak(t)
	s.state = "/state"
	s.runs = []run{
		{Part: "kills", Result: passed, Seconds: 70.4, Figures: map[string]int{"rounds": 130, "lost": 0}},
		{Part: "notices", Result: failed, Planned: true, Seconds: 2},
		{Part: "kills", Result: failed, Commit: "c1", Seed: 9, Seconds: 30, Repeat: "go test .", Log: "x.log", Figures: map[string]int{"rounds": 20, "lost": 1}},
		{Part: "notices", Result: passed, Seconds: 2},
		{Part: "windows", Seed: 8, Result: notRun, Reason: "it needs wine", Figures: map[string]int{"rounds": 1}},
	}
	s.report()
	require.Equal(t, `
part     runs  failures  not run  seconds  notes
kills    2     1         0        100      lost 1, rounds 150
windows  0     0         1        0        
notices  2     0         0        4        2 runs, 1 failures as planned

failed: kills, seed 9, commit c1
  output: /state/x.log
  repeat: go test .

not run: windows, seed 8: it needs wine
`, out.String())
}

// A stepper is a part that waits for files of its test.
type stepper struct {
	dir  string
	part part
}

// newStepper returns a part that makes the file "begun" and goes on when there is the
// file "go": then it prints "did" and ends with that exit code. A process of its own
// group waits beside it, for ever.
func newStepper(t *testing.T, first string, code int) stepper {
	t.Helper()
	p := stepper{dir: t.TempDir()}
	p.part = part{name: "stepper", shows: "did", commands: []string{fmt.Sprintf(
		"cd %s; %s set -m; sleep 1000 & echo $! >beside; echo $$ >pid; touch begun; while [[ ! -e go ]]; do sleep 0.01; done; echo did; exit %d", p.dir, first, code)}}
	return p
}

func (p stepper) await(t *testing.T, name string) {
	t.Helper()
	await(t, func() bool { _, err := os.Stat(filepath.Join(p.dir, name)); return err == nil }, name)
}

func (p stepper) touch(t *testing.T, name string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, name), nil, 0o600))
}

// state returns the state of a process that is named by a file: T is stopped. A zombie
// is gone.
func (p stepper) state(t *testing.T, name string) string {
	t.Helper()
	pid, err := os.ReadFile(filepath.Join(p.dir, name))
	require.NoError(t, err)
	stat, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(string(pid)), "stat"))
	if err != nil {
		return "gone"
	}
	return strings.Replace(strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))[0], "Z", "gone", 1)
}

func await(t *testing.T, met func() bool, what string) {
	t.Helper()
	for end := time.Now().Add(patience); !met(); time.Sleep(time.Millisecond) {
		require.True(t, time.Now().Before(end), "%s does not come", what)
	}
}

// lockGate takes the lock that a gate holds.
func lockGate(t *testing.T, s *soak) (unlock func()) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(s.state, "gate.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	require.NoError(t, err)
	require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_SH))
	return func() { require.NoError(t, f.Close()) }
}

// TestPause has a gate begin and end while a part runs.
func TestPause(t *testing.T) {
	for code, want := range []string{passed, notRun} {
		s, _ := newSoak(t)
		p := newStepper(t, "", code)
		ended := make(chan error)
		go func() { ended <- s.run(t.Context(), p.part, 1, nil) }()
		p.await(t, "begun")
		unlock, second := lockGate(t, s), lockGate(t, s)
		stopped := func() bool { return p.state(t, "pid") == "T" && p.state(t, "beside") == "T" }
		await(t, stopped, "the pause")
		p.touch(t, "go")
		unlock()
		require.True(t, stopped(), "another gate runs still")
		second()
		require.NoError(t, <-ended)
		require.Equal(t, want, s.runs[0].Result, s.runs[0].Reason)
		require.Equal(t, "gone", p.state(t, "beside"))
	}
}

// TestAwaitGate has a part begin when no gate runs any more.
func TestAwaitGate(t *testing.T) {
	s, _ := newSoak(t)
	unlock := lockGate(t, s)
	require.True(t, s.gateRuns())
	begun := make(chan struct{})
	go func() {
		s.awaitGate(t.Context())
		close(begun)
	}()
	select {
	case <-begun:
		t.Fatal("it did not wait")
	default:
	}
	unlock()
	<-begun
	require.False(t, s.gateRuns())

	defer lockGate(t, s)()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	s.awaitGate(ctx)
}

// TestStop ends a part and all that it started.
func TestStop(t *testing.T) {
	for first, want := range map[string]string{"": notRun, "echo '--- FAIL: TestX';": failed, "trap '' TERM;": notRun} {
		s, _ := newSoak(t)
		if strings.Contains(first, "trap") {
			s.grace = 10 * time.Millisecond
		}
		p := newStepper(t, first, 0)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.run(ctx, p.part, 1, nil) }()
		p.await(t, "begun")
		stop()
		require.NoError(t, <-ended)
		require.Equal(t, want, s.runs[0].Result, first)
		require.Equal(t, "it was stopped", s.runs[0].Reason)
		require.Equal(t, "gone", p.state(t, "beside"))
	}
}

// TestStopWhilePaused ends a part that is paused.
func TestStopWhilePaused(t *testing.T) {
	s, _ := newSoak(t)
	p := newStepper(t, "", 0)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.run(ctx, p.part, 1, nil) }()
	p.await(t, "begun")
	defer lockGate(t, s)()
	await(t, func() bool { return p.state(t, "pid") == "T" }, "the pause")
	stop()
	require.NoError(t, <-ended)
	require.Equal(t, "gone", p.state(t, "beside"))
}

func TestLimit(t *testing.T) {
	s, _ := newSoak(t)
	p := newStepper(t, "", 0).part
	p.limit = 1
	r := do(t, s, p, 1)
	require.Equal(t, notRun, r.Result)
	require.Equal(t, "it took longer than 1ns", r.Reason)
	require.NotEmpty(t, r.Log)
}

func TestKilled(t *testing.T) {
	for _, command := range []string{"kill -9 $$", "bash -c 'kill -9 $$'", "echo signal: killed; false"} {
		s, _ := newSoak(t)
		r := do(t, s, part{commands: []string{command}}, 1)
		require.Equal(t, notRun, r.Result, command)
		require.Equal(t, "a process of it was killed", r.Reason)
	}
}

// TestProvide has an apt-get that does what the test says.
func TestProvide(t *testing.T) {
	bin := t.TempDir()
	path := os.Getenv("PATH")
	t.Setenv("PATH", bin)
	p := part{needs: []need{{"tool-x", "x x-fonts"}}}
	s, _ := newSoak(t)
	require.NoError(t, s.provide(t.Context(), part{}))
	require.EqualError(t, s.provide(t.Context(), p), "it needs tool-x: only root can install x x-fonts")

	s.root = true
	apt := func(script string) {
		require.NoError(t, os.WriteFile(filepath.Join(bin, "apt-get"), []byte("#!/bin/bash\nPATH="+path+"\n"+script), 0o700))
	}
	apt("echo first; echo no network; exit 100")
	require.EqualError(t, s.provide(t.Context(), p), "it needs tool-x: apt-get update: exit status 100: no network")
	apt(fmt.Sprintf(`echo "$@" >>%[1]s/said; [[ $1 == update ]] || { : >%[1]s/tool-x; chmod +x %[1]s/tool-x; }`, bin))
	require.NoError(t, s.provide(t.Context(), p))
	require.Equal(t, []string{"update -q", "install -y --no-install-recommends x x-fonts"}, readLines(t, filepath.Join(bin, "said")))
	require.NoError(t, s.provide(t.Context(), p))
	require.Len(t, readLines(t, filepath.Join(bin, "said")), 2)
}

// repository makes a repository with one commit.
func repository(t *testing.T) (dir string, git func(args ...string) string) {
	t.Helper()
	dir = t.TempDir()
	git = func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	git("init", "--quiet", "--initial-branch=main")
	git("commit", "--quiet", "--allow-empty", "--message=first")
	return dir, git
}

func TestRefresh(t *testing.T) {
	s, _ := newSoak(t)
	dir, git := repository(t)
	s.repository = dir
	refreshed := func() string {
		require.NoError(t, s.refresh(t.Context()))
		return s.commit
	}
	git("checkout", "--quiet", "-b", "work")
	git("commit", "--quiet", "--allow-empty", "--message=second")
	require.Equal(t, git("rev-parse", "main"), refreshed(), "main, not what is worked on")
	mark := filepath.Join(s.clone(), "mark")
	require.NoError(t, os.WriteFile(mark, nil, 0o600))
	refreshed()
	require.FileExists(t, mark, "the same commit")

	git("update-ref", "refs/remotes/origin/main", "work")
	require.Equal(t, git("rev-parse", "work"), refreshed())
	require.NoFileExists(t, mark)
	head, err := s.git(t.Context(), "-C", s.clone(), "rev-parse", "HEAD")
	require.NoError(t, err)
	require.Equal(t, s.commit, head)

	git("update-ref", "-d", "refs/remotes/origin/main")
	git("branch", "--quiet", "-D", "main")
	git("commit", "--quiet", "--allow-empty", "--message=third")
	require.Equal(t, git("rev-parse", "HEAD"), refreshed())
}

// start starts this program in a process of its own, in a repository.
func start(t *testing.T, samples string, args ...string) *testenv.Process {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Dir, _ = repository(t)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "XDG_") }),
		"SOAKER_PARTS="+samples, "XDG_STATE_HOME="+t.TempDir(), "TMPDIR="+t.TempDir())
	return testenv.Start(t, cmd)
}

// end returns the rest that the program prints, and its exit code.
func end(p *testenv.Process) (string, int) {
	lines, code := p.Wait()
	return strings.Join(lines, "\n") + "\n", code
}

// TestProgram runs the program to its end, and looks at the table and the exit code.
func TestProgram(t *testing.T) {
	for _, tt := range []struct {
		samples, args string
		code          int
		says          []string
	}{
		{"good,idle", "-only=good,idle,good", clean, []string{"\ngood  2     0         0 ", "lost 0, rounds 6\n", "\nidle  0     0         1 "}},
		{"good,bad", "-only=bad,good", found, []string{"\ngood  1     0         0 ", "\nbad   1     1         0 ", "\n  repeat: WITH=2 TEST_SEED=5 go test .\n"}},
		{"idle,good", "-only=idle", couldNotRun, []string{"\nidle  0 ", "not run: idle"}},
		{"lacks", "-seed=1", couldNotRun, []string{"\nlacks  0     0         1 "}},
		{"good", "-only=none", couldNotRun, []string{`no part "none": there are good`}},
		{"good", "more", couldNotRun, []string{"usage: "}},
		{"slow", "-minutes=0.01", couldNotRun, []string{"\npart "}},
	} {
		out, code := end(start(t, tt.samples, tt.args))
		require.Equal(t, tt.code, code, out)
		for _, text := range tt.says {
			require.Contains(t, out, text)
		}
	}
}

// TestSignal stops the program while a part runs: it says what it did until then.
func TestSignal(t *testing.T) {
	for n, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		p := start(t, "bad,slow", []string{"-only=slow", "-only=bad,slow"}[n])
		for !strings.HasPrefix(p.Hear(t), "slow: seed ") {
		}
		require.NoError(t, syscall.Kill(p.PID(), sig))
		out, code := end(p)
		require.Equal(t, []int{couldNotRun, found}[n], code, out)
		require.Contains(t, out, "\nslow  0     0         1 ")
		require.Contains(t, out, ": it was stopped\n")
		require.Equal(t, n == 1, strings.Contains(out, "\nfailed: bad, seed "), out)
	}
}
