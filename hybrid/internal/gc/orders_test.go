package gc

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/jitter"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// The tests of this file search all orders in which the requests of a few actors reach the
// account. Between two of its requests an actor may sleep for longer than any grace time.

// An actor does one piece of work on the session "s". It does the same whenever it gets the
// same answers.
type actor struct {
	name  string
	do    func(w *world) error
	sends bool // when it returns no error, the session is in the cloud
	reads bool // when it returns no error, the transcript can be read
	left  bool // when it returns no error, the head names the former head that it left
	loses int  // the answer to which of its changes it loses, which is made at any time after; 0: none
	whole bool // no other actor makes a request between two of its
}

// A search runs actors in every order of their requests. It leaves an order that comes to a
// state which another order came to: the same documents in the same versions, and the same
// answers to each actor.
type search struct {
	start    *memremote.Remote
	actors   []actor
	through  func(*turns) remote.Remote // what the actors' requests go through; nil: nothing
	removals bool                       // an actor removes the session
	content  bool                       // a version follows from the content, and is not unique
	twice    bool                       // a name follows from the content, and may be used twice
	falls    bool                       // lists have older names last
	large    bool                       // it takes long, with versions that follow from the content or with requests that are made again
	forgets  bool                       // an actor does not know which heads are its own
	late     bool                       // an actor stores the chunk of a line after its segment
	t        *testing.T

	seen  map[[32]byte]bool
	sound map[[32]byte]bool // clouds and outcomes of actors by which nothing is lost
	todo  [][]int           // the beginnings of orders that are to be tried
}

// late is the name of an actor's change that is made after the actor has given it up.
const late = ", late"

// run returns the first order found after which something is lost, "" for none.
func (s *search) run() (bad string) {
	s.seen, s.sound, s.todo = map[[32]byte]bool{}, map[[32]byte]bool{}, [][]int{nil}
	for len(s.todo) > 0 && bad == "" {
		path := s.todo[0]
		s.todo = s.todo[1:]
		bad = s.replay(path)
	}
	return bad
}

// errEnded ends the actors of an order that leads to nothing new.
var errEnded = errors.New("the order ended")

// replay makes requests in the order of path, and goes on with the first actor.
func (s *search) replay(path []int) string {
	c, turns, now := s.start.Clone(), make([]*turns, len(s.actors), 2*len(s.actors)), 0
	c.Now = func() time.Time { return time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC) }
	c.Version = func(o *remote.Object) remote.Version {
		if s.content {
			return remote.Version(fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %s %s", o.Name, o.Label, o.Body))))
		}
		turns[now].stored++
		return remote.Version(fmt.Sprintf("%s %d", turns[now].name, turns[now].stored))
	}
	ended := make(chan struct{})
	for i, a := range s.actors {
		g := newTurns(a.name, c, ended)
		turns[i] = g
		if a.loses > 0 {
			g.loses, g.late = a.loses, newTurns(a.name+late, c, ended)
			turns = append(turns, g.late)
			go g.late.send()
		}
		go func() {
			g.w = &world{t: s.t, c: c, name: a.name, twice: s.twice, falls: s.falls, forgets: s.forgets, late: s.late, dial: func() remote.Remote {
				if s.through != nil {
					return s.through(g)
				}
				return g
			}}
			g.err = a.do(g.w)
			g.done.Store(true)
		}()
	}
	defer wait(turns)
	defer close(ended)
	step := func(i int) {
		for now = i; ; {
			turns[i].next <- struct{}{}
			if wait(turns); i >= len(s.actors) || !s.actors[i].whole || turns[i].done.Load() {
				return
			}
		}
	}
	wait(turns)
	for _, i := range path {
		step(i)
	}
	for {
		cloud := contents(c)
		key := key(cloud, turns)
		if s.seen[key] {
			return ""
		}
		s.seen[key] = true
		if end := outcome(cloud, turns); !s.sound[end] {
			if lost := s.lost(c, turns); lost != "" {
				return lost + ": " + order(turns, path)
			}
			s.sound[end] = true
		}
		var able []int
		for i, g := range turns {
			if !g.done.Load() && (i < len(s.actors) || g.sent.Load()) {
				able = append(able, i)
			}
		}
		if len(able) == 0 {
			return ""
		}
		for _, i := range able[1:] {
			s.todo = append(s.todo, append(slices.Clone(path), i))
		}
		path = append(slices.Clone(path), able[0])
		step(able[0])
	}
}

