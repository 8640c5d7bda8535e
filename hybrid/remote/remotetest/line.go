package remotetest

import (
	"context"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Line is the way to a service of HTTP, which a test makes slow or mute. The zero Line is
// fast.
type Line struct {
	mu sync.Mutex // guards line
	line
}

type line struct {
	mute  bool // no answer begins
	slow  bool // a byte of an answer comes each 20 seconds
	stops int  // after so many bytes an answer stops; 0: never
}

const between = 20 * time.Second // bytes of a slow line

func (l *Line) becomes(is line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line = is
}

// Do makes a request over the line, with next.
func (l *Line) Do(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	l.mu.Lock()
	is := l.line
	l.mu.Unlock()
	if is.mute {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	answer, err := next(req)
	if err == nil && is != (line{}) {
		answer.Body = &slow{answer.Body, req.Context(), is}
	}
	return answer, err
}

// slow is a body that comes over a line.
type slow struct {
	io.ReadCloser
	ctx context.Context
	line
}

func (b *slow) Read(p []byte) (int, error) {
	if b.slow {
		p = p[:min(1, len(p))]
		select {
		case <-time.After(between):
		case <-b.ctx.Done():
			return 0, b.ctx.Err()
		}
		return b.ReadCloser.Read(p)
	}
	if b.stops == 0 {
		<-b.ctx.Done()
		return 0, b.ctx.Err()
	}
	n, err := b.ReadCloser.Read(p[:min(b.stops, len(p))])
	b.stops -= n
	return n, err
}

// silence is how long nothing may move.
const silence = 30 * time.Second

// limited returns ctx for a call that ends when nothing moves, as package hybrid ends it.
func limited(ctx context.Context) (_ context.Context, stop func() bool) {
	ctx, end := context.WithCancelCause(ctx)
	idle := time.AfterFunc(time.Hour, func() { end(remote.NoAnswer(silence)) }) // of a remote that tells nothing
	moved := func() {
		if ctx.Err() == nil {
			idle.Reset(silence)
		}
	}
	return remote.Moving(remote.Listened(ctx, moved), moved), idle.Stop
}

// RunLine tests a remote on a line that is mute, that is slow, and that stops amid an answer: it
// tells of what moves, and returns when its context ends. Each call of open returns a remote
// without objects whose requests all go over the line. The tests run in bubbles of
// testing/synctest, so the service must answer in the process, without sockets.
func RunLine(t *testing.T, open func(t *testing.T, over *Line) remote.Remote) {
	t.Helper()
	for name, test := range map[string]func(s *suite, l *Line){"Mute": testMute, "Slow": testSlow, "Stops": testStops} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := &Line{}
				s := &suite{T: t, r: open(t, l)}
				s.commit(&remote.Swap{Object: object("head", "1")}, object("a", "text"))
				test(s, l)
			})
		})
	}
}

// reads are the calls whose answers have bodies, and all are all calls.
func (s *suite) reads() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Get": func(ctx context.Context) error { _, err := s.r.Get(ctx, part, "a", ""); return err },
		"List": func(ctx context.Context) (err error) {
			for _, err = range s.r.List(ctx, part, remote.Query{}) {
			}
			return err
		},
	}
}

func (s *suite) all() map[string]func(context.Context) error {
	all := s.reads()
	all["Commit"] = func(ctx context.Context) error {
		_, err := s.r.Commit(ctx, part, []remote.Object{object("b", "b")}, nil)
		return err
	}
	all["swap"] = func(ctx context.Context) error {
		_, err := s.r.Commit(ctx, part, nil, &remote.Swap{Object: object("other", "1")})
		return err
	}
	all["Delete"] = func(ctx context.Context) error { return s.r.Delete(ctx, part, []string{"b"}) }
	return all
}

// ends requires a call to end because nothing moved.
func (s *suite) ends(name string, call func(context.Context) error) {
	s.Helper()
	ctx, stop := limited(s.Context())
	defer stop()
	start := time.Now()
	err := call(ctx)
	s.is(err, remote.NoAnswer(silence), name)
	s.same(time.Since(start), silence, "time of %s", name)
	if name == "swap" {
		s.is(err, remote.ErrUnknown, name)
	}
}

func testMute(s *suite, l *Line) {
	l.becomes(line{mute: true})
	for name, call := range s.all() {
		s.ends(name, call)
	}
}

func testStops(s *suite, l *Line) {
	l.becomes(line{stops: 10})
	for name, call := range s.reads() {
		s.ends(name, call)
	}
}

func testSlow(s *suite, l *Line) {
	l.becomes(line{slow: true})
	for name, call := range s.all() {
		ctx, stop := limited(s.Context())
		start := time.Now()
		if err := call(ctx); err != nil {
			s.Fatalf("%s on a slow line: %v", name, err)
		}
		if stop(); s.reads()[name] != nil && time.Since(start) < silence {
			s.Fatalf("%s did not use the slow line", name)
		}
	}
}
