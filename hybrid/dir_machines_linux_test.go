package hybrid

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/hybrid/dir"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func init() { children["machine"] = machineChild }

// elsewhere is what a child does that reaches the directory by a mount of its own, below its
// directory, as another machine does.
type elsewhere struct {
	Place  string // the directory
	Name   string // of the device, and in what it writes
	Seed   uint64
	Steps  int  // negative: without end
	Mended bool // it syncs and pulls at last, and prints its lines
}

// mountVariable is set once a child has a mount of its own.
const mountVariable = "MACHINE_APART"

// machineChild writes, takes back, syncs and pulls at random. It prints the lines that it
// acknowledged and those that it is about to take back.
func machineChild(top, argument string) error {
	var m elsewhere
	if err := json.Unmarshal([]byte(argument), &m); err != nil {
		return err
	}
	at := filepath.Join(top, "mount")
	if os.Getenv(mountVariable) == "" {
		return m.begin(at)
	}
	r, err := openSeamed(at, testenv.KillPoint())
	if err != nil {
		return err
	}
	s, err := m.open(top, r)
	if err != nil {
		return err
	}
	err = m.work(context.Background(), s)
	return errors.Join(err, s.Close(), r.Close())
}

// begin mounts the directory where no other process sees it, and starts the child anew there.
func (m *elsewhere) begin(at string) error {
	runtime.LockOSThread()
	err := unix.Unshare(unix.CLONE_NEWNS)
	if err == nil {
		err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	}
	if err == nil {
		err = unix.Mount(m.Place, at, "", unix.MS_BIND, "")
	}
	if err == nil {
		err = unix.Exec("/proc/self/exe", os.Args, append(os.Environ(), mountVariable+"=1"))
	}
	return fmt.Errorf("mount the directory apart: %w", err)
}

func (m *elsewhere) open(top string, r *dir.Remote) (*Store, error) {
	return open(context.Background(), filepath.Join(top, "sessions"), &Options{
		Store:  &sessionstore.Options{Durability: sessionstore.Relaxed},
		Remote: r, Project: "demo", User: "ada", Device: m.Name, Manual: true,
	}, testenv.KillPoint())
}

func (m *elsewhere) work(ctx context.Context, s *Store) error {
	random := rand.New(rand.NewPCG(m.Seed, 8))
	for n := 0; n != m.Steps; n++ {
		if err := m.step(ctx, s, random, n); err != nil && !errors.Is(err, ErrContended) {
			return err
		}
	}
	if !m.Mended {
		return nil
	}
	_, err := s.Sync(ctx)
	if err == nil {
		_, err = s.Pull(ctx)
	}
	if err != nil {
		return err
	}
	return m.show(ctx, s)
}

func (m *elsewhere) step(ctx context.Context, s *Store, random *rand.Rand, n int) error {
	id := fmt.Sprint("s", random.IntN(2))
	switch kind := random.IntN(8); {
	case kind == 0:
		_, err := s.Pull(ctx)
		return err
	case kind == 1 && s.Exists(id):
		was, err := s.Load(ctx, id)
		if err != nil || len(was.Messages) < 2 {
			return err
		}
		last := len(was.Messages) - 1
		fmt.Println("back", was.Messages[last].Content())
		if _, err := s.Replace(ctx, id, was.Revision, was.Messages[:last]); err != nil {
			return err
		}
	default:
		text := fmt.Sprint(m.Name, "-", m.Seed, "-", n)
		message, err := sessionstore.Text("user", text, time.Now())
		if err == nil {
			err = s.Append(ctx, id, message)
		}
		if err != nil {
			return err
		}
		fmt.Println("said", text)
	}
	_, err := s.Sync(ctx, id)
	return err
}

// show prints the lines of all sessions.
func (m *elsewhere) show(ctx context.Context, s *Store) error {
	all := map[string][]string{}
	infos, err := s.List(ctx, &sessionstore.ListOptions{All: true})
	if err != nil {
		return err
	}
	for _, in := range infos {
		session, err := s.Load(ctx, in.ID)
		if err != nil {
			return err
		}
		for _, message := range session.Messages {
			all[in.ID] = append(all[in.ID], message.Content())
		}
	}
	return json.NewEncoder(os.Stdout).Encode(all)
}