// order names the actors of an order, one for each request.
func order(all []*turns, path []int) string {
	var names []string
	for _, i := range path {
		names = append(names, all[i].name)
	}
	return strings.Join(names, ", ")
}

// lost tells what the cloud has lost, "" for nothing.
func (s *search) lost(c *memremote.Remote, all []*turns) string {
	for _, g := range all {
		if g.done.Load() && errors.Is(g.err, remoteread.ErrDamaged) {
			return fmt.Sprintf("%s: %v", g.name, g.err)
		}
	}
	r := &remoteread.Reader{Remote: c, Alone: true}
	p := &pruner{s: &Session{SID: sidOf("s"), Reader: r}}
	err := p.readHead(context.Background())
	if err == nil && p.head != nil {
		err = p.readHistories(context.Background())
	}
	switch {
	case err != nil:
		return err.Error()
	case p.head == nil && s.sent(all):
		return "the head is gone"
	case p.head == nil:
		return ""
	case p.head.Deleted && s.removals:
		return ""
	case p.head.Deleted:
		return "the session is deleted"
	}
	for i, a := range s.actors {
		g := all[i]
		if !g.done.Load() || g.err != nil {
			continue
		}
		if a.sends && p.head.Transcript.N < int64(g.w.sent) {
			return a.name + " sent more"
		}
		if err := p.read(); a.reads && err != nil {
			return a.name + ": " + err.Error()
		}
		if a.left && !slices.ContainsFunc(p.histories, func(h head.History) bool { return h.ID == g.w.left }) {
			return a.name + " left a former head"
		}
	}
	i, err := p.list(context.Background())
	if err == nil {
		err = i.live().damage
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// read reads the transcript.
func (p *pruner) read() error {
	for _, err := range p.s.Reader.LogLines(context.Background(), p.head, segment.Transcript, p.head.Transcript) {
		if err != nil {
			return err
		}
	}
	return nil
}

// sent reports whether an actor has sent the session.
func (s *search) sent(all []*turns) bool {
	for i, a := range s.actors {
		if g := all[i]; a.sends && g.done.Load() && g.err == nil {
			return true
		}
	}
	return !s.removals
}

// turns is a remote whose requests wait for their turns.
type turns struct {
	remote.Remote
	name   string
	next   chan struct{}
	ended  chan struct{}
	waits  atomic.Int32 // requests
	done   atomic.Bool  // the actor has done its work
	err    error        // of the work
	w      *world
	stored int      // documents
	heard  [32]byte // of all requests and answers

	loses   int         // see [actor]
	changes int         // that were made
	late    *turns      // makes the change whose answer is lost
	change  func()      // that change
	sent    atomic.Bool // it is under way
}

func newTurns(name string, r remote.Remote, ended chan struct{}) *turns {
	return &turns{Remote: r, name: name, next: make(chan struct{}), ended: ended}
}

// send makes a change whose answer is lost.
func (g *turns) send() {
	if g.turn(context.Background()) == nil {
		g.change()
	}
	g.done.Store(true)
}

// wait waits until each actor waits for its turn, or has done its work.
func wait(all []*turns) {
	for {
		synctest.Wait()
		if !slices.ContainsFunc(all, func(g *turns) bool { return !g.done.Load() && g.waits.Load() == 0 }) {
			return
		}
		time.Sleep(time.Minute)
	}
}

func (g *turns) turn(ctx context.Context) error {
	g.waits.Add(1)
	defer g.waits.Add(-1)
	select {
	case <-g.next:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-g.ended:
		return errEnded
	}
}

// hear notes a request and its answer.
func (g *turns) hear(what ...any) {
	g.heard = sha256.Sum256(fmt.Append(g.heard[:], timeless(fmt.Sprint(what...))))
}

func (g *turns) Get(ctx context.Context, part, name string, known remote.Version) (remote.Object, error) {
	if err := g.turn(ctx); err != nil {
		return remote.Object{}, err
	}
	o, err := g.Remote.Get(ctx, part, name, known)
	g.hear("get", part, name, known, string(o.Label), string(o.Body), o.Version, err)
	return o, err
}

func (g *turns) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	return func(yield func(remote.Object, error) bool) {
		if err := g.turn(ctx); err != nil {
			yield(remote.Object{}, err)
			return
		}
		var all []remote.Object
		for o := range g.Remote.List(ctx, part, q) { // in memory it cannot fail
			all = append(all, o)
			g.hear(o.Name, string(o.Label), o.Version)
		}
		g.hear("list", part, q)
		for _, o := range all {
			if !yield(o, nil) {
				return
			}
		}
	}
}

var errLateAnswer = errors.New("the answer was lost")

// losesNext reports whether the answer to the next change is lost, which is made at any time after.
func (g *turns) losesNext(change func()) bool {
	if g.changes++; g.changes != g.loses {
		return false
	}
	g.late.change = change
	g.late.sent.Store(true)
	g.hear("lost")
	return true
}

func (g *turns) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	if err := g.turn(ctx); err != nil {
		return "", err
	}
	if g.losesNext(func() { _, _ = g.Remote.Commit(context.Background(), part, objects, swap) }) {
		return "", fmt.Errorf("%w: %w", remote.ErrUnknown, errLateAnswer)
	}
	v, err := g.Remote.Commit(ctx, part, objects, swap)
	for _, o := range objects {
		g.hear("store", o.Name, string(o.Label), string(o.Body))
	}
	if swap != nil {
		g.hear("swap", swap.Name, string(swap.Label), string(swap.Body), swap.If, swap.Remove)
	}
	g.hear("commit", part, v, err)
	return v, err
}

