package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// invoke calls the method of that name with plausible arguments, and uses up
// what it returns. It returns the error of the call, nil where it has none.
func invoke(ctx context.Context, receiver reflect.Value, name string) error {
	return invokeWith(ctx, receiver, name, "s")
}

// invokeWith is invoke with that text for each text.
func invokeWith(ctx context.Context, receiver reflect.Value, name, text string) (failed error) {
	method := receiver.MethodByName(name)
	args := make([]reflect.Value, 0, method.Type().NumIn())
	for i := range method.Type().NumIn() {
		args = append(args, argument(ctx, method.Type().In(i), text))
	}
	call := method.Call
	if method.Type().IsVariadic() {
		call = method.CallSlice
	}
	for _, result := range call(args) {
		switch r := result.Interface().(type) {
		case error:
			failed = r
		case *Hold:
			if r != nil {
				failed = r.Release()
			}
		case *Watcher:
			if r != nil {
				failed = r.Close()
			}
		case interface{ Close() error }: // a directory
			if !result.IsNil() {
				failed = r.Close()
			}
		default:
			if result.Kind() == reflect.Func && result.Type().CanSeq2() && !result.IsNil() {
				for _, err := range result.Seq2() {
					failed, _ = err.Interface().(error)
				}
			}
		}
	}
	return failed
}

// argument returns a value for a parameter of that type.
func argument(ctx context.Context, is reflect.Type, text string) reflect.Value {
	switch {
	case is == reflect.TypeFor[context.Context]() && ctx != nil:
		return reflect.ValueOf(ctx)
	case is == reflect.TypeFor[[]Message]():
		return reflect.ValueOf([]Message{newMessage([]byte(`{"role": "user", "content": "hi"}`))})
	case is == reflect.TypeFor[Naming]():
		return reflect.ValueOf(Naming{Name: "n", Source: "manual"})
	case is.Kind() == reflect.String:
		return reflect.ValueOf(text).Convert(is)
	case is == reflect.TypeFor[[]string]():
		return reflect.ValueOf([]string{"."})
	case is.Kind() == reflect.Func:
		return reflect.MakeFunc(is, func([]reflect.Value) []reflect.Value {
			results := make([]reflect.Value, is.NumOut())
			for i := range results {
				results[i] = reflect.Zero(is.Out(i))
			}
			return results
		})
	}
	return reflect.Zero(is)
}

// methods returns the names of the methods of a value, except for some.
func methods(is reflect.Type, except ...string) (names []string) {
	for i := range is.NumMethod() {
		name := is.Method(i).Name
		excepted := false
		for _, other := range except {
			excepted = excepted || name == other
		}
		if !excepted {
			names = append(names, name)
		}
	}
	return names
}

// answersWithoutError are the methods that no closed directory can fail.
var answersWithoutError = []string{"Close", "Dir", "Exists"}

// While a store closes, callers go on with all that a store can do. No call
// meets a store that is half closed: each does what it does, or tells that the
// store is closed. From then on all do.
func TestCloseBesideCalls(t *testing.T) {
	t.Parallel()
	for round := range 20 {
		st, err := Open(t.TempDir(), &Options{Durability: Relaxed})
		require.NoError(t, err)
		started, wait, closed := make(chan struct{}, 256), sync.WaitGroup{}, atomic.Bool{}
		ask := func(receiver reflect.Value, name string) {
			for {
				after := closed.Load()
				err := invoke(t.Context(), receiver, name)
				if errors.Is(err, ErrClosed) {
					return
				}
				if after {
					t.Errorf("%s after Close: %v", name, err)
					return
				}
				select {
				case started <- struct{}{}:
				default:
				}
			}
		}
		for _, name := range methods(reflect.TypeFor[*Store](), answersWithoutError...) {
			wait.Go(func() { ask(reflect.ValueOf(st), name) })
		}
		for _, name := range coreMethods() {
			wait.Go(func() { ask(reflect.ValueOf(coreStore{st}), name) })
		}
		writeMany(t, st, &wait)
		for range round * 5 {
			<-started
		}
		require.NoError(t, st.Close())
		closed.Store(true)
		require.NoError(t, st.Close(), "a second Close does nothing")
		wait.Wait()
	}
}