// machines are two of them, and what they said.
type machines struct {
	*testing.T
	random *rand.Rand
	place  string
	tops   map[string]string // by name
	said   map[string]bool   // lines that were acknowledged and not taken back
	back   map[string]bool   // lines that somebody took back, or was about to
}

// told returns what a child of the machine is told.
func (m *machines) told(name string, steps int, mended bool) string {
	age(m.T, filepath.Join(m.tops[name], "sessions")) // the process that wrote last is gone
	text, err := json.Marshal(elsewhere{m.place, name, m.random.Uint64(), steps, mended})
	require.NoError(m, err)
	return string(text)
}

func (m *machines) spawn(name string, steps int, mended bool) *testenv.Process {
	return testenv.Spawn(m.T, "machine", m.tops[name], m.told(name, steps, mended))
}

func (m *machines) hear(line string) {
	var kind, text string
	_, err := fmt.Sscan(line, &kind, &text)
	require.NoError(m, err, line)
	map[string]map[string]bool{"said": m.said, "back": m.back}[kind][text] = true
}

func (m *machines) hearAll(lines []string) {
	for _, line := range lines {
		m.hear(line)
	}
}

// mayMount returns why this process may not have mounts of its own; nil: it may.
func mayMount() error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // which ends with the goroutine
		done <- unix.Unshare(unix.CLONE_NEWNS)
	}()
	return <-done
}

// TestKillOneOfTwoMachines lets two processes sync the same sessions by one directory, which each of them
// mounted by itself: in turns, at once, and while one is killed again and again. At the end both
// have what was acknowledged on any.
func TestKillOneOfTwoMachines(t *testing.T) {
	t.Parallel()
	testenv.Need(t, mayMount() == nil, "root alone may mount, on a kernel with namespaces")
	m := &machines{t, testenv.Rand(t), directory(t), map[string]string{}, map[string]bool{}, map[string]bool{}}
	for _, name := range []string{"a", "b"} {
		m.tops[name] = t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(m.tops[name], "mount"), 0o700))
	}
	for range 2 {
		for _, name := range []string{"a", "b"} {
			m.hearAll(m.spawn(name, 4, false).End(t))
		}
	}
	both := []*testenv.Process{m.spawn("a", 12, false), m.spawn("b", 12, false)}
	for _, p := range both {
		m.hearAll(p.End(t))
	}
	v := testenv.Victim{
		Name: "machine", Dir: m.tops["b"], Rounds: testenv.KillRounds(), Operations: 400, First: 200, Within: time.Second,
		Acknowledges: func(string) bool { return true },
	}
	for round := range v.Rounds {
		other := m.spawn("a", 8, false)
		v.Argument = m.told("b", -1, false)
		v.Kill(t, round, m.random, m.hear)
		m.hearAll(other.End(t))
	}
	last := map[string]string{}
	for range 3 {
		for name := range m.tops {
			lines := m.spawn(name, 0, true).End(t)
			require.Len(t, lines, 1)
			last[name] = lines[0]
		}
	}
	m.check(last)
}

// check requires both to have the same, and all that was said.
func (m *machines) check(last map[string]string) {
	lost := testenv.Lost(m)
	require.JSONEq(lost, last["a"], last["b"])
	var sessions map[string][]string
	require.NoError(m, json.Unmarshal([]byte(last["a"]), &sessions))
	here := map[string]bool{}
	for _, lines := range sessions {
		for _, text := range lines {
			here[text] = true
		}
	}
	for text := range m.said {
		require.True(lost, here[text] || m.back[text], "%s is gone", text)
	}
	m.Logf("%d lines, %d taken back, %d sessions", len(m.said), len(m.back), len(sessions))
	for name, top := range m.tops {
		seen, err := os.ReadDir(filepath.Join(top, "mount"))
		require.NoError(m, err)
		require.Empty(m, seen, "the mount of %s is of this process too", name)
	}
}
