package gc

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/jitter"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segmenttest"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

func TestMain(m *testing.M) {
	if err := segmenttest.WarmUp(); err != nil {
		panic(err)
	}
	testenv.Main(m, nil)
}

// world is a container in memory with sessions, which writers make here without a
// store: by the rules for writers that the package's doc tells.
type world struct {
	t       *testing.T
	c       *memremote.Remote
	dial    func() remote.Remote
	r       *rand.Rand
	noise   *rand.ChaCha8
	before  func() error // each request; nil: nothing. The request is not made when it returns an error
	name    string       // of the device
	drawn   int          // names
	twice   bool         // each of them
	falls   bool         // lists have older names last
	sent    int          // lines of the transcript
	left    string       // id of the newest history
	forgets bool         // which heads are its own
	late    bool         // the chunk of a line is stored after its segment
}

// draw draws a nonce, the same ones in each run. Lists have older names first, or last.
func (w *world) draw() string {
	if w.twice {
		return "0123456789abcdef"
	}
	w.drawn++
	sum := sha256.Sum256(fmt.Append(nil, w.name, w.drawn))
	if sum[0] = byte(w.drawn); w.name != "" { // what an actor draws is younger than what was there
		sum[0] |= 0x40
	}
	if w.falls {
		sum[0] ^= 0xff
	}
	return hex.EncodeToString(sum[:8])
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, c: &memremote.Remote{}, r: rand.New(rand.NewPCG(seed, 7)), noise: rand.NewChaCha8([32]byte{byte(seed)})}
	w.dial = func() remote.Remote { return w.c }
	w.c.Refuse = func() error {
		if w.before != nil {
			if err := w.before(); err != nil {
				return fmt.Errorf("%w: %w", remote.ErrUnknown, err)
			}
		}
		return nil
	}
	return w
}

func (w *world) reader() *remoteread.Reader { return &remoteread.Reader{Remote: w.dial(), Alone: true} }

func identity(session string) segment.Identity {
	return segment.Identity{User: "ada", Project: "demo", Session: session}
}

func sidOf(session string) string { return identity(session).SID() }

// text is lines with so many random bytes each.
func (w *world) text(n, bytes int) (lines []string) {
	for range n {
		b := make([]byte, bytes*3/4)
		_, _ = w.noise.Read(b) // never fails
		lines = append(lines, fmt.Sprintf(`{"role":"user","content":%q}`, base64.StdEncoding.EncodeToString(b)))
	}
	return lines
}

// writer changes one session. It reads the head before each change.
type writer struct {
	*world
	*remoteread.Reader
	sid, id string
	lines   map[segment.Stream][]string // of the histories that the head leads to

	tip     *head.Head
	version remote.Version
	beside  []segment.Document // what is stored with the head
	without []string           // what is removed with it
}

func (w *world) writer(id string) *writer {
	return &writer{world: w, Reader: w.reader(), id: id, sid: sidOf(id), lines: map[segment.Stream][]string{}}
}

// change makes one change of the head, again as long as somebody else was first.
func (w *writer) change(make func(ctx context.Context, next *head.Head) error) error {
	ctx := context.Background()
	for {
		t, known, err := w.Head(ctx, w.sid, remoteread.Known{})
		if err != nil {
			return err
		}
		w.tip, w.version, w.beside, w.without = t, known.Version, nil, nil
		next := &head.Head{SID: w.sid, User: "ada", Project: "demo", Session: w.id, Born: bornFirst, Logs: map[segment.Stream]head.Extent{}}
		if t != nil {
			next = t.Clone()
		}
		next.Revision++
		next.Updated = time.Now()
		if err := make(ctx, next); err != nil {
			return err
		}
		doc, err := next.Encode()
		if err != nil {
			return err
		}
		swap := remoteread.Swap(doc, w.version)
		swap.Remove = w.without
		_, err = w.Commit(ctx, doc.PK, w.beside, swap)
		if err := remoteread.Lost(err); !errors.Is(err, remoteread.ErrLost) {
			w.tip = next
			return err
		}
	}
}

// store stores the lines behind the first n of a history, and returns how far it
// reaches.
func (w *writer) store(ctx context.Context, st segment.Stream, lines []string, n int) (head.Extent, error) {
	c := segment.NewCutter(segment.Options{SID: w.sid, Draw: w.draw}, segment.From{Stream: st, Mark: markOf(st, lines[:n])})
	for d, err := range c.Documents(each(lines[n:])) {
		if err != nil {
			return head.Extent{}, err
		}
		if _, err := w.Commit(ctx, d.PK, []segment.Document{d}, nil); err != nil {
			return head.Extent{}, err
		}
	}
	return head.ExtentOf(c.At().Mark), nil
}

func each(lines []string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, line := range lines {
			if !yield([]byte(line), nil) {
				return
			}
		}
	}
}

func markOf(st segment.Stream, lines []string) segment.Mark {
	t := segment.NewTracker(st, nil, nil)
	for _, line := range lines {
		t.Add([]byte(line), nil)
	}
	return t.Mark()
}

// add appends lines to a stream.
func (w *writer) add(st segment.Stream, lines ...string) error {
	n := len(w.lines[st])
	all := slices.Concat(w.lines[st], lines)
	err := w.change(func(ctx context.Context, next *head.Head) error {
		extent, err := w.store(ctx, st, all, n)
		if st == segment.Transcript {
			next.Transcript = extent
		} else {
			next.Logs[st] = extent
		}
		return err
	})
	if err == nil {
		w.lines[st] = all
	}
	return err
}