func (g *turns) Delete(ctx context.Context, part string, names []string) error {
	if err := g.turn(ctx); err != nil {
		return err
	}
	if g.losesNext(func() { _ = g.Remote.Delete(context.Background(), part, names) }) {
		return errLateAnswer
	}
	err := g.Remote.Delete(ctx, part, names)
	g.hear("delete", part, names, err)
	return err
}

// timeless leaves out the times by the clocks of devices, by which no actor decides.
func timeless(text string) string {
	for _, begin := range []string{`"updated":"`, `"at":"`} {
		var kept strings.Builder
		before, after, found := strings.Cut(text, begin)
		for ; found; before, after, found = strings.Cut(after, begin) {
			kept.WriteString(before)
			_, after, _ = strings.Cut(after, `"`)
		}
		kept.WriteString(before)
		text = kept.String()
	}
	return text
}

// contents returns a hash of all documents and their versions.
func contents(c *memremote.Remote) [32]byte {
	var b strings.Builder
	for _, pk := range []string{segment.SessionPK(sidOf("s")), segment.UserPK(identity("s").UID())} {
		for o := range c.List(context.Background(), pk, remote.Query{}) {
			whole, err := c.Get(context.Background(), pk, o.Name, "")
			fmt.Fprintf(&b, "%s %s %s %s %v\n", whole.Name, whole.Label, whole.Body, whole.Version, err)
		}
	}
	return sha256.Sum256([]byte(timeless(b.String())))
}

// key returns the state that an order came to.
func key(cloud [32]byte, all []*turns) [32]byte {
	state := cloud[:]
	for _, g := range all {
		state = fmt.Appendf(state, "%x %v %v", g.heard, g.done.Load(), g.sent.Load())
	}
	return sha256.Sum256(state)
}