// writeMany has goroutines write to ever new sessions until st is closed.
func writeMany(t *testing.T, st *Store, wait *sync.WaitGroup) {
	row := newMessage([]byte(`{"role": "user", "content": "hi"}`))
	for w := range 4 {
		wait.Go(func() {
			for n := 0; ; n++ {
				id := fmt.Sprintf("w%d-%d", w, n)
				err := st.Append(context.WithoutCancel(t.Context()), id, row)
				if errors.Is(err, ErrClosed) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
}

// Watchers that begin and end while the store closes end with it.
func TestCloseBesideWatchers(t *testing.T) {
	t.Parallel()
	for range 10 {
		st, err := Open(t.TempDir(), nil)
		require.NoError(t, err)
		watched, wait := make(chan struct{}, 4), sync.WaitGroup{}
		for range 4 {
			wait.Go(func() {
				for {
					w, err := st.Watch(t.Context())
					if errors.Is(err, ErrClosed) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					select {
					case watched <- struct{}{}:
					default:
					}
					for range w.Changes() { // until Close of the store
						break
					}
				}
			})
		}
		<-watched
		require.NoError(t, st.Close())
		wait.Wait()
	}
}

// Two that close at once both wait until the store is closed.
func TestClosesWaitForEachOther(t *testing.T) {
	t.Parallel()
	st, err := Open(t.TempDir(), nil)
	require.NoError(t, err)
	require.NoError(t, st.admit(t.Context()))
	closed := make(chan error, 2)
	for range 2 {
		go func() { closed <- st.Close() }()
	}
	require.Eventually(t, func() bool { return !st.Exists("s") && isClosed(st) }, time.Minute, time.Millisecond)
	require.Empty(t, closed, "a call is under way")
	st.calls.Done()
	require.NoError(t, <-closed)
	require.NoError(t, <-closed)
}

func isClosed(st *Store) bool {
	err := st.admit(context.Background())
	if err == nil {
		st.calls.Done()
	}
	return errors.Is(err, ErrClosed)
}

// A closed store answers with an error, whatever is asked, and each time.
func TestClosedAnswers(t *testing.T) {
	t.Parallel()
	st, err := Open(t.TempDir(), &Options{Durability: Relaxed}) // SyncFiles has nothing to do under Durable
	require.NoError(t, err)
	require.NoError(t, st.Close())
	for _, name := range methods(reflect.TypeFor[*Store](), answersWithoutError...) {
		err := invoke(t.Context(), reflect.ValueOf(st), name)
		require.ErrorIs(t, err, ErrClosed, name)
		require.NotContains(t, err.Error(), "file", name)
	}
	for _, name := range coreMethods() {
		require.ErrorIs(t, invoke(t.Context(), reflect.ValueOf(coreStore{st}), name), ErrClosed, name)
	}
}

// coreMethods are those that do something with the directory.
func coreMethods() []string {
	return methods(reflect.TypeFor[coreStore](), "Now", "Log", "Syncs", "Workspace", "Stored", "Private", "SetPrivate", "Has", "Settled", "Epoch", "Free", "Acquired", "Runs", "IsLocal")
}

// A nil context and a nil store are mistakes of the caller, and the panic says so.
func TestNilArguments(t *testing.T) {
	t.Parallel()
	st, err := Open(t.TempDir(), &Options{Durability: Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	says := func(ctx context.Context, what string, receiver any, names []string) {
		for _, name := range names {
			func() {
				defer func() { require.Equal(t, "sessionstore: "+what, recover(), name) }()
				_ = invoke(ctx, reflect.ValueOf(receiver), name)
			}()
		}
	}
	says(t.Context(), "nil *Store", (*Store)(nil), methods(reflect.TypeFor[*Store]()))
	says(nil, "nil Context", st, methods(reflect.TypeFor[*Store](), "Close", "Dir", "Exists"))
}
