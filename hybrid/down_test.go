package hybrid

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

// downs are faults of a cloud that does not answer: its connections break, or it is mute.
var downs = map[string]cosmostest.Fault{"breaks": cosmostest.Drop(), "mute": cosmostest.Delay(10_000 * time.Hour)}

// TestDownCostsNothing does the same work with a store whose cloud does not
// answer, while its worker tries, and with one that has none: both make the
// same changes to the disk, with the same syncs, and write the same bytes. No chore
// waits for anything. It is not parallel: a process that another test starts has the files of
// this one open until its exec has closed them, and a write waits for that.
func TestDownCostsNothing(t *testing.T) {
	for name, fault := range downs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { downCostsNothing(t, fault) })
		})
	}
}

func downCostsNothing(t *testing.T, fault cosmostest.Fault) {
	n := newNetwork(t, nil)
	n.account.Inject(cosmostest.Always(fault))
	plain, plainDisk := counted(t, nil)
	// The worker wakes at thirds of a second, and 30 and 60 seconds after a chore. A chore at
	// the same instant could meet it while it reads a file, and a write waits for readers.
	time.Sleep(time.Second / 3)
	down, downDisk := counted(t, &Options{
		Remote: n.container(t), Project: "demo", User: "ada", Device: "a", Background: Background{Interval: time.Second},
	})
	time.Sleep(2*time.Second - time.Second/3)
	for i, do := range chores(t) {
		for _, s := range []*Store{plain, down} {
			require.NoError(t, takes(t, 0, func() error { return do(t.Context(), s) }))
			time.Sleep(61 * time.Second) // the worker does what it can
		}
		require.Equal(t, plainDisk.take(), downDisk.take(), "chore %d", i)
	}
	require.NotZero(t, n.account.Counters().ByStatus[0], "it tried")
	require.NotZero(t, downDisk.keeps(), "what it knows it keeps elsewhere")
	time.Sleep(2 * time.Minute)
	status, err := down.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, Deferred, status[0].State)
}

// TestDownAllocatesNothing counts the allocations of saves likewise.
func TestDownAllocatesNothing(t *testing.T) { // not parallel: it counts those of the process
	for name, fault := range downs {
		t.Run(name, func(t *testing.T) { downAllocatesNothing(t, fault) })
	}
}

func downAllocatesNothing(t *testing.T, fault cosmostest.Fault) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, nil)
		n.account.Inject(cosmostest.Always(fault))
		plain, err := Open(t.Context(), t.TempDir(), nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, plain.Close()) }()
		down := n.device(t, "", background, func(o *Options) { o.Store = nil }).Store
		m, err := sessionstore.Text("assistant", "one more", time.Time{}) // of a person, it would cost the count of turns, in more digits each time
		require.NoError(t, err)
		for name, save := range map[string]func(s *Store) error{
			"append":   func(s *Store) error { return s.Append(context.Background(), "s", m) },
			"metadata": func(s *Store) error { return touch(context.Background(), s) },
		} {
			count := func(s *Store) float64 {
				least := math.Inf(1)
				for range 50 { // one save may need more, by the digits of a random name
					least = min(least, testing.AllocsPerRun(1, func() {
						if err := save(s); err != nil {
							t.Error(err)
						}
					}))
				}
				time.Sleep(time.Minute) // the worker tries
				return least
			}
			require.NoError(t, plain.Append(t.Context(), "s", m))
			require.NoError(t, down.Append(t.Context(), "s", m))
			want := count(plain)
			require.NotZero(t, want)
			count(down)
			require.Equal(t, want, count(down), name)
		}
		require.NotZero(t, n.account.Counters().ByStatus[0], "it tried")
	})
}

// touch changes the metadata of session s.
func touch(ctx context.Context, s *Store) error {
	_, err := s.UpdateMetadata(ctx, "s", func(md *sessionstore.Metadata) error {
		n, _ := md.Int("count")
		return md.Set("count", n+1)
	})
	return err
}

// chores are what programs do with a store.
func chores(t *testing.T) []func(ctx context.Context, s *Store) error {
	text := func(n int) sessionstore.Message {
		m, err := sessionstore.Text("user", fmt.Sprint("message ", n), time.Date(2026, 11, 20, 10, 0, n, 0, time.UTC))
		require.NoError(t, err)
		return m
	}
	phase, session := "plan", "s"
	add := func(n int) func(ctx context.Context, s *Store) error {
		return func(ctx context.Context, s *Store) error { return s.Append(ctx, "s", text(n)) }
	}
	replace := func(n int) func(ctx context.Context, s *Store) error {
		return func(ctx context.Context, s *Store) error {
			old, err := s.Load(ctx, "s")
			if err != nil {
				return err
			}
			_, err = s.Replace(ctx, "s", old.Revision, append(old.Messages[:n:n], text(100)))
			return err
		}
	}
	return []func(ctx context.Context, s *Store) error{
		add(0), add(1), add(2), touch,
		func(ctx context.Context, s *Store) error {
			old, err := s.Load(ctx, "s")
			if err != nil {
				return err
			}
			return s.Save(ctx, "s", append(old.Messages, text(3), text(4)), old.Metadata)
		},
		replace(2), add(5), touch,
		func(ctx context.Context, s *Store) error {
			_, err := s.SavePhaseOutput(ctx, "s", workflow.PhaseOutput{SessionID: &session, PhaseID: phase, PhaseName: "Plan", Status: "completed"})
			return err
		},
		func(ctx context.Context, s *Store) error {
			_, err := s.AddMessage(ctx, "s", &phase, "user", "words")
			return err
		},
		func(ctx context.Context, s *Store) error { return s.Create(ctx, "other", sessionstore.Metadata{}) },
		func(ctx context.Context, s *Store) error { return s.Delete(ctx, "other") },
		add(6),
	}
}

// disk adds up what a store changes below a directory.
type disk struct {
	mu    sync.Mutex // guards what follows
	kinds map[seam.Kind]int
	bytes int
	kept  int // changes to what the sync keeps for itself
}

// took is what changed.
type took struct {
	Kinds map[seam.Kind]int
	Bytes int
}

func (d *disk) take() took {
	d.mu.Lock()
	defer d.mu.Unlock()
	got := took{d.kinds, d.bytes}
	d.kinds, d.bytes = map[seam.Kind]int{}, 0
	return got
}

func (d *disk) keeps() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.kept
}

func (d *disk) after(op seam.Op) {
	d.mu.Lock()
	defer d.mu.Unlock()
	path := filepath.ToSlash(filepath.Join(op.Dir, op.Name))
	if op.Kind == seam.Mkdir && op.Name == sessiondir.Bookkeeping {
		return // whoever comes first makes it
	}
	for _, own := range []string{statesDir, programsDir} {
		if strings.Contains(path, sessiondir.Bookkeeping+"/"+own) {
			d.kept++
			return
		}
	}
	d.kinds[op.Kind]++
	d.bytes += len(op.Data)
}

// counted opens a store whose changes to the disk are added up.
func counted(t *testing.T, o *Options) (*Store, *disk) {
	d := &disk{kinds: map[seam.Kind]int{}}
	s, err := open(t.Context(), filepath.Join(t.TempDir(), "sessions"), o, &seam.Seam{After: d.after})
	require.NoError(t, err)
	testenv.Cleanup(t, func() { requireClosed(t, s) })
	d.take()
	return s, d
}