// outcome returns a hash of all by which [search.lost] judges.
func outcome(cloud [32]byte, all []*turns) [32]byte {
	state := cloud[:]
	for _, g := range all {
		if state = append(state, '|'); g.done.Load() {
			state = fmt.Append(state, g.err)
			if g.w != nil {
				state = fmt.Appendf(state, " %d %q", g.w.sent, g.w.left)
			}
		}
	}
	return sha256.Sum256(state)
}

func prunes(name string, retention time.Duration) actor {
	return actor{name: name, do: func(w *world) error {
		s := w.session("s")
		s.Device, s.Random = name, jitter.New(sha256.Sum256([]byte(name)))
		_, err := Prune(context.Background(), s, Options{Grace: -time.Hour, Retention: retention})
		return err
	}}
}

func removals(name string) actor {
	return actor{name: name, do: func(w *world) error {
		p := &Remover{
			Project: &Project{Reader: w.reader(), Identity: identity("")}, Writer: head.Writer{Device: name},
			Random: jitter.New(sha256.Sum256([]byte(name))),
		}
		return p.Remove(context.Background(), []string{"s"})
	}}
}

var (
	errNothing = errors.New("nothing to do") // ends an actor that meets nothing for it to do
	errDone    = errors.New("done")          // ends an actor that meets what it did
)

// bornFirst is what a session is born as.
const bornFirst = "0123456789abcdef"

// bornAnew is what a session is born as that an actor sends anew.
const bornAnew = "fedcba9876543210"

// stores returns an actor that stores all lines behind the first n, each in a segment, and
// makes the head lead to them. Where it meets a tombstone it sends the session anew, with all
// lines, or else removes what it stored. It knows a head of its own.
func stores(name string, n int, anew bool, lines ...string) actor {
	return actor{name: name, sends: true, do: func(w *world) error {
		var left []string
		born := ""
		s := w.writer("s")
		remove := func() error {
			g := w.session("s")
			g.Random = jitter.New(sha256.Sum256([]byte(name)))
			if s.tip.Deleted {
				version, err := Renew(context.Background(), g, s.tip, s.version)
				if err != nil || len(left) == 0 {
					return err
				}
				s.version = version
			}
			gone := left
			left = nil
			return s.Discard(context.Background(), segment.SessionPK(s.sid), gone)
		}
		for {
			err := s.change(func(ctx context.Context, next *head.Head) error {
				own := next.Op == name || anew && next.Born == bornAnew
				born = cmp.Or(born, next.Born)
				switch from := n; {
				case own && !next.Deleted && !w.forgets:
					return errDone // by a change whose answer was lost
				case !anew && (next.Deleted || next.Born != born):
					return errNothing
				case next.Deleted:
					if len(left) > 0 {
						if err := remove(); err != nil {
							return err
						}
					}
					next.Deleted, next.Born, from = false, bornAnew, 0
					fallthrough
				case !anew:
					next.Op, w.sent = name, len(lines)
					return s.each(ctx, next, lines, from, &left)
				}
				return errNothing
			})
			switch {
			case errors.Is(err, errDone):
				return nil
			case errors.Is(err, remoteread.ErrLost):
				continue
			case errors.Is(err, errNothing) && s.tip != nil && (s.tip.Deleted || s.tip.Born != born || w.forgets) && len(left) > 0:
				if lost := remove(); errors.Is(lost, remoteread.ErrLost) {
					continue
				} else if lost != nil {
					return lost
				}
			}
			return err
		}
	}}
}

// each stores each line behind the first n in a segment, and notes their ids.
func (w *writer) each(ctx context.Context, next *head.Head, lines []string, n int, stored *[]string) error {
	for ; n < len(lines); n++ {
		c := segment.NewCutter(segment.Options{SID: w.sid, Draw: w.draw}, segment.From{Stream: segment.Transcript, Mark: markOf(segment.Transcript, lines[:n])})
		var docs []segment.Document
		for d, err := range c.Documents(each(lines[n : n+1])) {
			if err != nil {
				return err
			}
			docs = append(docs, d)
		}
		if w.late {
			slices.Reverse(docs)
		}
		for _, d := range docs {
			*stored = append(*stored, d.ID)
			if _, err := w.Commit(ctx, d.PK, []segment.Document{d}, nil); err != nil {
				return remoteread.Lost(err)
			}
		}
	}
	next.Transcript = head.ExtentOf(markOf(segment.Transcript, lines))
	return nil
}

