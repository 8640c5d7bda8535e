package hybrid

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// faulty makes a request of a remote with a fault.
type faulty = func(ctx context.Context, write, swap bool, make func() error) error

// answering is a remote in which requests have a fault from one of them on.
type answering struct {
	*memremote.Remote
	whole bool // a Commit is done whole, as in Cosmos DB; else each object by itself, as in S3
	fault faulty

	mu   sync.Mutex // guards what follows
	at   int        // the first request with the fault; 0: none has it
	made int        // requests
}

// from lets the requests from number at on have a fault.
func (a *answering) from(at int, fault faulty) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at, a.made, a.fault = at, 0, fault
}

// reached reports whether there were that many requests.
func (a *answering) reached() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.made >= a.at
}

func (a *answering) request(ctx context.Context, write, swap bool, make func() error) error {
	a.mu.Lock()
	a.made++
	fails := a.at > 0 && a.made >= a.at
	a.mu.Unlock()
	if !fails {
		return make()
	}
	return a.fault(ctx, write, swap, make)
}

func (a *answering) Info(ctx context.Context) (remote.Info, error) {
	info, err := a.Remote.Info(ctx)
	if !a.whole {
		info.Batch = remote.Batch{}
	}
	return info, err
}

func (a *answering) Get(ctx context.Context, part, name string, known remote.Version) (o remote.Object, err error) {
	err = a.request(ctx, false, false, func() (err error) {
		o, err = a.Remote.Get(ctx, part, name, known)
		return err
	})
	return o, err
}

func (a *answering) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	return func(yield func(remote.Object, error) bool) {
		if err := a.request(ctx, false, false, func() error { return nil }); err != nil {
			yield(remote.Object{}, err)
			return
		}
		a.Remote.List(ctx, part, q)(yield)
	}
}

func (a *answering) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (v remote.Version, err error) {
	err = a.request(ctx, true, swap != nil, func() (err error) {
		v, err = a.Remote.Commit(ctx, part, objects, swap)
		return err
	})
	if err != nil {
		v = ""
	}
	return v, err
}

func (a *answering) Delete(ctx context.Context, part string, names []string) error {
	return a.request(ctx, true, false, func() error { return a.Remote.Delete(ctx, part, names) })
}

// publicErrors are the errors that a program can tell apart.
var publicErrors = []error{
	ErrBlocked, ErrUnauthorized, ErrClock, ErrUnreachable, ErrNewer, ErrForeign, ErrDamaged, ErrRemoved, ErrDeferred, ErrFull, ErrTooLarge, ErrContended,
}

// answerFault is what a remote does with a request, and what the error of a call Is for that.
type answerFault struct {
	do faulty
	is error
}

// answerFaults are what a remote may do with a request.
func answerFaults() map[string]answerFault {
	returns := func(err, is error) answerFault {
		return answerFault{func(context.Context, bool, bool, func() error) error { return err }, is}
	}
	swaps := func(err, is error) answerFault {
		return answerFault{func(_ context.Context, _, swap bool, make func() error) error {
			if swap {
				return err
			}
			return make()
		}, is}
	}
	writes := func(err, is error) answerFault {
		return answerFault{func(_ context.Context, write, _ bool, make func() error) error {
			if write {
				return err
			}
			return make()
		}, is}
	}
	// unknown is what adapters return where nothing is known of a swap.
	unknown := func(swap bool, err error) error {
		if swap {
			return fmt.Errorf("%w: %w", remote.ErrUnknown, err)
		}
		return err
	}
	trouble := func(kind remote.Kind, after time.Duration) answerFault {
		return returns(&remote.Unreachable{Err: errors.New("no words"), Kind: kind, After: after}, ErrUnreachable)
	}
	return map[string]answerFault{
		"failed":               trouble(remote.Failed, 0),
		"throttled":            trouble(remote.Throttled, 0),
		"throttled for a time": trouble(remote.Throttled, 20*time.Second),
		"away":                 trouble(remote.Away, 0),
		"stale":                trouble(remote.Stale, 0),
		"unreachable":          returns(remote.ErrUnreachable, ErrUnreachable),
		"blocked":              returns(remote.ErrBlocked, ErrBlocked),
		"refused":              returns(remote.ErrRefused, ErrBlocked),
		"unauthorized":         returns(remote.ErrUnauthorized, ErrUnauthorized),
		"clock":                returns(fmt.Errorf("%w: %w", remote.ErrBlocked, remote.ErrClock), ErrClock),
		"not named":            returns(errors.New("an adapter that names no kind"), ErrUnreachable),
		"swaps are not made":   swaps(remote.ErrUnknown, ErrUnreachable),
		"changed":              swaps(remote.ErrChanged, ErrContended),
		"full":                 writes(remote.ErrFull, ErrFull),
		"too large":            writes(remote.ErrTooLarge, ErrTooLarge),
		"writes refused":       writes(remote.ErrRefused, ErrBlocked),
		"lost": {func(_ context.Context, _, swap bool, make func() error) error {
			_ = make()
			return unknown(swap, &remote.Unreachable{Err: errors.New("the answer is lost")})
		}, ErrUnreachable},
		"swaps are lost": {func(_ context.Context, _, swap bool, make func() error) error {
			err := make()
			if swap {
				return remote.ErrUnknown
			}
			return err
		}, ErrUnreachable},
		"silent": {func(ctx context.Context, _, swap bool, _ func() error) error {
			<-ctx.Done()
			return unknown(swap, ctx.Err())
		}, ErrUnreachable},
	}
}