// rewrite replaces the transcript behind its first n lines.
func (w *writer) rewrite(n int, lines ...string) error {
	all := slices.Concat(w.lines[segment.Transcript][:n], lines)
	err := w.change(func(ctx context.Context, next *head.Head) error {
		if err := w.leave(next, segment.Transcript, w.tip.Transcript, head.WhyRewrite); err != nil {
			return err
		}
		extent, err := w.store(ctx, segment.Transcript, all, n)
		next.Transcript = extent
		return err
	})
	if err == nil {
		w.lines[segment.Transcript] = all
	}
	return err
}

// cut replaces a log behind its first n lines.
func (w *writer) cut(st segment.Stream, n int, lines ...string) error {
	all := slices.Concat(w.lines[st][:n], lines)
	err := w.change(func(ctx context.Context, next *head.Head) (err error) {
		if err = w.leave(next, st, w.tip.Logs[st], head.WhyRewrite); err == nil {
			next.Logs[st], err = w.store(ctx, st, all, n)
		}
		return err
	})
	if err == nil {
		w.lines[st] = all
	}
	return err
}

// leave makes the next head name a history.
func (w *writer) leave(next *head.Head, st segment.Stream, extent head.Extent, why string) error {
	h := head.History{
		ID: segment.HistoryID(w.sid, w.draw()), Stream: st, Extent: extent, Why: why, At: time.Now(),
	}
	doc, err := h.Encode(w.sid)
	next.Histories.Add(&h)
	w.left = h.ID
	w.beside = append(w.beside, doc)
	return err
}

// branch stores another history that shares n lines with the transcript.
func (w *writer) branch(n int, lines ...string) error {
	all := slices.Concat(w.lines[segment.Transcript][:n], lines)
	return w.change(func(ctx context.Context, next *head.Head) error {
		extent, err := w.store(ctx, segment.Transcript, all, n)
		if err != nil {
			return err
		}
		return w.leave(next, segment.Transcript, extent, head.WhyBranch)
	})
}

// file replaces a small file.
func (w *writer) file(name string, content []byte) error {
	return w.change(func(ctx context.Context, next *head.Head) error {
		blob, docs := segment.Pack(w.sid, content, w.draw())
		for d, err := range docs {
			if err != nil {
				return err
			}
			if _, err := w.Commit(ctx, d.PK, []segment.Document{d}, nil); err != nil {
				return err
			}
		}
		next.Files = map[string]head.File{name: {Blob: blob}}
		return nil
	})
}

// delete makes a tombstone of the head, and removes the rest.
func (w *writer) delete(removal bool) error {
	err := w.change(func(_ context.Context, next *head.Head) error {
		*next = *next.Tombstone()
		return nil
	})
	if err != nil || !removal {
		return err
	}
	t, known, err := w.Head(context.Background(), w.sid, remoteread.Known{})
	if err != nil || t == nil {
		return err
	}
	_, err = Empty(context.Background(), w.session(w.id), t, known.Version)
	return err
}

// prune prunes a session without any patience.
func (w *world) prune(id string) Result {
	w.t.Helper()
	r, err := Prune(context.Background(), w.session(id), Options{Grace: time.Nanosecond, Retention: -1})
	require.NoError(w.t, err)
	return r
}

func (w *world) session(id string) *Session {
	return &Session{SID: sidOf(id), Reader: w.reader(), Device: "device", Random: jitter.New(sha256.Sum256([]byte(id)))}
}

// recording is a remote that notes which documents were read.
type recording struct {
	remote.Remote
	read map[string]bool
}

func (r *recording) Get(ctx context.Context, pk, id string, known remote.Version) (remote.Object, error) {
	r.read[id] = true
	return r.Remote.Get(ctx, pk, id, known)
}

// readable reads all histories and files of a session that can be named. It
// returns them by their names, and the ids of the documents that it read.
func (w *world) readable(id string) (names map[string]string, read map[string]bool) {
	w.t.Helper()
	ctx, sid := context.Background(), sidOf(id)
	rec := &recording{w.c, map[string]bool{}}
	r := &remoteread.Reader{Remote: rec, Alone: true}
	names = map[string]string{}
	t, at, err := r.Head(ctx, sid, remoteread.Known{})
	require.NoError(w.t, err)
	if t == nil || t.Deleted {
		return names, rec.read
	}
	history := func(name string, st segment.Stream, p segment.Point) {
		infos, err := r.Segments(ctx, t, st, 0)
		require.NoError(w.t, err)
		n := int64(0)
		for _, err := range r.Lines(ctx, st, infos, segment.Origin(st), p, nil) {
			require.NoError(w.t, err, name)
			n++
		}
		require.Equal(w.t, p.N, n)
		names[name] = p.Hash.String()
	}
	history("transcript", segment.Transcript, t.Transcript.Point())
	for st, extent := range t.Logs {
		history(string(st), st, extent.Point())
	}
	known, err := r.Histories(ctx, t, at.Version)
	require.NoError(w.t, err)
	for _, h := range known {
		history(h.Why+" "+h.Extent.Hash.String(), h.Stream, h.Extent.Point())
		rec.read[h.ID] = true
	}
	w.files(r, t, names)
	return names, rec.read
}

func (w *world) files(r *remoteread.Reader, t *head.Head, names map[string]string) {
	for name, f := range t.Files {
		content, err := r.File(context.Background(), t.SID, f)
		require.NoError(w.t, err)
		names[name+" "+f.Sum.String()] = fmt.Sprint(len(content))
	}
}

// documents returns the documents of a session by type.
func (w *world) documents(id string) map[string][]string {
	w.t.Helper()
	byType := map[string][]string{}
	p := &pruner{s: &Session{SID: sidOf(id), Reader: &remoteread.Reader{Remote: w.c}}}
	i, err := p.list(context.Background())
	require.NoError(w.t, err)
	for _, d := range i.docs {
		byType[d.Type] = append(byType[d.Type], d.Name)
	}
	return byType
}