// mends returns an actor that stores all lines again in the place of what the head leads to,
// and condemns the segments that had them.
func mends(name string, lines ...string) actor {
	return actor{name: name, reads: true, do: func(w *world) error {
		g := w.session("s")
		g.Random = jitter.New(sha256.Sum256([]byte(name)))
		s := w.writer("s")
		for tries := 0; ; {
			err := s.change(func(ctx context.Context, next *head.Head) error {
				tries++
				switch {
				case tries == 4 || next.Deleted || next.Transcript.N > int64(len(lines)):
					return errNothing
				case next.Op == name:
					return errDone
				case len(next.Gone) > 0:
					return errors.Join(Finish(ctx, g), remoteread.ErrLost)
				}
				infos, err := s.Segments(ctx, next, segment.Transcript, 0)
				if err != nil {
					return err
				}
				next.Op = name
				gone := head.Gone{ID: segment.GoneID(s.sid, s.draw())}
				for _, in := range infos {
					gone.Names = append(gone.Names, in.ID)
				}
				if _, err := s.store(ctx, segment.Transcript, lines[:next.Transcript.N], 0); err != nil {
					return err
				}
				doc, err := gone.Encode(s.sid)
				next.Gone = append(next.Gone, gone.ID)
				s.beside = append(s.beside, doc)
				return err
			})
			switch {
			case errors.Is(err, errDone):
				return nil
			case errors.Is(err, remoteread.ErrLost):
				continue
			case err == nil:
				return Finish(context.Background(), g)
			}
			return err
		}
	}}
}

// rewrites returns an actor that replaces the transcript, and leaves the former head.
func rewrites(name string) actor {
	return actor{name: name, left: true, do: func(w *world) error {
		s, tries := w.writer("s"), 0
		return s.change(func(ctx context.Context, next *head.Head) (err error) {
			switch tries++; {
			case tries == 4 || next.Op == name || next.Deleted:
				return errNothing
			}
			next.Op = name
			if err := s.leave(next, segment.Transcript, next.Transcript, head.WhyRewrite); err != nil {
				return err
			}
			next.Transcript, err = s.store(ctx, segment.Transcript, lines(name), 0)
			return err
		})
	}}
}

// harm damages the lines of a segment.
func (w *writer) harm(id string) {
	doc, err := w.Get(context.Background(), segment.SessionPK(w.sid), id, "")
	require.NoError(w.t, err)
	harmed := segment.Document{ID: id, Label: doc.Label, Body: []byte{0, 0, 0, 0}}
	require.NotEqual(w.t, doc.Body, harmed.Body)
	_, err = w.Commit(context.Background(), segment.SessionPK(w.sid), []segment.Document{harmed}, nil)
	require.NoError(w.t, err)
}

// removes returns an actor that removes documents, as a prune does that has condemned them.
func removes(name string, ids func() []string) actor {
	return actor{name: name, do: func(w *world) error {
		return w.reader().Discard(context.Background(), segment.SessionPK(sidOf("s")), ids())
	}}
}

func restores(name string) actor {
	return actor{name: name, do: func(w *world) error {
		return meanwhile(make([]string, 20))["restore"](w, w.writer("s"))
	}}
}

// TestOrders: whatever the order of requests, nothing is lost.
func TestOrders(t *testing.T) {
	t.Parallel()
	for name, s := range orders(t) {
		for versions, content := range map[string]bool{"unique versions": false, "versions of the content": true} {
			if s.large && content && !testenv.Long() {
				continue
			}
			t.Run(name+", "+versions, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := *s
					s.content = content
					require.Empty(t, s.run())
					t.Logf("%d states", len(s.seen))
				})
			})
		}
	}
}