// remoteCalls are the calls that ask the remote. Session s is here and there, with more on both
// sides; new is only here, and theirs only there.
func remoteCalls() map[string]func(ctx context.Context, d *testDevice) error {
	const id = "s"
	synced := func(_ SyncResult, err error) error { return err }
	return map[string]func(ctx context.Context, d *testDevice) error{
		"Sync":       func(ctx context.Context, d *testDevice) error { return synced(d.Sync(ctx)) },
		"Sync s":     func(ctx context.Context, d *testDevice) error { return synced(d.Sync(ctx, id)) },
		"Sync new":   func(ctx context.Context, d *testDevice) error { return synced(d.Sync(ctx, "new")) },
		"Pull":       func(ctx context.Context, d *testDevice) error { return synced(d.Pull(ctx)) },
		"Pull them":  func(ctx context.Context, d *testDevice) error { return synced(d.Pull(ctx, "theirs")) },
		"Recreate":   func(ctx context.Context, d *testDevice) error { return d.Recreate(ctx, "theirs") },
		"Recreate s": func(ctx context.Context, d *testDevice) error { return d.Recreate(ctx, id) },
		"Remove":     func(ctx context.Context, d *testDevice) error { return d.Remove(ctx, id) },
		"Shutdown": func(ctx context.Context, d *testDevice) error {
			ctx, cancel := context.WithTimeout(ctx, 2*time.Hour)
			defer cancel()
			return d.Shutdown(ctx)
		},
		"Refresh": func(ctx context.Context, d *testDevice) error {
			_, err := d.Refresh(ctx, id)
			return err
		},
		"Check": func(ctx context.Context, d *testDevice) error {
			_, err := d.Check(ctx, id, &CheckOptions{Mend: true})
			return err
		},
		"Prune": func(ctx context.Context, d *testDevice) error {
			_, err := d.Prune(ctx, &PruneOptions{All: true})
			return err
		},
		"Remote": func(ctx context.Context, d *testDevice) error {
			_, err := d.Remote(ctx)
			return err
		},
		"Preview": func(ctx context.Context, d *testDevice) error {
			_, err := d.Preview(ctx, "theirs")
			return err
		},
		"Histories": func(ctx context.Context, d *testDevice) error {
			_, err := d.Histories(ctx, "rewound")
			return err
		},
		"Restore": func(ctx context.Context, d *testDevice) error {
			all, err := d.Histories(ctx, "rewound")
			if err != nil {
				return err
			}
			return d.Restore(ctx, "rewound", all[0])
		},
		"Copy from": func(ctx context.Context, d *testDevice) error {
			_, err := Copy(ctx, d.engine.opts.Remote, &memremote.Remote{}, "ada", "demo", nil)
			return err
		},
		"Copy to": func(ctx context.Context, d *testDevice) error {
			to := d.engine.opts.Remote.(*answering)
			_, err := Copy(ctx, to.Remote, &answering{Remote: &memremote.Remote{}, whole: to.whole, at: to.at, fault: to.fault}, "ada", "demo", nil)
			return err
		},
		"background": func(_ context.Context, d *testDevice) error {
			time.Sleep(testenv.Share(10*time.Minute, 10*time.Minute, time.Hour)) // its requests repeat soon
			return nil
		},
	}
}

// TestErrorsArePublic has each request of each call fail in each way, from then on: the error of
// the call, and the reason of each session in its result, in the status and in what the observer
// gets, Is one that a program can tell apart.
func TestErrorsArePublic(t *testing.T) {
	t.Parallel()
	faults, calls := answerFaults(), remoteCalls()
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, kind := range testenv.Some(t, 2, slices.Sorted(maps.Keys(faults))...) {
				for _, whole := range []bool{true, false} {
					step := testenv.Share(15, 15, 1)
					for n := 1 + testenv.Rand(t).IntN(step); ; n += step {
						reached := false
						synctest.Test(t, func(t *testing.T) {
							d := failing(t, whole, name)
							r := d.engine.opts.Remote.(*answering)
							r.from(n, faults[kind].do)
							err := calls[name](t.Context(), d)
							reached = r.reached() || name == "Copy to" && err != nil
							at := fmt.Sprintf("%s, %s from request %d on, whole: %v", name, kind, n, whole)
							is := []error{faults[kind].is, ErrDeferred} // as where a branch has no session there
							requirePublic(t, err, is, at)
							if name == "Shutdown" {
								return
							}
							all, err := d.Status(t.Context())
							require.NoError(t, err)
							for _, s := range all {
								if s.State == Deferred || s.State == Blocked {
									requirePublic(t, s.Err, is, at+": status of "+s.SessionID)
								}
							}
						})
						if !reached {
							break
						}
					}
				}
			}
		})
	}
}

// requirePublic fails the test for an error that Is none of the public ones, or is another one than
// the fault explains.
func requirePublic(t *testing.T, err error, is []error, at string) {
	t.Helper()
	if err == nil {
		return
	}
	one := func(of error) bool { return errors.Is(err, of) }
	require.True(t, slices.ContainsFunc(publicErrors, one), "%s: %v", at, err)
	require.True(t, is == nil || slices.ContainsFunc(is, one), "%s: %v", at, err)
}

// failing returns a device that has something to do in a call, on a remote that does not fail
// yet.
func failing(t *testing.T, whole bool, call string) *testDevice {
	t.Helper()
	r := &answering{Remote: &memremote.Remote{}, whole: whole}
	open := func(name, dir string, edit func(*Options)) *testDevice {
		o := &Options{Remote: r, Project: "demo", User: "ada", Device: name, Manual: true, Background: Background{CloseWait: -1}}
		edit(o)
		s, err := Open(t.Context(), dir, o)
		require.NoError(t, err)
		testenv.Cleanup(t, func() { _ = s.Close() })
		return &testDevice{s, t}
	}
	manual := func(*Options) {}
	at := filepath.Join(t.TempDir(), "a")
	a, b := open("a", at, manual), open("b", filepath.Join(t.TempDir(), "b"), manual)
	a.say("s", "one", "two")
	a.say("rewound", "one", "two", "three", "four")
	a.put("s", "events.jsonl", "{\"event\": \"x\"}\n")
	a.sync()
	b.pull()
	a.cutTo("rewound", 2)
	a.sync()
	b.say("s", "three")
	b.say("theirs", "hello", "there")
	b.put("theirs", "events.jsonl", "{\"event\": \"y\"}\n")
	b.sync()
	a.say("s", "other")
	a.say("new", noise(map[bool]int{true: 2 << 20, false: 100}[slices.Contains([]string{"Sync", "Sync new", "Shutdown", "background"}, call)])) // these send it
	require.NoError(t, b.Close())
	require.NoError(t, a.Close())
	return open("a", at, func(o *Options) {
		o.Manual = call != "background"
		o.Observer = publicObserver{t}
	})
}

// publicObserver requires that the errors that it gets are public.
type publicObserver struct{ t *testing.T }

func (p publicObserver) Requested(context.Context, Request) {}

func (p publicObserver) SessionSynced(_ context.Context, v SessionSync) {
	if v.Err != nil && !errors.Is(v.Err, context.Canceled) {
		requirePublic(p.t, v.Err, nil, "observed of "+v.Session)
	}
}