// without is a remote that breaks one rule of removing.
type without struct {
	*turns
	rule string
}

const (
	drawnNames    = "no name is used twice"
	boundToHead   = "what is condemned is condemned by the head that was read"
	condemnedLast = "what is condemned is no cover"
	wholeCovers   = "a segment that lacks a chunk is no cover"
	tombstoneAnew = "the tombstone gets another version before documents go"
	ownHeads      = "a device knows the heads that it sent"
)

func (c *without) Get(ctx context.Context, part, name string, known remote.Version) (remote.Object, error) {
	if c.rule != condemnedLast || name != segment.HeadID(sidOf("s")) {
		return c.turns.Get(ctx, part, name, known)
	}
	o, err := c.turns.Get(ctx, part, name, "")
	o.Body = condemned.ReplaceAll(o.Body, nil)
	return o, err
}

// List lists the chunks of all segments, also those that are gone.
func (c *without) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	if c.rule != wholeCovers {
		return c.turns.List(ctx, part, q)
	}
	return func(yield func(remote.Object, error) bool) {
		listed := map[string]bool{}
		for o, err := range c.turns.List(ctx, part, q) {
			d := document{}
			if err == nil && json.Unmarshal(o.Label, &d) == nil {
				for _, id := range d.chunks(sidOf("s")) {
					if !listed[id] && !yield(remote.Object{Name: id, Label: segment.Label(segment.TypeChunk), Time: o.Time}, nil) {
						return
					}
				}
			}
			if listed[o.Name] = true; !yield(o, err) {
				return
			}
		}
	}
}

var condemned = regexp.MustCompile(`"gone":\[[^\]]*\],`)

func (c *without) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	there := c.Remote
	swaps := swap != nil && swap.If != "" && swap.Name == segment.HeadID(sidOf("s"))
	fenced := swaps && strings.Contains(string(swap.Body), `"fence"`)
	if fenced && c.rule == boundToHead {
		if now, err := there.Get(ctx, part, swap.Name, ""); err == nil {
			bound := *swap
			bound.If = now.Version
			swap = &bound
		}
	}
	if fenced && c.rule == tombstoneAnew && len(objects)+len(swap.Remove) == 0 && strings.Contains(string(swap.Body), `"deleted":true`) {
		if _, err := there.Get(ctx, part, swap.Name, swap.If); errors.Is(err, remote.ErrUnchanged) {
			return swap.If, nil
		}
	}
	return c.turns.Commit(ctx, part, objects, swap)
}

// TestOrdersWithoutARule: the search finds what is lost without each of the rules.
func TestOrdersWithoutARule(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{drawnNames, boundToHead, condemnedLast, wholeCovers, tombstoneAnew, ownHeads} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				all, found := orders(t), ""
				for _, name := range slices.Sorted(maps.Keys(all)) { // one of them needs the rule
					s := all[name]
					s.through = func(g *turns) remote.Remote { return &without{g, rule} }
					s.twice, s.forgets = rule == drawnNames, rule == ownHeads
					if s.large {
						continue
					}
					if found = s.run(); found != "" {
						break
					}
				}
				require.NotEmpty(t, found)
				t.Log(found)
			})
		})
	}
}

// orders are the searches: what the cloud has, and who works on it.
func orders(t *testing.T) map[string]*search {
	ab, ac := lines("a", "b"), lines("a", "c")
	of := func(removals bool, before func(w *world, s *writer) error, actors ...actor) *search {
		return ordersOf(t, false, removals, before, actors...)
	}
	// The head leads to a. The segment with b was stored for a head that did not come.
	waits := func(_ *world, s *writer) error {
		if err := s.add(segment.Transcript, ab[:1]...); err != nil {
			return err
		}
		_, err := s.store(context.Background(), segment.Transcript, ab, 1)
		return err
	}
	// The head leads to a, c. A former head led to a, b.
	rewritten := func(_ *world, s *writer) error {
		return errors.Join(s.add(segment.Transcript, ab[:1]...), s.add(segment.Transcript, ab[1:]...), s.rewrite(1, ac[1:]...))
	}
	deleted := func(w *world, s *writer) error { return errors.Join(waits(w, s), s.delete(false)) }
	// The head leads to a, b. It led to a, b, c, when a prune condemned the segment with a, b: a
	// was in another one, and b in that with b, c. The prune sleeps before it removes it.
	var late []string
	condemned := func(w *world, s *writer) error {
		ctx := context.Background()
		abc := lines("a", "b", "c")
		ends := func(all []string) error {
			return s.change(func(_ context.Context, next *head.Head) error {
				next.Transcript = head.ExtentOf(markOf(segment.Transcript, all))
				return nil
			})
		}
		_, one := s.store(ctx, segment.Transcript, abc[:1], 0)
		_, two := s.store(ctx, segment.Transcript, abc, 1)
		err := errors.Join(one, two, ends(abc))
		before := w.documents("s")[segment.TypeSegment]
		if _, failed := s.store(ctx, segment.Transcript, ab, 0); err != nil || failed != nil {
			return errors.Join(err, failed)
		}
		for _, id := range w.documents("s")[segment.TypeSegment] {
			if !slices.Contains(before, id) {
				late = []string{id}
			}
		}
		p := &pruner{s: w.session("s")}
		return errors.Join(p.readHead(ctx), p.condemn(ctx, nil, late), ends(ab))
	}
	// The head leads to a, b, and all segments with a are damaged.
	abc := lines("a", "b", "c")
	damaged := func(w *world, s *writer) error {
		ctx := context.Background()
		_, small := s.store(ctx, segment.Transcript, ab[:1], 0)
		_, large := s.store(ctx, segment.Transcript, ab, 0)
		for _, id := range w.documents("s")[segment.TypeSegment] {
			s.harm(id)
		}
		return errors.Join(small, large, s.change(func(_ context.Context, next *head.Head) error {
			next.Transcript = head.ExtentOf(markOf(segment.Transcript, ab))
			return nil
		}))
	}
	emptied := func(w *world, s *writer) error { return errors.Join(waits(w, s), s.delete(true)) }
	all := map[string]*search{
		"what is stored again":     of(false, waits, stores("push", 1, false, ab...), prunes("g", -1)),
		"a former head expires":    of(false, rewritten, prunes("g", 0), restores("r")),
		"a former head is back":    of(false, rewritten, prunes("g", 0), stores("push", 1, false, ab...)),
		"a tombstone and its text": of(true, deleted, prunes("g", 0), stores("recreate", 0, true, ab...)),
		"an expired tombstone":     of(true, emptied, prunes("g", 0), stores("recreate", 0, true, ab...)),
		"a removal and a recreate": of(true, deleted, removals("p"), stores("recreate", 0, true, ab...)),
		"a removal and a push":     of(true, waits, removals("p"), stores("push", 1, false, ab...)),
		"two who mend":             of(false, damaged, mends("m", ab...), mends("n", ab...)),
		"a mender and a prune":     of(false, damaged, mends("m", ab...), prunes("g", 0)),
		"a mender and a push":      of(false, damaged, mends("m", ab...), stores("push", 2, false, abc...)),
		"a mender and a removal":   of(true, damaged, mends("m", ab...), removals("p")),
		"two who rewrite":          of(false, waits, rewrites("x"), rewrites("y")),
		"a rewrite and a prune":    of(false, rewritten, rewrites("x"), prunes("g", -1)),
		"an interrupted prune":     of(false, condemned, prunes("h", 0), removes("g", func() []string { return late })),
	}
	// The head leads to a. A device slept before it stored the segment with b, and a prune removed
	// the chunk that it had stored.
	long := lines("a", strings.Repeat("b", 260<<10))
	lacking := func(_ *world, s *writer) error {
		ctx, ids := context.Background(), []string(nil)
		s.twice = true // lists have its name first
		err := errors.Join(s.add(segment.Transcript, long[:1]...), s.each(ctx, &head.Head{}, long, 1, &ids))
		ids = slices.DeleteFunc(ids, func(id string) bool { return !strings.Contains(id, "-c-") })
		return errors.Join(err, s.Discard(ctx, segment.SessionPK(s.sid), ids))
	}
	for _, late := range []bool{false, true} {
		push := stores("push", 1, false, long...)
		push.reads = true
		s := of(false, lacking, push, prunes("g", -1))
		s.late = late
		all[fmt.Sprint("a chunk is gone, the next one is late: ", late)] = s
	}
	losing := func(n int, a actor) actor {
		a.loses = n
		return a
	}
	for n := 2; n < 4; n++ { // the swap in a remote that does nothing whole is the third
		all[fmt.Sprintf("a prune and a rewrite whose answer %d is lost", n)] = of(false, waits, losing(n, rewrites("x")), prunes("g", -1))
	}
	expires := rewrites("x")
	expires.left = false
	all["a rewrite of what expires"] = of(false, rewritten, expires, prunes("g", 0))
	push, recreate := stores("push", 1, false, ab...), stores("recreate", 0, true, ab...)
	all["a prune and a push whose head's answer is lost"] = of(false, waits, losing(2, push), prunes("g", 0))
	all["a prune and a recreate whose head's answer is lost"] = of(true, deleted, losing(3, recreate), prunes("g", 0))
	all["a push and a recreate whose head's answer is lost"] = of(true, deleted, losing(3, recreate), stores("push", 2, false, abc...))
	for _, name := range []string{"a mender and a prune", "a mender and a removal", "a removal and a recreate", "a prune and a push whose head's answer is lost"} {
		all[name].large = true
	}
	if testenv.Long() {
		all["two prunes and a push"] = of(false, waits, stores("push", 1, false, ab...), prunes("g", -1), prunes("h", -1))
		all["a removal and two who send"] = of(true, waits, removals("p"), stores("push", 1, false, ab...), stores("recreate", 0, true, ab...))
		for n := 1; n < 5; n++ {
			answer := fmt.Sprintf(", whose answer %d is lost", n)
			all["a prune and a push"+answer] = of(false, waits, losing(n, push), prunes("g", 0))
			all["a removal and a push"+answer] = of(true, waits, losing(n, push), removals("p"))
			all["a push and a recreate"+answer] = of(true, deleted, losing(n, recreate), stores("push", 2, false, abc...))
			all["a prune and a recreate"+answer] = of(true, deleted, losing(n, recreate), prunes("g", 0))
			if !testenv.All() {
				continue
			}
			all["a removal and a recreate"+answer] = of(true, deleted, losing(n, recreate), removals("p"))
			all["a prune and a mender"+answer] = of(false, damaged, losing(n, mends("m", ab...)), prunes("g", 0))
			all["a push and a prune"+answer] = of(false, rewritten, losing(n, prunes("g", 0)), push)
			all["a recreate and a removal"+answer] = of(true, waits, losing(n, removals("p")), recreate)
		}
		if testenv.All() {
			all["two who rewrite and a prune"] = of(false, waits, rewrites("x"), rewrites("y"), prunes("g", -1))
		}
		all["a prune, a removal and a recreate"] = of(true, waits, prunes("g", 0), removals("p"), stores("recreate", 0, true, ab...))
	}
	return all
}

// ordersOf returns a search from a state of the session.
func ordersOf(t *testing.T, falls, removals bool, before func(w *world, s *writer) error, actors ...actor) *search {
	w := newWorld(t, 1)
	w.falls = falls
	w.c.Now = func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }
	require.NoError(t, before(w, w.writer("s")))
	return &search{start: w.c, actors: actors, falls: falls, removals: removals, t: t}
}

// lines returns messages with those texts.
func lines(texts ...string) (all []string) {
	for _, text := range texts {
		all = append(all, fmt.Sprintf(`{"role":"user","content":%q}`, text))
	}
	return all
}
